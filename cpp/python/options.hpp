// Python arguments as the library's options.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "dmlcpu/operators.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

/// The TypeError of the object's own code that an error comes from, if any.
using Cause = std::optional<py::error_already_set>;

/// Throws TypeError with the text, from the cause. Other exceptions than TypeError say nothing of
/// the object's type: they are never caught.
[[noreturn]] void fail_type(const std::string& text, Cause cause = {});

/// `name: requirement, got actual's type`.
[[noreturn]] void fail_type(const std::string& name, const char* requirement, py::handle actual,
                            Cause cause = {});

/// The int that an object stands for by its __index__, null if it stands for none. bool is a type
/// of its own here.
py::object find_index(py::handle object, Cause& cause);

/// What iter() gives, called once; null for what is no iterable, and for a str.
py::object find_iterator(py::handle object, Cause& cause);

/// An int of any type with __index__ but bool. Throws ValueError for one beyond 64 bits.
std::int64_t as_int(py::handle object, const char* name);

/// The same for an axis, which throws AxisError.
std::int64_t as_axis(py::handle object);

/// True or False, of Python or NumPy.
bool as_bool(py::handle object, const char* name);

/// None, an int, or any iterable of ints.
AxisList as_axes(py::handle object);

/// An AxisDirection, its value, or its name in any case.
AxisDirection as_axis_direction(py::handle object);

using Pair = std::array<py::object, 2>;

/// The caller's pair of output arrays, any sequence of two.
Pair as_pair(py::handle out);

/// "propagate" or "omit".
NanPolicy as_nan_policy(py::handle object);

/// "values", "indices" or "last".
TopKResults as_results(py::handle object);

/// "raise" or "clip".
IndexMode as_index_mode(py::handle object);

}  // namespace dmlcpu::python
