#include "plan/columns_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/text.hpp"
#include "core/tuning.hpp"
#include "plan/columns_lanes.hpp"

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
  plan.columns.block = block;
  plan.input_offset = first;
  return true;
}

/// Chooses how the lanes are packed, and takes the walked axes out of the reduced ones.
void choose_packing(std::int64_t element_size, bool widens, const Axis& groups, Axes& reduced,
                    ColumnsPlan& plan) {
  Columns& columns = plan.columns;
  const bool has_tail = columns.tail >= 0;
  const std::int64_t apart = std::abs(columns.lane_stride);
  const Axis inner = reduced.last();
  const bool in_registers =
      widens && !plan.widened() && groups.size == 1 && reduced.count == 1 &&
      inner.strides[0] == 1 &&
      (inner.size * element_size >= kSquareBytes ||
       (inner.size * element_size >= tuning::kSquareRowLeastBytes && columns.lane_stride > 0 &&
        columns.lane_stride * element_size <= kSquareBytes));
  if (!has_tail && apart > (in_registers ? 1 : tuning::kPackedStride)) {
    for (std::int64_t limit = apart; limit > 0;) {
      Axes others = reduced;
      take_walk(tuning::kBlockElements / groups.size, limit, others, plan);
      if (make_block(element_size, groups, plan)) {
        columns.packing = Packing::kTransposed;
        columns.in_registers = in_registers;
        reduced = others;
        return;
      }
      // Again without the axis of the largest stride, which may leave the gaps.
      limit = 0;
      for (int d = 0; d < plan.walk.count && plan.walk.count > 1; ++d) {
        limit = std::max(limit, stride_of(plan.walk.axes[d]));
      }
    }
  }
  columns.packing = columns.lane_stride == 1 ? Packing::kNone : Packing::kStrided;
  // The tail is about the widened axis alone.
  Axes widened;
  if (has_tail) widened.push(reduced.pop());
  take_walk(tuning::kWalkRows - has_tail, kAnyStride, has_tail ? widened : reduced, plan);
  // A tail after the only period is part of it.
  if (columns.period == columns.n) columns.period += has_tail;
  columns.n += has_tail;
}

/// Tiles, whose best elements and positions, and packed elements, stay in L1; of wide rows in place
/// in L2.
void choose_tiles(std::int64_t element_size, const Axis& groups, ColumnsPlan& plan) {
  Columns& columns = plan.columns;
  const std::int64_t line = kCacheLine / element_size;
  const std::int64_t bytes = plan.widened() ? tuning::kWidenedTileBytes : tuning::kTileBytes;
  const std::int64_t in_tile = std::min(tuning::kTileElements, bytes / element_size);
  const std::int64_t lanes = columns.lanes;
  // Lanes of one result are numbered in an integer as wide as the element.
  const std::int64_t most = plan.per_result == lanes && element_size == 1 ? 256 : in_tile;
  columns.tile_lanes = std::min(lanes, most);
  columns.pass = columns.period;
  // Groups without gaps between them are one row.
  const bool dense = groups.size > 1 && groups.strides[0] == lanes * columns.lane_stride;
  if (dense) plan.least_groups = ceil_divide(tuning::kLeastTileBytes, lanes * element_size);
  const auto choose_groups = [&](std::int64_t most_groups) {
    columns.tile_groups = std::clamp(most_groups, std::int64_t{1}, groups.size);
  };
  if (columns.packing == Packing::kNone) {
    const std::int64_t tile_bytes = columns.n * columns.tile_lanes * element_size;
    choose_groups(dense ? in_tile / lanes
                        : std::min(in_tile / lanes, tuning::kGroupsBytes / tile_bytes));
    const std::int64_t row_lanes = columns.tile_lanes * (dense ? columns.tile_groups : 1);
    const std::int64_t rows = tuning::kPassBytes / (row_lanes * element_size);
    plan.set_pass(columns.n <= rows
                      ? columns.period
                      : std::max(rows / tuning::kPassRows, std::int64_t{1}) * tuning::kPassRows,
                  element_size);
  } else if (columns.packing == Packing::kTransposed) {
    plan.least_groups = columns.tile_groups = groups.size;
    // Four of the longest vectors are taken at once.
    const std::int64_t fit = tuning::kTransposeBytes / (columns.block * element_size);
    const std::int64_t step = fit >= 4 * line ? 4 * line : line;
    const std::int64_t tiles =
        ceil_divide(lanes, std::max(std::min(most, fit / step * step), step));
    columns.tile_lanes = std::min(lanes, ceil_divide(ceil_divide(lanes, tiles), step) * step);
    columns.ahead =
        std::max<std::int64_t>(1, tuning::kTransposePrefetchBytes / element_size / columns.block);
  } else {
    // Bytes of cache lines that a lane takes, at most one line: the next rows find them in L1.
    const std::int64_t apart =
        std::min<std::int64_t>(std::abs(columns.lane_stride) * element_size, kCacheLine);
    const std::int64_t fit = tuning::kStridedTileBytes / std::max<std::int64_t>(apart, 1);
    columns.tile_lanes = std::min(lanes, std::clamp(fit, line, most));
    choose_groups(dense                                     ? std::min(fit, in_tile) / lanes
                  : groups.size * element_size < kCacheLine ? groups.size
                                                            : 1);
    columns.pass = std::clamp(
        tuning::kTransposeBytes / (columns.tile_groups * columns.tile_lanes * element_size),
        std::int64_t{1}, columns.period);
  }
}

}  // namespace

