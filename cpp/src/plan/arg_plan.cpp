#include "plan/arg_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/tuning.hpp"
#include "core/validate.hpp"

namespace dmlcpu {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Starts at the axis' last element and walks backwards.
void turn_around(Axis& axis, std::int64_t* offset0, std::int64_t* offset1) {
  *offset0 += axis.strides[0] * (axis.size - 1);
  *offset1 += axis.strides[1] * (axis.size - 1);
  axis.strides[0] = -axis.strides[0];
  axis.strides[1] = -axis.strides[1];
}

/// Sorts the tensor's axes into kept and reduced ones.
void split_axes(const ArgDescriptor& descriptor, ArgPlan& plan) {
  const ConstTensor& input = descriptor.input;
  const unsigned axes = reduced_axes(descriptor);
  int output_axis = descriptor.keep_dims ? input.rank : descriptor.output.rank;
  for (int d = input.rank - 1; d >= 0; --d) {
    const bool reduced = (axes >> d & 1U) != 0;
    if (!reduced || descriptor.keep_dims) --output_axis;
    if (!reduced) {
      Axis axis{input.sizes[d], {input.strides[d], descriptor.output.strides[output_axis], 0}};
      if (axis.strides[0] < 0) turn_around(axis, &plan.input_offset, &plan.output_offset);
      plan.kept.push(axis);
      continue;
    }
    Axis axis{input.sizes[d], {input.strides[d], plan.reduced_count, 0}};
    plan.reduced_count *= axis.size;
    // All elements along a broadcast axis are equal, so the first of them decides.
    if (axis.strides[0] == 0) continue;
    if (plan.from_end) {
      // Turned around, the axis still counts its index upwards from its new start.
      std::int64_t unused = 0;
      turn_around(axis, &plan.input_offset, &unused);
      axis.strides[1] = -axis.strides[1];
    }
    plan.reduced.push(axis);
  }
  // Pushed innermost first; equal strides keep their order.
  std::reverse(plan.kept.axes.begin(), plan.kept.axes.begin() + plan.kept.count);
  std::reverse(plan.reduced.axes.begin(), plan.reduced.axes.begin() + plan.reduced.count);
  simplify(plan.kept);
  simplify(plan.reduced);
}

std::int64_t stride_of(const Axes& axes, int position) {
  return std::abs(axes.axes[position].strides[0]);
}

/// The innermost axis of the loops, an axis of size 1 if there is none.
Axis pop_or_unit(Axes& axes) { return axes.count > 0 ? axes.pop() : kUnitAxis; }

int longest(const Axes& axes) {
  int best = axes.count - 1;
  for (int d = best; d >= 0; --d) {
    if (axes.axes[d].size > axes.axes[best].size) best = d;
  }
  return best;
}

/// Takes the kernel's two axes out of the loops and chooses the strategy.
void choose_panel(std::int64_t element_size, ArgPlan& plan) {
  Axes& kept = plan.kept;
  Axes& reduced = plan.reduced;
  const bool reduced_inner =
      reduced.count > 0 &&
      (kept.count == 0 || stride_of(reduced, reduced.count - 1) < stride_of(kept, kept.count - 1) ||
       kept.axes[kept.count - 1].strides[0] == 0);
  if (!reduced_inner) {
    plan.strategy = ArgStrategy::kColumns;
    plan.lines = pop_or_unit(kept);
    if (reduced.count > 0) plan.length = reduced.take(longest(reduced));
    return;
  }
  plan.length = reduced.pop();
  const bool short_row = plan.length.size * element_size < tuning::kShortRowBytes &&
                         plan.length.size < tuning::kShortRowElements;
  plan.lines_reduced =
      short_row && reduced.count > 0 &&
      (kept.count == 0 || stride_of(reduced, reduced.count - 1) < stride_of(kept, kept.count - 1));
  plan.lines = plan.lines_reduced ? reduced.pop() : pop_or_unit(kept);
  plan.strategy = short_row && plan.lines.size > 1 ? ArgStrategy::kColumns : ArgStrategy::kRows;
}

/// Widens narrow lines whose steps follow each other in memory without a gap, in either direction.
void fold_lines(std::int64_t element_size, ArgPlan& plan) {
  const std::int64_t columns = plan.lines.size;
  if (plan.strategy != ArgStrategy::kColumns || plan.lines_reduced) return;
  if (columns * element_size >= tuning::kNarrowColumnsBytes) return;
  Axis& length = plan.length;
  const bool gapless =
      (columns == 1 || plan.lines.strides[0] == 1) && std::abs(length.strides[0]) == columns;
  const std::int64_t folds =
      std::min(ceil_divide(tuning::kNarrowColumnsBytes, element_size * columns), length.size);
  if (!gapless || folds < 2) return;
  const bool backwards = length.strides[0] < 0;
  ArgPlan::Fold& fold = plan.fold;
  fold.folds = folds;
  fold.step = backwards ? -length.strides[1] : length.strides[1];
  fold.base = backwards ? (folds - 1) * length.strides[1] : 0;
  fold.tail = length.size % folds;
  fold.tail_offset = (length.size - fold.tail) * length.strides[0];
  fold.tail_stride = length.strides[0];
  // The tail is kept in group 0, whose indices are to be fold.base higher.
  fold.tail_index = (length.size - fold.tail) * length.strides[1] - fold.base;
  fold.tail_index_step = length.strides[1];
  if (backwards) {
    // Lines ascend in memory, so a panel starts at its last step.
    plan.input_offset += (folds - 1) * length.strides[0];
    fold.tail_offset -= (folds - 1) * length.strides[0];
  }
  plan.lines.strides[0] = 1;
  plan.lines.size = columns * folds;
  length.size /= folds;
  length.strides[0] *= folds;
  length.strides[1] *= folds;
}

/// The most lines worth sweeping at once.
std::int64_t widest_tile(std::int64_t element_size, const ArgPlan& plan) {
  const std::int64_t line_stride = std::abs(plan.lines.strides[0]);
  if (plan.strategy == ArgStrategy::kRows || line_stride <= 1) return tuning::kColumnTile;
  if (plan.transposes) return tuning::kColumnTile;
  // Lines are strided: each step touches all of the tile's cache lines again.
  return std::clamp(tuning::kStridedTileBytes / (line_stride * element_size),
                    tuning::kStridedTileLines, tuning::kColumnTile);
}

/// Cuts each cell's work into up to `wanted` parts of at least `steps` steps.
void cut_into_parts(std::int64_t wanted, std::int64_t steps, ArgPlan& plan) {
  plan.parts_of_length = plan.length.size > plan.units();
  const std::int64_t pieces = plan.parts_of_length
                                  ? plan.length.size / steps
                                  : std::min(plan.units(), plan.units() * plan.length.size / steps);
  plan.parts = std::clamp(wanted, std::int64_t{1}, std::max(pieces, std::int64_t{1}));
}

/// Chooses tiles, and parts where there are too few cells, for the threads.
void split_work(std::int64_t element_size, int threads, ArgPlan& plan) {
  plan.threads = threads;
  const std::int64_t lines = plan.lines.size;
  const std::int64_t most = std::min(widest_tile(element_size, plan), lines);
  const bool folded = plan.fold.folds > 1;
  plan.tile = folded ? lines : most;
  if (threads == 1) return;
  const std::int64_t wanted = threads * tuning::kTasksPerThread;
  if (plan.strategy == ArgStrategy::kColumns && !folded && plan.cells() < wanted) {
    // Wide tiles read memory in long runs, so rather cut the columns' length.
    cut_into_parts(ceil_divide(wanted, plan.cells()), tuning::kMinPartSteps, plan);
    if (plan.cells() * plan.parts >= threads) return;
    plan.parts = 1;
  }
  if (!folded) {
    const std::int64_t others = positions(plan.lines_reduced ? plan.reduced : plan.kept);
    // Columns narrower than this would waste cache lines and vectors.
    const std::int64_t least =
        plan.strategy == ArgStrategy::kColumns ? tuning::kNarrowColumnsBytes / element_size : 1;
    plan.tile =
        std::clamp(ceil_divide(lines, ceil_divide(wanted, others)), std::min(least, most), most);
  }
  if (plan.cells() < threads) cut_into_parts(ceil_divide(threads, plan.cells()), 1, plan);
}

std::string axis_text(const char* name, const Axis& axis) {
  return std::string(name) + " " + std::to_string(axis.size) + " by " +
         std::to_string(axis.strides[0]) + ", " + std::to_string(axis.strides[1]) + "\n";
}

}  // namespace

