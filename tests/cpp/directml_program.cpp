// A program that includes DirectML.h first and brings DirectML's helper along, as its samples do;
// tests/test_install.py compiles it. The exit status says whether the operator ran.
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
  x.DimensionCount = 1;
  x.Sizes = sizes;
  x.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(x.DataType, 1, sizes, nullptr);
  DML_BUFFER_TENSOR_DESC y = x;
  y.DataType = DML_TENSOR_DATA_TYPE_UINT32;
  y.Sizes = one;
  const DML_TENSOR_DESC input{DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC output{DML_TENSOR_TYPE_BUFFER, &y};
  DML_ARGMAX_OPERATOR_DESC desc = {};
  desc.InputTensor = &input;
  desc.OutputTensor = &output;
  desc.AxisCount = 1;
  desc.Axes = axes;
  const float elements[] = {1, 3, 2};
  UINT at = 9;
  const dmlcpu::directml::CompiledOperator argmax({DML_OPERATOR_ARGMAX, &desc});
  argmax.dispatch({{elements, sizeof elements}}, {{&at, sizeof at}});
  return at == 1 ? 0 : 1;
}
