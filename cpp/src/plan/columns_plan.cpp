#include "plan/columns_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

constexpr std::int64_t kAnyStride = std::numeric_limits<std::int64_t>::max();

std::int64_t stride_of(const Axis& axis) { return std::abs(axis.strides[0]); }

/// The position of the kept axis that fills vectors best: the innermost one that does, which reads
/// each cache line at once, else the longest.
int best_lanes(std::int64_t element_size, const Axes& kept) {
  for (int d = kept.count - 1; d >= 0; --d) {
    if (kept.axes[d].strides[0] != 0 && kept.axes[d].size * element_size >= kCacheLine) return d;
  }
  return longest(kept, true);
}

/// How far neighbouring results are from each other, and positions of a single one.
std::int64_t lanes_apart(const Axis& results) { return results.size == 1 ? 1 : results.strides[0]; }

/// The position of the kept axis that repeats `lanes` lanes without a gap, for a row that fills
/// vectors, and whose walk has kBesideBytes; -1 if there is none. Lanes further `apart` than those
/// that are packed in one loop are as well transposed.
int axis_beside(std::int64_t element_size, std::int64_t lanes, std::int64_t apart,
                std::int64_t positions, const Axes& kept) {
  if (apart > tuning::kPackedStride) return -1;
  for (int d = kept.count - 1; d >= 0; --d) {
    const Axis& axis = kept.axes[d];
    const std::int64_t row_bytes = lanes * axis.size * element_size;
    if (axis.strides[0] == lanes * apart && row_bytes >= tuning::kLaneBytes &&
        row_bytes * positions >= tuning::kBesideBytes) {
      return d;
    }
  }
  return -1;
}

/// Makes `count` successive positions of `axis` lanes of each result; the axis is then walked in
/// steps of `count`. Positions that follow each other in memory, as near as the results, are lanes
/// in the order of memory, even if their indices descend.
void widen(Axis& axis, std::int64_t count, const Axis& results, ColumnsPlan& plan) {
  Columns& columns = plan.columns;
  const std::int64_t apart = lanes_apart(results);
  const bool contiguous = stride_of(axis) == results.size * apart;
  columns.lane_stride = contiguous ? apart : axis.strides[0];
  plan.per_result = count;
  columns.widened_step = axis.strides[1];
  columns.backwards = contiguous && axis.strides[0] < 0;
  if (columns.backwards) plan.input_offset = (count - 1) * axis.strides[0];
  const std::int64_t left = axis.size % count;
  columns.tail_offset = (axis.size - count) * axis.strides[0];
  axis.size /= count;
  if (left > 0) {
    columns.tail = axis.size;
    columns.tail_index = (left - count) * axis.strides[1];
  }
  axis.strides[0] *= count;
  axis.strides[1] *= count;
}

/// Takes what is walked out of the reduced axes: as many as have one index step from position to
/// position, while a period has at most `limit` positions. Of the axes in a period none has a
/// stride of `stride_limit` or more. If there is such a limit, the last period has as many
/// positions as the others: all of it may be read.
void take_walk(std::int64_t limit, std::int64_t stride_limit, Axes& reduced, ColumnsPlan& plan) {
  Columns& columns = plan.columns;
  Axes& walk = plan.walk;
  walk.count = 0;
  columns.n = columns.period = 1;
  while (true) {
    int found = -1;
    for (int d = 0; d < reduced.count; ++d) {
      const Axis& axis = reduced.axes[d];
      const bool fits = columns.n > 1
                            ? axis.strides[1] == columns.index_step * columns.n
                            : stride_of(axis) < stride_limit &&
                                  (found < 0 || axis.strides[1] < reduced.axes[found].strides[1]);
      if (fits) found = d;
    }
    if (found < 0) break;
    const Axis axis = reduced.take(found);
    if (columns.n == 1) columns.index_step = axis.strides[1];
    columns.n *= axis.size;
    const bool inside = stride_of(axis) < stride_limit;
    std::int64_t part = inside ? std::clamp(limit / columns.period, std::int64_t{1}, axis.size) : 1;
    while (stride_limit < kAnyStride && axis.size % part != 0) --part;
    if (part > 1) walk.push({part, axis.strides});
    columns.period *= part;
    columns.period_stride = part * axis.strides[0];
    if (part < axis.size) break;
  }
  // Found from the fastest on.
  std::reverse(walk.axes.begin(), walk.axes.begin() + walk.count);
}

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

/// How many positions of each result become lanes: together they fill as many bytes as hide each
/// other's latency.
std::int64_t widened_count(std::int64_t element_size, const Axis& results) {
  return std::max(std::int64_t{2}, tuning::kWidenedBytes / (results.size * element_size));
}

