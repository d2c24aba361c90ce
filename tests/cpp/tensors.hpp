// Tensors over vectors, for the C++ tests.
#pragma once

#include <initializer_list>
#include <vector>

#include "dmlcpu/operators.hpp"

namespace tensors {

template <class T>
constexpr dmlcpu::DataType type_of();
template <>
constexpr dmlcpu::DataType type_of<float>() {
  return dmlcpu::DataType::kFloat32;
}
template <>
constexpr dmlcpu::DataType type_of<double>() {
  return dmlcpu::DataType::kFloat64;
}
template <>
constexpr dmlcpu::DataType type_of<std::uint8_t>() {
  return dmlcpu::DataType::kUInt8;
}
template <>
constexpr dmlcpu::DataType type_of<std::uint16_t>() {
  return dmlcpu::DataType::kUInt16;
}
template <>
constexpr dmlcpu::DataType type_of<std::uint32_t>() {
  return dmlcpu::DataType::kUInt32;
}
template <>
constexpr dmlcpu::DataType type_of<std::uint64_t>() {
  return dmlcpu::DataType::kUInt64;
}
template <>
constexpr dmlcpu::DataType type_of<std::int64_t>() {
  return dmlcpu::DataType::kInt64;
}

/// A contiguous tensor of the given sizes.
template <class T>
dmlcpu::Tensor contiguous(std::vector<T>& memory, std::initializer_list<std::int64_t> sizes) {
  dmlcpu::Tensor tensor;
  tensor.data = memory.data();
  tensor.type = type_of<T>();
  for (const std::int64_t size : sizes) tensor.sizes[tensor.rank++] = size;
  std::int64_t stride = 1;
  for (int d = tensor.rank - 1; d >= 0; --d) {
    tensor.strides[d] = stride;
    stride *= tensor.sizes[d];
  }
  return tensor;
}

inline dmlcpu::ConstTensor as_const(const dmlcpu::Tensor& t) {
  return {t.data, t.type, t.rank, t.sizes, t.strides};
}

template <class T>
dmlcpu::ConstTensor contiguous_input(std::vector<T>& memory,
                                     std::initializer_list<std::int64_t> sizes) {
  return as_const(contiguous(memory, sizes));
}

inline dmlcpu::AxisList axes(std::initializer_list<std::int64_t> values) {
  dmlcpu::AxisList list;
  list.all = false;
  for (const std::int64_t value : values) list.values[list.count++] = value;
  return list;
}

}  // namespace tensors
