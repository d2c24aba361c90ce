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
void bind_runtime(pybind11::module_& module);

/// Runs an operator on so many bytes, other Python threads meanwhile, unless it is over in no time.
template <class Descriptor>
void run_released(const Descriptor& descriptor, std::int64_t bytes) {
  if (bytes < tuning::kReleaseLockBytes) {
    run(descriptor);
    return;
  }
  const pybind11::gil_scoped_release release;
  run(descriptor);
}

}  // namespace dmlcpu::python
