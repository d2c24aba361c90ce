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
/// indices, while a period has at most `limit` positions. Every axis in a period has a stride below
/// `stride_limit`. Unless that is kAnyStride, a period spans at most kBlockElements.
void take_walk(std::int64_t limit, std::int64_t stride_limit, Axes& reduced, ColumnsPlan& plan);

/// How far the elements of neighbouring lanes are from each other, where each position of `results`
/// is a lane. A single result has its own positions for neighbours, at a distance of 1.
inline std::int64_t lanes_apart(const Axis& results) {
  return results.size == 1 ? 1 : results.strides[0];
}

/// Whether lanes that are short rows, `stride` elements apart, can be compared in registers:
/// squares of kSquareBytes, of as many rows as these have elements. Of shorter rows most of each
/// square is unused.
bool fit_squares(std::int64_t element_size, const Axes& reduced, std::int64_t stride);

/// How the lanes of a problem may be chosen.
struct LanesOf {
  std::int64_t element_size;
  const Axes& kept;
  const Axes& reduced;
  int inside;  ///< the kept axis of the smallest stride, if no reduced axis has a smaller one; or
               ///< -1
  int outer;   ///< of the other kept axes the innermost that fills a cache line, else the longest

  LanesOf(std::int64_t size, const Axes& of_kept, const Axes& of_reduced);

  Axis results() const { return inside < 0 ? kUnitAxis : kept.axes[inside]; }
  std::int64_t apart() const { return lanes_apart(results()); }
  /// The number of the longest kept axis other than `excluded`, or -1; if `moves`, axes that
  /// broadcast do not count.
  int longest_but(int excluded, bool moves) const;
  /// The most lanes of one result: a tile holds them, and an integer as wide as the element ranks
  /// them.
  std::int64_t most() const;
};

/// Takes the axes of a choice out of the tasks' kept and the reduced ones.
void take_lanes(const LaneChoice& choice, Tasks& tasks, Axes& reduced, ColumnsPlan& plan);

}  // namespace dmlcpu
