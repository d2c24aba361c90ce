#include "descriptors.hpp"

TensorDesc::TensorDesc(DML_TENSOR_DATA_TYPE data_type, UINT rows, UINT columns)
    : sizes_{rows, columns} {
  buffer_.DataType = data_type;
  buffer_.Flags = DML_TENSOR_FLAG_NONE;
  buffer_.DimensionCount = static_cast<UINT>(sizes_.size());
  buffer_.Sizes = sizes_.data();
  buffer_.Strides = nullptr;
  buffer_.TotalTensorSizeInBytes =
      DMLCalcBufferTensorSize(data_type, buffer_.DimensionCount, buffer_.Sizes, buffer_.Strides);
  desc_.Type = DML_TENSOR_TYPE_BUFFER;
  desc_.Desc = &buffer_;
}

BestClass::BestClass(UINT rows, UINT classes)
    : scores(DML_TENSOR_DATA_TYPE_FLOAT32, rows, classes),
      best(DML_TENSOR_DATA_TYPE_UINT32, rows, 1) {
  argmax_.InputTensor = scores.get();
  argmax_.OutputTensor = best.get();
  argmax_.AxisCount = 1;
  argmax_.Axes = &axis_;
  argmax_.AxisDirection = DML_AXIS_DIRECTION_INCREASING;
  desc = {DML_OPERATOR_ARGMAX, &argmax_};
}

BestRows::BestRows(UINT rows, UINT classes, UINT count)
    : scores(DML_TENSOR_DATA_TYPE_FLOAT32, rows, classes),
      values(DML_TENSOR_DATA_TYPE_FLOAT32, count, classes),
      indices(DML_TENSOR_DATA_TYPE_UINT32, count, classes) {
  top_k_.InputTensor = scores.get();
  top_k_.OutputValueTensor = values.get();
  top_k_.OutputIndexTensor = indices.get();
  top_k_.Axis = 0;
  top_k_.K = count;
  top_k_.AxisDirection = DML_AXIS_DIRECTION_DECREASING;
  desc = {DML_OPERATOR_TOP_K1, &top_k_};
}

PickRows::PickRows(UINT all, UINT classes, UINT count)
    : scores(DML_TENSOR_DATA_TYPE_FLOAT32, all, classes),
      rows(DML_TENSOR_DATA_TYPE_UINT32, count, 1),
      picked(DML_TENSOR_DATA_TYPE_FLOAT32, count, classes) {
  gather_.InputTensor = scores.get();
  gather_.IndicesTensor = rows.get();
  gather_.OutputTensor = picked.get();
  gather_.InputDimensionCount = 2;
  gather_.IndicesDimensionCount = 2;
  desc = {DML_OPERATOR_GATHER_ND, &gather_};
}
