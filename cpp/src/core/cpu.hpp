// What this machine has.
#pragma once

namespace dmlcpu {

/// Whether the processor and the operating system support an x86-64 micro-architecture level
/// (x86-64 psABI): 2, 3 or 4. Only where the library is built for x86-64.
bool cpu_has_x86_64_level(int level);

/// Whether non-temporal stores take less time than others. Not with Intel's processors, which
/// keep one of the few buffers that loads wait in for each line until the memory has taken it.
bool cpu_gains_by_streaming();

}  // namespace dmlcpu
