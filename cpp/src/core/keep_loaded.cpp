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

const char* object_file([[maybe_unused]] void (*function)()) {
#ifdef __linux__
  if (&dladdr == nullptr) return nullptr;
#endif
#if defined(__linux__) || defined(__APPLE__)
  Dl_info object{};
  if (dladdr(reinterpret_cast<const void*>(function), &object) != 0) return object.dli_fname;
#endif
  return nullptr;
}

void keep_loaded([[maybe_unused]] void (*function)()) {
#ifdef __linux__
  const char* const file = object_file(function);
  if (file == nullptr || &dlopen == nullptr) return;
  // The handle stays open; RTLD_NOLOAD: the object is there already.
  static_cast<void>(dlopen(file, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
#endif
}

}  // namespace dmlcpu
