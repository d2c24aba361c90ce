// Functions declared in Python that run native code: Python states names, defaults and
// documentation, and a call runs none of its code. Functions that hand calls on.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace dmlcpu::python {

/// A function's work, given an argument for each parameter, in their order. Returns a new
/// reference, or null with Python's error set.
using Native = PyObject* (*)(PyObject* const* arguments);

constexpr int kMaxParameters = 8;

/// A function of handles as Native: exceptions become Python's.
template <auto kFunction>
struct NativeOf;

template <class... Handles, pybind11::object (*kFunction)(Handles...)>
struct NativeOf<kFunction> {
  static constexpr int kParameters = sizeof...(Handles);
  static_assert(kParameters <= kMaxParameters);

  static PyObject* run(PyObject* const* arguments) {
    try {
      return with(arguments, std::index_sequence_for<Handles...>()).release().ptr();
    } catch (pybind11::error_already_set& error) {
      error.restore();
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind&) {
      // Python ends a thread that runs Python code while the interpreter is finalizing.
      throw;
#endif
    } catch (...) {
      pybind11::detail::try_translate_exceptions();
    }
    return nullptr;
  }

 private:
  template <std::size_t... kIndices>
  static pybind11::object with(PyObject* const* arguments, std::index_sequence<kIndices...>) {
    return kFunction(pybind11::handle(arguments[kIndices])...);
  }
};

/// A callable with the parameters, defaults, name and documentation of `declaration`, a Python
/// function of `parameters` plain parameters (no *args, no **kwargs, none positional-only), whose
/// calls run `native`. It takes and refuses arguments just as `declaration` does, is pickled by
/// name, and becomes a method in a class.
pybind11::object make_function(pybind11::handle declaration, Native native, int parameters);

/// A callable that is like `declaration`, a Python function, and calls it. Where that returns
/// NotImplemented, `fallback` gets the same arguments, those by name by name, and no defaults:
/// Python code would have to collect them in every call.
pybind11::object make_function_with_fallback(pybind11::handle declaration,
                                             pybind11::handle fallback);

/// Adds a decorator to the module that turns a declaration into such a function.
template <auto kFunction>
void add_native(pybind11::module_& module, const char* name) {
  module.def(
      name,
      [](const pybind11::object& declaration) {
        return make_function(declaration, &NativeOf<kFunction>::run,
                             NativeOf<kFunction>::kParameters);
      },
      pybind11::arg("declaration"), pybind11::pos_only());
}

}  // namespace dmlcpu::python
