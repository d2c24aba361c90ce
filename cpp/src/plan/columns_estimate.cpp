#include "plan/columns_estimate.hpp"

#include <algorithm>

#include "plan/columns_lanes.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

/// The positions of a step, at most `most`, where steps of one size cover an axis.
std::int64_t even_steps(std::int64_t size, std::int64_t most) {
  return ceil_divide(size, ceil_divide(size, most));
}

/// The reduced axes that are not lanes; of one that is cut its steps.
struct WalkedAxes {
  struct WalkedAxis {
    std::int64_t size;
    std::int64_t stride;  ///< of the input, without its sign
    std::int64_t step;    ///< of the index
    std::int64_t next;    ///< the step of an axis that continues it in the order of indices
  };
  std::array<WalkedAxis, kMaxRank + 1> axes;  // not initialised from `count` on
  int count = 0;

  WalkedAxes(const Axes& reduced, const LaneChoice& lanes) {
    for (int d = 0; d < reduced.count - lanes.whole; ++d) {
      const Axis& axis = reduced.axes[d];
      const std::int64_t per_step = d == lanes.cut_axis ? even_steps(axis.size, lanes.cut) : 1;
      const std::int64_t size = per_step == 1 ? axis.size : ceil_divide(axis.size, per_step);
      if (size == 1) continue;
      axes[count++] = {size, stride_of(axis) * per_step, axis.strides[1] * per_step,
                       axis.strides[1] * axis.size};
    }
  }

  /// Sets how many positions a call walks in the order of indices: axes that continue each other,
  /// while a table holds the positions of all but the last.
  void walk_in_order(ColumnsEstimate& columns) const {
    for (int first = 0; first < count; ++first) {
      double walked = 1;
      for (int d = first; d >= 0 && walked <= real(tuning::kWalkRows);) {
        const std::int64_t next = axes[d].next;
        walked *= real(axes[d].size);
        d = count - 1;
        while (d >= 0 && axes[d].step != next) --d;
      }
      if (walked <= columns.in_call) continue;
      columns.in_call = walked;
      columns.position_apart = real(axes[first].stride);
    }
  }
};

/// What is transposed for each lane at a time: at most `most` elements, positions times groups,
/// that lie between a lane's first element and that of the next lane, if half of it or less is
/// gaps.
struct Block {
  std::int64_t in_block = 1;  ///< positions; of a call they are one or several blocks
  std::int64_t span = 1;      ///< elements and gaps
  double positions = 1;       ///< of a call

  Block(const WalkedAxes& walked, const Axis& groups, std::int64_t apart, std::int64_t most,
        std::int64_t element_size) {
    const std::int64_t of_groups = (groups.size - 1) * stride_of(groups);
    if (groups.size > 1 && (stride_of(groups) == 0 || stride_of(groups) >= apart)) return;
    // From the smallest stride on, to the first axis of which a part is in the block.
    for (int d = walked.count - 1; d >= 0; --d) {
      const auto& axis = walked.axes[d];
      if (axis.stride >= apart) break;
      const std::int64_t room = tuning::kBlockElements - span - of_groups;
      const std::int64_t fit = std::min(room / std::max<std::int64_t>(axis.stride, 1) + 1,
                                        most / (in_block * groups.size));
      if (room < 0 || fit < 2) break;
      const std::int64_t count = fit >= axis.size ? axis.size : even_steps(axis.size, fit);
      const std::int64_t extended = span + (count - 1) * axis.stride;
      const std::int64_t elements = in_block * count * groups.size;
      const std::int64_t gaps = extended + of_groups - elements;
      if (gaps > elements || gaps * element_size >= kPageBytes) break;
      in_block *= count;
      span = extended;
      positions *= real(axis.size);
      if (count < axis.size) break;
    }
    span += of_groups;
  }
};

