// Which instruction set's kernels run.
#pragma once

#include "kernels/kernel_table.hpp"
#include "plan/machine.hpp"

namespace dmlcpu {

/// The table in use, chosen by the first call of this: DMLCPU_ISA if set, else the largest
/// instruction set that the machine has. Throws ValueError when DMLCPU_ISA names none.
const KernelTable& kernels();

/// What the processor's time goes to with these kernels.
const Machine& machine();

}  // namespace dmlcpu
