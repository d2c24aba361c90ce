// Which instruction sets this machine has.
#pragma once

namespace dmlcpu {

/// Whether the processor and the operating system support an x86-64 micro-architecture level
/// (x86-64 psABI): 2, 3 or 4. Always false on other processors.
bool cpu_has_x86_64_level(int level);

}  // namespace dmlcpu
