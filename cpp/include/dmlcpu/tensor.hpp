/// @file
/// Tensors as the operators see them: a pointer, an element type, sizes and element strides.
#pragma once

#include <array>
#include <cstdint>

#include "dmlcpu/data_type.hpp"

namespace dmlcpu {

/// The largest number of dimensions; DirectML's DML_TENSOR_DIMENSION_COUNT_MAX1.
inline constexpr int kMaxRank = 8;

/// Sizes or strides, outermost dimension first; only the first `rank` entries mean anything.
using Extents = std::array<std::int64_t, kMaxRank>;

/// A view of somebody else's memory; it owns nothing.
///
/// `data` points at the element whose coordinates are all 0 and is aligned to the element.
/// `strides` are in elements: 0 broadcasts, negative ones walk backwards, large ones skip padding.
/// `rank` is 0 (one element) to kMaxRank.
template <class Pointer>
struct BasicTensor {
  Pointer data = nullptr;
  DataType type = DataType::kFloat32;
  int rank = 0;
  Extents sizes{};
  Extents strides{};
};

using Tensor = BasicTensor<void*>;
using ConstTensor = BasicTensor<const void*>;

/// A shape: `sizes[0 .. rank)`.
struct Shape {
  int rank = 0;
  Extents sizes{};
};

}  // namespace dmlcpu
