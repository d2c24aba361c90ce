// The one seam between NumPy and the library: arrays become tensors here, without a copy, or an
// error; bytes become elements.
#pragma once

#include <pybind11/numpy.h>

#include <string>

#include "dmlcpu/tensor.hpp"

namespace dmlcpu::python {

namespace py = pybind11;

/// `object` as an array that shares its memory; what numpy.asarray makes of objects with none.
py::array as_array(py::handle object, const char* name);

/// The same for gather's indices. A list without elements has no dtype, and NumPy makes it float64:
/// it counts as int64, as in NumPy's own indexing.
py::array as_index_array(py::handle object, const char* name);

/// The view of an array to read from. Throws TypeError for a dtype that is none of the library's,
/// ValueError for elements that are not aligned. The array must outlive the view.
ConstTensor as_tensor(const py::array& array, const char* name);

/// The same for gather's indices, which have dtypes of their own.
ConstTensor as_indices(const py::array& array, const char* name);

/// The same for arrays that must be of the dtype.
ConstTensor as_tensor_of(const py::array& array, const char* name, const py::dtype& dtype);

// The arrays that a call returns; `tensor` becomes the view to write to.

/// A new array of a dtype, which is the library's `type`, its elements not initialised.
py::object new_output(const py::dtype& dtype, DataType type, const Shape& shape, Tensor& tensor);

/// A new array of the layout's sizes and strides, which are none below 0.
py::object new_output(const py::dtype& dtype, const Tensor& layout, bool packed, Tensor& tensor);

/// The caller's: `object` must be an array of the dtype, writable.
py::object as_output(py::handle object, const char* name, const py::dtype& dtype, Tensor& tensor);

/// How much memory reading the array takes: of one with gaps, a cache line for each element.
std::int64_t bytes_touched(const py::array& array);

/// Makes what the next two functions keep. While it is made other threads run; so it is made when
/// the module is loaded: a thread that comes back to a finalizing interpreter is ended by Python.
void load_index_types();

/// The library's type for an index dtype. Throws TypeError for others.
DataType index_type(py::handle dtype);

/// NumPy's dtype of an index type.
const py::dtype& index_dtype(DataType type);

}  // namespace dmlcpu::python
