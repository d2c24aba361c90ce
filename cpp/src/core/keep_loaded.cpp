#include "core/keep_loaded.hpp"

#if defined(__linux__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

#ifdef __linux__
// Weak: statically linked programs, which unload nothing, have neither.
#pragma weak dladdr
#pragma weak dlopen
#endif

namespace dmlcpu {

#if defined(__linux__) || defined(__APPLE__)

const char* object_file(void (*function)()) {
#ifdef __linux__
  if (&dladdr == nullptr) return nullptr;
#endif
  Dl_info object{};
  return dladdr(reinterpret_cast<const void*>(function), &object) == 0 ? nullptr : object.dli_fname;
}

#else

const char* object_file(void (* /*function*/)()) { return nullptr; }

#endif

#ifdef __linux__

void keep_loaded(void (*function)()) {
  const char* const file = object_file(function);
  if (file == nullptr || &dlopen == nullptr) return;
  // The handle stays open; RTLD_NOLOAD: the object is there already.
  static_cast<void>(dlopen(file, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

#else

void keep_loaded(void (* /*function*/)()) {}

#endif

}  // namespace dmlcpu
