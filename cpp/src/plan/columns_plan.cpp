#include "plan/columns_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/text.hpp"
#include "interface/tuning.hpp"
#include "plan/columns_lanes.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {

namespace {

/// Plans to transpose a lane's elements of one period, of all groups, as one block of memory; false
/// if that is not worth it.
bool make_block(std::int64_t element_size, const Axis& groups, ColumnsPlan& plan) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t elements = 1;
  const auto extend = [&](const Axis& axis) {
    (axis.strides[0] < 0 ? first : last) += (axis.size - 1) * axis.strides[0];
    elements *= axis.size;
  };
  for (int d = 0; d < plan.walk.count; ++d) extend(plan.walk.axes[d]);
  if (elements == 1) return false;
  extend(groups);
  const std::int64_t block = last - first + 1;
  // Gaps are read as well: less than a page, they are in pages that can be read.
  const std::int64_t gaps = block - elements;
  if (gaps > elements || gaps * element_size >= kPageBytes || block > tuning::kBlockElements) {
    return false;
  }
  plan.columns.tiling.block = block;
  plan.input_offset = first;
  return true;
}

/// Chooses how the lanes are packed, and takes the walked axes out of the reduced ones.
void choose_packing(std::int64_t element_size, bool compares, const Axis& groups, Axes& reduced,
                    ColumnsPlan& plan) {
  Tiling& tiling = plan.columns.tiling;
  const std::int64_t stride = plan.columns.lanes.stride;
  const std::int64_t apart = std::abs(stride);
  const bool in_registers = compares && !plan.has_several() && groups.size == 1 &&
                            fit_squares(element_size, reduced, stride);
  // All lanes of a result are in one tile.
  const std::int64_t most =
      !plan.has_several()
          ? tuning::kBlockElements
          : std::clamp(tuning::kTransposeBytes / (plan.columns.lanes.count * element_size),
                       std::int64_t{1}, tuning::kBlockElements);
  if (apart > (in_registers ? 1 : tuning::kPackedStride)) {
    const std::int64_t of_groups = (groups.size - 1) * stride_of(groups);
    for (std::int64_t limit = apart; limit > 0;) {
      Axes others = reduced;
      take_walk(most / groups.size, limit, tuning::kBlockElements - of_groups, others, plan);
      // Several lanes of a result are merged after each call.
      const bool pays = !plan.has_several() || others.count == 0 ||
                        plan.columns.walk.n >= tuning::kBlockLeastPositions;
      if (pays && make_block(element_size, groups, plan)) {
        tiling.packing = in_registers ? Packing::kRegisters : Packing::kTransposed;
        reduced = others;
        return;
      }
      // Again without the axis of the largest stride, which may leave the gaps.
      limit = 0;
      for (int d = 0; d < plan.walk.count; ++d) {
        limit = std::max(limit, stride_of(plan.walk.axes[d]));
      }
    }
  }
  tiling.packing = stride == 1 ? Packing::kInPlace : Packing::kStrided;
  take_walk(tuning::kWalkRows, kNoLimit, kNoLimit, reduced, plan);
}

