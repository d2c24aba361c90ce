/** @file
 * The library's version, for C and C++. */
#pragma once

#include "dmlcpu/export.hpp"

#define DMLCPU_VERSION_MAJOR 0
#define DMLCPU_VERSION_MINOR 1
#define DMLCPU_VERSION_PATCH 0

/** "0.1.0", and 100: major * 10000 + minor * 100 + patch. */
#define DMLCPU_VERSION_TEXT "0.1.0"
#define DMLCPU_VERSION \
  (DMLCPU_VERSION_MAJOR * 10000 + DMLCPU_VERSION_MINOR * 100 + DMLCPU_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/** The DMLCPU_VERSION of the library that is linked or loaded. Before 1.0 it has to be of the
 * header's minor version, which the shared library's soname says, too. */
DMLCPU_API int dmlcpu_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
