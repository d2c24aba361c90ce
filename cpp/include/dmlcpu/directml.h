/* DirectML's operators by their own descriptors, on the CPU. For C and C++.
 *
 *   directml_descriptors.h   DML_TENSOR_DESC, DML_ARGMAX_OPERATOR_DESC and the others
 *   directml_c.h             compile a DML_OPERATOR_DESC, dispatch it, in plain C
 *   directml.hpp             the same in C++, with exceptions; left out without them
 *
 * The operators: ARGMIN, ARGMAX, REDUCE with these two functions, TOP_K, TOP_K1, GATHER_ND,
 * GATHER_ND1. docs/directml.md says what maps to what, and where dmlcpu differs. */
#pragma once

#include "dmlcpu/directml_c.h"
#include "dmlcpu/directml_descriptors.h"

#ifdef __cpp_exceptions
#include "dmlcpu/directml.hpp"
#endif

/* DirectML's helper, dmlcpu_buffer_tensor_size by its name there. C++ code may bring its own
 * definition along, an inline or ordinary function, as DirectML's samples do. */
#ifdef __cplusplus
DMLCPU_API UINT64 DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE data_type, UINT dimension_count,
                                          const UINT* sizes, const UINT* strides);
#else
static inline UINT64 DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE data_type, UINT dimension_count,
                                             const UINT* sizes, const UINT* strides) {
  return dmlcpu_buffer_tensor_size(data_type, dimension_count, sizes, strides);
}
#endif
