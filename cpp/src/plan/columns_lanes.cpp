#include "plan/columns_lanes.hpp"

#include <algorithm>

#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

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
  axis.size = steps;
  axis.strides[0] *= count;
  axis.strides[1] *= count;
}

/// The number of a kept axis that repeats `lanes` lanes without a gap, or -1. The row of lanes must
/// fill vectors, the walk of the row must have kBesideBytes, and lanes must be at most
/// kPackedStride apart: transposing lanes that are farther apart takes no longer.
int axis_beside(const LanesOf& of, std::int64_t lanes, std::int64_t positions) {
  if (of.apart() > tuning::kPackedStride) return -1;
  for (int d = of.kept.count - 1; d >= 0; --d) {
    const Axis& axis = of.kept.axes[d];
    const std::int64_t row_bytes = lanes * axis.size * of.element_size;
    if (d != of.inside && axis.strides[0] == lanes * of.apart() &&
        row_bytes >= tuning::kLaneBytes && row_bytes * positions >= tuning::kBesideBytes) {
      return d;
    }
  }
  return -1;
}

/// How many positions of each result become lanes, beside `lanes` that there are: together they
/// fill as many bytes as hide each other's latency.
std::int64_t filling(std::int64_t element_size, std::int64_t lanes) {
  return std::max(std::int64_t{2}, tuning::kWidenedBytes / (lanes * element_size));
}

/// Whether the positions of a reduced axis follow `lanes` lanes in memory, at one distance that is
/// packed fast.
bool follow(const LanesOf& of, const Axis& axis, std::int64_t lanes) {
  return of.apart() <= tuning::kPackedStride && stride_of(axis) == lanes * of.apart();
}

/// Positions of the innermost reduced axis, which follow the results: all of an axis among several,
/// if they fill vectors and fit a tile, as it would be walked once for each position of the others.
/// Where another axis fills vectors only if its blocks do not hold the positions; or its lanes are
/// `far_apart`, by a whole axis or kWidenedApartPositions for each lane; or a kept axis repeats the
/// whole axis in a row that fills vectors.
bool choose_inner(const LanesOf& of, std::int64_t outer_bytes, bool far_apart, LaneChoice& choice) {
  const Axis inner = of.reduced.last();
  const std::int64_t results = of.results().size;
  const std::int64_t lanes = inner.size * results;
  const std::int64_t positions = iteration_count(of.reduced) / inner.size;
  const int beside = positions < tuning::kBesidePositions ? -1 : axis_beside(of, lanes, positions);
  const bool all = of.reduced.count > 1 && inner.size <= tuning::kWholeAxisLanes &&
                   (beside >= 0 || lanes * of.element_size >= kCacheLine) &&
                   lanes * of.element_size <= tuning::kWidenedTileBytes;
  const std::int64_t count = all ? inner.size : filling(of.element_size, results);
  std::int64_t least = all ? 0 : 2 * count;
  if (outer_bytes >= kCacheLine && !(all && (far_apart || beside >= 0))) {
    std::int64_t pays = tuning::kBlockElements / results + 1;
    if (far_apart) pays = std::min(pays, tuning::kWidenedApartPositions * count);
    least = std::max(least, pays);
  }
  if (!follow(of, inner, results) || inner.size < least) return false;
  choice.results = of.inside;
  choice.groups = all && beside >= 0 ? beside : of.longest_but(of.inside, false);
  choice.whole = all ? 1 : 0;
  choice.cut = all ? 0 : count;
  return true;
}

/// Chooses positions of the longest reduced axis; false if the axis has too few.
bool choose_longest(const LanesOf& of, LaneChoice& choice) {
  const std::int64_t size = of.reduced.axes[longest(of.reduced, true)].size;
  const std::int64_t count = tuning::kWidenedBytes / of.element_size;
  if (size * of.element_size < kCacheLine || (of.reduced.count == 1 && size < 2 * count)) {
    return false;
  }
  // Lanes of few positions would take longer to merge than to reduce.
  const bool some =
      size >= 2 * count && iteration_count(of.reduced) / size < tuning::kWholeAxisPositions;
  choice.groups = of.inside;
  choice.longest = true;
  choice.cut = some ? count : std::min(size, of.most());
  return true;
}

/// The innermost reduced axes, whose elements follow each other, while the others have enough
/// positions; of the next axis some positions, if lanes are few. False if they do not fill a
/// vector, or if a call would walk so few positions that merging takes longer than the lanes gain.
bool choose_several(const LanesOf& of, LaneChoice& choice) {
  Axes others = of.reduced;
  std::int64_t lanes = 1;
  while (others.count > 1 && stride_of(others.last()) == lanes) {
    const std::int64_t size = lanes * others.last().size;
    const std::int64_t positions = iteration_count(others) / others.last().size;
    // More lanes than a cache line has gain only that memory is read in order.
    const bool few = lanes == 1 || size * of.element_size <= kCacheLine;
    const bool fills = lanes * of.element_size >= kCacheLine;
    const std::int64_t least = few ? tuning::kWholeAxisPositions * of.element_size
                                   : tuning::kJoinedBytes * (fills ? 8 : 1);
    if (positions * of.element_size < least || size > of.most()) break;
    others.pop();
    ++choice.whole;
    lanes = size;
  }
  if (lanes == 1) return false;
  const Axis& next = others.last();
  // Each lane is to have positions left to walk.
  const std::int64_t walk_bytes =
      of.kept.count == 0 ? 2 * of.element_size : tuning::kJoinedBytes / 4;
  const std::int64_t count =
      std::clamp(next.size * of.element_size / walk_bytes, std::int64_t{1},
                 std::min(filling(of.element_size, lanes), of.most() / lanes));
  const std::int64_t bytes = lanes * of.element_size;
  const bool cuts = count > 1 && bytes < tuning::kWidenedBytes && follow(of, next, lanes) &&
                    next.size >= 2 * count;
  if (!cuts && bytes < tuning::kLaneBytes) return false;
  choice.cut = cuts ? count : 0;
  choice.groups = of.longest_but(-1, false);
  Tasks some_tasks;
  some_tasks.kept = of.kept;
  Axes outer = of.reduced;
  ColumnsPlan plan;
  take_lanes(choice, some_tasks, outer, plan);
  take_walk(tuning::kWalkRows, kAnyStride, outer, plan);
  const bool once = outer.count == 0 && of.kept.count == 0;
  return once ||
         plan.columns.walk.n * of.element_size >= tuning::kJoinedBytes / (outer.count > 0 ? 1 : 4);
}

