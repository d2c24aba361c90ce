// dmlcpu's C++17 API: argmin, argmax, top-k and gather-ND over strided tensors in memory.
//
//   typed.hpp      the operators as functions on typed pointers and views; start here
//   operators.hpp  the same as descriptors, for element types that are known at run time
//   tensor.hpp     views of memory: a pointer, an element type, sizes and strides
//   runtime.hpp    threads and instruction sets
//   error.hpp      what is thrown
//
// DirectML's own descriptors, and a plain C interface, are in directml.h.
//
// Nothing here owns or copies a tensor. Calls may be made from many threads at once.
#pragma once

#include "dmlcpu/data_type.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/operators.hpp"
#include "dmlcpu/runtime.hpp"
#include "dmlcpu/tensor.hpp"
#include "dmlcpu/typed.hpp"
