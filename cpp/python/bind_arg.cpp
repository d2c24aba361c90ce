#include <utility>

#include "bindings.hpp"
#include "dmlcpu/operators.hpp"
#include "numpy_seam.hpp"
#include "options.hpp"
#include "positional.hpp"

namespace dmlcpu::python {
namespace {

template <bool kLargest>
py::object arg(py::handle input_object, py::handle axis, py::handle axis_direction,
               py::handle keepdims, py::handle index_dtype_object, py::handle nan_policy,
               py::handle out) {
  const py::array input = as_array(input_object, "input");
  ArgDescriptor descriptor;
  descriptor.input = as_tensor(input, "input");
  descriptor.axes = as_axes(axis);
  descriptor.largest = kLargest;
  descriptor.keep_dims = as_bool(keepdims, "keepdims");
  descriptor.axis_direction = as_axis_direction(axis_direction);
  descriptor.nan_policy = as_nan_policy(nan_policy);
  const DataType type = index_type(index_dtype_object);
  const py::dtype dtype = index_dtype(type);
  Output output = out.is_none() ? new_output(dtype, type, output_shape(descriptor))
                                : as_output(out, "out", dtype);
  descriptor.output = output.tensor;
  without_lock(bytes_touched(input), [&descriptor] { run(descriptor); });
  return std::move(output.array);
}

}  // namespace

void bind_arg(py::module_& module) {
  Positional<&arg<false>>::add_to(module, "argmin");
  Positional<&arg<true>>::add_to(module, "argmax");
}

}  // namespace dmlcpu::python
