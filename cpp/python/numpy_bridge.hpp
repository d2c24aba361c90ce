// The only bridge between NumPy and the library: arrays become tensors, without a copy, and byte
// strides become element strides; what is no tensor is an error.
#pragma once

#include <pybind11/numpy.h>

#include <optional>

#include "dmlcpu/tensor.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

// Arguments as arrays. These functions run Python code, which may do anything to any array, so that
// a call has them all behind it before it reads the first array (see Call).

/// `object` as an array that shares its memory, or, if it has no memory to share (a list, a
/// number), what numpy.asarray makes of it.
py::array as_array(py::handle object, const char* name);

/// The caller's own array, `object`, or one of the memory that it shares, to be kept until the call
/// is over.
py::object as_output(py::handle object, const char* name);

/// Makes of `array`, which as_array() made of gather's `indices`, one of a type that the library
/// takes: integers of less than 32 bits are copied to int32; where the call is planned alone, which
/// reads no element, to an array that is not initialised. numpy.asarray makes float64 of an empty
/// list; as an index it counts as int64, as it does when it indexes a NumPy array.
void make_index_array(py::handle indices, py::array& array, bool planned);

// Arrays as tensors, which they must outlive: `tensor`, which holds zeros, is set to the view.
// These functions run no Python code but to say what is wrong.

/// The library's type for a dtype, if it has one.
std::optional<DataType> find_type(const py::dtype& dtype);

/// A read-only view of the array. Throws TypeError for a dtype that the library does not have, or,
/// if it is one of gather's indices, that is no index type; ValueError for elements that are not
/// aligned.
void as_tensor(const py::array& array, const char* name, ConstTensor& tensor,
               bool of_indices = false);

/// The same for an array whose elements must be of the given type.
void as_tensor_of(const py::array& array, const char* name, DataType type, ConstTensor& tensor);

/// A view of what as_output() gave, to write to: it must be writable and of the given type.
void as_output_tensor(const py::object& array, const char* name, DataType type, Tensor& tensor);

/// A new contiguous array, not initialised, and the view that the call writes to. `type` must be
/// the library's type for `dtype`; callers know it, and finding it again takes longer than a small
/// call. A call that is planned alone writes nothing: its result has no memory but one element.
py::object new_output(const py::dtype& dtype, DataType type, const Shape& shape, bool planned,
                      Tensor& tensor);

/// A new array with the layout's type, its sizes and its strides, which must not be negative.
py::object new_output(const py::dtype& dtype, const Tensor& layout, Tensor& tensor);

/// Roughly how many bytes are loaded when the array is read: its elements, or, where they have gaps
/// between them, a cache line for each.
std::int64_t bytes_touched(const py::array& array);

// The objects that the next two functions keep are to be made when the module is loaded, not in the
// first call: making them releases Python's lock, and Python ends a thread that takes the lock
// again while the interpreter is finalizing.

/// The library's type for an index dtype, of argmin and argmax or of top-k. Throws TypeError for
/// other dtypes.
DataType index_type(py::handle dtype, bool of_arg);

/// NumPy's dtype of an index type.
const py::dtype& index_dtype(DataType type);

}  // namespace dmlcpu::python
