// The extension module's table of contents.
#include <pybind11/pybind11.h>

#include <exception>

#include "bindings.hpp"
#include "dmlcpu/directml.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/runtime.hpp"
#include "dmlcpu/version.h"

namespace py = pybind11;

PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
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
