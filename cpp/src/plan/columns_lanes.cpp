#include "plan/columns_lanes.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

/// How far neighbouring results are from each other; 1 if there is one, whose neighbours are its
/// own positions.
std::int64_t lanes_apart(const Axis& results) { return results.size == 1 ? 1 : results.strides[0]; }

/// The number of the kept axis that repeats `lanes` lanes, as far apart as the tasks' groups,
/// without a gap, for a row that fills vectors, and whose walk has kBesideBytes; -1 if there is
/// none, or lanes are further apart than kPackedStride: transposing them takes no longer.
int axis_beside(std::int64_t element_size, std::int64_t lanes, std::int64_t positions,
                const Tasks& tasks) {
  const std::int64_t apart = lanes_apart(tasks.groups);
  if (apart > tuning::kPackedStride) return -1;
  for (int d = tasks.kept.count - 1; d >= 0; --d) {
    const Axis& axis = tasks.kept.axes[d];
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
  if (columns.backwards) plan.input_offset += (count - 1) * axis.strides[0];
  const std::int64_t left = axis.size % count;
  columns.tail_offset = (axis.size - count) * axis.strides[0];
  axis.size /= count;
  columns.tail = left > 0 ? axis.size : -1;
  columns.tail_index = (left - count) * axis.strides[1];
  axis.strides[0] *= count;
  axis.strides[1] *= count;
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

/// The largest divisor of `size` up to `count` that is more than half of it; `count` if there is
/// none.
std::int64_t divisor_near(std::int64_t size, std::int64_t count) {
  for (std::int64_t divisor = count; 2 * divisor > count; --divisor) {
    if (size % divisor == 0) return divisor;
  }
  return count;
}

/// Widens the tasks' groups by positions of the innermost reduced axis, if these follow each other.
/// Of an axis among several by all, if they fill vectors and fit a tile, else by as many as leave
/// no tail, if a divisor is near: it would be walked once for each position of the others. Where
/// another axis fills vectors, with `outer_bytes`, only if its blocks do not hold the positions; or
/// its lanes are `far_apart`, by a whole axis or kWidenedApartPositions for each lane; or a kept
/// axis repeats the whole axis in a row that fills vectors.
bool widen_groups(std::int64_t element_size, std::int64_t outer_bytes, bool far_apart, Tasks& tasks,
                  Axes& reduced, ColumnsPlan& plan) {
  Axis& inner = reduced.axes[reduced.count - 1];
  const std::int64_t lanes = inner.size * tasks.groups.size;
  const std::int64_t positions = iteration_count(reduced) / inner.size;
  const int beside = positions < tuning::kBesidePositions
                         ? -1
                         : axis_beside(element_size, lanes, positions, tasks);
  const bool all = reduced.count > 1 && inner.size <= tuning::kWholeAxisLanes &&
                   (beside >= 0 || lanes * element_size >= kCacheLine) &&
                   lanes * element_size <= tuning::kWidenedTileBytes;
  std::int64_t count = all ? inner.size : widened_count(element_size, tasks.groups);
  if (reduced.count > 1) count = divisor_near(inner.size, count);
  std::int64_t least = 0;
  if (outer_bytes >= kCacheLine && !(all && (far_apart || beside >= 0))) {
    least = tuning::kBlockElements / tasks.groups.size + 1;
    if (far_apart) least = std::min(least, tuning::kWidenedApartPositions * count);
  }
  // All need not be twice as many.
  if (!follows(inner, tasks.groups, all ? count / 2 : count, least)) return false;
  const int next_groups = all && beside >= 0 ? beside : longest(tasks.kept, false);
  tasks.results = std::exchange(tasks.groups, tasks.kept.take(next_groups));
  widen(inner, count, tasks.results, plan);
  if (all) reduced.pop();
  return true;
}

/// Makes positions of the longest reduced axis lanes of a single result; false if there are too
/// few.
bool widen_longest(std::int64_t element_size, Axes& reduced, ColumnsPlan& plan) {
  const int axis = longest(reduced, true);
  const std::int64_t size = reduced.axes[axis].size;
  const std::int64_t count = tuning::kWidenedBytes / element_size;
  if (size * element_size < kCacheLine || (reduced.count == 1 && size < 2 * count)) return false;
  Axis lanes = reduced.take(axis);
  // Lanes of few positions would take longer to merge than to reduce.
  const bool some = size >= 2 * count && iteration_count(reduced) < tuning::kWholeAxisPositions;
  widen(lanes, some ? count : size, kUnitAxis, plan);
  if (some) reduced.push(lanes);
  return true;
}

/// Makes the innermost reduced axes, whose elements follow each other, results that are joined
/// after the kernel, while the others have enough positions. Few are widened by the next axis.
/// False if they do not fill a vector, or if a call would walk so few positions that joining takes
/// longer than the lanes gain.
bool join_innermost(std::int64_t element_size, Tasks& tasks, Axes& reduced, ColumnsPlan& plan) {
  Axes others = reduced;
  Axis results = kUnitAxis;
  Axes joined;
  Offsets first{};
  while (others.count > 1 && stride_of(others.last()) == results.size) {
    Axis axis = others.last();
    const std::int64_t size = results.size * axis.size;
    const std::int64_t positions = iteration_count(others) / axis.size;
    // More lanes than a cache line has gain only that memory is read in order.
    const bool few = results.size == 1 || size * element_size <= kCacheLine;
    const bool fills = results.size * element_size >= kCacheLine;
    const std::int64_t least =
        few ? tuning::kWholeAxisPositions * element_size : tuning::kJoinedBytes * (fills ? 8 : 1);
    if (positions * element_size < least || size * element_size > tuning::kWidenedTileBytes) break;
    others.pop();
    if (axis.strides[0] < 0) reverse(axis, first);
    joined.push(axis);
    results = {size, {1, 0, 0}};
  }
  if (results.size == 1) return false;
  Axis& next = others.axes[others.count - 1];
  // Each lane is to have positions left to walk.
  const std::int64_t walk_bytes =
      tasks.kept.count == 0 ? 2 * element_size : tuning::kJoinedBytes / 4;
  std::int64_t count = std::clamp(next.size * element_size / walk_bytes, std::int64_t{1},
                                  widened_count(element_size, results));
  if (others.count > 1) count = divisor_near(next.size, count);
  // A tail would be walked once for each position of the others: rather lanes that fill a vector.
  const bool has_tail = others.count > 1 && next.size % count != 0;
  const std::int64_t bytes = results.size * element_size;
  const bool widens = count > 1 &&
                      bytes < (has_tail ? tuning::kLaneBytes : tuning::kWidenedBytes) &&
                      follows(next, results, count, 0);
  if (!widens && bytes < tuning::kLaneBytes) return false;
  ColumnsPlan joining = plan;
  joining.input_offset = first[0];
  joining.index_offset = first[1];
  if (widens) widen(next, count, results, joining);
  Axes outer = others;
  take_walk(tuning::kWalkRows, kAnyStride, outer, joining);
  const bool once = outer.count == 0 && tasks.kept.count == 0;
  const std::int64_t walked = joining.columns.tail >= 0 ? next.size : joining.columns.n;
  if (!once && walked * element_size < tuning::kJoinedBytes / (outer.count > 0 ? 1 : 4)) {
    return false;
  }
  // Found from the innermost on.
  while (joined.count > 0) joining.joined.push(joined.pop());
  plan = joining;
  tasks.results = results;
  tasks.groups = tasks.kept.take(longest(tasks.kept, false));
  reduced = others;
  return true;
}

}  // namespace

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
    std::int64_t taken =
        inside ? std::clamp(limit / columns.period, std::int64_t{1}, axis.size) : 1;
    while (stride_limit < kAnyStride && axis.size % taken != 0) --taken;
    if (taken > 1) walk.push({taken, axis.strides});
    columns.period *= taken;
    columns.period_stride = taken * axis.strides[0];
    if (taken < axis.size) break;
  }
  // Found from the fastest on.
  std::reverse(walk.axes.begin(), walk.axes.begin() + walk.count);
}

