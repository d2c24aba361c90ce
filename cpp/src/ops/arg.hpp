// argmin and argmax for other operators.
#pragma once

#include "dmlcpu/operators.hpp"

namespace dmlcpu {

/// run() without validate().
void run_valid(const ArgDescriptor& descriptor);

}  // namespace dmlcpu
