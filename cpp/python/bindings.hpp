// What each bind file adds to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace dmlcpu::python {

void bind_operators(pybind11::module_& module);
void bind_directml(pybind11::module_& module);
void bind_runtime(pybind11::module_& module);

}  // namespace dmlcpu::python
