// Which axes of columns are lanes, kept or reduced ones or both, and which are walked.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>

#include "plan/columns_plan.hpp"

namespace dmlcpu {

inline std::int64_t stride_of(const Axis& axis) { return std::abs(axis.strides[0]); }

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// Takes what is walked out of the reduced axes: as many as follow each other in the order of their
/// indices. A period has at most `limit` positions and spans at most `most_span` elements; every
/// axis in it has a stride below `stride_limit`.
void take_walk(std::int64_t limit, std::int64_t stride_limit, std::int64_t most_span, Axes& reduced,
               ColumnsPlan& plan);

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

  /// How many times as many lanes a group of `lanes` lanes, `per_result` of each result, may have
  /// at most: a tile holds them, and an integer as wide as the element ranks those of a result.
  std::int64_t most_times(std::int64_t lanes, std::int64_t per_result) const;
};

/// Takes the axes of a choice out of the tasks' kept and the reduced ones.
void take_lanes(const LaneChoice& choice, Tasks& tasks, Axes& reduced, ColumnsPlan& plan);

}  // namespace dmlcpu
