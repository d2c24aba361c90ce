// dmlcpu.directml: descriptors arrive as numbers, arrays as the tensors' buffers.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "dmlcpu/directml.h"
#include "dmlcpu/error.hpp"
#include "numpy_bridge.hpp"
#include "options.hpp"

namespace dmlcpu::python {
namespace {

using Numbers = std::vector<UINT>;

/// Name, data type, flags, sizes, strides, size in bytes, alignment.
using TensorNumbers =
    std::tuple<std::string, UINT, UINT, Numbers, std::optional<Numbers>, UINT64, UINT>;

/// The enumerators of a field are checked by the library.
template <class Enum>
Enum as_enum(UINT number) {
  Enum value{};
  std::memcpy(&value, &number, sizeof value);
  return value;
}

/// A descriptor, and all that it points at.
class Descriptor {
 public:
  Descriptor(UINT type, const std::vector<TensorNumbers>& tensors, const Numbers& axes,
             const Numbers& numbers)
      : tensors_(tensors), axes_(axes) {
    for (const TensorNumbers& tensor : tensors_) {
      const auto& [name, data_type, flags, sizes, strides, size, alignment] = tensor;
      const auto i = static_cast<std::size_t>(&tensor - tensors_.data());
      buffers_.at(i) = {as_enum<DML_TENSOR_DATA_TYPE>(data_type),
                        as_enum<DML_TENSOR_FLAGS>(flags),
                        static_cast<UINT>(sizes.size()),
                        sizes.data(),
                        strides ? strides->data() : nullptr,
                        size,
                        alignment};
      descs_[i] = {DML_TENSOR_TYPE_BUFFER, &buffers_[i]};
    }
    fill(type, numbers);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  const DML_OPERATOR_DESC& desc() const { return desc_; }

 private:
  void fill(UINT type, const Numbers& n) {
    const DML_TENSOR_DESC* const t = descs_.data();
    const auto axis_count = static_cast<UINT>(axes_.size());
    desc_ = {as_enum<DML_OPERATOR_TYPE>(type), &fields_};
    switch (type) {
      case DML_OPERATOR_REDUCE:
        fields_.reduce = {as_enum<DML_REDUCE_FUNCTION>(n.at(0)), &t[0], &t[1], axis_count,
                          axes_.data()};
        break;
      case DML_OPERATOR_ARGMIN:
        fields_.argmin = {&t[0], &t[1], axis_count, axes_.data(),
                          as_enum<DML_AXIS_DIRECTION>(n.at(0))};
        break;
      case DML_OPERATOR_ARGMAX:
        fields_.argmax = {&t[0], &t[1], axis_count, axes_.data(),
                          as_enum<DML_AXIS_DIRECTION>(n.at(0))};
        break;
      case DML_OPERATOR_TOP_K:
        fields_.top_k = {&t[0], &t[1], &t[2], n.at(0), n.at(1)};
        break;
      case DML_OPERATOR_TOP_K1:
        fields_.top_k1 = {&t[0],   &t[1],   &t[2],
                          n.at(0), n.at(1), as_enum<DML_AXIS_DIRECTION>(n.at(2))};
        break;
      case DML_OPERATOR_GATHER_ND:
        fields_.gather_nd = {&t[0], &t[1], &t[2], n.at(0), n.at(1)};
        break;
      case DML_OPERATOR_GATHER_ND1:
        fields_.gather_nd1 = {&t[0], &t[1], &t[2], n.at(0), n.at(1), n.at(2)};
        break;
      default:
        break;  // the library refuses it
    }
  }

  std::vector<TensorNumbers> tensors_;
  Numbers axes_;
  std::array<DML_BUFFER_TENSOR_DESC, 3> buffers_{};
  std::array<DML_TENSOR_DESC, 3> descs_{};
  union {
    DML_REDUCE_OPERATOR_DESC reduce;
    DML_ARGMIN_OPERATOR_DESC argmin;
    DML_ARGMAX_OPERATOR_DESC argmax;
    DML_TOP_K_OPERATOR_DESC top_k;
    DML_TOP_K1_OPERATOR_DESC top_k1;
    DML_GATHER_ND_OPERATOR_DESC gather_nd;
    DML_GATHER_ND1_OPERATOR_DESC gather_nd1;
  } fields_{};
  DML_OPERATOR_DESC desc_{};
};

/// How the arrays of a tensor have to lie.
struct Expected {
  std::string name;
  py::dtype dtype;
  Tensor layout;
  std::int64_t used_bytes = 0;  ///< from its first element to behind its last
  std::int64_t bytes = 0;       ///< of all elements; broadcast ones count as often as they are read
  bool packed = true;
};

Expected expect(const TensorNumbers& tensor) {
  static const char* const names[] = {"",      "float32", "float16", "uint32",  "uint16", "uint8",
                                      "int32", "int16",   "int8",    "float64", "uint64", "int64"};
  const auto& [name, data_type, flags, sizes, strides, size, alignment] = tensor;
  Expected expected{name, py::dtype(names[data_type]), {}, 0, 0, true};
  Tensor& layout = expected.layout;
  layout.rank = static_cast<int>(sizes.size());
  std::int64_t packed = 1;
  std::int64_t last = 0;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    layout.sizes[d] = sizes[d];
    layout.strides[d] = strides ? static_cast<std::int64_t>((*strides)[d]) : packed;
    expected.packed = expected.packed && (layout.sizes[d] == 1 || layout.strides[d] == packed);
    packed *= sizes[d];
    last += (layout.sizes[d] - 1) * layout.strides[d];
  }
  expected.used_bytes = (last + 1) * expected.dtype.itemsize();
  expected.bytes = packed * expected.dtype.itemsize();
  return expected;
}

std::string to_text(int rank, const Extents& extents) {
  py::tuple numbers(rank);
  for (int d = 0; d < rank; ++d) numbers[d] = extents[d];
  return py::str(numbers).cast<std::string>();
}

/// The bytes from the tensor's first element that the array lends.
template <class Pointer>
std::uint64_t lent_bytes(const BasicTensor<Pointer>& array, const Expected& expected) {
  const Tensor& layout = expected.layout;
  const bool same_sizes =
      array.rank == layout.rank &&
      std::equal(layout.sizes.begin(), layout.sizes.begin() + layout.rank, array.sizes.begin());
  Extents strides = array.strides;
  for (int d = 0; same_sizes && d < layout.rank; ++d) {
    if (layout.sizes[d] == 1) strides[d] = layout.strides[d];  // any will do
  }
  if (same_sizes &&
      std::equal(layout.strides.begin(), layout.strides.begin() + layout.rank, strides.begin())) {
    return static_cast<std::uint64_t>(expected.used_bytes);
  }
  if (array.rank == 1 && (array.strides[0] == 1 || array.sizes[0] <= 1)) {
    return static_cast<std::uint64_t>(array.sizes[0] * expected.dtype.itemsize());
  }
  const auto fail = [&expected](const char* what, const std::string& wanted,
                                const std::string& actual) {
    throw ValueError(expected.name + ": must have the tensor's " + what + " " + wanted +
                     ", or be 1-D and contiguous, got " + actual);
  };
  if (!same_sizes) {
    fail("sizes", to_text(layout.rank, layout.sizes), to_text(array.rank, array.sizes));
  }
  fail("strides, in elements,", to_text(layout.rank, layout.strides), to_text(array.rank, strides));
  return 0;
}

class Compiled {
 public:
  Compiled(UINT type, const std::vector<TensorNumbers>& tensors, const Numbers& axes,
           const Numbers& numbers, UINT feature_level, py::handle nan_policy, py::handle mode)
      : operator_(compile(Descriptor(type, tensors, axes, numbers),
                          options(feature_level, nan_policy, mode))),
        input_count_(type == DML_OPERATOR_GATHER_ND || type == DML_OPERATOR_GATHER_ND1 ? 2 : 1) {
    for (const TensorNumbers& tensor : tensors) expected_.push_back(expect(tensor));
  }

