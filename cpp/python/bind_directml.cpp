// dmlcpu.directml: dataclasses become descriptors, arrays the tensors' buffers.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "dmlcpu/directml.hpp"
#include "dmlcpu/directml_table.hpp"
#include "dmlcpu/error.hpp"
#include "made_once.hpp"
#include "numpy_bridge.hpp"
#include "options.hpp"

namespace dmlcpu::python {
namespace {

using directml::detail::Field;
using directml::detail::FieldKind;
using directml::detail::Naming;
using Numbers = std::vector<UINT>;

const char* python_name(Field field) { return directml::detail::name_of(field, Naming::kPython); }

const char* python_type(Field field) { return directml::detail::info(field).python_type; }

/// Errors have the field's type as Python says it.
[[noreturn]] void fail_field(const std::string& name, const char* type, py::handle actual,
                             Cause cause = {}) {
  fail_type(name, (std::string("must be ") + type).c_str(), actual, std::move(cause));
}

/// The unsigned int that an object stands for.
template <class Number = UINT>
Number as_uint(py::handle object, const std::string& name, const char* type) {
  Cause cause;
  const py::object index = find_index(object, cause);
  if (!index) fail_field(name, type, object, cause);
  const auto number = static_cast<UINT64>(PyLong_AsUnsignedLongLong(index.ptr()));
  if (PyErr_Occurred() != nullptr || number > Number(-1)) {
    PyErr_Clear();
    throw ValueError(name + ": must be an unsigned int of " + std::to_string(8 * sizeof(Number)) +
                     " bits, got " + py::str(index).cast<std::string>());
  }
  return static_cast<Number>(number);
}

Numbers as_uints(py::handle objects, const std::string& name) {
  Cause cause;
  const py::object iterator = find_iterator(objects, cause);
  if (!iterator) fail_field(name, python_type(Field::kSizes), objects, cause);
  Numbers numbers;
  for (const py::handle object : py::reinterpret_borrow<py::iterator>(iterator)) {
    const std::string item = name + "[" + std::to_string(numbers.size()) + "]";
    numbers.push_back(as_uint(object, item, "an int"));
  }
  return numbers;
}

/// The enumerators of a field are checked by the library.
template <class Enum>
Enum as_enum(UINT number) {
  Enum value{};
  std::memcpy(&value, &number, sizeof value);
  return value;
}

/// Sizes and strides, which are null if there are none.
struct Layout {
  Layout() = default;
  /// Errors have `prefix` before the names.
  Layout(py::handle sizes_object, py::handle strides_object, const std::string& prefix)
      : sizes(as_uints(sizes_object, prefix + python_name(Field::kSizes))) {
    if (strides_object.is_none()) return;
    const std::string name = prefix + python_name(Field::kStrides);
    strides = as_uints(strides_object, name);
    if (strides.size() != sizes.size()) {
      throw ValueError(name + ": must be as many as sizes, " + std::to_string(sizes.size()) +
                       ", got " + std::to_string(strides.size()));
    }
  }

  UINT rank() const { return static_cast<UINT>(sizes.size()); }
  const UINT* strides_or_null() const { return strides.empty() ? nullptr : strides.data(); }
  UINT64 bytes(UINT data_type) const {
    return dmlcpu_buffer_tensor_size(as_enum<DML_TENSOR_DATA_TYPE>(data_type), rank(), sizes.data(),
                                     strides_or_null());
  }

  Numbers sizes;
  Numbers strides;
};

/// dmlcpu.directml.BufferTensorDesc.
const py::object& tensor_type() {
  return made_once(
      [] { return py::object(py::module_::import("dmlcpu.directml").attr("BufferTensorDesc")); });
}

/// A BufferTensorDesc as DirectML's, and what that points at.
struct TensorStorage {
  void read(py::handle object, Field field) {
    name = python_name(field);
    if (!py::isinstance(object, tensor_type())) fail_field(name, python_type(field), object);
    const std::string prefix = name + std::string(".");
    const auto read_uint = [&](Field part, auto zero) {
      return as_uint<decltype(zero)>(object.attr(python_name(part)), prefix + python_name(part),
                                     python_type(part));
    };
    layout = Layout(object.attr("sizes"), object.attr("strides"), prefix);
    buffer.DimensionCount = layout.rank();
    buffer.Sizes = layout.sizes.data();
    buffer.Strides = layout.strides_or_null();
    type = read_uint(Field::kDataType, UINT{});
    buffer.DataType = as_enum<DML_TENSOR_DATA_TYPE>(type);
    buffer.Flags = as_enum<DML_TENSOR_FLAGS>(read_uint(Field::kFlags, UINT{}));
    const bool counted = object.attr(python_name(Field::kTotalTensorSizeInBytes)).is_none();
    buffer.TotalTensorSizeInBytes =
        counted ? layout.bytes(type) : read_uint(Field::kTotalTensorSizeInBytes, UINT64{});
    buffer.GuaranteedBaseOffsetAlignment = read_uint(Field::kGuaranteedBaseOffsetAlignment, UINT{});
  }

