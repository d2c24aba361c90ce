// Which axes of columns are lanes, kept or reduced ones or both, and which are walked.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>

#include "plan/columns_plan.hpp"

namespace dmlcpu {

inline std::int64_t stride_of(const Axis& axis) { return std::abs(axis.strides[0]); }

inline constexpr std::int64_t kAnyStride = std::numeric_limits<std::int64_t>::max();

/// Takes what is walked out of the reduced axes: as many as follow each other in the order of their
/// indices, while a period has at most `limit` positions. Of the axes in a period none has a stride
/// of `stride_limit` or more; if there is such a limit, they span at most a block.
void take_walk(std::int64_t limit, std::int64_t stride_limit, Axes& reduced, ColumnsPlan& plan);

/// Which axes fill vectors of lanes.
struct LaneChoice {
  int results = -1;      ///< the kept axis each of whose positions is a result; -1: there is one
  int groups = -1;       ///< the kept axis each of whose positions is a group; -1: there is one
  int whole = 0;         ///< how many of the innermost reduced axes are lanes of each result
  std::int64_t cut = 0;  ///< positions of the next reduced axis that are lanes as well, at most
  bool longest = false;  ///< not of the next one, but of the longest
};

/// Takes the axes of a choice out of the tasks' kept and the reduced ones.
void take_lanes(const LaneChoice& choice, Tasks& tasks, Axes& reduced, ColumnsPlan& plan);

/// The arguments are those of plan_columns().
LaneChoice choose_lanes(std::int64_t element_size, bool widens, std::int64_t lane_bytes,
                        const Tasks& tasks, const Axes& reduced);

}  // namespace dmlcpu
