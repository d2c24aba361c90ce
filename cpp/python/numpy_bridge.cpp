#include "numpy_bridge.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "call.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/error.hpp"
#include "made_once.hpp"
#include "options.hpp"

namespace dmlcpu::python {
namespace {

/// NumPy numbers its own dtypes below this; others registered theirs.
constexpr int kFirstUserType = 256;

std::string text_of(py::handle object) { return py::str(object).cast<std::string>(); }

constexpr const char* kIntegers = "int8 to int64 or uint8 to uint64";

std::string known_dtypes() {
  std::string names;
  for (const DataTypeInfo& info : kDataTypeInfo) {
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names;
}

bool is_native(const py::dtype& dtype) {
  return dtype.byteorder() != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
}

/// The dtype's name for error texts, with its byte order where that is what is wrong.
std::string describe(const py::dtype& dtype) {
  return text_of(dtype) + (is_native(dtype) ? "" : " (not in this machine's byte order)");
}

/// Whether it is ml_dtypes' bfloat16, or another library's of that name. The name is that of the
/// scalars' type as C has it: a dtype's own is made by Python code.
bool is_bfloat16(const py::dtype& dtype) {
  if (dtype.num() < kFirstUserType || dtype.itemsize() != 2) return false;
  const PyObject* const scalars = py::detail::array_descriptor_proxy(dtype.ptr())->typeobj;
  const std::string_view name = reinterpret_cast<const PyTypeObject*>(scalars)->tp_name;
  return name.substr(name.rfind('.') + 1) == info(DataType::kBFloat16).name;
}

/// Whether the object's type is numpy.ndarray itself, not a subclass.
bool is_plain_array(py::handle object) {
  return Py_TYPE(object.ptr()) == py::detail::npy_api::get().PyArray_Type_;
}

/// Whether the object is an array of a subclass that is read as any array is, not a masked one.
bool is_derived_array(py::handle object) {
  return py::isinstance<py::array>(object) &&
         !py::isinstance(object, py::module_::import("numpy.ma").attr("MaskedArray"));
}

[[noreturn]] void fail_dtype(const char* name, const std::string& requirement,
                             const py::dtype& actual) {
  throw TypeError(std::string(name) + ": must be of dtype " + requirement + ", got " +
                  describe(actual));
}

/// The array's elements are of the type.
template <class Pointer>
void set_tensor(const py::array& array, DataType type, Pointer data, const char* name,
                BasicTensor<Pointer>& tensor) {
  if (array.ndim() > kMaxRank) {
    throw ValueError(std::string(name) + ": must have at most " + std::to_string(kMaxRank) +
                     " dimensions, got " + std::to_string(array.ndim()));
  }
  tensor.data = data;
  tensor.type = type;
  tensor.rank = static_cast<int>(array.ndim());
  const auto size = static_cast<std::int64_t>(info(type).size);  // a power of two
  const int shift = __builtin_ctzll(info(type).size);
  bool aligned = (reinterpret_cast<std::uintptr_t>(data) & (info(type).size - 1)) == 0;
  for (int d = 0; d < tensor.rank; ++d) {
    tensor.sizes[d] = array.shape()[d];
    // NumPy leaves the strides of axes without a second element undefined.
    const std::int64_t bytes = tensor.sizes[d] > 1 ? array.strides()[d] : 0;
    tensor.strides[d] = bytes >> shift;
    aligned = aligned && (bytes & (size - 1)) == 0;
  }
  if (!aligned && array.size() > 0) {
    throw ValueError(std::string(name) + ": must be aligned to its elements of " +
                     std::to_string(size) + " bytes, got an unaligned array (copy() aligns it)");
  }
}

/// What a function of dmlcpu._arrays makes of an object that is no plain array.
py::array read_by(const char* function, py::handle object, const char* name) {
  const auto read = with_lock(
      [function] { return py::object(py::module_::import("dmlcpu._arrays").attr(function)); });
  const py::str text(name);
  PyObject* const arguments[] = {object.ptr(), text.ptr()};
  PyObject* const array =
      with_lock([&] { return PyObject_Vectorcall(read.ptr(), arguments, 2, nullptr); });
  if (array == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array).cast<py::array>();
}

/// That the array's elements are of the type.
void check_type(const py::array& array, const char* name, DataType type) {
  const py::dtype dtype = array.dtype();
  if (find_type(dtype) != type) fail_dtype(name, info(type).name, dtype);
}

}  // namespace

std::optional<DataType> find_type(const py::dtype& dtype) {
  if (dtype.num() >= kFirstUserType) {
    return is_bfloat16(dtype) ? std::optional(DataType::kBFloat16) : std::nullopt;
  }
  if (!is_native(dtype)) return std::nullopt;
  const auto size = static_cast<std::size_t>(dtype.itemsize());
  const char kind = dtype.kind();
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    if (type != DataType::kBFloat16 && info(type).kind == kind && info(type).size == size) {
      return type;
    }
  }
  return std::nullopt;
}

py::array as_array(py::handle object, const char* name) {
  // An array itself, not a view of it, which would not notice when the array is resized.
  return is_plain_array(object) || is_derived_array(object)
             ? py::reinterpret_borrow<py::array>(object)
             : read_by("as_array", object, name);
}

void make_index_array(py::handle indices, py::array& array, bool planned) {
  if (array.itemsize() < 4) {
    const py::dtype dtype = array.dtype();
    if ((dtype.kind() != 'i' && dtype.kind() != 'u') || !is_native(dtype)) return;
    if (planned) {
      const std::vector<py::ssize_t> shape(array.shape(), array.shape() + array.ndim());
      array = py::array(index_dtype(DataType::kInt32), shape);
    } else {
      array = py::array_t<std::int32_t, py::array::forcecast>(array);
    }
    return;
  }
  const bool is_list = PyList_Check(indices.ptr()) != 0 || PyTuple_Check(indices.ptr()) != 0;
  if (is_list && array.size() == 0 && array.dtype().kind() == 'f') {
    array = py::array_t<std::int64_t, py::array::forcecast>(array);
  }
}

py::object as_output(py::handle object, const char* name) {
  if (is_plain_array(object) || is_derived_array(object)) {
    return py::reinterpret_borrow<py::object>(object);
  }
  if (py::isinstance<py::array>(object)) {
    throw TypeError(std::string(name) + ": must not be a masked array, got one");
  }
  return as_output(read_by("as_output", object, name), name);
}

void as_tensor(const py::array& array, const char* name, ConstTensor& tensor, bool of_indices) {
  const std::optional<DataType> type = find_type(array.dtype());
  if (of_indices && (!type || !is_index_type(*type))) {
    fail_dtype(name, kIntegers, array.dtype());
  }
  if (!type) fail_dtype(name, known_dtypes(), array.dtype());
  set_tensor(array, *type, array.data(), name, tensor);
}

void as_tensor_of(const py::array& array, const char* name, DataType type, ConstTensor& tensor) {
  check_type(array, name, type);
  set_tensor(array, type, array.data(), name, tensor);
}

void as_output_tensor(const py::object& object, const char* name, DataType type, Tensor& tensor) {
  auto array = py::reinterpret_borrow<py::array>(object);
  check_type(array, name, type);
  if (!array.writeable()) {
    throw ValueError(std::string(name) + ": must be writable, got a read-only array");
  }
  set_tensor(array, type, array.mutable_data(), name, tensor);
}

py::object new_output(const py::dtype& dtype, DataType type, const Shape& shape, bool planned,
                      Tensor& tensor) {
  // py::array's constructor would compute strides for NumPy, which computes them again.
  const auto& api = py::detail::npy_api::get();
  py::ssize_t sizes[kMaxRank];
  std::copy_n(shape.sizes.begin(), shape.rank, sizes);
  static std::int64_t nothing = 0;
  constexpr py::ssize_t kNoStrides[kMaxRank] = {};
  auto array = py::reinterpret_steal<py::object>(api.PyArray_NewFromDescr_(
      api.PyArray_Type_, py::dtype(dtype).release().ptr(), shape.rank, sizes,
      planned ? kNoStrides : nullptr, planned ? &nothing : nullptr, 0, nullptr));
  if (!array) throw py::error_already_set();
  tensor.data = py::detail::array_proxy(array.ptr())->data;
  tensor.type = type;
  tensor.rank = shape.rank;
  std::int64_t stride = 1;
  for (int d = shape.rank - 1; d >= 0; --d) {
    tensor.sizes[d] = shape.sizes[d];
    tensor.strides[d] = stride;
    stride *= shape.sizes[d];
  }
  return array;
}

py::object new_output(const py::dtype& dtype, const Tensor& layout, Tensor& tensor) {
  const py::ssize_t item = dtype.itemsize();
  py::ssize_t last = 0;
  std::vector<py::ssize_t> sizes;
  std::vector<py::ssize_t> strides;
  for (int d = 0; d < layout.rank; ++d) {
    last += (layout.sizes[d] - 1) * layout.strides[d];
    sizes.push_back(layout.sizes[d]);
    strides.push_back(layout.strides[d] * item);
  }
  py::array memory(dtype, std::vector<py::ssize_t>{last + 1});
  py::array view(dtype, sizes, strides, memory.mutable_data(), memory);
  set_tensor(view, layout.type, view.mutable_data(), "out", tensor);
  return std::move(view);
}

std::int64_t bytes_touched(const py::array& array) {
  const bool contiguous = (array.flags() & (py::array::c_style | py::array::f_style)) != 0;
  const std::int64_t element = array.itemsize();
  return array.size() * (contiguous ? element : std::max(element, tuning::kLookUpBytes));
}

DataType index_type(py::handle object, bool of_arg) {
  const py::object& default_type =
      made_once([] { return py::object(py::dtype::of<std::uint32_t>().attr("type")); });
  // numpy.uint32, the default, needs no call of NumPy.
  if (object.is(default_type)) return DataType::kUInt32;
  std::string actual;
  Cause cause;
  // numpy.dtype(None) is float64.
  if (!object.is_none()) {
    try {
      const auto dtype = py::dtype::from_args(py::reinterpret_borrow<py::object>(object));
      const std::optional<DataType> type = find_type(dtype);
      if (type && (of_arg ? is_arg_index_type(*type) : is_index_type(*type))) return *type;
      actual = describe(dtype);
    } catch (py::error_already_set& error) {
      // How NumPy says that an object describes no dtype.
      const auto no_dtype = {PyExc_TypeError, PyExc_ValueError, PyExc_LookupError,
                             PyExc_SyntaxError};
      if (std::none_of(no_dtype.begin(), no_dtype.end(),
                       [&](PyObject* type) { return error.matches(type); })) {
        throw;
      }
      cause = error;
    }
  }
  if (actual.empty()) actual = py::repr(object).cast<std::string>();
  const char* const requirement = of_arg ? kIntegers : "uint32, int32, uint64 or int64";
  fail_type(std::string("index_dtype: must be ") + requirement + ", got " + actual, cause);
}

const py::dtype& index_dtype(DataType type) {
  const auto& dtypes = made_once([] {
    std::array<py::dtype, kDataTypeCount> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (is_arg_index_type(static_cast<DataType>(i))) made[i] = py::dtype(kDataTypeInfo[i].name);
    }
    return made;
  });
  return dtypes[static_cast<std::size_t>(type)];
}

}  // namespace dmlcpu::python