  /// Finds how arrays have to lie, of a tensor that the library accepts.
  void expect() {
    dtype = py::dtype(directml::detail::plain_name(directml::detail::kDataTypes[type]));
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): every type of the table has one
    expected.type = find_type(dtype).value();
    expected.rank = static_cast<int>(layout.rank());
    std::int64_t stride = 1;
    std::int64_t last = 0;
    for (std::size_t d = layout.sizes.size(); d-- > 0;) {
      const std::int64_t size = layout.sizes[d];
      expected.sizes[d] = size;
      expected.strides[d] =
          layout.strides.empty() ? stride : static_cast<std::int64_t>(layout.strides[d]);
      contiguous = contiguous && (size == 1 || expected.strides[d] == stride);
      stride *= size;
      last += (size - 1) * expected.strides[d];
    }
    used_bytes = (last + 1) * dtype.itemsize();
    bytes = stride * dtype.itemsize();
  }

  /// A new array of that layout, to write to.
  py::object new_output(Tensor& tensor) const {
    return contiguous ? python::new_output(dtype, expected.type,
                                           Shape{expected.rank, expected.sizes}, false, tensor)
                      : python::new_output(dtype, expected, tensor);
  }

  const char* name = "";
  UINT type = 0;
  Layout layout;
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{DML_TENSOR_TYPE_BUFFER, &buffer};
  py::dtype dtype;
  Tensor expected;
  std::int64_t used_bytes = 0;  ///< from its first element to its last one's end
  std::int64_t bytes = 0;       ///< of all elements; broadcast ones count as often as they are read
  bool contiguous = true;
};

/// An OperatorDesc as DirectML's, and all that it points at.
struct Descriptor {
  explicit Descriptor(py::handle object)
      : type(as_uint(object.attr(python_name(Field::kType)), python_name(Field::kType),
                     python_type(Field::kType))) {
    const directml::detail::Operator* const op = directml::detail::find_operator(type);
    if (op == nullptr) return;  // the library refuses it
    for (const auto& [field, offset] : op->fields) {
      const char* const name = python_name(field);
      switch (directml::detail::info(field).kind) {
        case FieldKind::kNone:
          break;
        case FieldKind::kInput:
          ++input_count;
          [[fallthrough]];
        case FieldKind::kOutput:
          tensors[tensor_count].read(object.attr(name), field);
          store<const DML_TENSOR_DESC*>(offset, &tensors[tensor_count++].desc);
          break;
        case FieldKind::kAxisCount:
          axes = as_uints(object.attr(python_name(Field::kAxes)), python_name(Field::kAxes));
          store(offset, static_cast<UINT>(axes.size()));
          break;
        case FieldKind::kAxes:
          store<const UINT*>(offset, axes.data());
          break;
        case FieldKind::kNumber:
          store(offset, as_uint(object.attr(name), name, python_type(field)));
          break;
      }
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  template <class T>
  void store(std::size_t offset, T value) {
    std::memcpy(fields.data() + offset, static_cast<const void*>(&value), sizeof(T));
  }

  UINT type;
  std::array<TensorStorage, 3> tensors;
  std::uint32_t input_count = 0;
  std::uint32_t tensor_count = 0;
  Numbers axes;
  alignas(void*) std::array<char, sizeof(DML_TOP_K1_OPERATOR_DESC)> fields{};  // the largest
  DML_OPERATOR_DESC desc{as_enum<DML_OPERATOR_TYPE>(type), fields.data()};
};

template <class Sizes>
std::string to_text(int rank, const Sizes& extents) {
  py::tuple numbers(rank);
  for (int d = 0; d < rank; ++d) numbers[d] = extents[d];
  return py::str(numbers).cast<std::string>();
}

/// The bytes from the tensor's first element that the array lends.
template <class Pointer>
std::uint64_t lent_bytes(const BasicTensor<Pointer>& array, const TensorStorage& tensor) {
  const Tensor& layout = tensor.expected;
  const bool same_sizes =
      array.rank == layout.rank &&
      std::equal(layout.sizes.begin(), layout.sizes.begin() + layout.rank, array.sizes.begin());
  Extents strides = array.strides;
  for (int d = 0; same_sizes && d < layout.rank; ++d) {
    if (layout.sizes[d] == 1) strides[d] = layout.strides[d];  // any will do
  }
  if (same_sizes &&
      std::equal(layout.strides.begin(), layout.strides.begin() + layout.rank, strides.begin())) {
    return static_cast<std::uint64_t>(tensor.used_bytes);
  }
  if (array.rank == 1 && (array.strides[0] == 1 || array.sizes[0] <= 1)) {
    return static_cast<std::uint64_t>(array.sizes[0] * tensor.dtype.itemsize());
  }
  throw ValueError(std::string(tensor.name) + ": must have the tensor's " +
                   (same_sizes ? "strides, in elements, " : "sizes ") +
                   to_text(layout.rank, same_sizes ? layout.strides : layout.sizes) +
                   ", or be 1-D and contiguous, got " +
                   to_text(array.rank, same_sizes ? strides : array.sizes));
}

class Compiled {
 public:
  /// Plans for the context's number of threads.
  Compiled(py::handle desc, UINT feature_level, py::handle nan_policy, py::handle mode)
      : descriptor_(desc) {
    const directml::CompileOptions options{
        as_enum<DML_FEATURE_LEVEL>(feature_level),
        as_nan_policy(nan_policy) == NanPolicy::kOmit ? DMLCPU_NAN_OMIT : DMLCPU_NAN_PROPAGATE,
        as_index_mode(mode) == IndexMode::kClip ? DMLCPU_INDEX_CLIP : DMLCPU_INDEX_RAISE};
    const ContextThreads threads;
    dmlcpu_operator* compiled = nullptr;
    directml::check(
        directml::detail::compile(&descriptor_.desc, &options, Naming::kPython, &compiled));
    operator_.reset(compiled);
    for (std::size_t i = 0; i < descriptor_.tensor_count; ++i) descriptor_.tensors[i].expect();
  }

  /// One array, or a tuple of them.
  py::object dispatch(const py::tuple& inputs, py::handle out) const {
    const std::uint32_t input_count = descriptor_.input_count;
    if (inputs.size() != input_count) {
      throw py::type_error("inputs: must be " + std::to_string(input_count) + ", got " +
                           std::to_string(inputs.size()));
    }
    const std::uint32_t output_count = descriptor_.tensor_count - input_count;
    const TensorStorage* const descs = descriptor_.tensors.data();
    Call call;
    std::array<py::object, 2> arrays;  // a py::array of nothing would be made by NumPy
    std::array<py::object, 2> written;
    Pair results;
    std::int64_t bytes = 0;
    if (!out.is_none()) {
      results = output_count == 1 ? Pair{py::reinterpret_borrow<py::object>(out)} : as_pair(out);
    }
    for (std::uint32_t i = 0; i < descriptor_.tensor_count; ++i) {
      bytes += descs[i].bytes;
      if (i < input_count) {
        arrays[i] = as_array(inputs[i], descs[i].name);
      } else if (!out.is_none()) {
        written[i - input_count] = as_output(results[i - input_count], descs[i].name);
      }
    }
    call.ready(bytes);

    std::array<dmlcpu_input, 2> in{};
    std::array<dmlcpu_output, 2> outputs{};
    for (std::uint32_t i = 0; i < input_count; ++i) {
      const auto array = py::reinterpret_borrow<py::array>(arrays[i]);
      ConstTensor tensor;
      as_tensor_of(array, descs[i].name, descs[i].expected.type, tensor);
      in[i] = {tensor.data, lent_bytes(tensor, descs[i])};
    }
    for (std::uint32_t o = 0; o < output_count; ++o) {
      const TensorStorage& desc = descs[input_count + o];
      Tensor tensor;
      if (out.is_none()) {
        results[o] = desc.new_output(tensor);
      } else {
        as_output_tensor(written[o], desc.name, desc.expected.type, tensor);
      }
      outputs[o] = {tensor.data, lent_bytes(tensor, desc)};
    }
    call.run([&] {
      directml::check(
          dmlcpu_dispatch(operator_.get(), in.data(), input_count, outputs.data(), output_count));
    });
    if (output_count == 1) return std::move(results[0]);
    return py::make_tuple(results[0], results[1]);
  }

 private:
  std::unique_ptr<dmlcpu_operator, decltype(&dmlcpu_release)> operator_{nullptr, dmlcpu_release};
  Descriptor descriptor_;
};

UINT feature_level_required(py::handle desc) {
  const Descriptor descriptor(desc);
  DML_FEATURE_LEVEL level{};
  directml::check(
      directml::detail::feature_level_required(&descriptor.desc, Naming::kPython, &level));
  return level;
}

/// The first level that has an operator with tensors of these types and dimensions; None if none
/// has.
py::object feature_level_of(UINT type, UINT data_type, UINT index_type, int dimensions) {
  const directml::detail::Operator& op = *directml::detail::find_operator(type);
  const auto level = std::max({op.appears, op.data.of[data_type], op.indices.of[index_type],
                               dimensions == 4 ? 0 : op.any_dimensions});
  if (level == directml::detail::kNever) return py::none();
  return py::int_(level);
}

UINT64 buffer_tensor_size(py::handle data_type, py::handle sizes, py::handle strides) {
  const Layout layout(sizes, strides, "");
  const UINT64 bytes = layout.bytes(
      as_uint(data_type, python_name(Field::kDataType), python_type(Field::kDataType)));
  if (bytes == std::numeric_limits<UINT64>::max()) {
    throw ValueError("sizes: must give bytes that fit 64 bits, got " +
                     to_text(static_cast<int>(layout.rank()), layout.sizes));
  }
  return bytes;
}

}  // namespace

void bind_directml(py::module_& module) {
  py::class_<Compiled>(module, "CompiledOperator")
      .def(py::init<py::handle, UINT, py::handle, py::handle>())
      .def("dispatch", &Compiled::dispatch);
  module.def("feature_level_required", &feature_level_required);
  module.def("feature_level_of", &feature_level_of);
  module.def("buffer_tensor_size", &buffer_tensor_size);
}

}  // namespace dmlcpu::python
