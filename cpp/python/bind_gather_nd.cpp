#include <utility>

#include "bindings.hpp"
#include "call.hpp"
#include "dmlcpu/operators.hpp"
#include "function.hpp"
#include "numpy_bridge.hpp"
#include "options.hpp"

namespace dmlcpu::python {
namespace {

py::object gather_nd(py::handle input_object, py::handle indices_object, py::handle batch_dims,
                     py::handle mode, py::handle out) {
  const py::array input = as_array(input_object, "input");
  const py::array indices = as_index_array(indices_object, "indices");
  GatherNdDescriptor descriptor{as_tensor(input, "input"),
                                as_indices(indices, "indices"),
                                as_int(batch_dims, "batch_dims"),
                                as_index_mode(mode),
                                {},
                                out.is_none()};
  py::object output = out.is_none() ? new_output(input.dtype(), descriptor.input.type,
                                                 output_shape(descriptor), descriptor.output)
                                    : as_output(out, "out", input.dtype(), descriptor.output);
  const auto written = py::reinterpret_borrow<py::array>(output).nbytes();
  run_or_plan(bytes_touched(indices) + written, descriptor);
  return out.is_none() ? std::move(output) : py::reinterpret_borrow<py::object>(out);
}

}  // namespace

void bind_gather_nd(py::module_& module) { add_native<&gather_nd>(module, "native_gather_nd"); }

}  // namespace dmlcpu::python