ColumnsPlan plan_columns(std::int64_t element_size, std::int64_t input_bytes, bool widens,
                         std::int64_t lane_bytes, Tasks& tasks, Axes& reduced) {
  ColumnsPlan plan;
  Columns& columns = plan.columns;
  choose_lanes(element_size, widens, lane_bytes, tasks, reduced, plan);
  columns.lanes = plan.per_result * tasks.results.size;
  if (!plan.widened()) columns.lane_stride = tasks.results.strides[0];
  choose_packing(element_size, widens, tasks.groups, reduced, plan);
  choose_tiles(element_size, tasks.groups, plan);
  if (input_bytes < tuning::kColumnsPrefetchBytes) columns.ahead = 0;
  const bool transposed = columns.packing == Packing::kTransposed;
  // Blocks that hold no groups: those of the longest kept axis have their own.
  const bool apart = widens && transposed && tasks.groups.size == 1;
  if (apart) tasks.groups = tasks.kept.take(longest(tasks.kept, false));
  columns.group_stride = tasks.groups.strides[0] * (transposed && !apart ? columns.tile_lanes : 1);
  columns.groups = tasks.groups.size;
  return plan;
}

void ColumnsPlan::set_pass(std::int64_t positions, std::int64_t element_size) {
  columns.pass = std::min(columns.period, positions);
  const std::int64_t stride = walk.last().strides[0];
  const std::int64_t in_row = tuning::kColumnsPrefetchAhead / element_size;
  columns.ahead = columns.pass < columns.period ? columns.pass * stride
                  : stride < 0                  ? -in_row
                                                : in_row;
}

void ColumnsPlan::fill_rows(std::int64_t* rows) const {
  const bool transposed = columns.packing == Packing::kTransposed;
  const std::int64_t scale = transposed ? columns.tile_lanes : 1;
  Axes outer = walk;
  const Axis inner = outer.pop();
  const std::int64_t walked = iteration_count(walk);
  Odometer position(outer);
  for (std::int64_t i = 0; i < walked; position.next()) {
    const std::int64_t first = position.offsets()[0] - (transposed ? input_offset : 0);
    for (std::int64_t j = 0; j < inner.size; ++j)
      rows[i++] = (first + j * inner.strides[0]) * scale;
  }
  if (columns.period > walked) rows[walked] = columns.tail_offset;
}

std::string to_text(const ColumnsPlan& plan, const Tasks& tasks) {
  static const char* const packings[] = {"in place", "transposed", "strided"};
  const Columns& columns = plan.columns;
  return text(
      "columns ",
      columns.in_registers ? "compared in registers" : packings[static_cast<int>(columns.packing)],
      ", ", columns.n, " positions in periods of ", columns.period, ", passes of ", columns.pass,
      "\n", columns.groups, " groups by ", tasks.groups.strides[0], " of ", columns.lanes,
      " lanes by ", columns.lane_stride,
      plan.widened() ? text(", widened from ", tasks.results.size) : "",
      plan.joins() ? text(", ", tasks.results.size, " joined") : "", "; tiles of ",
      columns.tile_groups, " x ", columns.tile_lanes, "\n");
}

}  // namespace dmlcpu
