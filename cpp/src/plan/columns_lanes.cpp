#include "plan/columns_lanes.hpp"

#include <algorithm>

#include "plan/tuning.hpp"

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

/// The number of the axis at which a walk in the order of indices should start, to have the most
/// positions, or -1. Its stride is below the limit. No axis has a size of 1.
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

void take_walk(std::int64_t limit, std::int64_t stride_limit, std::int64_t most_span, Axes& reduced,
               ColumnsPlan& plan) {
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
    const std::int64_t fit = (most_span - span) / std::max<std::int64_t>(stride_of(axis), 1) + 1;
    const std::int64_t most = stride_of(axis) < stride_limit
                                  ? std::max(std::min(limit / walk.period, fit), std::int64_t{1})
                                  : 1;
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

bool fit_squares(std::int64_t element_size, const Axes& reduced, std::int64_t stride) {
  const Axis row = reduced.last();
  const std::int64_t bytes = row.size * element_size;
  return reduced.count == 1 && row.strides[0] == 1 &&
         row.size <= std::min(arg_run_positions(element_size), tuning::kBlockElements) &&
         (bytes >= kSquareBytes || (bytes >= tuning::kSquareRowLeastBytes && stride > 0 &&
                                    stride * element_size <= kSquareBytes));
}

LanesOf::LanesOf(std::int64_t size, const Axes& of_kept, const Axes& of_reduced)
    : element_size(size), kept(of_kept), reduced(of_reduced) {
  const std::int64_t stride = stride_of(kept.last());
  inside = stride != 0 && stride_of(reduced.last()) >= stride ? kept.count - 1 : -1;
  outer = longest(kept, true, inside);
  for (int d = 0; d < kept.count; ++d) {
    const Axis& axis = kept.axes[d];
    if (d != inside && axis.strides[0] != 0 && axis.size * size >= kCacheLine) outer = d;
  }
}

std::int64_t LanesOf::most_times(std::int64_t lanes, std::int64_t per_result) const {
  return std::min(tuning::kLanesTileBytes / (lanes * element_size),
                  arg_run_positions(element_size) / per_result);
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
  if (choice.cut_axis >= 0) {
    Axis axis = reduced.take(choice.cut_axis);
    add_lanes(axis, choice.cut, tasks.results, plan);
    if (axis.size > 1) reduced.push(axis);
  }
  if (!plan.has_several()) plan.columns.lanes.stride = tasks.results.strides[0];
  plan.results = tasks.results.size;
  plan.columns.lanes.count = plan.per_result * plan.results;
}

}  // namespace dmlcpu
