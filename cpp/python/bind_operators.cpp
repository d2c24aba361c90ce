// The operators as functions declared in Python.
#include <utility>

#include "bindings.hpp"
#include "call.hpp"
#include "dmlcpu/operators.hpp"
#include "function.hpp"
#include "made_once.hpp"
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

/// dmlcpu.TopK.
const py::object& pair_type() {
  return made_once([] { return py::object(py::module_::import("dmlcpu._types").attr("TopK")); });
}

/// A dmlcpu.TopK, allocated and filled as tuple's own constructor would: through a tuple of the two
/// it takes longer (docs/tuning.md).
py::object make_pair(py::object values, py::object indices) {
  auto* const type = reinterpret_cast<PyTypeObject*>(pair_type().ptr());
  auto pair = py::reinterpret_steal<py::object>(type->tp_alloc(type, 2));
  if (!pair) throw py::error_already_set();
  PyTuple_SET_ITEM(pair.ptr(), 0, values.release().ptr());
  PyTuple_SET_ITEM(pair.ptr(), 1, indices.release().ptr());
  return pair;
}

py::object top_k(py::handle input_object, py::handle k, py::handle axis, py::handle axis_direction,
                 py::handle index_dtype_object, py::handle nan_policy, py::handle out) {
  const py::array input = as_array(input_object, "input");
  TopKDescriptor descriptor{as_tensor(input, "input"),
                            as_axis(axis),
                            as_int(k, "k"),
                            as_axis_direction(axis_direction),
                            as_nan_policy(nan_policy),
                            {},
                            {},
                            out.is_none()};
  const DataType type = index_type(index_dtype_object);
  const py::dtype& indices_dtype = index_dtype(type);
  if (!out.is_none()) {
    const py::tuple pair = as_pair(out);
    const py::object values = as_output(pair[0], "out[0]", input.dtype(), descriptor.values);
    const py::object indices = as_output(pair[1], "out[1]", indices_dtype, descriptor.indices);
    run_or_plan(bytes_touched(input), descriptor);
    return make_pair(pair[0], pair[1]);
  }
  const Shape shape = output_shape(descriptor);
  py::object values = new_output(input.dtype(), descriptor.input.type, shape, descriptor.values);
  py::object indices = new_output(indices_dtype, type, shape, descriptor.indices);
  run_or_plan(bytes_touched(input), descriptor);
  return make_pair(std::move(values), std::move(indices));
}

py::object gather_nd(py::handle input_object, py::handle indices_object, py::handle batch_dims,
                     py::handle mode, py::handle out) {
  const py::array input = as_array(input_object, "input");
  const py::array indices = as_index_array(indices_object, "indices");
  GatherNdDescriptor descriptor{as_tensor(input, "input"),
                                as_tensor(indices, "indices", true),
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

void bind_operators(py::module_& module) {
  // What first calls would make, see numpy_bridge.hpp.
  index_dtype(index_type(py::dtype("uint32")));
  pair_type();
  add_native<&arg<false>>(module, "native_argmin");
  add_native<&arg<true>>(module, "native_argmax");
  add_native<&top_k>(module, "native_top_k");
  add_native<&gather_nd>(module, "native_gather_nd");
}

}  // namespace dmlcpu::python
