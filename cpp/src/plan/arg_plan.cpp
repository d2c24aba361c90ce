#include "plan/arg_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/tuning.hpp"
#include "core/validate.hpp"

namespace dmlcpu {
namespace {

/// Sorts the tensor's axes into kept and reduced ones.
void split_axes(const ArgDescriptor& descriptor, const Tensor* values, ArgPlan& plan) {
  const ConstTensor& input = descriptor.input;
  const unsigned axes = reduced_axes(descriptor);
  Axes& kept = plan.tasks.kept;
  int output_axis = descriptor.keep_dims ? input.rank : descriptor.output.rank;
  for (int d = input.rank - 1; d >= 0; --d) {
    const bool reduced = (axes >> d & 1U) != 0;
    if (!reduced || descriptor.keep_dims) --output_axis;
    if (!reduced) {
      Axis axis{input.sizes[d],
                {input.strides[d], descriptor.output.strides[output_axis],
                 values == nullptr ? 0 : values->strides[d]}};
      if (axis.strides[0] < 0) {
        for (int s = 0; s < 3; ++s) plan.offsets[s] += reverse(axis, s);
      }
      kept.push(axis);
      continue;
    }
    Axis axis{input.sizes[d], {input.strides[d], plan.reduced_count, 0}};
    plan.value_stride = input.strides[d];
    plan.reduced_count *= axis.size;
    // All elements along a broadcast axis are equal, so the first of them decides.
    if (axis.strides[0] == 0) continue;
    // Reversed, the axis still counts its index upwards from its new start.
    if (plan.from_end) plan.offsets[0] += reverse(axis, 0);
    plan.reduced.push(axis);
  }
  // Pushed innermost first; equal strides keep their order.
  std::reverse(kept.axes.begin(), kept.axes.begin() + kept.count);
  std::reverse(plan.reduced.axes.begin(), plan.reduced.axes.begin() + plan.reduced.count);
  simplify(kept);
  simplify(plan.reduced);
}

/// Whether the innermost axis is reduced, and its rows are long enough, or too few to fill vectors.
bool are_rows(std::int64_t element_size, const ArgPlan& plan) {
  const Axis& inner = plan.reduced.axes[plan.reduced.count - 1];
  std::int64_t widest = plan.reduced.count > 1 ? tuning::kLeastLaneBytes : 1;
  for (int d = 0; d < plan.tasks.kept.count; ++d) {
    const Axis& axis = plan.tasks.kept.axes[d];
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
  const std::int64_t most = std::max({outer, n, plan.columns.per_result});
  plan.split = outer == most ? Split::kReduced : n == most ? Split::kPositions : Split::kLanes;
  plan.parts = std::min(wanted, most);
}

/// Divides results among tasks, and reductions where there are too few results.
void split_work(std::int64_t element_size, int threads, ArgPlan& plan) {
  plan.threads = threads;
  Tasks& tasks = plan.tasks;
  const ColumnsPlan& columns = plan.columns;
  const bool is_columns = plan.strategy == ArgStrategy::kColumns;
  plan.merges = plan.strategy == ArgStrategy::kRows || columns.widened() ||
                plan.reduced.count > 0 || columns.walk.n > arg_run_positions(element_size);
  const auto limit_to_tile = [&] {
    tasks.task_groups = std::min(tasks.task_groups, columns.tile_groups);
    const std::int64_t tile = is_columns ? columns.tile_lanes : tuning::kTileElements;
    if (!columns.widened()) tasks.task_results = std::min(tasks.task_results, tile);
  };
  tasks.join();
  if (plan.merges) limit_to_tile();
  if (threads == 1) return;
  const std::int64_t wanted = threads * tuning::kTasksPerThread;
  if (columns.packing != Packing::kTransposed) tasks.split_groups(wanted);
  if (is_columns && columns.packing == Packing::kNone && !columns.widened()) {
    // Wide tiles read memory in long runs, so rather split the columns.
    const std::int64_t tiles = tasks.count() * ceil_divide(tasks.task_results, columns.tile_lanes);
    const std::int64_t parts =
        std::min(ceil_divide(wanted, tiles), columns.walk.n / tuning::kMinPartPositions);
    if (tasks.count() < wanted && parts > 1 && tiles * parts >= threads) {
      plan.merges = true;
      limit_to_tile();
      plan.split = Split::kPositions;
      plan.parts = parts;
      return;
    }
  }
  if (!columns.widened()) {
    const std::int64_t least =
        is_columns ? std::min(columns.tile_lanes, tuning::kLeastTileBytes / element_size) : 1;
    tasks.split_results(wanted, least);
  }
  if (tasks.count() >= threads || plan.strategy == ArgStrategy::kFill) return;
  plan.merges = true;
  limit_to_tile();
  split_reduction(ceil_divide(threads, tasks.count()), plan);
}

std::string axis_text(const char* name, const Axis& axis) {
  return std::string(name) + " " + std::to_string(axis.size) + " by " +
         std::to_string(axis.strides[0]) + ", " + std::to_string(axis.strides[1]) + "\n";
}

}  // namespace

ArgPlan plan_arg(const ArgDescriptor& descriptor, const Tensor* values, int threads) {
  ArgPlan plan;
  plan.from_end = descriptor.axis_direction == AxisDirection::kDecreasing;
  const auto element_size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  split_axes(descriptor, values, plan);
  if (plan.reduced.count > 0 && !are_rows(element_size, plan)) {
    plan.strategy = ArgStrategy::kColumns;
    plan.columns = plan_columns(element_size, true, 1, plan.tasks, plan.reduced);
  } else {
    Axes& kept = plan.tasks.kept;
    if (plan.reduced.count > 0) {
      plan.strategy = ArgStrategy::kRows;
      plan.n = plan.reduced.pop();
      if (kept.count > 0) plan.tasks.results = kept.pop();
    } else {
      // The longest loops innermost.
      if (kept.count > 0) plan.tasks.results = kept.take(longest(kept, false));
      if (kept.count > 0) plan.tasks.groups = kept.take(longest(kept, false));
    }
  }
  split_work(element_size, threads, plan);
  return plan;
}

std::optional<ArgUnplannedRows> unplanned_rows(const ArgDescriptor& descriptor, int threads) {
  const ConstTensor& input = descriptor.input;
  const unsigned axes = reduced_axes(descriptor);
  // Merges an axis into those inside of it; whether both are one.
  const auto merge = [](std::int64_t size, std::int64_t stride, std::int64_t& sizes,
                        std::int64_t& strides) {
    if (sizes == 1) strides = stride;
    const bool continues = stride == strides * sizes || sizes == 1;
    sizes *= size;
    return continues;
  };
  ArgUnplannedRows unplanned;
  ArgRows& rows = unplanned.rows;
  rows.n = rows.rows = 1;
  std::int64_t results = 1;
  int output_axis = descriptor.output.rank;
  for (int d = input.rank - 1; d >= 0; --d) {
    const std::int64_t size = input.sizes[d];
    const bool reduced = (axes >> d & 1U) != 0;
    if (!reduced || descriptor.keep_dims) --output_axis;
    if (size == 1) continue;
    if (reduced ? !merge(size, input.strides[d], rows.n, rows.stride)
                : !merge(size, input.strides[d], rows.rows, rows.row_stride) ||
                      !merge(size, descriptor.output.strides[output_axis], results,
                             unplanned.output_stride)) {
      return std::nullopt;
    }
  }
  if (threads > 1 || (rows.rows != 1 && rows.rows * rows.n > tuning::kUnplannedElements)) {
    return std::nullopt;
  }
  rows.index_step = 1;
  rows.starts = true;
  rows.prefetches =
      rows.n * static_cast<std::int64_t>(info(input.type).size) >= tuning::kRowPrefetchLeastBytes;
  unplanned.from_end = descriptor.axis_direction == AxisDirection::kDecreasing;
  if (unplanned.from_end) {
    unplanned.offset = (rows.n - 1) * rows.stride;
    rows.stride = -rows.stride;
  }
  return unplanned;
}

std::string to_text(const ArgUnplannedRows& unplanned) {
  const ArgRows& rows = unplanned.rows;
  return "rows without a plan\n" + axis_text("n", {rows.n, {rows.stride, rows.index_step, 0}}) +
         axis_text("rows", {rows.rows, {rows.row_stride, unplanned.output_stride, 0}});
}

std::string to_text(const ArgPlan& plan) {
  std::string text;
  if (plan.strategy == ArgStrategy::kColumns) {
    text = to_text(plan.columns, plan.tasks);
  } else {
    text = plan.strategy == ArgStrategy::kFill ? "fill\n" : "rows\n" + axis_text("n", plan.n);
    text += axis_text("rows", plan.tasks.results);
  }
  const Axes& kept = plan.tasks.kept;
  for (int d = 0; d < kept.count; ++d) text += axis_text("kept", kept.axes[d]);
  for (int d = 0; d < plan.reduced.count; ++d) text += axis_text("reduced", plan.reduced.axes[d]);
  static const char* const splits[] = {"", " of reduced axes", " of positions", " of lanes"};
  text += "tasks " + std::to_string(plan.tasks.count()) + ", parts " + std::to_string(plan.parts) +
          splits[static_cast<int>(plan.split)] + (plan.merges ? ", merged" : "") + ", threads " +
          std::to_string(plan.threads) + "\n";
  return text;
}

}  // namespace dmlcpu
