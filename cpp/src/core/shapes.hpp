// What shapes and descriptors say of sizes.
#pragma once

#include <cstdint>

#include "dmlcpu/operators.hpp"

namespace dmlcpu {

/// The number of elements of a tensor or a shape; 1 for rank 0.
template <class Shaped>
std::int64_t element_count(const Shaped& shaped) {
  std::int64_t count = 1;
  for (int d = 0; d < shaped.rank; ++d) count *= shaped.sizes[d];
  return count;
}

/// Bytes of an element, and of all elements.
template <class AnyTensor>
std::int64_t element_bytes(const AnyTensor& tensor) {
  return static_cast<std::int64_t>(info(tensor.type).size);
}
template <class AnyTensor>
std::int64_t byte_count(const AnyTensor& tensor) {
  return element_count(tensor) * element_bytes(tensor);
}

/// The size of `axis`, 1 where the tensor has rank 0.
inline std::int64_t axis_size(const ConstTensor& tensor, int axis) {
  return tensor.rank == 0 ? 1 : tensor.sizes[axis];
}

/// The number of coordinates of each of the descriptor's index tuples.
inline int tuple_length(const GatherNdDescriptor& descriptor) {
  return static_cast<int>(descriptor.indices.sizes[descriptor.indices.rank - 1]);
}

/// Of an integer type.
constexpr bool is_signed_index(DataType type) { return info(type).kind == 'i'; }

}  // namespace dmlcpu
