/// @file
/// What the library throws. Every text reads "argument: requirement, got actual value".
#pragma once

#include <cstdint>
#include <stdexcept>

#include "dmlcpu/export.hpp"

namespace dmlcpu {

/// A tensor of an element type that the operator does not take. Python: TypeError.
class DMLCPU_API TypeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A bad value: shape, k, option, overlapping output. Python: ValueError.
class DMLCPU_API ValueError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// An axis out of range. Python: numpy.exceptions.AxisError.
class DMLCPU_API AxisError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

/// A gather index out of range. Python: IndexError.
class DMLCPU_API IndexError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

namespace detail {

/// Throws ValueError with "requirement, got actual". Not in the header: std::to_string() has a
/// symbol that keeps a plugin from being unloaded.
[[noreturn]] DMLCPU_API void fail_value(const char* requirement, std::int64_t actual);

}  // namespace detail
}  // namespace dmlcpu
