// Results divided among tasks, which threads share.
#pragma once

#include "plan/axes.hpp"

namespace dmlcpu {

/// Some results: where the first one's first element is, and where the first one goes.
struct Task {
  Offsets offsets;
  std::int64_t groups;
  std::int64_t results;
};

/// At each position of the axes kept, groups of results, of which a task is a tile. Strides are
/// {input, and two outputs}.
struct Tasks {
  Axes kept;
  Axis groups = kUnitAxis;
  Axis results = kUnitAxis;
  std::int64_t task_groups = 1;
  std::int64_t task_results = 1;

  std::int64_t count() const;
  Task at(std::int64_t number) const;

  /// Makes one task of all groups and results at a position.
  void join();
  /// Makes tasks smaller until there are `wanted`, or they cannot be smaller: of fewer groups, or
  /// of fewer results, a multiple of `least`.
  void split_groups(std::int64_t wanted);
  void split_results(std::int64_t wanted, std::int64_t least);
};

}  // namespace dmlcpu
