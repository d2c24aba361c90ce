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

/// Makes `count` successive positions of `axis` lanes of each result, beyond those that there are.
/// Leaves the steps of as many in which the axis is walked, of one size: the last overlaps the one
/// before. Lanes that continue others, or the results, are in the order of memory, even if indices
/// descend in it.
void add_lanes(Axis& axis, std::int64_t count, const Axis& results, ColumnsPlan& plan) {
  const std::int64_t apart = lanes_apart(results);
  const bool continues = stride_of(axis) == results.size * plan.per_result * apart;
  plan.columns.lanes.stride = continues ? apart : axis.strides[0];
  const std::int64_t steps = ceil_divide(axis.size, count);
  count = ceil_divide(axis.size, steps);
  if (continues && axis.strides[0] < 0) plan.input_offset += (count - 1) * axis.strides[0];
  plan.per_result *= count;
  // The last of the axes changes fastest.
  const Axes faster = plan.lanes;
  plan.lanes.count = 0;
  plan.lanes.push({count, axis.strides});
  for (int d = 0; d < faster.count; ++d) plan.lanes.push(faster.axes[d]);
  if (steps > 1) plan.cut = {axis.size, count, axis.strides};
  axis.size = ceil_divide(axis.size, count);
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

/// Widens the tasks' groups by positions of the innermost reduced axis, if these follow each other.
/// Of an axis among several by all, if they fill vectors and fit a tile: it would be walked once
/// for each position of the others. Where another axis fills vectors, with `outer_bytes`, only if
/// its blocks do not hold the positions; or its lanes are `far_apart`, by a whole axis or
/// kWidenedApartPositions for each lane; or a kept axis repeats the whole axis in a row that fills
/// vectors.
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
  const std::int64_t count = all ? inner.size : widened_count(element_size, tasks.groups);
  std::int64_t least = 0;
  if (outer_bytes >= kCacheLine && !(all && (far_apart || beside >= 0))) {
    least = tuning::kBlockElements / tasks.groups.size + 1;
    if (far_apart) least = std::min(least, tuning::kWidenedApartPositions * count);
  }
  // All need not be twice as many.
  if (!follows(inner, tasks.groups, all ? count / 2 : count, least)) return false;
  const int next_groups = all && beside >= 0 ? beside : longest(tasks.kept, false);
  tasks.results = std::exchange(tasks.groups, tasks.kept.take(next_groups));
  add_lanes(inner, count, tasks.results, plan);
  if (all) reduced.pop();
  return true;
}

/// The most lanes of one result: a tile holds them, and an integer as wide as the element numbers
/// them.
std::int64_t most_lanes(std::int64_t element_size) {
  return std::min(tuning::kWidenedTileBytes / element_size, arg_run_positions(element_size));
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
  add_lanes(lanes, some ? count : std::min(size, most_lanes(element_size)), kUnitAxis, plan);
  if (lanes.size > 1) reduced.push(lanes);
  return true;
}

/// Makes the innermost reduced axes, whose elements follow each other, lanes of a single result,
/// while the others have enough positions; of the next axis some positions, if lanes are few. False
/// if they do not fill a vector, or if a call would walk so few positions that merging takes longer
/// than the lanes gain.
bool join_innermost(std::int64_t element_size, Tasks& tasks, Axes& reduced, ColumnsPlan& plan) {
  Axes others = reduced;
  ColumnsPlan joining = plan;
  std::int64_t lanes = 1;
  while (others.count > 1 && stride_of(others.last()) == lanes) {
    Axis axis = others.last();
    const std::int64_t size = lanes * axis.size;
    const std::int64_t positions = iteration_count(others) / axis.size;
    // More lanes than a cache line has gain only that memory is read in order.
    const bool few = lanes == 1 || size * element_size <= kCacheLine;
    const bool fills = lanes * element_size >= kCacheLine;
    const std::int64_t least =
        few ? tuning::kWholeAxisPositions * element_size : tuning::kJoinedBytes * (fills ? 8 : 1);
    if (positions * element_size < least || size > most_lanes(element_size)) break;
    others.pop();
    add_lanes(axis, axis.size, kUnitAxis, joining);
    lanes = size;
  }
  if (lanes == 1) return false;
  Axis& next = others.axes[others.count - 1];
  const Axis results = {lanes, {1, 0, 0}};
  // Each lane is to have positions left to walk.
  const std::int64_t walk_bytes =
      tasks.kept.count == 0 ? 2 * element_size : tuning::kJoinedBytes / 4;
  const std::int64_t count =
      std::clamp(next.size * element_size / walk_bytes, std::int64_t{1},
                 std::min(widened_count(element_size, results), most_lanes(element_size) / lanes));
  const std::int64_t bytes = lanes * element_size;
  const bool widens =
      count > 1 && bytes < tuning::kWidenedBytes && follows(next, results, count, 0);
  if (!widens && bytes < tuning::kLaneBytes) return false;
  if (widens) add_lanes(next, count, kUnitAxis, joining);
  Axes outer = others;
  take_walk(tuning::kWalkRows, kAnyStride, outer, joining);
  const bool once = outer.count == 0 && tasks.kept.count == 0;
  if (!once &&
      joining.columns.walk.n * element_size < tuning::kJoinedBytes / (outer.count > 0 ? 1 : 4)) {
    return false;
  }
  plan = joining;
  tasks.groups = tasks.kept.take(longest(tasks.kept, false));
  reduced = others;
  return true;
}

