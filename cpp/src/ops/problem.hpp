// From valid descriptors to what plans are made from.
#pragma once

#include "dmlcpu/operators.hpp"
#include "plan/problem.hpp"

namespace dmlcpu {

/// `values`, if not null, is where to write the elements themselves, and one axis is reduced.
ArgProblem problem_of(const ArgDescriptor& descriptor, const Tensor* values = nullptr);
TopKProblem problem_of(const TopKDescriptor& descriptor);

}  // namespace dmlcpu
