// Which feature level of DirectML a descriptor needs.
#include <algorithm>
#include <string>

#include "directml/read.hpp"
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

void Reader::check_level(const TensorDesc& of, const detail::TypeLevels& its_types) {
  const Level of_type = its_types.of[of.dml_type];
  if (of_type == detail::kNever) {
    fail<ValueError>(field(of, Field::kDataType),
                     "must be " + allowed_types(its_types, detail::kNewestLevel),
                     data_type_name(of.dml_type));
  }
  if (of_type > required) {
    required = of_type;
    types = &its_types;
    tensor = of;
  }
  if (of.layout.rank != 4 && op.any_dimensions > required) {
    required = op.any_dimensions;
    types = nullptr;
    tensor = of;
  }
}

void Reader::check_target(Level target) const {
  if (!std::binary_search(std::begin(detail::kLevels), std::end(detail::kLevels), target)) {
    fail<ValueError>("feature_level", "must be a DML_FEATURE_LEVEL, from 1.0 (4096) to 6.4 (25600)",
                     target);
  }
  if (required <= target) return;
  const auto fail_level = [&](const std::string& name, const std::string& requirement,
                              const std::string& actual) {
    fail<FeatureLevelError>(name, requirement + " at feature level " + level_name(target),
                            actual + ", which needs " + level_name(required));
  };
  if (target < op.appears) {
    fail_level(
        this->name(Field::kType), "must be an operator",
        std::string(op.name) + (op.appears < required ? " with tensors of later levels" : ""));
  }
  if (types != nullptr) {
    fail_level(field(tensor, Field::kDataType), "must be " + allowed_types(*types, target),
               data_type_name(tensor.dml_type));
  }
  fail_level(field(tensor, Field::kDimensionCount), "must be 4", text(tensor.layout.rank));
}

}  // namespace dmlcpu::directml
