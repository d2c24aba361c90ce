// Building error texts: "argument: requirement, got actual value".
#pragma once

#include <cstdint>
#include <string>

#include "core/text.hpp"
#include "dmlcpu/data_type.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// The text of every argument error.
std::string error_text(const std::string& argument, const std::string& requirement,
                       const std::string& actual);

/// A shape as Python prints it: "()", "(3,)", "(2, 3)".
std::string to_text(const Shape& shape);

template <class Pointer>
Shape shape_of(const BasicTensor<Pointer>& tensor) {
  return {tensor.rank, tensor.sizes};
}

template <class Error>
[[noreturn]] void fail(const std::string& argument, const std::string& requirement,
                       const std::string& actual) {
  throw Error(error_text(argument, requirement, actual));
}

template <class Error>
[[noreturn]] void fail(const std::string& argument, const std::string& requirement,
                       std::int64_t actual) {
  fail<Error>(argument, requirement, std::to_string(actual));
}

}  // namespace dmlcpu
