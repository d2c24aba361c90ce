// Which names the shared library shows; everything else in it is hidden.
#pragma once

// The target dmlcpu::dmlcpu defines DMLCPU_SHARED for whoever links it.
#if defined(DMLCPU_SHARED) && defined(_WIN32)
#ifdef dmlcpu_shared_EXPORTS  // CMake defines it for the library itself
#define DMLCPU_API __declspec(dllexport)
#else
#define DMLCPU_API __declspec(dllimport)
#endif
#elif defined(DMLCPU_SHARED) && defined(__GNUC__)
#define DMLCPU_API __attribute__((visibility("default")))
#else
#define DMLCPU_API
#endif
