// What the library throws. Every text reads "argument: requirement, got actual value".
#pragma once

#include <stdexcept>

namespace dmlcpu {

/// A tensor of an element type that the operator does not take. Python: TypeError.
class TypeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A bad value: shape, k, option, overlapping output. Python: ValueError.
class ValueError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// An axis out of range. Python: numpy.exceptions.AxisError.
class AxisError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

/// A gather index out of range. Python: IndexError.
class IndexError : public std::out_of_range {
 public:
  using std::out_of_range::out_of_range;
};

}  // namespace dmlcpu
