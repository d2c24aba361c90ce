// What processor this is, as it tells by itself: compilers' run-time libraries do not on all
// systems.
#pragma once

#include <cstdint>
#include <string_view>

namespace dmlcpu {

/// Whether the processor is AMD's; not on other machines than x86-64.
bool is_amd();

/// Whether the processor has the instruction set of that name, and the operating system saves its
/// registers. cmake/InstructionSets.cmake has the flags that make use of these features.
bool has_isa(std::string_view name);

/// The bytes of caches of data, L3 with all that its cores share; 0 where nothing tells.
struct Caches {
  std::int64_t l2 = 0;
  std::int64_t l3 = 0;
};
Caches read_caches();

}  // namespace dmlcpu
