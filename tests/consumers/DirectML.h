// Stands in for the real header, which is for Windows alone: declares what the operators of
// level 1.0 need, in that header's manner, and what it has for later versions alone.
#ifndef DIRECTML_H
#define DIRECTML_H

#include <stdint.h>

#ifndef DML_TARGET_VERSION
#define DML_TARGET_VERSION 0x6400
#endif

typedef uint32_t UINT;
typedef uint64_t UINT64;

enum DML_TENSOR_DATA_TYPE {
  DML_TENSOR_DATA_TYPE_UNKNOWN,
  DML_TENSOR_DATA_TYPE_FLOAT32,
  DML_TENSOR_DATA_TYPE_FLOAT16,
  DML_TENSOR_DATA_TYPE_UINT32,
};

enum DML_TENSOR_TYPE {
  DML_TENSOR_TYPE_INVALID,
  DML_TENSOR_TYPE_BUFFER,
};

enum DML_TENSOR_FLAGS {
  DML_TENSOR_FLAG_NONE = 0x0,
  DML_TENSOR_FLAG_OWNED_BY_DML = 0x1,
};

inline DML_TENSOR_FLAGS& operator|=(DML_TENSOR_FLAGS& a, DML_TENSOR_FLAGS b) {
  return a = DML_TENSOR_FLAGS(int(a) | int(b));
}

struct DML_BUFFER_TENSOR_DESC {
  DML_TENSOR_DATA_TYPE DataType;
  DML_TENSOR_FLAGS Flags;
  UINT DimensionCount;
  const UINT* Sizes;
  const UINT* Strides;
  UINT64 TotalTensorSizeInBytes;
  UINT GuaranteedBaseOffsetAlignment;
};

struct DML_TENSOR_DESC {
  DML_TENSOR_TYPE Type;
  const void* Desc;
};

enum DML_OPERATOR_TYPE {
  DML_OPERATOR_INVALID,
  DML_OPERATOR_REDUCE = 55,
#if DML_TARGET_VERSION >= 0x3000
  DML_OPERATOR_ARGMAX = 138,
#endif
};

struct DML_OPERATOR_DESC {
  DML_OPERATOR_TYPE Type;
  const void* Desc;
};

enum DML_REDUCE_FUNCTION {
  DML_REDUCE_FUNCTION_ARGMAX,
  DML_REDUCE_FUNCTION_ARGMIN,
};

struct DML_REDUCE_OPERATOR_DESC {
  DML_REDUCE_FUNCTION Function;
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
};

#if DML_TARGET_VERSION >= 0x2000
enum DML_FEATURE_LEVEL {
  DML_FEATURE_LEVEL_1_0 = 0x1000,
  DML_FEATURE_LEVEL_2_0 = 0x2000,
  DML_FEATURE_LEVEL_6_4 = 0x6400,
};
#endif

#endif
