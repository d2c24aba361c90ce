// Who made the processor, where one maker's gains by what another's loses by.
#pragma once

namespace dmlcpu {

/// Whether the processor is AMD's; not on other machines than x86-64.
inline bool is_amd() {
#ifdef __x86_64__
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

}  // namespace dmlcpu
