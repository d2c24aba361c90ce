#include <utility>

#include "bindings.hpp"
#include "call.hpp"
#include "dmlcpu/operators.hpp"
#include "function.hpp"
#include "numpy_bridge.hpp"
#include "options.hpp"

namespace dmlcpu::python {
namespace {

template <bool kLargest>
py::object arg(py::handle input_object, py::handle axis, py::handle axis_direction,
               py::handle keepdims, py::handle index_dtype_object, py::handle nan_policy,
               py::handle out) {
  const py::array input = as_array(input_object, "input");
  ArgDescriptor descriptor{as_tensor(input, "input"),
                           as_axes(axis),
                           kLargest,
                           as_bool(keepdims, "keepdims"),
                           as_axis_direction(axis_direction),
                           as_nan_policy(nan_policy),
                           {},
                           out.is_none()};
  const DataType type = index_type(index_dtype_object);
  const py::dtype& dtype = index_dtype(type);
  py::object output = out.is_none()
                          ? new_output(dtype, type, output_shape(descriptor), descriptor.output)
                          : as_output(out, "out", dtype, descriptor.output);
  run_or_plan(bytes_touched(input), descriptor);
  return out.is_none() ? std::move(output) : py::reinterpret_borrow<py::object>(out);
}

}  // namespace

void bind_arg(py::module_& module) {
  add_native<&arg<false>>(module, "native_argmin");
  add_native<&arg<true>>(module, "native_argmax");
}

}  // namespace dmlcpu::python
