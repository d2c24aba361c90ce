#include "numpy_bridge.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "call.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/error.hpp"
#include "made_once.hpp"

namespace dmlcpu::python {
namespace {

/// NumPy numbers its own dtypes below this; others registered theirs.
constexpr int kFirstUserType = 256;

std::string text_of(py::handle object) { return py::str(object).cast<std::string>(); }

constexpr const char* kGatherIndexDtypes = "int8 to int64 or uint8 to uint64";

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

std::optional<DataType> find_type(const py::dtype& dtype) {
  const auto size = static_cast<std::size_t>(dtype.itemsize());
  if (dtype.num() >= kFirstUserType) {
    static std::atomic<int> bfloat16{0};  // its number once seen, as names are slow to read
    if (dtype.num() == bfloat16.load(std::memory_order_relaxed)) return DataType::kBFloat16;
    if (size != 2 || text_of(dtype) != "bfloat16") return std::nullopt;
    bfloat16.store(dtype.num(), std::memory_order_relaxed);
    return DataType::kBFloat16;
  }
  if (!is_native(dtype)) return std::nullopt;
  const char kind = dtype.kind();
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    if (type != DataType::kBFloat16 && info(type).kind == kind && info(type).size == size) {
      return type;
    }
  }
  return std::nullopt;
}

/// Whether the object's type is numpy.ndarray itself, not a subclass.
bool is_plain_array(py::handle object) {
  return Py_TYPE(object.ptr()) == py::detail::npy_api::get().PyArray_Type_;
}

[[noreturn]] void fail_dtype(const char* name, const std::string& requirement,
                             const py::dtype& actual) {
  throw TypeError(std::string(name) + ": must be of dtype " + requirement + ", got " +
                  describe(actual));
}

/// `of_indices` if the dtype must be an index type.
template <class Pointer>
BasicTensor<Pointer> make_tensor(const py::array& array, Pointer data, const char* name,
                                 bool of_indices = false) {
  BasicTensor<Pointer> tensor;
  const py::dtype dtype = array.dtype();
  const std::optional<DataType> type = find_type(dtype);
  if (of_indices && (!type || !is_index_type(*type))) fail_dtype(name, kGatherIndexDtypes, dtype);
  if (!type) fail_dtype(name, known_dtypes(), dtype);
  if (array.ndim() > kMaxRank) {
    throw ValueError(std::string(name) + ": must have at most " + std::to_string(kMaxRank) +
                     " dimensions, got " + std::to_string(array.ndim()));
  }
  tensor.data = data;
  tensor.type = *type;
  tensor.rank = static_cast<int>(array.ndim());
  const auto size = static_cast<std::int64_t>(info(*type).size);  // a power of two
  const int shift = __builtin_ctzll(info(*type).size);
  bool aligned = (reinterpret_cast<std::uintptr_t>(data) & (info(*type).size - 1)) == 0;
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
  return tensor;
}

/// What a function of dmlcpu._arrays makes of an object that is no plain array.
py::array read_by(const char* function, py::handle object, const char* name) {
  const auto read = with_lock(
      [function] { return py::object(py::module_::import("dmlcpu._arrays").attr(function)); });
  const py::str text(name);
  PyObject* const arguments[] = {object.ptr(), text.ptr()};
  // What reads the object may call an operator, which is not the one whose plan is wanted.
  const PlanWanted none(nullptr);
  PyObject* const array =
      with_lock([&] { return PyObject_Vectorcall(read.ptr(), arguments, 2, nullptr); });
  if (array == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array).cast<py::array>();
}

}  // namespace

py::array as_array(py::handle object, const char* name) {
  return is_plain_array(object) ? py::reinterpret_borrow<py::array>(object)
                                : read_by("as_array", object, name);
}

py::array as_index_array(py::handle object, const char* name) {
  py::array array = as_array(object, name);
  if (array.itemsize() < 4) {
    const py::dtype dtype = array.dtype();
    const bool narrow_int = (dtype.kind() == 'i' || dtype.kind() == 'u') && is_native(dtype);
    if (!narrow_int) return array;
    // A plan reads no element.
    if (plans()) {
      const std::vector<py::ssize_t> shape(array.shape(), array.shape() + array.ndim());
      return py::array(index_dtype(DataType::kInt32), shape);
    }
    return array.attr("astype")(index_dtype(DataType::kInt32)).cast<py::array>();
  }
  const bool is_list = PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0;
  if (!is_list || array.size() != 0 || array.dtype().kind() != 'f') return array;
  return array.attr("astype")(index_dtype(DataType::kInt64)).cast<py::array>();
}

