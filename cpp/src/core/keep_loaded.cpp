#include "core/keep_loaded.hpp"

#ifdef __linux__
#include <dlfcn.h>

// Weak: statically linked programs, which unload nothing, have neither.
#pragma weak dladdr
#pragma weak dlopen

namespace dmlcpu {

void keep_loaded(void (*function)()) {
  if (&dladdr == nullptr || &dlopen == nullptr) return;
  Dl_info object{};
  if (dladdr(reinterpret_cast<const void*>(function), &object) == 0) return;
  // The handle stays open; RTLD_NOLOAD: the object is there already.
  static_cast<void>(dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace dmlcpu

#else

namespace dmlcpu {

void keep_loaded(void (* /*function*/)()) {}

}  // namespace dmlcpu

#endif
