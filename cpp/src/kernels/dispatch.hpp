// Which instruction set's kernels run.
#pragma once

#include "kernels/kernel_table.hpp"

namespace dmlcpu {

/// The table in use, chosen when it is first asked for: DMLCPU_ISA if set, else the largest
/// instruction set that the machine has. Throws ValueError when DMLCPU_ISA names none.
const KernelTable& kernels();

/// The tables' index for elements of 1, 2, 4 or 8 bytes: 0 to 3.
constexpr int width_index(std::int64_t element_size) {
  return __builtin_ctzll(static_cast<std::uint64_t>(element_size));
}

}  // namespace dmlcpu
