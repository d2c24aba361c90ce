#include "plan/arg_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/tuning.hpp"
#include "core/validate.hpp"

namespace dmlcpu {
namespace {

/// Starts at the axis' last element and walks backwards; returns by how much the operand's offset
/// changes.
std::int64_t reverse(Axis& axis, int operand) {
  const std::int64_t offset = axis.strides[operand] * (axis.size - 1);
  axis.strides[operand] = -axis.strides[operand];
  return offset;
}

/// Sorts the tensor's axes into kept and reduced ones.
void split_axes(const ArgDescriptor& descriptor, const Tensor* values, ArgPlan& plan) {
  const ConstTensor& input = descriptor.input;
  const unsigned axes = reduced_axes(descriptor);
  int output_axis = descriptor.keep_dims ? input.rank : descriptor.output.rank;
  for (int d = input.rank - 1; d >= 0; --d) {
    const bool reduced = (axes >> d & 1U) != 0;
    if (!reduced || descriptor.keep_dims) --output_axis;
    if (!reduced) {
      Axis axis{input.sizes[d],
                {input.strides[d], descriptor.output.strides[output_axis],
                 values == nullptr ? 0 : values->strides[d]}};
      if (axis.strides[0] < 0) {
        plan.input_offset += reverse(axis, 0);
        plan.index_offset += reverse(axis, 1);
        plan.value_offset += reverse(axis, 2);
      }
      plan.kept.push(axis);
      continue;
    }
    Axis axis{input.sizes[d], {input.strides[d], plan.reduced_count, 0}};
    plan.value_stride = input.strides[d];
    plan.reduced_count *= axis.size;
    // All elements along a broadcast axis are equal, so the first of them decides.
    if (axis.strides[0] == 0) continue;
    // Reversed, the axis still counts its index upwards from its new start.
    if (plan.from_end) plan.input_offset += reverse(axis, 0);
    plan.reduced.push(axis);
  }
  // Pushed innermost first; equal strides keep their order.
  std::reverse(plan.kept.axes.begin(), plan.kept.axes.begin() + plan.kept.count);
  std::reverse(plan.reduced.axes.begin(), plan.reduced.axes.begin() + plan.reduced.count);
  simplify(plan.kept);
  simplify(plan.reduced);
}

/// Whether the innermost axis is reduced, and its rows are long enough, or too few to fill vectors.
bool are_rows(std::int64_t element_size, const ArgPlan& plan) {
  const Axis& inner = plan.reduced.axes[plan.reduced.count - 1];
  std::int64_t widest = plan.reduced.count > 1 ? tuning::kLeastLaneBytes : 1;
  for (int d = 0; d < plan.kept.count; ++d) {
    const Axis& axis = plan.kept.axes[d];
    if (axis.strides[0] == 0) continue;
    if (std::abs(axis.strides[0]) < std::abs(inner.strides[0])) return false;
    widest = std::max(widest, axis.size);
  }
  const bool is_short =
      inner.size * element_size < tuning::kShortRowBytes && inner.size < tuning::kShortRowElements;
  return !is_short || widest * element_size < tuning::kLeastLaneBytes;
}

/// Splits a reduction whose results are too few for the threads.
void split_reduction(std::int64_t wanted, ArgPlan& plan) {
  const bool is_columns = plan.strategy == ArgStrategy::kColumns;
  const std::int64_t outer = positions(plan.reduced);
  const std::int64_t n = is_columns ? plan.columns.walk.n : plan.n.size;
  const std::int64_t lanes =
      is_columns && plan.columns.widened() ? plan.columns.lanes / plan.columns.results.size : 1;
  const std::int64_t most = std::max({outer, n, lanes});
  plan.split = outer == most ? Split::kReduced : n == most ? Split::kPositions : Split::kLanes;
  plan.parts = std::min(wanted, most);
}

/// Divides results among tasks, and reductions where there are too few results.
void split_work(std::int64_t element_size, int threads, ArgPlan& plan) {
  plan.threads = threads;
  const bool is_columns = plan.strategy == ArgStrategy::kColumns;
  const ColumnsPlan& columns = plan.columns;
  const std::int64_t groups = plan.groups().size;
  const std::int64_t results = plan.results().size;
  const bool whole = is_columns && columns.widened();
  plan.merges = plan.strategy == ArgStrategy::kRows || whole || plan.reduced.count > 0 ||
                (is_columns && columns.walk.n > arg_run_positions(element_size));
  const auto limit_to_tile = [&] {
    plan.task_groups = is_columns ? std::min(plan.task_groups, columns.tile_groups) : 1;
    const std::int64_t tile = is_columns ? columns.tile_lanes : tuning::kTileElements;
    if (!whole) plan.task_results = std::min(plan.task_results, tile);
  };
  plan.task_groups = groups;
  plan.task_results = results;
  if (plan.merges) limit_to_tile();
  if (threads == 1) return;
  const std::int64_t wanted = threads * tuning::kTasksPerThread;
  const auto missing = [&] { return ceil_divide(wanted, plan.tasks()); };
  if (missing() > 1 && !(is_columns && columns.packing == Packing::kTransposed)) {
    plan.task_groups = std::max<std::int64_t>(plan.task_groups / missing(), 1);
  }
  if (missing() > 1 && is_columns && columns.packing == Packing::kNone && !whole) {
    // Wide tiles read memory in long runs, so rather split the columns.
    const std::int64_t tiles = plan.tasks() * ceil_divide(plan.task_results, columns.tile_lanes);
    const std::int64_t parts =
        std::min(ceil_divide(wanted, tiles), columns.walk.n / tuning::kMinPartPositions);
    if (parts > 1 && tiles * parts >= threads) {
      plan.merges = true;
      limit_to_tile();
      plan.split = Split::kPositions;
      plan.parts = parts;
      return;
    }
  }
  if (missing() > 1 && !whole) {
    const std::int64_t least =
        is_columns ? std::min(columns.tile_lanes, tuning::kLeastTileBytes / element_size) : 1;
    const std::int64_t share = ceil_divide(plan.task_results, missing());
    plan.task_results = std::min(plan.task_results, ceil_divide(share, least) * least);
  }
  if (plan.tasks() >= threads || plan.strategy == ArgStrategy::kFill) return;
  plan.merges = true;
  limit_to_tile();
  split_reduction(ceil_divide(threads, plan.tasks()), plan);
}

std::string axis_text(const char* name, const Axis& axis) {
  return std::string(name) + " " + std::to_string(axis.size) + " by " +
         std::to_string(axis.strides[0]) + ", " + std::to_string(axis.strides[1]) + "\n";
}

}  // namespace

std::int64_t ArgPlan::tasks() const {
  return positions(kept) * ceil_divide(groups().size, task_groups) *
         ceil_divide(results().size, task_results);
}

ArgPlan plan_arg(const ArgDescriptor& descriptor, const Tensor* values, int threads) {
  ArgPlan plan;
  plan.from_end = descriptor.axis_direction == AxisDirection::kDecreasing;
  const auto element_size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  split_axes(descriptor, values, plan);
  if (plan.reduced.count == 0) {
    if (plan.kept.count > 0) plan.lines = plan.kept.pop();
  } else if (are_rows(element_size, plan)) {
    plan.strategy = ArgStrategy::kRows;
    plan.n = plan.reduced.pop();
    if (plan.kept.count > 0) plan.lines = plan.kept.pop();
  } else {
    plan.strategy = ArgStrategy::kColumns;
    plan.columns = plan_columns(element_size, true, plan.kept, plan.reduced);
  }
  split_work(element_size, threads, plan);
  return plan;
}

std::int64_t arg_scratch_bytes(const ArgPlan& plan, std::int64_t element_size) {
  if (plan.strategy != ArgStrategy::kColumns) return 0;
  return arg_columns_scratch_bytes(plan.columns.columns(), element_size);
}

std::string to_text(const ArgPlan& plan) {
  std::string text;
  if (plan.strategy == ArgStrategy::kColumns) {
    text = to_text(plan.columns);
  } else {
    text = plan.strategy == ArgStrategy::kFill ? "fill\n" : "rows\n" + axis_text("n", plan.n);
    text += axis_text("rows", plan.lines);
  }
  for (int d = 0; d < plan.kept.count; ++d) text += axis_text("kept", plan.kept.axes[d]);
  for (int d = 0; d < plan.reduced.count; ++d) text += axis_text("reduced", plan.reduced.axes[d]);
  static const char* const splits[] = {"", " of reduced axes", " of positions", " of lanes"};
  text += "tasks " + std::to_string(plan.tasks()) + ", parts " + std::to_string(plan.parts) +
          splits[static_cast<int>(plan.split)] + (plan.merges ? ", merged" : "") + ", threads " +
          std::to_string(plan.threads) + "\n";
  return text;
}

}  // namespace dmlcpu
