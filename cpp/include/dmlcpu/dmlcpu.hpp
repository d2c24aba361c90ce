// dmlcpu's C++17 API: argmin, argmax, top-k and gather-ND over strided tensors in memory.
//
//   typed.hpp      the operators as functions on typed pointers and views; start here
//   operators.hpp  the same as descriptors, for element types that are known at run time
//   tensor.hpp     views of memory: a pointer, an element type, sizes and strides
//   lists.hpp      sizes, strides and axes, as callers have them
//   runtime.hpp    threads and instruction sets
//   error.hpp      what is thrown
//   version.h      the version of the headers, and of the library
//
// DirectML's own descriptors, and a plain C interface, which needs no exceptions, are in
// directml.h.
//
// Nothing here owns or copies a tensor. Calls may be made from many threads at once.
#pragma once

#ifndef __cpp_exceptions
#error "dmlcpu.hpp needs exceptions: without them use dmlcpu/directml_c.h, which throws none"
#else

#include "dmlcpu/typed.hpp"
#include "dmlcpu/version.h"

#endif
