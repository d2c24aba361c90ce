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

/// Holds a descriptor against a feature level, and finds the level that it needs.
class LevelCheck {
 public:
  /// For an operator of ours. Throws ValueError for a level that is none.
  LevelCheck(std::uint32_t operator_type, Level target);

  /// Each throws FeatureLevelError for what the target has not yet, ValueError for what no level
  /// has.
  void check_operator();
  void check_data(const TensorDesc& tensor) { check(tensor, levels_.data); }
  void check_indices(const TensorDesc& tensor) { check(tensor, levels_.indices); }

  /// The level that everything checked so far needs.
  Level required() const { return required_; }

 private:
  void check(const TensorDesc& tensor, const TypeLevels& types);
  bool allows(Level level);

  std::uint32_t operator_type_;
  const OperatorLevels& levels_;
  Level target_;
  Level required_ = DML_FEATURE_LEVEL_1_0;
};

}  // namespace dmlcpu::directml
