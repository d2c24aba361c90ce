// What processor this is.
#pragma once

#include <string_view>

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

/// Whether the processor has the instruction set of that name, and the operating system saves its
/// registers. cmake/InstructionSets.cmake has the flags that make use of these features.
inline bool has_isa(std::string_view name) {
  if (name == "generic") return true;
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
                  __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return (v2 && name == "x86-64-v2") || (v3 && name == "x86-64-v3") || (v4 && name == "x86-64-v4");
#else
  return false;
#endif
}

}  // namespace dmlcpu
