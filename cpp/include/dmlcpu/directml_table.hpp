// DirectML's operators, fields and enumerators as data. The library reads descriptors by these
// tables, errors name fields by them, and bindings fill descriptors in by them. Clients have no use
// for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dmlcpu/directml_c.h"
#include "dmlcpu/export.hpp"

namespace dmlcpu::directml::detail {

// --- fields ------------------------------------------------------------------------------------

/// What a field of an operator's descriptor holds; kNone: a field of another structure.
enum class FieldKind : std::uint8_t { kNone, kInput, kOutput, kAxisCount, kAxes, kNumber };

/// X(DirectML's name, Python's name, Python's type, kind)
#define DMLCPU_DML_FIELDS(X)                                                            \
  X(Type, "operator_type", "an OperatorType", kNone)                                    \
  X(Desc, "desc", "an operator descriptor", kNone)                                      \
  X(DataType, "data_type", "a TensorDataType", kNone)                                   \
  X(Flags, "flags", "a TensorFlags", kNone)                                             \
  X(DimensionCount, "dimension_count", "an int", kNone)                                 \
  X(Sizes, "sizes", "a sequence of ints", kNone)                                        \
  X(Strides, "strides", "a sequence of ints", kNone)                                    \
  X(TotalTensorSizeInBytes, "total_tensor_size_in_bytes", "an int", kNone)              \
  X(GuaranteedBaseOffsetAlignment, "guaranteed_base_offset_alignment", "an int", kNone) \
  X(InputTensor, "input_tensor", "a BufferTensorDesc", kInput)                          \
  X(IndicesTensor, "indices_tensor", "a BufferTensorDesc", kInput)                      \
  X(OutputTensor, "output_tensor", "a BufferTensorDesc", kOutput)                       \
  X(OutputValueTensor, "output_value_tensor", "a BufferTensorDesc", kOutput)            \
  X(OutputIndexTensor, "output_index_tensor", "a BufferTensorDesc", kOutput)            \
  X(Function, "function", "a ReduceFunction", kNumber)                                  \
  X(AxisCount, "len(axes)", "an int", kAxisCount)                                       \
  X(Axes, "axes", "a sequence of ints", kAxes)                                          \
  X(AxisDirection, "axis_direction", "an AxisDirection", kNumber)                       \
  X(Axis, "axis", "an int", kNumber)                                                    \
  X(K, "k", "an int", kNumber)                                                          \
  X(InputDimensionCount, "input_dimension_count", "an int", kNumber)                    \
  X(IndicesDimensionCount, "indices_dimension_count", "an int", kNumber)                \
  X(BatchDimensionCount, "batch_dimension_count", "an int", kNumber)

enum class Field : std::uint8_t {
#define DMLCPU_ENUMERATOR(name, python_name, python_type, kind) k##name,
  DMLCPU_DML_FIELDS(DMLCPU_ENUMERATOR)
#undef DMLCPU_ENUMERATOR
};

struct FieldInfo {
  const char* names[2];  ///< by Naming
  const char* python_type;
  FieldKind kind;
};

constexpr FieldInfo kFieldInfo[] = {
#define DMLCPU_INFO(name, python_name, python_type, kind) \
  {{#name, python_name}, python_type, FieldKind::kind},
    DMLCPU_DML_FIELDS(DMLCPU_INFO)
#undef DMLCPU_INFO
};

constexpr const FieldInfo& info(Field field) { return kFieldInfo[static_cast<int>(field)]; }

/// Whose names for fields errors have.
enum class Naming : std::uint8_t { kDirectMl, kPython };

constexpr const char* name_of(Field field, Naming naming) {
  return info(field).names[static_cast<int>(naming)];
}

// --- enumerators -------------------------------------------------------------------------------

struct Enumerator {
  const char* name;  ///< without the prefix
  std::uint32_t value;
};

#define DMLCPU_DML(prefix, name) {#name, DML_##prefix##_##name}

/// By value.
constexpr Enumerator kDataTypes[] = {
    DMLCPU_DML(TENSOR_DATA_TYPE, UNKNOWN), DMLCPU_DML(TENSOR_DATA_TYPE, FLOAT32),
    DMLCPU_DML(TENSOR_DATA_TYPE, FLOAT16), DMLCPU_DML(TENSOR_DATA_TYPE, UINT32),
    DMLCPU_DML(TENSOR_DATA_TYPE, UINT16),  DMLCPU_DML(TENSOR_DATA_TYPE, UINT8),
    DMLCPU_DML(TENSOR_DATA_TYPE, INT32),   DMLCPU_DML(TENSOR_DATA_TYPE, INT16),
    DMLCPU_DML(TENSOR_DATA_TYPE, INT8),    DMLCPU_DML(TENSOR_DATA_TYPE, FLOAT64),
    DMLCPU_DML(TENSOR_DATA_TYPE, UINT64),  DMLCPU_DML(TENSOR_DATA_TYPE, INT64),
    DMLCPU_DML(TENSOR_DATA_TYPE, UINT4),   DMLCPU_DML(TENSOR_DATA_TYPE, INT4)};
constexpr std::uint32_t kDataTypeEnd = sizeof kDataTypes / sizeof kDataTypes[0];

/// What the library and NumPy call it: "float32".
inline std::string plain_name(const Enumerator& data_type) {
  std::string name = data_type.name;
  for (char& letter : name) letter = static_cast<char>(letter | 0x20);  // lower-case; digits stay
  return name;
}

constexpr Enumerator kFlags[] = {DMLCPU_DML(TENSOR_FLAG, NONE),
                                 DMLCPU_DML(TENSOR_FLAG, OWNED_BY_DML)};

/// Of the functions that the library has.
constexpr Enumerator kFunctions[] = {DMLCPU_DML(REDUCE_FUNCTION, ARGMAX),
                                     DMLCPU_DML(REDUCE_FUNCTION, ARGMIN)};

constexpr Enumerator kDirections[] = {DMLCPU_DML(AXIS_DIRECTION, INCREASING),
                                      DMLCPU_DML(AXIS_DIRECTION, DECREASING)};

#undef DMLCPU_DML

// --- feature levels ----------------------------------------------------------------------------

/// A DML_FEATURE_LEVEL: 0x4100 is 4.1.
using Level = std::uint32_t;

constexpr Level kLevels[] = {0x1000, 0x2000, 0x2100, 0x3000, 0x3100, 0x4000, 0x4100, 0x5000,
                             0x5100, 0x5200, 0x6000, 0x6100, 0x6200, 0x6300, 0x6400};
constexpr Level kNewestLevel = DML_FEATURE_LEVEL_6_4;
constexpr Level kNever = 0xffffffff;

// --- operators ---------------------------------------------------------------------------------

/// Since which level an operator has a tensor of each data type; kNever if not even the newest has.
struct TypeLevels {
  Level of[kDataTypeEnd];
};

/// FLOAT32 and FLOAT16; integers of 8 to 32 bits; FLOAT64; UINT64 and INT64.
constexpr TypeLevels data_levels(Level floats, Level integers, Level doubles, Level wide) {
  return {{kNever, floats, floats, integers, integers, integers, integers, integers, integers,
           doubles, wide, wide, kNever, kNever}};
}

/// UINT32, UINT64, and the two signed ones.
constexpr TypeLevels index_levels(Level narrow, Level wide, Level signed_ones) {
  return {{kNever, kNever, kNever, narrow, kNever, kNever, signed_ones, kNever, kNever, kNever,
           wide, signed_ones, kNever, kNever}};
}

enum class Family : std::uint8_t { kArg, kTopK, kGatherNd };

struct FieldAt {
  Field field;
  std::size_t offset;  ///< in the operator's descriptor
};

struct Operator : Enumerator {
  Family family;
  Level appears;
  Level any_dimensions;  ///< 1 to 8 dimensions; 4 alone before
  TypeLevels data;       ///< of the input
  TypeLevels indices;
  FieldAt fields[6];  ///< in DirectML's order; those of kind kNone fill up
};

// Levels are written as digits: 0x2100 is 2.1.
#define DMLCPU_DML_AT(OP, name) {Field::k##name, offsetof(DML_##OP##_OPERATOR_DESC, name)}
#define DMLCPU_DML_ARG(OP)                                                                       \
  DMLCPU_DML_AT(OP, InputTensor), DMLCPU_DML_AT(OP, OutputTensor), DMLCPU_DML_AT(OP, AxisCount), \
      DMLCPU_DML_AT(OP, Axes)
#define DMLCPU_DML_TOP_K(OP)                                            \
  DMLCPU_DML_AT(OP, InputTensor), DMLCPU_DML_AT(OP, OutputValueTensor), \
      DMLCPU_DML_AT(OP, OutputIndexTensor), DMLCPU_DML_AT(OP, Axis), DMLCPU_DML_AT(OP, K)
#define DMLCPU_DML_GATHER(OP)                                                  \
  DMLCPU_DML_AT(OP, InputTensor), DMLCPU_DML_AT(OP, IndicesTensor),            \
      DMLCPU_DML_AT(OP, OutputTensor), DMLCPU_DML_AT(OP, InputDimensionCount), \
      DMLCPU_DML_AT(OP, IndicesDimensionCount)
#define DMLCPU_DML_OPERATOR(OP, family, appears, any_dimensions, data, indices, ...)    \
  {                                                                                     \
    {#OP, DML_OPERATOR_##OP}, Family::family, appears, any_dimensions, data, indices, { \
      __VA_ARGS__                                                                       \
    }                                                                                   \
  }

/// By value.
constexpr Operator kOperators[] = {
    DMLCPU_DML_OPERATOR(REDUCE, kArg, 0x1000, 0x3000, data_levels(0x1000, 0x2100, kNever, 0x4100),
                        index_levels(0x1000, 0x3000, 0x3000), DMLCPU_DML_AT(REDUCE, Function),
                        DMLCPU_DML_ARG(REDUCE)),
    DMLCPU_DML_OPERATOR(TOP_K, kTopK, 0x1000, 0x3100, data_levels(0x1000, 0x2100, kNever, 0x5000),
                        index_levels(0x1000, 0x5000, kNever), DMLCPU_DML_TOP_K(TOP_K)),
    DMLCPU_DML_OPERATOR(GATHER_ND, kGatherNd, 0x2100, 0x3000,
                        data_levels(0x2100, 0x2100, 0x4100, 0x4100),
                        index_levels(0x2100, 0x3000, 0x3000), DMLCPU_DML_GATHER(GATHER_ND)),
    DMLCPU_DML_OPERATOR(TOP_K1, kTopK, 0x2100, 0x3100, data_levels(0x2100, 0x2100, kNever, 0x5000),
                        index_levels(0x2100, 0x5000, kNever), DMLCPU_DML_TOP_K(TOP_K1),
                        DMLCPU_DML_AT(TOP_K1, AxisDirection)),
    DMLCPU_DML_OPERATOR(ARGMIN, kArg, 0x3000, 0x3000, data_levels(0x3000, 0x3000, kNever, 0x4100),
                        index_levels(0x3000, 0x3000, 0x3000), DMLCPU_DML_ARG(ARGMIN),
                        DMLCPU_DML_AT(ARGMIN, AxisDirection)),
    DMLCPU_DML_OPERATOR(ARGMAX, kArg, 0x3000, 0x3000, data_levels(0x3000, 0x3000, kNever, 0x4100),
                        index_levels(0x3000, 0x3000, 0x3000), DMLCPU_DML_ARG(ARGMAX),
                        DMLCPU_DML_AT(ARGMAX, AxisDirection)),
    DMLCPU_DML_OPERATOR(GATHER_ND1, kGatherNd, 0x3000, 0x3000,
                        data_levels(0x3000, 0x3000, 0x4100, 0x4100),
                        index_levels(0x3000, 0x3000, 0x3000), DMLCPU_DML_GATHER(GATHER_ND1),
                        DMLCPU_DML_AT(GATHER_ND1, BatchDimensionCount)),
};

#undef DMLCPU_DML_AT
#undef DMLCPU_DML_ARG
#undef DMLCPU_DML_TOP_K
#undef DMLCPU_DML_GATHER
#undef DMLCPU_DML_OPERATOR

/// Null for an operator that is none of ours.
constexpr const Operator* find_operator(std::uint32_t type) {
  for (const Operator& each : kOperators) {
    if (each.value == type) return &each;
  }
  return nullptr;
}

// --- errors in another naming ------------------------------------------------------------------

/// dmlcpu_compile and dmlcpu_feature_level_required, whose errors name fields as `naming` says.
DMLCPU_API dmlcpu_status compile(const DML_OPERATOR_DESC* desc,
                                 const dmlcpu_compile_options* options, Naming naming,
                                 dmlcpu_operator** compiled);
DMLCPU_API dmlcpu_status feature_level_required(const DML_OPERATOR_DESC* desc, Naming naming,
                                                DML_FEATURE_LEVEL* level);

}  // namespace dmlcpu::directml::detail
