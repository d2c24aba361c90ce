// Python's objects that the module makes once and keeps.
#pragma once

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>

#include <type_traits>

namespace dmlcpu::python {

/// What a lambda returned the first time; each has a result of its own, by its type. It is never
/// destroyed: the interpreter may end before the module's memory does.
template <class Make>
const auto& made_once(const Make& make) {
  static_assert(std::is_empty_v<Make>);
  PYBIND11_CONSTINIT static pybind11::gil_safe_call_once_and_store<decltype(make())> result;
  return result.call_once_and_store_result(make).get_stored();
}

}  // namespace dmlcpu::python