  /// One array, or a tuple of them.
  py::object dispatch(const py::tuple& inputs, py::handle out) const {
    if (inputs.size() != input_count_) {
      throw py::type_error("inputs: must be " + std::to_string(input_count_) + ", got " +
                           std::to_string(inputs.size()));
    }
    const std::size_t output_count = expected_.size() - input_count_;
    std::array<py::object, 2> arrays;  // a py::array of nothing would be made by NumPy
    std::array<dmlcpu_input, 2> in{};
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < input_count_; ++i) {
      const Expected& expected = expected_[i];
      py::array array = as_array(inputs[i], expected.name.c_str());
      const ConstTensor tensor = as_tensor_of(array, expected.name.c_str(), expected.dtype);
      arrays[i] = std::move(array);
      in[i] = {tensor.data, lent_bytes(tensor, expected)};
      bytes += expected.bytes;
    }
    std::array<py::object, 2> results;
    std::array<dmlcpu_output, 2> outputs{};
    for (std::size_t o = 0; o < output_count; ++o) {
      const Expected& expected = expected_[input_count_ + o];
      Tensor tensor;
      results[o] = out.is_none()
                       ? new_output(expected.dtype, expected.layout, expected.packed, tensor)
                       : as_output(output_of(out, o, output_count), expected.name.c_str(),
                                   expected.dtype, tensor);
      outputs[o] = {tensor.data, lent_bytes(tensor, expected)};
      bytes += expected.bytes;
    }
    const auto run = [&] {
      operator_.dispatch(in.data(), static_cast<std::uint32_t>(input_count_), outputs.data(),
                         static_cast<std::uint32_t>(output_count));
    };
    call(bytes, run);
    if (output_count == 1) return std::move(results[0]);
    return py::make_tuple(results[0], results[1]);
  }