/// The number of the axis with this index step, or -1.
int with_step(const Axes& axes, std::int64_t step) {
  int number = axes.count - 1;
  while (number >= 0 && axes.axes[number].strides[1] != step) --number;
  return number;
}

/// The number of the axis at which a walk in the order of indices should start, to have the most
/// positions, or -1. Its stride is below the limit.
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
      // If nothing else is walked, only the last step deviates from i * step.
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

LanesOf::LanesOf(std::int64_t size, const Axes& of_kept, const Axes& of_reduced)
    : element_size(size), kept(of_kept), reduced(of_reduced) {
  const std::int64_t stride = stride_of(kept.last());
  inside = stride != 0 && stride_of(reduced.last()) >= stride ? kept.count - 1 : -1;
  outer = longest_but(inside, true);
  for (int d = 0; d < kept.count; ++d) {
    const Axis& axis = kept.axes[d];
    if (d != inside && axis.strides[0] != 0 && axis.size * size >= kCacheLine) outer = d;
  }
}

int LanesOf::longest_but(int excluded, bool moves) const {
  int best = -1;
  for (int d = kept.count - 1; d >= 0; --d) {
    const Axis& axis = kept.axes[d];
    if (d == excluded || (moves && axis.strides[0] == 0)) continue;
    if (best < 0 || axis.size > kept.axes[best].size) best = d;
  }
  return best;
}

std::int64_t LanesOf::most() const {
  return std::min(tuning::kWidenedTileBytes / element_size, arg_run_positions(element_size));
}

void take_lanes(const LaneChoice& choice, Tasks& tasks, Axes& reduced, ColumnsPlan& plan) {
  // The later one first, so that the number of the other one stays.
  const auto take = [&](int number, Axis& to) {
    if (number >= 0) to = tasks.kept.take(number);
  };
  const bool results_first = choice.results > choice.groups;
  if (results_first) take(choice.results, tasks.results);
  take(choice.groups, tasks.groups);
  if (!results_first) take(choice.results, tasks.results);
  for (int i = 0; i < choice.whole; ++i) {
    Axis axis = reduced.pop();
    add_lanes(axis, axis.size, tasks.results, plan);
  }
  if (choice.cut > 0) {
    Axis axis = reduced.take(choice.longest ? longest(reduced, true) : reduced.count - 1);
    add_lanes(axis, choice.cut, tasks.results, plan);
    if (axis.size > 1) reduced.push(axis);
  }
  if (!plan.has_several()) plan.columns.lanes.stride = tasks.results.strides[0];
  plan.results = tasks.results.size;
  plan.columns.lanes.count = plan.per_result * plan.results;
}

LaneChoice choose_lanes(std::int64_t element_size, bool widens, std::int64_t lane_bytes,
                        const Axes& kept, const Axes& reduced) {
  const LanesOf of(element_size, kept, reduced);
  const bool has_inside = of.inside >= 0;
  const Axis inner = of.reduced.last();
  const std::int64_t size = of.results().size;
  const std::int64_t outer_size = of.outer < 0 ? 0 : of.kept.axes[of.outer].size;
  const std::int64_t outer_bytes = outer_size * element_size;
  const std::int64_t bytes = size * element_size;
  const std::int64_t filled = size * lane_bytes;
  LaneChoice choice;
  // Whole vectors; but they may be so few that each waits for its own latency.
  const bool waits = widens && bytes < tuning::kWidenedBytes && follow(of, inner, size) &&
                     inner.size >= std::max(2 * filling(of.element_size, size),
                                            tuning::kWidenedLeastBytes / element_size);
  if (has_inside && bytes >= tuning::kLaneBytes &&
      (100 * filled >= tuning::kTopKLaneFill * round_up(filled) || size >= outer_size) && !waits) {
    choice.results = of.inside;
    choice.groups = of.inside - 1;
    return choice;
  }
  const std::int64_t positions = iteration_count(reduced);
  const int beside = widens && has_inside ? axis_beside(of, size, positions) : -1;
  if (beside >= 0) {
    choice.results = of.inside;
    choice.groups = beside;
    return choice;
  }
  // Too few columns to fill vectors, or too many elements of each: positions may be lanes as well.
  const bool far_apart = of.outer >= 0 && outer_bytes < tuning::kWidenedBytes &&
                         stride_of(of.kept.axes[of.outer]) > tuning::kBlockElements;
  const bool lacks_lanes = outer_bytes < kCacheLine || (far_apart && size == 1);
  if (widens && choose_inner(of, outer_bytes, far_apart, choice)) return choice;
  if (widens && lacks_lanes && !has_inside && choose_several(of, choice)) return choice;
  choice = {};
  if (widens && lacks_lanes && choose_longest(of, choice)) return choice;
  choice.results = of.outer >= 0 ? of.outer : of.inside;
  choice.groups = of.outer >= 0 ? of.inside : -1;
  return choice;
}

}  // namespace dmlcpu
