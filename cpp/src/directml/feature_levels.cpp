#include "directml/feature_levels.hpp"

#include <algorithm>
#include <string>

#include "directml/names.hpp"
#include "dmlcpu/directml.hpp"

namespace dmlcpu::directml {
namespace {

constexpr Level k10 = DML_FEATURE_LEVEL_1_0;
constexpr Level k21 = DML_FEATURE_LEVEL_2_1;
constexpr Level k30 = DML_FEATURE_LEVEL_3_0;
constexpr Level k31 = DML_FEATURE_LEVEL_3_1;
constexpr Level k41 = DML_FEATURE_LEVEL_4_1;
constexpr Level k50 = DML_FEATURE_LEVEL_5_0;

/// FLOAT32 and FLOAT16; integers of 8 to 32 bits; FLOAT64; UINT64 and INT64.
constexpr TypeLevels data(Level floats, Level integers, Level doubles, Level wide) {
  return {kNever,   floats,   floats,   integers, integers, integers,
          integers, integers, integers, doubles,  wide,     wide};
}

/// UINT32, UINT64, and the two signed ones.
constexpr TypeLevels indices(Level narrow, Level wide, Level signed_ones) {
  TypeLevels levels{};
  for (Level& level : levels) level = kNever;
  levels[DML_TENSOR_DATA_TYPE_UINT32] = narrow;
  levels[DML_TENSOR_DATA_TYPE_UINT64] = wide;
  levels[DML_TENSOR_DATA_TYPE_INT32] = signed_ones;
  levels[DML_TENSOR_DATA_TYPE_INT64] = signed_ones;
  return levels;
}

constexpr OperatorLevels kReduce{k10, k30, data(k10, k21, kNever, k41), indices(k10, k30, k30)};
constexpr OperatorLevels kArg{k30, k30, data(k30, k30, kNever, k41), indices(k30, k30, k30)};
constexpr OperatorLevels kTopK{k10, k31, data(k10, k21, kNever, k50), indices(k10, k50, kNever)};
constexpr OperatorLevels kTopK1{k21, k31, data(k21, k21, kNever, k50), indices(k21, k50, kNever)};
constexpr OperatorLevels kGatherNd{k21, k30, data(k21, k21, k41, k41), indices(k21, k30, k30)};
constexpr OperatorLevels kGatherNd1{k30, k30, data(k30, k30, k41, k41), indices(k30, k30, k30)};

const OperatorLevels& levels_of(std::uint32_t operator_type) {
  switch (operator_type) {
    case DML_OPERATOR_REDUCE:
      return kReduce;
    case DML_OPERATOR_TOP_K:
      return kTopK;
    case DML_OPERATOR_TOP_K1:
      return kTopK1;
    case DML_OPERATOR_GATHER_ND:
      return kGatherNd;
    case DML_OPERATOR_GATHER_ND1:
      return kGatherNd1;
    default:
      return kArg;
  }
}

constexpr Level kLevels[] = {
    DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_2_1, DML_FEATURE_LEVEL_3_0,
    DML_FEATURE_LEVEL_3_1, DML_FEATURE_LEVEL_4_0, DML_FEATURE_LEVEL_4_1, DML_FEATURE_LEVEL_5_0,
    DML_FEATURE_LEVEL_5_1, DML_FEATURE_LEVEL_5_2, DML_FEATURE_LEVEL_6_0, DML_FEATURE_LEVEL_6_1,
    DML_FEATURE_LEVEL_6_2, DML_FEATURE_LEVEL_6_3, DML_FEATURE_LEVEL_6_4,
};

/// "FLOAT32, FLOAT16 or INT32".
std::string allowed_types(const TypeLevels& types, Level level) {
  std::string text;
  std::string last;
  for (std::uint32_t type = 0; type < types.size(); ++type) {
    if (types[type] > level) continue;
    if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
    last = data_type_name(type);
  }
  return text.empty() ? last : text + " or " + last;
}

[[noreturn]] void fail_level(const std::string& field, const std::string& requirement,
                             const std::string& actual, Level target, Level needed) {
  fail<FeatureLevelError>(field, requirement + " at feature level " + level_name(target),
                          actual + ", which needs " + level_name(needed));
}

}  // namespace

LevelCheck::LevelCheck(std::uint32_t operator_type)
    : operator_type_(operator_type),
      levels_(levels_of(operator_type)),
      required_(levels_.appears) {}

void LevelCheck::check(const TensorDesc& tensor, const TypeLevels& types) {
  const Level of_type = tensor.dml_type < types.size() ? types[tensor.dml_type] : kNever;
  if (of_type == kNever) {
    fail<ValueError>(field(tensor, "DataType"), "must be " + allowed_types(types, kNewestLevel),
                     data_type_name(tensor.dml_type));
  }
  if (of_type > required_) {
    required_ = of_type;
    types_ = &types;
    tensor_ = tensor.name;
    dml_type_ = tensor.dml_type;
  }
  if (tensor.layout.rank != 4 && levels_.any_dimensions > required_) {
    required_ = levels_.any_dimensions;
    types_ = nullptr;
    tensor_ = tensor.name;
    dimensions_ = tensor.layout.rank;
  }
}

void LevelCheck::check_target(Level target) const {
  if (std::find(std::begin(kLevels), std::end(kLevels), target) == std::end(kLevels)) {
    fail<ValueError>("feature_level", "must be a DML_FEATURE_LEVEL, from 1.0 (4096) to 6.4 (25600)",
                     target);
  }
  if (required_ <= target) return;
  if (target < levels_.appears) {
    std::string actual = operator_name(operator_type_);
    if (levels_.appears < required_) actual += " with tensors of later levels";
    fail_level("Type", "must be an operator", actual, target, required_);
  }
  if (types_ != nullptr) {
    fail_level(std::string(tensor_) + ".DataType", "must be " + allowed_types(*types_, target),
               data_type_name(dml_type_), target, required_);
  }
  fail_level(std::string(tensor_) + ".DimensionCount", "must be 4", std::to_string(dimensions_),
             target, required_);
}

}  // namespace dmlcpu::directml
