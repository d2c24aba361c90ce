// The only bridge between NumPy and the library: arrays become tensors, without a copy, and byte
// strides become element strides; what is no tensor is an error.
#pragma once

#include <pybind11/numpy.h>

#include <string>

#include "dmlcpu/tensor.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

/// `object` as an array that shares its memory, or, if it has no memory to share (a list, a
/// number), what numpy.asarray makes of it.
py::array as_array(py::handle object, const char* name);

/// The same for gather's indices, but integers of less than 32 bits are copied to int32.
/// numpy.asarray makes float64 of an empty list; as an index it counts as int64, as it does when it
/// indexes a NumPy array.
py::array as_index_array(py::handle object, const char* name);

/// A read-only view of the array, which must outlive it. Throws TypeError for a dtype that the
/// library does not have, or, if it is one of gather's indices, that is no index type; ValueError
/// for elements that are not aligned.
ConstTensor as_tensor(const py::array& array, const char* name, bool of_indices = false);

/// The same for an array that must have the given dtype.
ConstTensor as_tensor_of(const py::array& array, const char* name, const py::dtype& dtype);

// The arrays that a call returns. `tensor` is set to the view that the call writes to.

/// A new contiguous array, not initialised. `type` must be the library's type for `dtype`; callers
/// know it, and finding it again takes longer than a small call.
py::object new_output(const py::dtype& dtype, DataType type, const Shape& shape, Tensor& tensor);

/// A new array with the layout's sizes and its strides, which must not be negative. `contiguous`
/// says that the strides are those of a row-major array without gaps.
py::object new_output(const py::dtype& dtype, const Tensor& layout, bool contiguous,
                      Tensor& tensor);

/// The caller's own array, `object`, or one of the memory that it shares, to be kept until the call
/// is over: it must be writable and have the given dtype.
py::object as_output(py::handle object, const char* name, const py::dtype& dtype, Tensor& tensor);

/// Roughly how many bytes are loaded when the array is read: its elements, or, where they have gaps
/// between them, a cache line for each.
std::int64_t bytes_touched(const py::array& array);

// The objects that the next two functions keep are to be made when the module is loaded, not in the
// first call: making them releases Python's lock, and Python ends a thread that takes the lock
// again while the interpreter is finalizing.

/// The library's type for an index dtype. Throws TypeError for other dtypes.
DataType index_type(py::handle dtype);

/// NumPy's dtype of an index type.
const py::dtype& index_dtype(DataType type);

}  // namespace dmlcpu::python
