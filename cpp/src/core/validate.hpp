// Every rule of a call, checked before any work starts: validate(descriptor) throws or all is well.
#pragma once

#include <cstdint>
#include <string>

#include "dmlcpu/operators.hpp"

namespace dmlcpu {

// --- per operator ------------------------------------------------------------------------------

/// A descriptor's axes as a set, bit d for axis d. Throws AxisError or ValueError.
unsigned reduced_axes(const ArgDescriptor& descriptor);

/// The axis in [0, rank), of a rank 0 tensor 0. Throws AxisError.
int search_axis(const TopKDescriptor& descriptor);

/// The size of `axis`, 1 where the tensor has rank 0.
std::int64_t axis_size(const ConstTensor& tensor, int axis);

/// The number of coordinates of each of the descriptor's index tuples.
int tuple_length(const GatherNdDescriptor& descriptor);

/// Checks the whole descriptor, outputs included.
void validate(const ArgDescriptor& descriptor);
void validate(const TopKDescriptor& descriptor);
void validate(const GatherNdDescriptor& descriptor);

// --- shared ------------------------------------------------------------------------------------

/// The number of elements of a shape; 1 for rank 0.
std::int64_t element_count(const Shape& shape);

/// The axis in [0, rank). Throws AxisError.
int normalize_axis(std::int64_t axis, int rank);

/// Rank, sizes, that addresses and counts fit 64 bits, and the pointer's alignment.
void check_tensor(const char* name, const ConstTensor& tensor);

/// That positions 0 to `extent` - 1 fit the output's index type.
void check_index_capacity(const char* name, DataType type, std::int64_t extent);

/// That the output has this shape, and elements that overlap neither each other nor an input's.
void check_output(const char* name, const Tensor& output, const Shape& shape);
void check_disjoint(const char* name, const Tensor& output, const char* other_name,
                    const ConstTensor& other);

ConstTensor as_const(const Tensor& tensor);

}  // namespace dmlcpu
