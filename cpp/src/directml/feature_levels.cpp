#include "directml/feature_levels.hpp"

#include <algorithm>
#include <string>

#include "dmlcpu/directml.hpp"

namespace dmlcpu::directml {
namespace {

/// "FLOAT32, FLOAT16 or INT32".
std::string allowed_types(const detail::TypeLevels& types, Level level) {
  Alternatives allowed;
  for (const Enumerator& type : detail::kDataTypes) {
    if (types.of[type.value] <= level) allowed.add(type.name);
  }
  return allowed.text();
}

}  // namespace

void LevelCheck::check(const TensorDesc& tensor, const detail::TypeLevels& types) {
  const Level of_type = types.of[tensor.dml_type];
  if (of_type == detail::kNever) {
    fail<ValueError>(field(tensor, Field::kDataType),
                     "must be " + allowed_types(types, detail::kNewestLevel),
                     data_type_name(tensor.dml_type));
  }
  if (of_type > required_) {
    required_ = of_type;
    types_ = &types;
    tensor_ = tensor;
  }
  if (tensor.layout.rank != 4 && operator_.any_dimensions > required_) {
    required_ = operator_.any_dimensions;
    types_ = nullptr;
    tensor_ = tensor;
  }
}

void LevelCheck::check_target(Level target) const {
  if (!std::binary_search(std::begin(detail::kLevels), std::end(detail::kLevels), target)) {
    fail<ValueError>("feature_level", "must be a DML_FEATURE_LEVEL, from 1.0 (4096) to 6.4 (25600)",
                     target);
  }
  if (required_ <= target) return;
  const auto fail_level = [&](const std::string& name, const std::string& requirement,
                              const std::string& actual) {
    fail<FeatureLevelError>(name, requirement + " at feature level " + level_name(target),
                            actual + ", which needs " + level_name(required_));
  };
  if (target < operator_.appears) {
    fail_level(name_of(Field::kType, naming_), "must be an operator",
               std::string(operator_.name) +
                   (operator_.appears < required_ ? " with tensors of later levels" : ""));
  }
  if (types_ != nullptr) {
    fail_level(field(tensor_, Field::kDataType), "must be " + allowed_types(*types_, target),
               data_type_name(tensor_.dml_type));
  }
  fail_level(field(tensor_, Field::kDimensionCount), "must be 4", text(tensor_.layout.rank));
}

}  // namespace dmlcpu::directml
