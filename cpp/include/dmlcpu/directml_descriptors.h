/* DirectML's descriptors of the operators that dmlcpu has, for C and C++: names, values and layouts
 * are those of DirectML.h, so that code which fills them in compiles unchanged. Where the real
 * header was included before this one, for any DML_TARGET_VERSION, its types are used instead;
 * after it would be too late.
 *
 * DirectML: https://learn.microsoft.com/windows/ai/directml/dml */
#pragma once

#ifndef DIRECTML_H /* the real header's guard */

#include <stdint.h>

#ifndef _WIN32
typedef uint32_t UINT;
typedef uint64_t UINT64;
#else
#include <windows.h>
#endif

#ifdef __cplusplus
static const UINT DML_TENSOR_DIMENSION_COUNT_MAX = 5;
static const UINT DML_TENSOR_DIMENSION_COUNT_MAX1 = 8;
static const UINT DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT = 16;
#else
#define DML_TENSOR_DIMENSION_COUNT_MAX 5
#define DML_TENSOR_DIMENSION_COUNT_MAX1 8
#define DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT 16
#endif

/* --- tensors ---------------------------------------------------------------------------------- */

typedef enum DML_TENSOR_DATA_TYPE {
  DML_TENSOR_DATA_TYPE_UNKNOWN,
  DML_TENSOR_DATA_TYPE_FLOAT32,
  DML_TENSOR_DATA_TYPE_FLOAT16,
  DML_TENSOR_DATA_TYPE_UINT32,
  DML_TENSOR_DATA_TYPE_UINT16,
  DML_TENSOR_DATA_TYPE_UINT8,
  DML_TENSOR_DATA_TYPE_INT32,
  DML_TENSOR_DATA_TYPE_INT16,
  DML_TENSOR_DATA_TYPE_INT8,
  DML_TENSOR_DATA_TYPE_FLOAT64,
  DML_TENSOR_DATA_TYPE_UINT64,
  DML_TENSOR_DATA_TYPE_INT64,
  DML_TENSOR_DATA_TYPE_UINT4,
  DML_TENSOR_DATA_TYPE_INT4
} DML_TENSOR_DATA_TYPE;

typedef enum DML_TENSOR_TYPE { DML_TENSOR_TYPE_INVALID, DML_TENSOR_TYPE_BUFFER } DML_TENSOR_TYPE;

#ifdef __cplusplus
#define DMLCPU_FLAGS : UINT /* so that every combination, and ~, is a value of the type */
#else
#define DMLCPU_FLAGS
#endif

typedef enum DML_TENSOR_FLAGS DMLCPU_FLAGS {
  DML_TENSOR_FLAG_NONE = 0x0,
  DML_TENSOR_FLAG_OWNED_BY_DML = 0x1
} DML_TENSOR_FLAGS;

/* Sizes and strides in elements, outermost dimension first; Strides may be null (contiguous in
 * row-major order). TotalTensorSizeInBytes is at least what DMLCalcBufferTensorSize says. */
typedef struct DML_BUFFER_TENSOR_DESC {
  DML_TENSOR_DATA_TYPE DataType;
  DML_TENSOR_FLAGS Flags;
  UINT DimensionCount;
  const UINT* Sizes;
  const UINT* Strides;
  UINT64 TotalTensorSizeInBytes;
  UINT GuaranteedBaseOffsetAlignment;
} DML_BUFFER_TENSOR_DESC;

typedef struct DML_TENSOR_DESC {
  DML_TENSOR_TYPE Type;
  const void* Desc;
} DML_TENSOR_DESC;

/* --- operators -------------------------------------------------------------------------------- */

typedef enum DML_OPERATOR_TYPE {
  DML_OPERATOR_INVALID = 0,
  DML_OPERATOR_REDUCE = 55,
  DML_OPERATOR_TOP_K = 71,
  DML_OPERATOR_GATHER_ND = 108,
  DML_OPERATOR_TOP_K1 = 112,
  DML_OPERATOR_ARGMIN = 137,
  DML_OPERATOR_ARGMAX = 138,
  DML_OPERATOR_GATHER_ND1 = 140
} DML_OPERATOR_TYPE;

typedef struct DML_OPERATOR_DESC {
  DML_OPERATOR_TYPE Type;
  const void* Desc;
} DML_OPERATOR_DESC;

typedef enum DML_REDUCE_FUNCTION {
  DML_REDUCE_FUNCTION_ARGMAX,
  DML_REDUCE_FUNCTION_ARGMIN,
  DML_REDUCE_FUNCTION_AVERAGE,
  DML_REDUCE_FUNCTION_L1,
  DML_REDUCE_FUNCTION_L2,
  DML_REDUCE_FUNCTION_LOG_SUM,
  DML_REDUCE_FUNCTION_LOG_SUM_EXP,
  DML_REDUCE_FUNCTION_MAX,
  DML_REDUCE_FUNCTION_MIN,
  DML_REDUCE_FUNCTION_MULTIPLY,
  DML_REDUCE_FUNCTION_SUM,
  DML_REDUCE_FUNCTION_SUM_SQUARE
} DML_REDUCE_FUNCTION;

