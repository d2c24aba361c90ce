#include <utility>

#include "bindings.hpp"
#include "dmlcpu/operators.hpp"
#include "numpy_seam.hpp"
#include "options.hpp"
#include "positional.hpp"

namespace dmlcpu::python {
namespace {

py::object gather_nd(py::handle input_object, py::handle indices_object, py::handle batch_dims,
                     py::handle mode, py::handle out) {
  const py::array input = as_array(input_object, "input");
  const py::array indices = as_array(indices_object, "indices");
  GatherNdDescriptor descriptor;
  descriptor.input = as_tensor(input, "input");
  descriptor.indices = as_indices(indices, "indices");
  descriptor.batch_dims = as_int(batch_dims, "batch_dims");
  descriptor.mode = as_index_mode(mode);
  Output output = out.is_none()
                      ? new_output(input.dtype(), descriptor.input.type, output_shape(descriptor))
                      : as_output(out, "out", input.dtype());
  descriptor.output = output.tensor;
  descriptor.output_is_new = out.is_none();
  const auto written = py::reinterpret_borrow<py::array>(output.array).nbytes();
  without_lock(bytes_touched(indices) + written, [&descriptor] { run(descriptor); });
  return std::move(output.array);
}

}  // namespace

void bind_gather_nd(py::module_& module) { Positional<&gather_nd>::add_to(module, "gather_nd"); }

}  // namespace dmlcpu::python
