// Which feature level of DirectML brought what.
#pragma once

#include <array>
#include <cstdint>

#include "directml/tensor_desc.hpp"

namespace dmlcpu::directml {

/// A DML_FEATURE_LEVEL: 0x4100 is 4.1. Ordered as the levels are.
using Level = std::uint32_t;

inline constexpr Level kNewestLevel = DML_FEATURE_LEVEL_6_4;

/// Since which level an operator has a tensor of each data type, by DML_TENSOR_DATA_TYPE; kNever if
/// not even the newest has.
using TypeLevels = std::array<Level, 12>;
inline constexpr Level kNever = 0xffffffff;

struct OperatorLevels {
  Level appears;
  Level any_dimensions;  ///< 1 to 8 dimensions; 4 alone before
  TypeLevels data;
  TypeLevels indices;
};

/// Finds the level that a descriptor needs, and the rule that decides it.
class LevelCheck {
 public:
  /// For an operator of ours.
  explicit LevelCheck(std::uint32_t operator_type);

  /// Each throws ValueError for what no level has.
  void check_data(const TensorDesc& tensor) { check(tensor, levels_.data); }
  void check_indices(const TensorDesc& tensor) { check(tensor, levels_.indices); }

  /// The level that everything checked so far needs.
  Level required() const { return required_; }

  /// Throws FeatureLevelError when the target is an older level, ValueError when it is none.
  void check_target(Level target) const;

 private:
  void check(const TensorDesc& tensor, const TypeLevels& types);

  std::uint32_t operator_type_;
  const OperatorLevels& levels_;
  Level required_;
  // What needs that level: the operator itself, a data type, or a number of dimensions.
  const TypeLevels* types_ = nullptr;
  const char* tensor_ = nullptr;
  std::uint32_t dml_type_ = 0;
  int dimensions_ = 0;
};

}  // namespace dmlcpu::directml
