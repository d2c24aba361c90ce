// Which feature level of DirectML a descriptor needs.
#pragma once

#include "directml/tensor_desc.hpp"

namespace dmlcpu::directml {

/// Finds the level that a descriptor needs, and the rule that decides it.
class LevelCheck {
 public:
  LevelCheck(const detail::Operator& op, Naming naming)
      : operator_(op), naming_(naming), required_(op.appears) {}

  /// Throws ValueError for what no level has.
  void check(const TensorDesc& tensor, const detail::TypeLevels& types);

  /// The level that everything checked so far needs.
  Level required() const { return required_; }

  /// Throws FeatureLevelError when the target is an older level, ValueError when it is none.
  void check_target(Level target) const;

 private:
  const detail::Operator& operator_;
  Naming naming_;
  Level required_;
  // What needs that level: the operator itself, this tensor's data type, or, where `types_` is
  // null, its number of dimensions.
  TensorDesc tensor_;
  const detail::TypeLevels* types_ = nullptr;
};

}  // namespace dmlcpu::directml
