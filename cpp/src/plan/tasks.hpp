// Results divided among tasks, which threads share.
#pragma once

#include <algorithm>

#include "plan/axes.hpp"

namespace dmlcpu {

/// A tile of results. `offsets` are those of the first one, in the three operands of its plan.
struct Task {
  Offsets offsets;
  std::int64_t groups;
  std::int64_t results;
};

/// The results of a call: groups of them at each position of the kept axes. A task is a tile of the
/// groups and results at one position. Strides are those of the plan's three operands.
struct Tasks {
  Axes kept;
  Axis groups = kUnitAxis;
  Axis results = kUnitAxis;
  Offsets offsets{};  ///< of the first position
  std::int64_t task_groups = 1;
  std::int64_t task_results = 1;
  int threads = 1;

  std::int64_t count() const;
  /// At most this many threads have a task.
  std::int64_t workers() const { return std::min<std::int64_t>(threads, count()); }
  Task at(std::int64_t number) const;

  /// Makes one task of all groups and results at a position, then smaller ones until there are
  /// enough for `for_threads`, or they cannot be smaller: of fewer groups, at least `least_groups`,
  /// then of fewer results, a multiple of `least`. Threads also divide the `parts` of each task.
  void split(int for_threads, std::int64_t least, std::int64_t least_groups = 1,
             std::int64_t parts = 1);
};

}  // namespace dmlcpu
