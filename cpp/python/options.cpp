#include "options.hpp"

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dmlcpu/error.hpp"

namespace dmlcpu::python {
namespace {

std::string repr_of(py::handle object) { return py::repr(object).cast<std::string>(); }

bool is_string(py::handle object) { return PyUnicode_Check(object.ptr()) != 0; }

/// Whether a str equals an ASCII text. CPython's own comparison is slower.
template <std::size_t kSize>
bool equals(py::handle string, const char (&text)[kSize]) {
  PyObject* const s = string.ptr();
  if (PyUnicode_IS_COMPACT_ASCII(s) == 0) return PyUnicode_CompareWithASCIIString(s, text) == 0;
  return PyUnicode_GET_LENGTH(s) == kSize - 1 &&
         std::memcmp(PyUnicode_1BYTE_DATA(s), text, kSize - 1) == 0;
}

[[noreturn]] void fail_value(const char* name, const char* requirement, py::handle actual) {
  throw ValueError(std::string(name) + ": " + requirement + ", got " + repr_of(actual));
}

/// Throws an Overflow for an int beyond 64 bits.
template <class Overflow>
std::optional<std::int64_t> find_int(py::handle object, const char* name, Cause& cause) {
  // Ints need no call of __index__.
  const bool is_int = PyLong_Check(object.ptr()) != 0 && PyBool_Check(object.ptr()) == 0;
  const auto index =
      is_int ? py::reinterpret_borrow<py::object>(object) : find_index(object, cause);
  if (!index) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0)
    throw Overflow(std::string(name) + ": must fit 64 bits, got " + repr_of(index));
  return value;
}

template <class Overflow>
std::int64_t int_of(py::handle object, const char* name) {
  Cause cause;
  const std::optional<std::int64_t> value = find_int<Overflow>(object, name, cause);
  if (!value) fail_type(name, "must be an int", object, cause);
  return *value;
}

/// The TypeError that was raised; any other exception goes on.
void catch_type_error(Cause& cause) {
  cause.emplace();
  if (!cause->matches(PyExc_TypeError)) throw *cause;
}

}  // namespace

void fail_type(const std::string& text, Cause cause) {
  if (!cause) throw TypeError(text);
  py::raise_from(*cause, PyExc_TypeError, text.c_str());
  throw py::error_already_set();
}

void fail_type(const std::string& name, const char* requirement, py::handle actual, Cause cause) {
  fail_type(name + ": " + requirement + ", got " + Py_TYPE(actual.ptr())->tp_name,
            std::move(cause));
}

py::object find_index(py::handle object, Cause& cause) {
  if (PyBool_Check(object.ptr()) != 0 || PyIndex_Check(object.ptr()) == 0) return {};
  auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  // Every array has __index__, which fails unless it holds one int.
  if (!index) catch_type_error(cause);
  return index;
}

py::object find_iterator(py::handle object, Cause& cause) {
  const bool iterates =
      Py_TYPE(object.ptr())->tp_iter != nullptr || PySequence_Check(object.ptr()) != 0;
  if (!iterates || is_string(object)) return {};
  auto iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object.ptr()));
  if (!iterator) catch_type_error(cause);
  return iterator;
}

std::int64_t as_int(py::handle object, const char* name) {
  return int_of<ValueError>(object, name);
}

std::int64_t as_axis(py::handle object) { return int_of<AxisError>(object, "axis"); }

bool as_bool(py::handle object, const char* name) {
  if (object.ptr() == Py_True) return true;
  if (object.ptr() == Py_False) return false;
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  if (type == "numpy.bool" || type == "numpy.bool_") {  // NumPy 2 and 1
    return PyObject_IsTrue(object.ptr()) == 1;
  }
  fail_type(name, "must be a bool", object);
}

AxisList as_axes(py::handle object) {
  constexpr const char* kRequirement = "must be None, an int or an iterable of ints";
  AxisList axes;
  if (object.is_none()) return axes;
  axes.all = false;
  Cause cause;
  if (const auto axis = find_int<AxisError>(object, "axis", cause)) {
    axes.values[axes.count++] = *axis;
    return axes;
  }
  const py::object iterator = find_iterator(object, cause);
  if (!iterator) fail_type("axis", kRequirement, object, cause);
  cause.reset();
  for (const py::handle item : py::reinterpret_borrow<py::iterator>(iterator)) {
    const auto axis = find_int<AxisError>(item, "axis", cause);
    if (!axis) fail_type("axis", kRequirement, item, cause);
    // A list longer than this repeats an axis or has one out of range among its first values.
    if (axes.count == static_cast<int>(axes.values.size())) break;
    axes.values[axes.count++] = *axis;
  }
  return axes;
}

AxisDirection as_axis_direction(py::handle object) {
  constexpr const char* kRequirement =
      "must be AxisDirection.INCREASING (0, \"increasing\") or AxisDirection.DECREASING (1, "
      "\"decreasing\")";
  if (is_string(object)) {
    const py::object lower = object.attr("lower")();
    // A subclass may give anything.
    if (is_string(lower) && equals(lower, "increasing")) return AxisDirection::kIncreasing;
    if (is_string(lower) && equals(lower, "decreasing")) return AxisDirection::kDecreasing;
  } else {
    Cause cause;
    const auto value = find_int<ValueError>(object, "axis_direction", cause);
    if (!value) fail_type("axis_direction", kRequirement, object, cause);
    if (*value == 0 || *value == 1) return static_cast<AxisDirection>(*value);
  }
  fail_value("axis_direction", kRequirement, object);
}

Pair as_pair(py::handle out) {
  std::string actual = Py_TYPE(out.ptr())->tp_name;
  if (py::isinstance<py::tuple>(out) || py::isinstance<py::list>(out) ||
      py::isinstance(out, py::module_::import("collections.abc").attr("Sequence"))) {
    const std::size_t count = py::len(out);
    if (count == 2) return {py::object(out[py::int_(0)]), py::object(out[py::int_(1)])};
    actual += " of " + std::to_string(count);
  }
  throw TypeError("out: must be a pair (values, indices) of arrays, got " + actual);
}

NanPolicy as_nan_policy(py::handle object) {
  constexpr const char* kRequirement = "must be \"propagate\" or \"omit\"";
  if (!is_string(object)) fail_type("nan_policy", kRequirement, object);
  if (equals(object, "propagate")) return NanPolicy::kPropagate;
  if (equals(object, "omit")) return NanPolicy::kOmit;
  fail_value("nan_policy", kRequirement, object);
}

TopKResults as_results(py::handle object) {
  constexpr const char* kRequirement = "must be \"values\", \"indices\" or \"last\"";
  if (!is_string(object)) fail_type("results", kRequirement, object);
  if (equals(object, "values")) return TopKResults::kValues;
  if (equals(object, "indices")) return TopKResults::kIndices;
  if (equals(object, "last")) return TopKResults::kLast;
  fail_value("results", kRequirement, object);
}

IndexMode as_index_mode(py::handle object) {
  constexpr const char* kRequirement = "must be \"raise\" or \"clip\"";
  if (!is_string(object)) fail_type("mode", kRequirement, object);
  if (equals(object, "raise")) return IndexMode::kRaise;
  if (equals(object, "clip")) return IndexMode::kClip;
  fail_value("mode", kRequirement, object);
}

}  // namespace dmlcpu::python
