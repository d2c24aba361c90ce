// DirectML tensor descriptors over vectors, for the C++ tests.
#pragma once

#include <cstdint>
#include <vector>

#include "dmlcpu/directml.h"

namespace dml {

template <class T>
constexpr DML_TENSOR_DATA_TYPE data_type();
template <>
constexpr DML_TENSOR_DATA_TYPE data_type<float>() {
  return DML_TENSOR_DATA_TYPE_FLOAT32;
}
template <>
constexpr DML_TENSOR_DATA_TYPE data_type<std::uint32_t>() {
  return DML_TENSOR_DATA_TYPE_UINT32;
}
template <>
constexpr DML_TENSOR_DATA_TYPE data_type<std::int64_t>() {
  return DML_TENSOR_DATA_TYPE_INT64;
}

/// A tensor descriptor that owns what it points at, so it stays where it is.
struct Tensor {
  std::vector<UINT> sizes;
  std::vector<UINT> strides;
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{};

  Tensor(DML_TENSOR_DATA_TYPE type, std::vector<UINT> sizes_, std::vector<UINT> strides_ = {})
      : sizes(std::move(sizes_)), strides(std::move(strides_)) {
    buffer.DataType = type;
    buffer.DimensionCount = static_cast<UINT>(sizes.size());
    buffer.Sizes = sizes.data();
    buffer.Strides = strides.empty() ? nullptr : strides.data();
    buffer.TotalTensorSizeInBytes =
        DMLCalcBufferTensorSize(type, buffer.DimensionCount, buffer.Sizes, buffer.Strides);
    desc = {DML_TENSOR_TYPE_BUFFER, &buffer};
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
};

template <class T>
dmlcpu_input input(const std::vector<T>& memory) {
  return {memory.data(), memory.size() * sizeof(T)};
}

template <class T>
dmlcpu_output output(std::vector<T>& memory) {
  return {memory.data(), memory.size() * sizeof(T)};
}

}  // namespace dml
