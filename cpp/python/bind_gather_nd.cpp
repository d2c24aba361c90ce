#include "bindings.hpp"
#include "dmlcpu/operators.hpp"
#include "numpy_seam.hpp"
#include "options.hpp"

namespace dmlcpu::python {
namespace {

py::array gather_nd(py::handle input_object, py::handle indices_object, py::handle batch_dims,
                    py::handle mode, py::handle out) {
  const py::array input = as_array(input_object, "input");
  const py::array indices = as_array(indices_object, "indices");
  GatherNdDescriptor descriptor;
  descriptor.input = as_tensor(input, "input");
  descriptor.indices = as_indices(indices, "indices");
  descriptor.batch_dims = as_int(batch_dims, "batch_dims");
  descriptor.mode = as_index_mode(mode);
  py::array result;
  if (out.is_none()) {
    result = new_array(input.dtype(), output_shape(descriptor));
    descriptor.output = as_new_output(result);
  } else {
    descriptor.output = as_output(out, "out", input.dtype());
    result = py::reinterpret_borrow<py::array>(out);
  }
  run_released(descriptor, indices.nbytes() + result.nbytes());
  return result;
}

}  // namespace

void bind_gather_nd(py::module_& module) { module.def("gather_nd", &gather_nd); }

}  // namespace dmlcpu::python
