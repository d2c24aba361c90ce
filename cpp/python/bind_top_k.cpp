#include "bindings.hpp"
#include "dmlcpu/operators.hpp"
#include "numpy_seam.hpp"
#include "options.hpp"
#include "positional.hpp"

namespace dmlcpu::python {
namespace {

py::object top_k(py::handle input_object, py::handle k, py::handle axis, py::handle axis_direction,
                 py::handle index_dtype_object, py::handle nan_policy, py::handle out) {
  const py::array input = as_array(input_object, "input");
  TopKDescriptor descriptor;
  descriptor.input = as_tensor(input, "input");
  descriptor.k = as_int(k, "k");
  descriptor.axis = as_axis(axis);
  descriptor.axis_direction = as_axis_direction(axis_direction);
  descriptor.nan_policy = as_nan_policy(nan_policy);
  const DataType type = index_type(index_dtype_object);
  const py::dtype indices_dtype = index_dtype(type);
  Output values;
  Output indices;
  if (out.is_none()) {
    const Shape shape = output_shape(descriptor);
    values = new_output(input.dtype(), descriptor.input.type, shape);
    indices = new_output(indices_dtype, type, shape);
  } else {
    const py::tuple pair = as_pair(out);
    values = as_output(pair[0], "out[0]", input.dtype());
    indices = as_output(pair[1], "out[1]", indices_dtype);
  }
  descriptor.values = values.tensor;
  descriptor.indices = indices.tensor;
  without_lock(bytes_touched(input), [&descriptor] { run(descriptor); });
  return py::make_tuple(values.array, indices.array);
}

}  // namespace

void bind_top_k(py::module_& module) { Positional<&top_k>::add_to(module, "top_k"); }

}  // namespace dmlcpu::python
