// Contiguous tensors over vectors, for the C++ tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "dmlcpu/typed.hpp"

namespace tensors {

using Sizes = std::initializer_list<std::int64_t>;

template <class T>
dmlcpu::Tensor contiguous(std::vector<T>& memory, Sizes sizes) {
  return dmlcpu::View<T>(memory.data(), sizes).tensor();
}

template <class T>
dmlcpu::ConstTensor contiguous_input(const std::vector<T>& memory, Sizes sizes) {
  return dmlcpu::View<const T>(memory.data(), sizes).tensor();
}

}  // namespace tensors