ArgPlan plan_arg(const ArgDescriptor& descriptor, int threads) {
  ArgPlan plan;
  plan.from_end = descriptor.axis_direction == AxisDirection::kDecreasing;
  const auto element_size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  split_axes(descriptor, plan);
  choose_panel(element_size, plan);
  fold_lines(element_size, plan);
  // A vector's worth of rows at least.
  plan.transposes = plan.strategy == ArgStrategy::kColumns && plan.lines.strides[0] != 1 &&
                    std::abs(plan.length.strides[0]) == 1 &&
                    arg_transposed_bytes(element_size, plan.length.size, plan.lines.size) > 0;
  split_work(element_size, threads, plan);
  return plan;
}

std::int64_t arg_scratch_bytes(const ArgPlan& plan, std::int64_t element_size) {
  if (plan.strategy != ArgStrategy::kColumns) return 0;
  ArgPanel panel{};
  panel.length = plan.length.size;
  panel.lines = plan.tile;
  panel.line_stride = plan.lines.strides[0];
  panel.transposes = plan.transposes;
  return arg_columns_scratch_bytes(panel, element_size);
}

std::string to_text(const ArgPlan& plan) {
  std::string text = plan.strategy == ArgStrategy::kRows ? "rows\n" : "columns\n";
  for (int d = 0; d < plan.kept.count; ++d) text += axis_text("kept", plan.kept.axes[d]);
  for (int d = 0; d < plan.reduced.count; ++d) text += axis_text("reduced", plan.reduced.axes[d]);
  text += axis_text(plan.lines_reduced ? "lines, reduced" : "lines", plan.lines);
  text += axis_text("length", plan.length);
  text += "folds " + std::to_string(plan.fold.folds) + ", tail " + std::to_string(plan.fold.tail) +
          "\n";
  text += "tile " + std::to_string(plan.tile) + ", parts " + std::to_string(plan.parts) +
          (plan.parts_of_length ? " of length" : " of units") + "\n";
  return text;
}

}  // namespace dmlcpu
