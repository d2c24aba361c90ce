#include "core/cpu.hpp"

namespace dmlcpu {

#ifdef DMLCPU_X86_64

// __builtin_cpu_supports asks the operating system too whether it saves the wide registers.
bool cpu_has_x86_64_level(int level) {
  __builtin_cpu_init();
  bool supported = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
                   __builtin_cpu_supports("popcnt");
  if (level >= 3) {
    supported = supported && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  }
  if (level >= 4) {
    supported = supported && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  return supported;
}

bool cpu_gains_by_streaming() {
  __builtin_cpu_init();
  return !__builtin_cpu_is("intel");
}

#else

bool cpu_gains_by_streaming() { return false; }

#endif

}  // namespace dmlcpu