/// Whether the reduced axis has at least `least` positions, and twice `count`, that follow each
/// other in memory, each with all results, at one distance that is packed fast.
bool follows(const Axis& reduced, const Axis& results, std::int64_t count, std::int64_t least) {
  const std::int64_t apart = lanes_apart(results);
  return apart <= tuning::kPackedStride && stride_of(reduced) == results.size * apart &&
         reduced.size >= std::max(least, 2 * count);
}

/// The largest divisor of `size` that is more than half of `count`; `count` if there is none.
std::int64_t divisor_near(std::int64_t size, std::int64_t count) {
  for (std::int64_t divisor = count; 2 * divisor > count; --divisor) {
    if (size % divisor == 0) return divisor;
  }
  return count;
}

/// Widens the tasks' groups by positions of the innermost reduced axis, if these follow each other.
/// Of an axis among several by all, if they fill vectors and fit a tile, else by as many as leave
/// no tail: otherwise it would be walked once for each position of the others. Where another axis
/// fills vectors, with `outer_bytes`, only if its blocks do not hold the positions, or its lanes
/// are `apart`, or a row of groups fills vectors, where that takes less time.
bool widen_groups(std::int64_t element_size, std::int64_t outer_bytes, bool apart, Tasks& tasks,
                  Axes& reduced, ColumnsPlan& plan) {
  Axis& inner = reduced.axes[reduced.count - 1];
  const std::int64_t lanes = inner.size * tasks.groups.size;
  const std::int64_t positions = iteration_count(reduced) / inner.size;
  const int beside =
      positions < tuning::kBesidePositions
          ? -1
          : axis_beside(element_size, lanes, lanes_apart(tasks.groups), positions, tasks.kept);
  const bool all = reduced.count > 1 && inner.size <= tuning::kWholeAxisLanes &&
                   (beside >= 0 || lanes * element_size >= kCacheLine) &&
                   lanes * element_size <= tuning::kWidenedTileBytes;
  std::int64_t count = all ? inner.size : widened_count(element_size, tasks.groups);
  if (reduced.count > 1) count = divisor_near(inner.size, count);
  std::int64_t least = 0;
  if (outer_bytes >= kCacheLine && !(all && (apart || beside >= 0))) {
    least = tuning::kBlockElements / tasks.groups.size + 1;
    if (apart) least = std::min(least, tuning::kWidenedApartPositions * count);
  }
  // All need not be twice as many.
  if (!follows(inner, tasks.groups, all ? count / 2 : count, least)) return false;
  const int outer = all && beside >= 0 ? beside : longest(tasks.kept, false);
  tasks.results = std::exchange(tasks.groups, tasks.kept.take(outer));
  widen(inner, count, tasks.results, plan);
  if (all) reduced.pop();
  return true;
}

/// Makes positions of the longest reduced axis lanes of a single result; false if there are too
/// few.
bool widen_longest(std::int64_t element_size, Axes& reduced, ColumnsPlan& plan) {
  const int position = longest(reduced, true);
  const std::int64_t size = reduced.axes[position].size;
  const std::int64_t part = tuning::kWidenedBytes / element_size;
  if (size * element_size < kCacheLine || (reduced.count == 1 && size < 2 * part)) return false;
  Axis lanes = reduced.take(position);
  // Lanes of few positions would take longer to join than to reduce.
  const bool some = size >= 2 * part && iteration_count(reduced) < tuning::kWholeAxisPositions;
  widen(lanes, some ? part : size, kUnitAxis, plan);
  if (some) reduced.push(lanes);
  return true;
}