/// Tiles, whose best elements and positions, and packed elements, stay in L1; of wide rows in place
/// in L2.
void choose_tiles(std::int64_t element_size, bool prefetches, const Axis& groups,
                  ColumnsPlan& plan) {
  const Walk& walk = plan.columns.walk;
  Tiling& tiling = plan.columns.tiling;
  const std::int64_t line = kCacheLine / element_size;
  const std::int64_t in_tile =
      plan.has_several() ? tuning::kLanesTileBytes / element_size : tuning::kTileElements;
  const std::int64_t lanes = plan.columns.lanes.count;
  const std::int64_t stride = plan.columns.lanes.stride;
  tiling.lanes = std::min(lanes, in_tile);
  tiling.pass = walk.period;
  // Groups without gaps between them are one row.
  const bool dense = groups.size > 1 && groups.strides[0] == lanes * stride;
  if (dense) plan.least_groups = ceil_divide(tuning::kLeastTileBytes, lanes * element_size);
  const auto choose_groups = [&](std::int64_t most_groups) {
    tiling.groups = std::clamp(most_groups, std::int64_t{1}, groups.size);
  };
  if (tiling.packing == Packing::kInPlace) {
    const std::int64_t tile_bytes = walk.n * tiling.lanes * element_size;
    choose_groups(dense ? in_tile / lanes
                        : std::min(in_tile / lanes, tuning::kGroupsBytes / tile_bytes));
    const std::int64_t row_lanes = tiling.lanes * (dense ? tiling.groups : 1);
    const std::int64_t rows = tuning::kHalfL1Bytes / (row_lanes * element_size);
    plan.set_pass(walk.n <= rows
                      ? walk.period
                      : std::max(rows / tuning::kPassRows, std::int64_t{1}) * tuning::kPassRows,
                  element_size, prefetches);
  } else if (tiling.packing == Packing::kStrided) {
    // Bytes of cache lines that a lane takes, at most one line: the next rows find them in L1.
    const std::int64_t apart = std::min<std::int64_t>(std::abs(stride) * element_size, kCacheLine);
    const std::int64_t fit = tuning::kHalfL1Bytes / apart;
    tiling.lanes = std::min(lanes, std::clamp(plan.has_several() ? lanes : fit, line, in_tile));
    const bool narrow = groups.size * element_size < kCacheLine;
    choose_groups(dense                ? std::min(fit, in_tile) / lanes
                  : !narrow            ? 1
                  : plan.has_several() ? in_tile / lanes
                                       : groups.size);
    tiling.pass =
        std::clamp(tuning::kTransposeBytes / (tiling.groups * tiling.lanes * element_size),
                   std::int64_t{1}, walk.period);
  } else {
    plan.least_groups = tiling.groups = groups.size;
    // Four of the longest vectors are taken at once.
    const std::int64_t fit = tuning::kTransposeBytes / (tiling.block * element_size);
    const std::int64_t step = fit >= 4 * line ? 4 * line : line;
    const std::int64_t tiles =
        ceil_divide(lanes, std::max(std::min(in_tile, fit / step * step), step));
    tiling.lanes = std::min(lanes, ceil_divide(ceil_divide(lanes, tiles), step) * step);
    if (plan.has_several()) tiling.lanes = lanes;
    const std::int64_t ahead = tuning::kTransposePrefetchBytes / element_size / tiling.block;
    tiling.ahead = prefetches ? std::max<std::int64_t>(1, ahead) : 0;
  }
}

}  // namespace

ColumnsPlan plan_columns(std::int64_t element_size, bool prefetches, const LaneChoice& choice,
                         bool compares, Tasks& tasks, Axes& reduced) {
  ColumnsPlan plan;
  Lanes& lanes = plan.columns.lanes;
  Tiling& tiling = plan.columns.tiling;
  take_lanes(choice, tasks, reduced, plan);
  choose_packing(element_size, compares, tasks.groups, reduced, plan);
  choose_tiles(element_size, prefetches, tasks.groups, plan);
  plan.count_ranks();
  const bool blocks = has_blocks(tiling.packing);
  const bool own_blocks = compares && blocks && tasks.groups.size == 1;
  if (own_blocks) tasks.groups = tasks.kept.take(longest(tasks.kept, false));
  lanes.groups = tasks.groups.size;
  lanes.group_stride = tasks.groups.strides[0] * (blocks && !own_blocks ? tiling.lanes : 1);
  return plan;
}

void ColumnsPlan::set_pass(std::int64_t positions, std::int64_t element_size, bool prefetches) {
  Tiling& tiling = columns.tiling;
  tiling.pass = std::min(columns.walk.period, positions);
  tiling.ahead = 0;
  if (!prefetches) return;
  const std::int64_t stride = walk.last().strides[0];
  const std::int64_t in_row = tuning::kColumnsPrefetchAhead / element_size;
  tiling.ahead = tiling.pass < columns.walk.period ? tiling.pass * stride
                 : stride < 0                      ? -in_row
                                                   : in_row;
}

const char* name_of(Packing packing) {
  static const char* const names[] = {"in place", "strided", "transposed", "compared in registers"};
  return names[static_cast<int>(packing)];
}

std::string to_text(const ColumnsPlan& plan, const Tasks& tasks) {
  const auto& [data, walk, lanes, tiling] = plan.columns;
  return text("columns ", name_of(tiling.packing), ", ", walk.n, " positions in periods of ",
              walk.period, ", passes of ", tiling.pass, "\n", lanes.groups, " groups by ",
              tasks.groups.strides[0], " of ", lanes.count, " lanes by ", lanes.stride,
              plan.has_several()
                  ? text(", ", plan.per_result, " of each of ", tasks.results.size, " results")
                  : "",
              "; tiles of ", tiling.groups, " x ", tiling.lanes, "\n");
}

}  // namespace dmlcpu