 private:
  /// Plans for the context's number of threads.
  static directml::CompiledOperator compile(const Descriptor& descriptor,
                                            const directml::CompileOptions& options) {
    const ContextThreads threads;
    return directml::CompiledOperator(descriptor.desc(), options);
  }

  static directml::CompileOptions options(UINT feature_level, py::handle nan_policy,
                                          py::handle mode) {
    return {as_enum<DML_FEATURE_LEVEL>(feature_level),
            as_nan_policy(nan_policy) == NanPolicy::kOmit ? DMLCPU_NAN_OMIT : DMLCPU_NAN_PROPAGATE,
            as_index_mode(mode) == IndexMode::kClip ? DMLCPU_INDEX_CLIP : DMLCPU_INDEX_RAISE};
  }

  /// The caller's array for an output: all of `out`, or one of a pair.
  static py::object output_of(py::handle out, std::size_t at, std::size_t count) {
    if (count == 1) return py::reinterpret_borrow<py::object>(out);
    return as_pair(out)[at];
  }

  directml::CompiledOperator operator_;
  std::size_t input_count_;
  std::vector<Expected> expected_;
};

UINT feature_level_required(UINT type, const std::vector<TensorNumbers>& tensors,
                            const Numbers& axes, const Numbers& numbers) {
  return directml::feature_level_required(Descriptor(type, tensors, axes, numbers).desc());
}

UINT64 buffer_tensor_size(UINT data_type, const Numbers& sizes,
                          const std::optional<Numbers>& strides) {
  return dmlcpu_buffer_tensor_size(as_enum<DML_TENSOR_DATA_TYPE>(data_type),
                                   static_cast<std::uint32_t>(sizes.size()), sizes.data(),
                                   strides ? strides->data() : nullptr);
}

}  // namespace

void bind_directml(py::module_& module) {
  py::class_<Compiled>(module, "CompiledOperator")
      .def(py::init<UINT, const std::vector<TensorNumbers>&, const Numbers&, const Numbers&, UINT,
                    py::handle, py::handle>())
      .def("dispatch", &Compiled::dispatch);
  module.def("feature_level_required", &feature_level_required);
  module.def("buffer_tensor_size", &buffer_tensor_size);
}

}  // namespace dmlcpu::python