typedef enum DML_AXIS_DIRECTION {
  DML_AXIS_DIRECTION_INCREASING = 0,
  DML_AXIS_DIRECTION_DECREASING = 1
} DML_AXIS_DIRECTION;

typedef struct DML_REDUCE_OPERATOR_DESC {
  DML_REDUCE_FUNCTION Function;
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
} DML_REDUCE_OPERATOR_DESC;

typedef struct DML_ARGMIN_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
  DML_AXIS_DIRECTION AxisDirection;
} DML_ARGMIN_OPERATOR_DESC;

typedef struct DML_ARGMAX_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT AxisCount;
  const UINT* Axes;
  DML_AXIS_DIRECTION AxisDirection;
} DML_ARGMAX_OPERATOR_DESC;

typedef struct DML_TOP_K_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputValueTensor;
  const DML_TENSOR_DESC* OutputIndexTensor;
  UINT Axis;
  UINT K;
} DML_TOP_K_OPERATOR_DESC;

typedef struct DML_TOP_K1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputValueTensor;
  const DML_TENSOR_DESC* OutputIndexTensor;
  UINT Axis;
  UINT K;
  DML_AXIS_DIRECTION AxisDirection;
} DML_TOP_K1_OPERATOR_DESC;

typedef struct DML_GATHER_ND_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
} DML_GATHER_ND_OPERATOR_DESC;

typedef struct DML_GATHER_ND1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
  UINT BatchDimensionCount;
} DML_GATHER_ND1_OPERATOR_DESC;

/* --- flags, with the operators of DEFINE_ENUM_FLAG_OPERATORS ---------------------------------- */

#ifdef __cplusplus
constexpr DML_TENSOR_FLAGS operator|(DML_TENSOR_FLAGS a, DML_TENSOR_FLAGS b) {
  return static_cast<DML_TENSOR_FLAGS>(static_cast<UINT>(a) | static_cast<UINT>(b));
}
constexpr DML_TENSOR_FLAGS operator&(DML_TENSOR_FLAGS a, DML_TENSOR_FLAGS b) {
  return static_cast<DML_TENSOR_FLAGS>(static_cast<UINT>(a) & static_cast<UINT>(b));
}
constexpr DML_TENSOR_FLAGS operator^(DML_TENSOR_FLAGS a, DML_TENSOR_FLAGS b) {
  return static_cast<DML_TENSOR_FLAGS>(static_cast<UINT>(a) ^ static_cast<UINT>(b));
}
constexpr DML_TENSOR_FLAGS operator~(DML_TENSOR_FLAGS a) {
  return static_cast<DML_TENSOR_FLAGS>(~static_cast<UINT>(a));
}
inline DML_TENSOR_FLAGS& operator|=(DML_TENSOR_FLAGS& a, DML_TENSOR_FLAGS b) { return a = a | b; }
inline DML_TENSOR_FLAGS& operator&=(DML_TENSOR_FLAGS& a, DML_TENSOR_FLAGS b) { return a = a & b; }
inline DML_TENSOR_FLAGS& operator^=(DML_TENSOR_FLAGS& a, DML_TENSOR_FLAGS b) { return a = a ^ b; }
#endif

#endif /* DIRECTML_H */

/* --- feature levels --------------------------------------------------------------------------- */

/* The real header has them for DML_TARGET_VERSION 0x2000 and later. */
#if !defined(DIRECTML_H) || (defined(DML_TARGET_VERSION) && DML_TARGET_VERSION < 0x2000)
typedef enum DML_FEATURE_LEVEL {
  DML_FEATURE_LEVEL_1_0 = 0x1000,
  DML_FEATURE_LEVEL_2_0 = 0x2000,
  DML_FEATURE_LEVEL_2_1 = 0x2100,
  DML_FEATURE_LEVEL_3_0 = 0x3000,
  DML_FEATURE_LEVEL_3_1 = 0x3100,
  DML_FEATURE_LEVEL_4_0 = 0x4000,
  DML_FEATURE_LEVEL_4_1 = 0x4100,
  DML_FEATURE_LEVEL_5_0 = 0x5000,
  DML_FEATURE_LEVEL_5_1 = 0x5100,
  DML_FEATURE_LEVEL_5_2 = 0x5200,
  DML_FEATURE_LEVEL_6_0 = 0x6000,
  DML_FEATURE_LEVEL_6_1 = 0x6100,
  DML_FEATURE_LEVEL_6_2 = 0x6200,
  DML_FEATURE_LEVEL_6_3 = 0x6300,
  DML_FEATURE_LEVEL_6_4 = 0x6400
} DML_FEATURE_LEVEL;
#endif
