// A program that includes DirectML.h first and brings DirectML's helper along, as its samples do;
// tests/test_consumers.py compiles it for several target versions. The exit status tells what
// failed.
#include "DirectML.h"

inline UINT64 DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE type, UINT count, const UINT* sizes,
                                      const UINT*) {
  UINT64 elements = 1;
  for (UINT d = 0; d < count; ++d) elements *= sizes[d];
  return type == DML_TENSOR_DATA_TYPE_FLOAT32 ? elements * 4 : 0;
}

#include <dmlcpu/directml.h>

int main() {
  const UINT sizes[] = {3};
  const UINT one[] = {1};
  const UINT axes[] = {0};
  DML_BUFFER_TENSOR_DESC x = {};
  x.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
  x.Flags |= DML_TENSOR_FLAG_OWNED_BY_DML;
  x.DimensionCount = 1;
  x.Sizes = sizes;
  x.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(x.DataType, 1, sizes, nullptr);
  DML_BUFFER_TENSOR_DESC y = x;
  y.DataType = DML_TENSOR_DATA_TYPE_UINT32;
  y.Flags = DML_TENSOR_FLAG_NONE;
  y.Sizes = one;
  const DML_TENSOR_DESC input{DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC output{DML_TENSOR_TYPE_BUFFER, &y};
  DML_REDUCE_OPERATOR_DESC desc = {};
  desc.Function = DML_REDUCE_FUNCTION_ARGMAX;
  desc.InputTensor = &input;
  desc.OutputTensor = &output;
  desc.AxisCount = 1;
  desc.Axes = axes;
  const float elements[] = {1, 3, 2};
  UINT at = 9;
  const dmlcpu::directml::CompiledOperator reduce({DML_OPERATOR_REDUCE, &desc});
  reduce.dispatch({{elements, sizeof elements}}, {{&at, sizeof at}});
  if (at != 1) return 1;
  const DML_FEATURE_LEVEL level =
      dmlcpu::directml::feature_level_required({DML_OPERATOR_REDUCE, &desc});
  return level > DML_FEATURE_LEVEL_2_0 ? 0 : 2;  // one dimension, which older levels do not allow
}
