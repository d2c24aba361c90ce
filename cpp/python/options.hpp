// Python arguments as the library's options.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "dmlcpu/operators.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

/// An int of any type with __index__; values beyond 64 bits become the nearest that fits.
std::int64_t as_int(py::handle object, const char* name);

/// None, an int, or any iterable of ints.
AxisList as_axes(py::handle object);

/// An AxisDirection, its value, or its name in any case.
AxisDirection as_axis_direction(py::handle object);

/// "propagate" or "omit".
NanPolicy as_nan_policy(py::handle object);

/// "raise" or "clip".
IndexMode as_index_mode(py::handle object);

}  // namespace dmlcpu::python
