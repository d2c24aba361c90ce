// The operators of a small classifier's last steps, as a DirectML program describes them. This file
// and descriptors.cpp are the same in the program for Windows, but for the header that is included.
#pragma once

#ifdef _WIN32
#include <DirectML.h>
#else
#include <dmlcpu/directml.h>
#endif

#include <array>

/// A buffer tensor of 2 dimensions, packed.
class TensorDesc {
 public:
  TensorDesc(DML_TENSOR_DATA_TYPE data_type, UINT rows, UINT columns);
  TensorDesc(const TensorDesc&) = delete;
  TensorDesc& operator=(const TensorDesc&) = delete;

  const DML_TENSOR_DESC* get() const { return &desc_; }
  UINT64 size_in_bytes() const { return buffer_.TotalTensorSizeInBytes; }

 private:
  std::array<UINT, 2> sizes_;
  DML_BUFFER_TENSOR_DESC buffer_ = {};
  DML_TENSOR_DESC desc_ = {};
};

/// The class with the highest score in each row of scores: DML_OPERATOR_ARGMAX.
class BestClass {
 public:
  BestClass(UINT rows, UINT classes);

  TensorDesc scores;
  TensorDesc best;
  DML_OPERATOR_DESC desc = {};

 private:
  UINT axis_ = 1;
  DML_ARGMAX_OPERATOR_DESC argmax_ = {};
};

/// The rows with the highest scores of each class, best first: DML_OPERATOR_TOP_K1.
class BestRows {
 public:
  BestRows(UINT rows, UINT classes, UINT count);

  TensorDesc scores;
  TensorDesc values;
  TensorDesc indices;
  DML_OPERATOR_DESC desc = {};

 private:
  DML_TOP_K1_OPERATOR_DESC top_k_ = {};
};

/// All scores of some rows: DML_OPERATOR_GATHER_ND.
class PickRows {
 public:
  PickRows(UINT rows, UINT classes, UINT count);

  TensorDesc scores;
  TensorDesc rows;
  TensorDesc picked;
  DML_OPERATOR_DESC desc = {};

 private:
  DML_GATHER_ND_OPERATOR_DESC gather_ = {};
};