/// How many lanes and groups a tile has.
void estimate_tiles(std::int64_t size, ColumnsEstimate& columns) {
  const bool several = columns.lane_axes > 0;
  const auto lanes = real(columns.lanes);
  double in_tile = real(several ? tuning::kLanesTileBytes / size : tuning::kTileElements);
  double in_groups = in_tile / lanes;
  if (has_blocks(columns.packing)) {
    const double fit = real(tuning::kTransposeBytes) / columns.block;
    in_tile = std::min(in_tile, std::max(real(kCacheLine), fit) / real(size));
    in_groups = columns.groups;
  } else if (columns.packing == Packing::kStrided) {
    const std::int64_t line = std::min(columns.apart * size, kCacheLine);
    in_tile = std::min(in_tile, real(tuning::kHalfL1Bytes / line));
    const bool narrow = columns.groups * real(size) < real(kCacheLine);
    if (columns.is_dense) {
      in_groups = in_tile / lanes;
    } else if (!narrow) {
      in_groups = 1;
    } else if (!several) {
      in_groups = columns.groups;
    }
  } else if (!columns.is_dense) {
    const double of_group = columns.in_call * std::min(lanes, in_tile) * real(size);
    in_groups = std::min(in_groups, real(tuning::kGroupsBytes) / of_group);
  }
  columns.lane_tiles = several ? 1 : whole(lanes / in_tile);
  columns.group_tiles = whole(columns.groups / std::max(in_groups, 1.0));
  columns.tile_lanes = lanes / columns.lane_tiles;
  columns.tile_groups = columns.groups / columns.group_tiles;
}

}  // namespace

ColumnsEstimate::ColumnsEstimate(const Problem& problem, const LaneChoice& choice,
                                 std::int64_t vector_bytes) {
  const Axes& reduced = problem.reduced;
  const std::int64_t size = problem.element_size;
  const auto kept = [&](int number) { return number < 0 ? kUnitAxis : problem.kept.axes[number]; };
  const Axis of_results = kept(choice.results);
  const Axis group_axis = kept(choice.groups);
  const WalkedAxes walked(reduced, choice);
  for (int d = 0; d < walked.count; ++d) positions *= real(walked.axes[d].size);
  lane_axes = choice.whole + (choice.cut_axis < 0 ? 0 : 1);
  results = of_results.size;
  // Without indices the output is that of values.
  output_stride = of_results.strides[of_results.strides[1] != 0 ? 1 : 2];
  lanes = results;
  if (choice.cut_axis >= 0) lanes *= even_steps(reduced.axes[choice.cut_axis].size, choice.cut);
  for (int i = 1; i <= choice.whole; ++i) lanes *= reduced.axes[reduced.count - i].size;
  // Lanes that follow the results, or each other, are as far apart as these.
  const bool follows = choice.results >= 0 || choice.whole > 0 || choice.cut_axis < 0 ||
                       stride_of(reduced.axes[choice.cut_axis]) == 1;
  const std::int64_t stride =
      follows ? lanes_apart(of_results) : reduced.axes[choice.cut_axis].strides[0];
  apart = std::abs(stride);
  groups = real(group_axis.size);
  group_apart = real(stride_of(group_axis));
  others = real(problem.results) / (real(results) * groups);
  is_dense = group_axis.size > 1 && group_axis.strides[0] == lanes * stride;
  packing = stride == 1 ? Packing::kInPlace : Packing::kStrided;
  const bool squares = vector_bytes > 0 && lane_axes == 0 && group_axis.size == 1 &&
                       fit_squares(size, reduced, stride);
  if (apart > (squares ? 1 : tuning::kPackedStride)) {
    // All lanes of a result are in one tile.
    const std::int64_t most =
        lane_axes == 0 ? tuning::kBlockElements
                       : std::min(tuning::kTransposeBytes / (lanes * size), tuning::kBlockElements);
    const Block of_lane(walked, group_axis, apart, most, size);
    if (of_lane.in_block > 1) {
      // A tile of less than a vector is transposed.
      const bool fills = lanes * size >= vector_bytes;
      packing = squares && fills ? Packing::kRegisters : Packing::kTransposed;
      block = real(of_lane.span);
      in_block = real(of_lane.in_block);
      in_call = of_lane.positions;
    }
  }
  if (!has_blocks(packing)) walked.walk_in_order(*this);
  estimate_tiles(size, *this);
}

}  // namespace dmlcpu
