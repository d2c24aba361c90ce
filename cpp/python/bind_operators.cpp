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

// Each operator has the two parts of a Call.

template <bool kLargest>
py::object arg(py::handle input_object, py::handle axis, py::handle axis_direction,
               py::handle keepdims, py::handle index_dtype_object, py::handle nan_policy,
               py::handle out) {
  Call call;
  const bool is_new = out.is_none();
  ArgDescriptor descriptor{{},
                           as_axes(axis),
                           kLargest,
                           as_bool(keepdims, "keepdims"),
                           as_axis_direction(axis_direction),
                           as_nan_policy(nan_policy),
                           {},
                           is_new};
  const DataType type = index_type(index_dtype_object, true);
  const py::dtype& dtype = index_dtype(type);
  const py::array input = as_array(input_object, "input");
  py::object output = is_new ? py::object() : as_output(out, "out");
  call.ready(bytes_touched(input));

  as_tensor(input, "input", descriptor.input);
  if (is_new) {
    output =
        new_output(dtype, type, output_shape(descriptor), call.is_planned(), descriptor.output);
  } else {
    as_output_tensor(output, "out", type, descriptor.output);
  }
  call.run_or_plan(descriptor);
  return is_new ? std::move(output) : py::reinterpret_borrow<py::object>(out);
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

/// New arrays for those results that the descriptor wants, whose tensors it gets; null for others.
Pair new_results(TopKDescriptor& descriptor, const py::array& input, const py::dtype& indices_dtype,
                 DataType index_type, const Call& call) {
  const Shape shape = output_shape(descriptor);
  const auto make = [&](bool wanted, const py::dtype& dtype, DataType type, Tensor& tensor) {
    return wanted ? new_output(dtype, type, shape, call.is_planned(), tensor) : py::object();
  };
  return {make(descriptor.results != TopKResults::kIndices, input.dtype(), descriptor.input.type,
               descriptor.values),
          make(descriptor.results != TopKResults::kValues, indices_dtype, index_type,
               descriptor.indices)};
}

py::object top_k(py::handle input_object, py::handle k, py::handle axis, py::handle axis_direction,
                 py::handle index_dtype_object, py::handle nan_policy, py::handle out) {
  Call call;
  const bool is_new = out.is_none();
  TopKDescriptor descriptor{{},
                            as_axis(axis),
                            as_int(k, "k"),
                            as_axis_direction(axis_direction),
                            as_nan_policy(nan_policy),
                            {},
                            {},
                            is_new};
  const DataType type = index_type(index_dtype_object, false);
  const py::dtype& indices_dtype = index_dtype(type);
  const Pair pair = is_new ? Pair() : as_pair(out);
  const py::array input = as_array(input_object, "input");
  py::object values = is_new ? py::object() : as_output(pair[0], "out[0]");
  py::object indices = is_new ? py::object() : as_output(pair[1], "out[1]");
  call.ready(bytes_touched(input));

  as_tensor(input, "input", descriptor.input);
  if (is_new) {
    Pair results = new_results(descriptor, input, indices_dtype, type, call);
    values = std::move(results[0]);
    indices = std::move(results[1]);
  } else {
    as_output_tensor(values, "out[0]", descriptor.input.type, descriptor.values);
    as_output_tensor(indices, "out[1]", type, descriptor.indices);
  }
  call.run_or_plan(descriptor);
  return is_new ? make_pair(std::move(values), std::move(indices)) : make_pair(pair[0], pair[1]);
}

/// A TopK of the k-th alone, or an array of the values or the indices: for the doors, which check
/// arguments.
py::object part_of_top_k(py::handle input_object, py::handle k, py::handle axis,
                         py::handle axis_direction, py::handle index_dtype_object,
                         py::handle nan_policy, py::handle results) {
  Call call;
  TopKDescriptor descriptor{{},
                            as_axis(axis),
                            as_int(k, "k"),
                            as_axis_direction(axis_direction),
                            as_nan_policy(nan_policy),
                            {},
                            {},
                            true,
                            as_results(results)};
  const DataType type = index_type(index_dtype_object, false);
  const py::dtype& indices_dtype = index_dtype(type);
  const py::array input = as_array(input_object, "input");
  call.ready(bytes_touched(input));

  as_tensor(input, "input", descriptor.input);
  auto [values, indices] = new_results(descriptor, input, indices_dtype, type, call);
  call.run_or_plan(descriptor);
  if (values && indices) return make_pair(std::move(values), std::move(indices));
  return values ? std::move(values) : std::move(indices);
}

py::object gather_nd(py::handle input_object, py::handle indices_object, py::handle batch_dims,
                     py::handle mode, py::handle out) {
  Call call;
  const bool is_new = out.is_none();
  GatherNdDescriptor descriptor{{}, {},    as_int(batch_dims, "batch_dims"), as_index_mode(mode),
                                {}, is_new};
  const py::array input = as_array(input_object, "input");
  py::array indices = as_array(indices_object, "indices");
  py::object output = is_new ? py::object() : as_output(out, "out");
  make_index_array(indices_object, indices, call.is_planned());
  call.ready(bytes_touched(indices));

  as_tensor(input, "input", descriptor.input);
  as_tensor(indices, "indices", descriptor.indices, true);
  const DataType type = descriptor.input.type;
  if (is_new) {
    output = new_output(input.dtype(), type, output_shape(descriptor), call.is_planned(),
                        descriptor.output);
  } else {
    as_output_tensor(output, "out", type, descriptor.output);
  }
  call.run_or_plan(descriptor, py::reinterpret_borrow<py::array>(output).nbytes());
  return is_new ? std::move(output) : py::reinterpret_borrow<py::object>(out);
}

}  // namespace

void bind_operators(py::module_& module) {
  // What first calls would make, see numpy_bridge.hpp.
  index_dtype(index_type(py::dtype("uint32"), true));
  pair_type();
  add_native<&arg<false>>(module, "native_argmin");
  add_native<&arg<true>>(module, "native_argmax");
  add_native<&top_k>(module, "native_top_k");
  add_native<&part_of_top_k>(module, "native_part_of_top_k");
  add_native<&gather_nd>(module, "native_gather_nd");
  module.def("with_fallback", &make_function_with_fallback);
  module.def("as_int", &as_int);
  module.def("as_axis", &as_axis);
}

}  // namespace dmlcpu::python
