// In a file of its own, and weak: programs may bring the function along, as DirectML's samples do,
// and then no other definition may stand in the way when they are linked.
#include "dmlcpu/directml.h"

#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((weak))
#endif
UINT64
DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE data_type, UINT dimension_count, const UINT* sizes,
                        const UINT* strides) {
  return dmlcpu_buffer_tensor_size(data_type, dimension_count, sizes, strides);
}