/// Chooses lanes, one for each result unless they are widened, and groups beside them.
void choose_lanes(std::int64_t element_size, bool widens, std::int64_t lane_bytes, Tasks& tasks,
                  Axes& reduced, ColumnsPlan& plan) {
  Axes& kept = tasks.kept;
  const Axis inner = reduced.last();
  const std::int64_t kept_stride = stride_of(kept.last());
  const bool has_groups = kept_stride != 0 && stride_of(inner) >= kept_stride;
  if (has_groups) tasks.groups = kept.pop();
  const int outer = best_lanes(element_size, kept);
  const std::int64_t outer_size = outer < 0 ? 0 : kept.axes[outer].size;
  const std::int64_t outer_bytes = outer_size * element_size;
  const std::int64_t group_bytes = tasks.groups.size * element_size;
  const std::int64_t filled = tasks.groups.size * lane_bytes;
  if (has_groups && group_bytes >= tuning::kLaneBytes &&
      (100 * filled >= tuning::kTopKLaneFill * round_up(filled) ||
       tasks.groups.size >= outer_size)) {
    // Whole vectors; but they may be so few that each waits for its own latency.
    const bool waits = widens && group_bytes < tuning::kWidenedBytes &&
                       follows(inner, tasks.groups, widened_count(element_size, tasks.groups),
                               tuning::kWidenedLeastBytes / element_size);
    if (!waits) {
      tasks.results = std::exchange(tasks.groups, kept.pop());
      return;
    }
  }
  if (widens && has_groups) {
    const int beside = axis_beside(element_size, tasks.groups.size, lanes_apart(tasks.groups),
                                   iteration_count(reduced), kept);
    if (beside >= 0) {
      tasks.results = std::exchange(tasks.groups, kept.take(beside));
      return;
    }
  }
  // Too few columns to fill vectors, or too many elements of each: positions may be lanes as well.
  const bool apart = outer >= 0 && outer_bytes < tuning::kWidenedBytes &&
                     stride_of(kept.axes[outer]) > tuning::kBlockElements;
  if (widens && widen_groups(element_size, outer_bytes, apart, tasks, reduced, plan)) return;
  const bool lacks_lanes = outer_bytes < kCacheLine || (apart && tasks.groups.size == 1);
  if (widens && lacks_lanes && widen_longest(element_size, reduced, plan)) return;
  tasks.results = outer >= 0 ? kept.take(outer) : std::exchange(tasks.groups, kUnitAxis);
}

/// Chooses how the lanes are packed, and takes the walked axes out of the reduced ones.
void choose_packing(std::int64_t element_size, bool widens, const Axis& groups, Axes& reduced,
                    ColumnsPlan& plan) {
  Columns& columns = plan.columns;
  const bool has_tail = columns.tail >= 0;
  const std::int64_t apart = std::abs(columns.lane_stride);
  const Axis inner = reduced.last();
  const bool rows = widens && !plan.widened() && groups.size == 1 && reduced.count == 1 &&
                    inner.strides[0] == 1 &&
                    inner.size * element_size >= tuning::kSquareRowLeastBytes;
  if (!has_tail && apart > (rows ? 1 : tuning::kPackedStride)) {
    for (std::int64_t limit = apart; limit > 0;) {
      Axes others = reduced;
      take_walk(tuning::kBlockElements / groups.size, limit, others, plan);
      if (make_block(element_size, groups, plan)) {
        columns.packing = Packing::kTransposed;
        columns.in_registers = rows;
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
  // A tail that follows the first period is part of it.
  if (columns.period == columns.n) columns.period += has_tail;
  columns.n += has_tail;
}

/// Tiles, whose best elements and positions, and packed elements, stay in L1.
void choose_tiles(std::int64_t element_size, const Axis& groups, ColumnsPlan& plan) {
  Columns& columns = plan.columns;
  const std::int64_t line = kCacheLine / element_size;
  const std::int64_t bytes = plan.widened() ? tuning::kWidenedTileBytes : tuning::kTileBytes;
  const std::int64_t in_tile = std::min(tuning::kTileElements, bytes / element_size);
  const std::int64_t lanes = columns.lanes;
  // Lanes of one result are numbered in an integer as wide as the element.
  const std::int64_t most = plan.per_result == lanes && element_size == 1 ? 256 : in_tile;
  columns.tile_groups = 1;
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
    // Rows read the same cache lines again, unless lanes are a line apart.
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

ColumnsPlan plan_columns(const ConstTensor& input, bool widens, std::int64_t lane_bytes,
                         Tasks& tasks, Axes& reduced) {
  const std::int64_t element_size = element_bytes(input);
  ColumnsPlan plan;
  Columns& columns = plan.columns;
  choose_lanes(element_size, widens, lane_bytes, tasks, reduced, plan);
  columns.lanes = plan.per_result * tasks.results.size;
  if (!plan.widened()) columns.lane_stride = tasks.results.strides[0];
  choose_packing(element_size, widens, tasks.groups, reduced, plan);
  choose_tiles(element_size, tasks.groups, plan);
  if (byte_count(input) < tuning::kColumnsPrefetchBytes) columns.ahead = 0;
  const bool transposed = columns.packing == Packing::kTransposed;
  columns.group_stride = tasks.groups.strides[0] * (transposed ? columns.tile_lanes : 1);
  if (widens && transposed && tasks.groups.size == 1) {
    // The blocks hold no groups: those of the longest kept axis have their own.
    tasks.groups = tasks.kept.take(longest(tasks.kept, false));
    columns.group_stride = tasks.groups.strides[0];
  }
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
      plan.widened() ? text(", widened from ", tasks.results.size) : "", "; tiles of ",
      columns.tile_groups, " x ", columns.tile_lanes, "\n");
}

}  // namespace dmlcpu
