// The extension module's table of contents.
#include <pybind11/pybind11.h>

#include <exception>

#include "bindings.hpp"
#include "dmlcpu/directml.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/runtime.hpp"
#include "dmlcpu/version.h"

namespace py = pybind11;

namespace {

/// Objects that the module makes once, NumPy's among them, belong to one interpreter. CPython's own
/// words, which it has from 3.12 on for interpreters that it checks.
constexpr const char* kOtherInterpreter =
    "module dmlcpu._core does not support loading in subinterpreters";

bool in_main_interpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

}  // namespace

// What pybind11 has as the module's entry point is a function here. Before Python 3.12 it would
// wait for ever in another interpreter than the main one: it asks for Python's lock by way of the
// main one's state of the thread, while the other's holds the lock.
#undef PYBIND11_PLUGIN_IMPL
#define PYBIND11_PLUGIN_IMPL(name) static PyObject* make_definition()

// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): Python's name for it
extern "C" PYBIND11_EXPORT PyObject* PyInit__core();

PYBIND11_MODULE(_core, module, py::mod_gil_not_used(), py::multiple_interpreters::not_supported()) {
  // CPython from 3.13 on calls the entry point in the main interpreter, whichever imports.
  if (!in_main_interpreter()) throw py::import_error(kOtherInterpreter);
  module.attr("__version__") = DMLCPU_VERSION_TEXT;
  // std::invalid_argument becomes ValueError and std::out_of_range IndexError by themselves.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 gives the signature.
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const dmlcpu::TypeError& error) {
      py::set_error(PyExc_TypeError, error.what());
    } catch (const dmlcpu::directml::FeatureLevelError& error) {
      py::set_error(py::module_::import("dmlcpu.directml").attr("FeatureLevelError"), error.what());
    } catch (const dmlcpu::AxisError& error) {
      py::set_error(py::module_::import("numpy.exceptions").attr("AxisError"), error.what());
    }
  });
  dmlcpu::python::bind_operators(module);
  dmlcpu::python::bind_directml(module);
  dmlcpu::python::bind_runtime(module);
  try {
    // Now, not in the first call: DMLCPU_ISA may name what this machine lacks.
    dmlcpu::instruction_set();
  } catch (const std::exception& error) {
    throw py::import_error(error.what());
  }
}

PyObject* PyInit__core() {
  if (in_main_interpreter()) return make_definition();
  PyErr_SetString(PyExc_ImportError, kOtherInterpreter);
  return nullptr;
}