void choose_lanes(std::int64_t element_size, bool widens, std::int64_t lane_bytes, Tasks& tasks,
                  Axes& reduced, ColumnsPlan& plan) {
  Axes& kept = tasks.kept;
  const Axis inner = reduced.last();
  const std::int64_t kept_stride = stride_of(kept.last());
  const bool has_groups = kept_stride != 0 && stride_of(inner) >= kept_stride;
  if (has_groups) tasks.groups = kept.pop();
  // The innermost axis that fills vectors, which reads each cache line at once, else the longest.
  int outer = longest(kept, true);
  for (int d = 0; d < kept.count; ++d) {
    if (kept.axes[d].strides[0] != 0 && kept.axes[d].size * element_size >= kCacheLine) outer = d;
  }
  const std::int64_t outer_size = outer < 0 ? 0 : kept.axes[outer].size;
  const std::int64_t outer_bytes = outer_size * element_size;
  const std::int64_t group_bytes = tasks.groups.size * element_size;
  const std::int64_t filled = tasks.groups.size * lane_bytes;
  // Whole vectors; but they may be so few that each waits for its own latency.
  if (has_groups && group_bytes >= tuning::kLaneBytes &&
      (100 * filled >= tuning::kTopKLaneFill * round_up(filled) ||
       tasks.groups.size >= outer_size) &&
      !(widens && group_bytes < tuning::kWidenedBytes &&
        follows(inner, tasks.groups, widened_count(element_size, tasks.groups),
                tuning::kWidenedLeastBytes / element_size))) {
    tasks.results = std::exchange(tasks.groups, kept.pop());
    return;
  }
  const std::int64_t positions = iteration_count(reduced);
  const int beside =
      widens && has_groups ? axis_beside(element_size, tasks.groups.size, positions, tasks) : -1;
  if (beside >= 0) {
    tasks.results = std::exchange(tasks.groups, kept.take(beside));
    return;
  }
  // Too few columns to fill vectors, or too many elements of each: positions may be lanes as well.
  const bool far_apart = outer >= 0 && outer_bytes < tuning::kWidenedBytes &&
                         stride_of(kept.axes[outer]) > tuning::kBlockElements;
  const bool lacks_lanes = outer_bytes < kCacheLine || (far_apart && tasks.groups.size == 1);
  if (widens && widen_groups(element_size, outer_bytes, far_apart, tasks, reduced, plan)) return;
  if (widens && lacks_lanes && !has_groups && join_innermost(element_size, tasks, reduced, plan)) {
    return;
  }
  if (widens && lacks_lanes && widen_longest(element_size, reduced, plan)) return;
  tasks.results = outer >= 0 ? kept.take(outer) : std::exchange(tasks.groups, kUnitAxis);
}

}  // namespace dmlcpu
