// Every rule of a call, checked before any work starts: validate(descriptor) throws or all is well.
// Rules on sizes, strides and types are apart from rules on memory, so that an operator can be
// planned once and run on many tensors.
#pragma once

#include <cstdint>

#include "dmlcpu/operators.hpp"

namespace dmlcpu {

/// What errors call a call's arguments, by default as Python's functions do, and a tuple's limits.
struct ArgumentNames {
  const char* input = "input";
  const char* indices = "indices";
  const char* k = "k";
  const char* batch_dims = "batch_dims";
  const char* batch_limit = nullptr;  ///< what has more dimensions; null: the tensors
  const char* tuple_size = "have a last dimension";  ///< after "must"
  const char* tuple_limit = "the dimensions of input after the batch dimensions";
};

// --- per operator ------------------------------------------------------------------------------

/// A descriptor's axes as a set, bit d for axis d. Throws AxisError or ValueError.
unsigned reduced_axes(const ArgDescriptor& descriptor);

/// How many elements each result is of.
std::int64_t reduced_count(const ArgDescriptor& descriptor);

/// The axis in [0, rank), of a rank 0 tensor 0. Throws AxisError.
int search_axis(const TopKDescriptor& descriptor);

/// Which of its outputs a top-k writes.
inline bool wants_values(const TopKDescriptor& descriptor) {
  return descriptor.results != TopKResults::kIndices;
}
inline bool wants_indices(const TopKDescriptor& descriptor) {
  return descriptor.results != TopKResults::kValues;
}

/// The public output_shape(), whose errors call the arguments by these names.
Shape output_shape(const TopKDescriptor& descriptor, const ArgumentNames& names);
Shape output_shape(const GatherNdDescriptor& descriptor, const ArgumentNames& names);

/// Checks every rule, the memory's last. A new output fits, and output_shape() has checked what it
/// looks at: left are types, the capacity of indices and the inputs' pointers.
void validate(const ArgDescriptor& descriptor);
void validate(const TopKDescriptor& descriptor);
void validate(const GatherNdDescriptor& descriptor);

// --- shared ------------------------------------------------------------------------------------

/// Rank, sizes, and that neither the elements nor what they span is more than 2^60 bytes.
/// Returns the bytes from the first element to the last one's end.
std::int64_t check_layout(const char* name, const ConstTensor& tensor);

/// That the pointer to a tensor's elements is one, and aligned to them.
void check_pointer(const char* name, DataType type, const void* data);

/// That positions 0 to `extent` - 1 fit the output's index type, which errors call `type_name`;
/// null is its own name.
void check_index_capacity(const char* name, DataType type, std::int64_t extent,
                          const char* type_name = nullptr);

/// That none of the output's elements overlaps one of the other tensor's.
void check_disjoint(const char* name, const Tensor& output, const char* other_name,
                    const ConstTensor& other);

ConstTensor as_const(const Tensor& tensor);

}  // namespace dmlcpu