/// The number of the axis of an index step; -1 if there is none.
int with_step(const Axes& axes, std::int64_t step) {
  int number = axes.count - 1;
  while (number >= 0 && axes.axes[number].strides[1] != step) --number;
  return number;
}

/// The axis of a stride below a limit from which on, in the order of indices, most positions are
/// walked; -1 if there is none.
int first_walked(std::int64_t stride_limit, const Axes& reduced, const CutAxis& cut) {
  int first = -1;
  std::int64_t most = 0;
  for (int d = 0; d < reduced.count; ++d) {
    if (stride_of(reduced.axes[d]) >= stride_limit) continue;
    std::int64_t positions = 1;
    for (int at = d; at >= 0;) {
      const Axis& axis = reduced.axes[at];
      positions *= axis.size;
      at = with_step(reduced,
                     cut.is(axis) ? cut.size * cut.strides[1] : axis.size * axis.strides[1]);
    }
    if (positions > most) first = d;
    most = std::max(most, positions);
  }
  return first;
}

}  // namespace

void take_walk(std::int64_t limit, std::int64_t stride_limit, Axes& reduced, ColumnsPlan& plan) {
  Walk& walk = plan.columns.walk;
  plan.walk.count = 0;
  walk = {};
  plan.indices = {};
  plan.has_table = false;
  std::int64_t span = 1;
  int next = first_walked(stride_limit, reduced, plan.cut);
  while (next >= 0) {
    const Axis axis = reduced.take(next);
    const bool is_cut = plan.cut.is(axis);
    const std::int64_t count = is_cut ? plan.cut.count : 1;
    const std::int64_t size = is_cut ? plan.cut.size : axis.size;
    if (walk.n == 1) plan.indices.step = axis.strides[1];
    next = with_step(reduced, axis.strides[1] / count * size);
    std::int64_t most = limit / walk.period;
    if (stride_limit < kAnyStride) {
      // A block has its gaps as well.
      const std::int64_t left = tuning::kBlockElements - span;
      most = std::min(most, left / std::max<std::int64_t>(stride_of(axis), 1) + 1);
    }
    most = stride_of(axis) < stride_limit ? std::max(most, std::int64_t{1}) : 1;
    // Periods of one size: the last one overlaps the one before.
    const std::int64_t in_period = ceil_divide(axis.size, ceil_divide(axis.size, most));
    const std::int64_t periods = ceil_divide(axis.size, in_period);
    if (in_period > 1) plan.walk.push({in_period, axis.strides});
    span += (in_period - 1) * stride_of(axis);
    const std::int64_t overlap = periods * in_period * count - size;
    if (periods == 1) {
      walk.n = walk.period *= in_period;
      if (overlap == 0) continue;
      // Of one axis the last step alone has another index.
      plan.has_table = next >= 0;
      plan.indices.last_from = walk.n - 1;
      plan.indices.last_index = plan.has_table ? 0 : -overlap * (axis.strides[1] / count);
      continue;
    }
    const std::int64_t skipped = overlap / count;
    plan.indices.last_from = (periods - 1) * in_period * walk.period;
    plan.indices.last_index = -overlap * (axis.strides[1] / count);
    if (!plan.has_table) plan.indices.last_index += skipped * axis.strides[1];
    walk.n = (periods * in_period - skipped) * walk.period;
    walk.last_skip = skipped * walk.period;
    walk.last_offset = -overlap * (axis.strides[0] / count);
    walk.period *= in_period;
    walk.period_stride = in_period * axis.strides[0];
    plan.indices.period_step = in_period * axis.strides[1];
    break;
  }
  // Taken from the fastest on.
  std::reverse(plan.walk.axes.begin(), plan.walk.axes.begin() + plan.walk.count);
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
