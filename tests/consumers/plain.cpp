// A client without exceptions and run-time type information.
#include <dmlcpu/directml.h>

#include <cstring>

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
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &x};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &y};
  DML_ARGMAX_OPERATOR_DESC desc = {&input, &output, 1, axes, DML_AXIS_DIRECTION_INCREASING};
  const DML_OPERATOR_DESC argmax = {DML_OPERATOR_ARGMAX, &desc};
  const dmlcpu_compile_options options = DMLCPU_COMPILE_OPTIONS_INIT;
  dmlcpu_operator* compiled = nullptr;
  if (dmlcpu_compile(&argmax, &options, &compiled) != DMLCPU_OK) return 1;
  const float elements[] = {1, 3, 2};
  UINT at = 9;
  const dmlcpu_input in = {elements, sizeof elements};
  const dmlcpu_output out = {&at, sizeof at};
  if (dmlcpu_dispatch(compiled, &in, 1, &out, 1) != DMLCPU_OK || at != 1) return 2;
  dmlcpu_release(compiled);
  desc.Axes = nullptr;
  if (dmlcpu_compile(&argmax, &options, &compiled) != DMLCPU_INVALID_VALUE) return 3;
  if (std::strcmp(dmlcpu_message(), "Axes: must be given, got null") != 0) return 4;
  return dmlcpu_version() == DMLCPU_VERSION ? 0 : 5;
}
