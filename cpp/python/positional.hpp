// Functions of the module that are called with positional arguments alone.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>

namespace dmlcpu::python {

/// A function of handles as Python calls it. pybind11 would first look for an overload that the
/// arguments convert to, which takes some 100 ns; there is one, and it takes any object.
template <auto kFunction>
class Positional;

template <class... Handles, pybind11::object (*kFunction)(Handles...)>
class Positional<kFunction> {
 public:
  /// Adds it to the module. There is one name for each function.
  static void add_to(pybind11::module_& module, const char* name) {
    static PyMethodDef method{};
    method.ml_name = name;
    // What CPython's own headers do: the flag tells which type the function really has.
    method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call));
    method.ml_flags = METH_FASTCALL;
    const pybind11::object module_name = module.attr("__name__");
    module.add_object(name, pybind11::reinterpret_steal<pybind11::object>(
                                PyCFunction_NewEx(&method, nullptr, module_name.ptr())));
  }

 private:
  static PyObject* call(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
    if (count != sizeof...(Handles)) {
      PyErr_Format(PyExc_TypeError, "must be called with %zd arguments, got %zd",
                   static_cast<Py_ssize_t>(sizeof...(Handles)), count);
      return nullptr;
    }
    try {
      return with(arguments, std::index_sequence_for<Handles...>()).release().ptr();
    } catch (pybind11::error_already_set& error) {
      error.restore();
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind&) {
      // A thread that ends while the interpreter shuts down must not be held up.
      throw;
#endif
    } catch (...) {
      pybind11::detail::try_translate_exceptions();
    }
    return nullptr;
  }

  template <std::size_t... kIndices>
  static pybind11::object with(PyObject* const* arguments, std::index_sequence<kIndices...>) {
    return kFunction(pybind11::handle(arguments[kIndices])...);
  }
};

}  // namespace dmlcpu::python
