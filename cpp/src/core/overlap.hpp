// Do strided tensors share memory? Exact, as numpy.shares_memory is, and not only by bounds.
#pragma once

#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// Whether two different coordinates of the tensor address the same element. Undecided cases (see
/// overlap.cpp) count as overlapping.
bool overlaps_itself(const ConstTensor& tensor);

/// Whether any byte belongs to an element of both tensors. Undecided cases count as overlapping.
bool overlap(const ConstTensor& a, const ConstTensor& b);

}  // namespace dmlcpu
