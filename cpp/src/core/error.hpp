// Building error texts: "argument: requirement, got actual value".
#pragma once

#include <string>

#include "core/text.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// A shape as Python prints it: "()", "(3,)", "(2, 3)".
inline std::string to_text(const Shape& shape) {
  std::string text = "(";
  for (int d = 0; d < shape.rank; ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape.sizes[d]);
  }
  return text + (shape.rank == 1 ? ",)" : ")");
}

template <class Pointer>
Shape shape_of(const BasicTensor<Pointer>& tensor) {
  return {tensor.rank, tensor.sizes};
}

/// Every argument error. `actual` is a text or an integer.
template <class Error, class Actual>
[[noreturn]] void fail(const std::string& argument, const std::string& requirement,
                       const Actual& actual) {
  throw Error(text(argument, ": ", requirement, ", got ", actual));
}

}  // namespace dmlcpu
