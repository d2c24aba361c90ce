// What columns of some lanes would be, from sizes and strides alone: planning each candidate would
// take longer than many calls.
#pragma once

#include "plan/columns_plan.hpp"
#include "plan/problem.hpp"

namespace dmlcpu {

/// Columns of a choice of lanes, roughly as plan_columns() would plan them. Counts are real
/// numbers, as some would be rounded to tiles.
struct ColumnsEstimate {
  Packing packing = Packing::kInPlace;
  bool is_dense = false;           ///< whether there is no gap between groups
  std::int64_t lane_axes = 0;      ///< reduced axes that are lanes: then results have several lanes
  std::int64_t results = 1;        ///< of a group
  std::int64_t lanes = 1;          ///< of a group
  std::int64_t apart = 0;          ///< elements from a lane to the next, without the sign
  std::int64_t output_stride = 0;  ///< from a result to the next, in the output
  double groups = 1;
  double group_apart = 0;     ///< elements from a group to the next, without the sign
  double others = 1;          ///< positions of the kept axes that are neither lanes nor groups
  double positions = 1;       ///< of a lane
  double in_call = 1;         ///< positions of a call
  double position_apart = 0;  ///< elements from a position of a call to the next
  double block = 1;           ///< elements and gaps of a block; 1 if there are no blocks
  double in_block = 1;        ///< positions
  double lane_tiles = 1;      ///< tiles of the lanes of a group
  double group_tiles = 1;     ///< tiles of the groups
  double tile_lanes = 1;      ///< of a tile, on average
  double tile_groups = 1;

  /// What is to be computed: a result for each kept position.
  struct Problem {
    std::int64_t element_size;
    std::int64_t results;
    const Axes& kept;
    const Axes& reduced;
  };
  /// Lanes of at least `vector_bytes` may be compared in registers; none are if it is 0.
  ColumnsEstimate(const Problem& problem, const LaneChoice& choice, std::int64_t vector_bytes);

  double calls() const { return others * positions / in_call; }
  double tiles() const { return calls() * group_tiles * lane_tiles; }
};

inline double real(std::int64_t count) { return static_cast<double>(count); }

/// A positive number rounded up, without a call of the mathematical library.
inline double whole(double number) {
  const double below = real(static_cast<std::int64_t>(number));
  return below < number ? below + 1 : below;
}

}  // namespace dmlcpu