ConstTensor as_tensor(const py::array& array, const char* name, bool of_indices) {
  return make_tensor(array, array.data(), name, of_indices);
}

ConstTensor as_tensor_of(const py::array& array, const char* name, const py::dtype& dtype) {
  if (!array.dtype().equal(dtype)) fail_dtype(name, text_of(dtype), array.dtype());
  return as_tensor(array, name);
}

py::object as_output(py::handle object, const char* name, const py::dtype& dtype, Tensor& tensor) {
  if (!py::isinstance<py::array>(object)) {
    return as_output(read_by("as_output", object, name), name, dtype, tensor);
  }
  if (!is_plain_array(object) &&
      py::isinstance(object, py::module_::import("numpy.ma").attr("MaskedArray"))) {
    throw TypeError(std::string(name) + ": must not be a masked array, got one");
  }
  auto array = py::reinterpret_borrow<py::array>(object);
  if (!array.dtype().equal(dtype)) fail_dtype(name, text_of(dtype), array.dtype());
  if (!array.writeable()) {
    throw ValueError(std::string(name) + ": must be writable, got a read-only array");
  }
  tensor = make_tensor(array, array.mutable_data(), name);
  return std::move(array);
}

py::object new_output(const py::dtype& dtype, DataType type, const Shape& shape, Tensor& tensor) {
  // py::array's constructor would compute strides for NumPy, which computes them again.
  const auto& api = py::detail::npy_api::get();
  py::ssize_t sizes[kMaxRank];
  std::copy_n(shape.sizes.begin(), shape.rank, sizes);
  // A call that is planned alone writes nothing: its result has no memory but one element.
  static std::int64_t nothing = 0;
  constexpr py::ssize_t kNoStrides[kMaxRank] = {};
  auto array = py::reinterpret_steal<py::object>(api.PyArray_NewFromDescr_(
      api.PyArray_Type_, py::dtype(dtype).release().ptr(), shape.rank, sizes,
      plans() ? kNoStrides : nullptr, plans() ? &nothing : nullptr, 0, nullptr));
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

py::object new_output(const py::dtype& dtype, const Tensor& layout, bool contiguous,
                      Tensor& tensor) {
  const std::optional<DataType> type = find_type(dtype);
  if (!type) fail_dtype("out", known_dtypes(), dtype);
  if (contiguous) return new_output(dtype, *type, Shape{layout.rank, layout.sizes}, tensor);
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
  tensor = make_tensor(view, view.mutable_data(), "out");
  return std::move(view);
}

std::int64_t bytes_touched(const py::array& array) {
  const bool contiguous = (array.flags() & (py::array::c_style | py::array::f_style)) != 0;
  const std::int64_t element = array.itemsize();
  return array.size() * (contiguous ? element : std::max(element, tuning::kLookUpBytes));
}

DataType index_type(py::handle object) {
  const py::object& default_type =
      made_once([] { return py::object(py::dtype::of<std::uint32_t>().attr("type")); });
  // numpy.uint32, the default, needs no call of NumPy.
  if (object.is(default_type)) return DataType::kUInt32;
  std::string actual;
  // numpy.dtype(None) is float64.
  if (!object.is_none()) {
    try {
      const auto dtype = py::dtype::from_args(py::reinterpret_borrow<py::object>(object));
      const std::optional<DataType> type = find_type(dtype);
      if (type && is_index_type(*type)) return *type;
      actual = describe(dtype);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
  }
  if (actual.empty()) actual = py::repr(object).cast<std::string>();
  throw TypeError("index_dtype: must be uint32, int32, uint64 or int64, got " + actual);
}

const py::dtype& index_dtype(DataType type) {
  const auto& dtypes = made_once([] {
    std::array<py::dtype, kDataTypeCount> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (is_index_type(static_cast<DataType>(i))) made[i] = py::dtype(kDataTypeInfo[i].name);
    }
    return made;
  });
  return dtypes[static_cast<std::size_t>(type)];
}

}  // namespace dmlcpu::python
