// What each bind file adds to the module, and how they run the operators.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "core/tuning.hpp"
#include "dmlcpu/operators.hpp"

namespace dmlcpu::python {

void bind_arg(pybind11::module_& module);
void bind_top_k(pybind11::module_& module);
void bind_gather_nd(pybind11::module_& module);
void bind_directml(pybind11::module_& module);
void bind_runtime(pybind11::module_& module);

/// Calls body(), which touches so many bytes, and lets other Python threads run meanwhile, unless
/// it is over in no time.
template <class Body>
void without_lock(std::int64_t bytes, Body&& body) {
  if (bytes < tuning::kReleaseLockBytes) {
    body();
    return;
  }
  const pybind11::gil_scoped_release release;
  body();
}

}  // namespace dmlcpu::python
