#include "ops/problem.hpp"

#include <algorithm>

#include "core/shapes.hpp"
#include "ops/validate.hpp"

namespace dmlcpu {
namespace {

/// Adds an axis, whose other strides the caller sets in place: copying an axis that was just
/// written would stall on its stores.
Axis& add_axis(Axes& axes, std::int64_t size, std::int64_t stride) {
  Axis& axis = axes.axes[axes.count++];
  axis.size = size;
  axis.strides[0] = stride;
  return axis;
}

/// Turns axes that were added innermost first, so that equal strides keep their order, and
/// simplifies them.
void simplify_turned(Axes& axes) {
  if (axes.count < 2) return;
  std::reverse(axes.axes.begin(), axes.axes.begin() + axes.count);
  simplify(axes);
}

}  // namespace

ArgProblem problem_of(const ArgDescriptor& descriptor, const Tensor* values) {
  const ConstTensor& input = descriptor.input;
  ArgProblem problem;
  problem.element_size = element_bytes(input);
  problem.reversed = descriptor.axis_direction == AxisDirection::kDecreasing;
  problem.has_values = values != nullptr;
  const unsigned axes = reduced_axes(descriptor);
  int output_axis = descriptor.output.rank;
  for (int d = input.rank - 1; d >= 0; --d) {
    const std::int64_t size = input.sizes[d];
    const bool reduced = (axes >> d & 1U) != 0;
    if (!reduced || descriptor.keep_dims) --output_axis;
    if (size == 1) {
      if (reduced) problem.value_stride = input.strides[d];
      continue;
    }
    if (!reduced) {
      problem.results *= size;
      Axis& axis = add_axis(problem.kept, size, input.strides[d]);
      axis.strides[1] = descriptor.output.strides[output_axis];
      axis.strides[2] = values == nullptr ? 0 : values->strides[d];
      continue;
    }
    const std::int64_t step = problem.count;
    const std::int64_t stride = problem.reversed ? -input.strides[d] : input.strides[d];
    // Reversed, the axis still counts its index upwards from its new start.
    if (problem.reversed) problem.offsets[0] += (size - 1) * input.strides[d];
    problem.value_stride = stride;
    problem.count *= size;
    if (stride == 0) continue;
    Axis& axis = add_axis(problem.reduced, size, stride);
    axis.strides[1] = step;
    axis.strides[2] = 0;
  }
  problem.bytes = problem.results * problem.count * problem.element_size;
  ascend(problem.kept, problem.offsets);
  simplify_turned(problem.kept);
  simplify_turned(problem.reduced);
  return problem;
}

TopKProblem problem_of(const TopKDescriptor& descriptor) {
  const ConstTensor& input = descriptor.input;
  TopKProblem problem;
  problem.element_size = element_bytes(input);
  problem.bytes = byte_count(input);
  problem.k = descriptor.k;
  problem.last_alone = descriptor.results == TopKResults::kLast;
  for (int d = 0; d < input.rank; ++d) {
    problem.kept.push(
        {input.sizes[d],
         {input.strides[d], descriptor.indices.strides[d], descriptor.values.strides[d]}});
  }
  problem.searched = problem.kept.take(search_axis(descriptor));
  ascend(problem.kept, problem.offsets);
  simplify(problem.kept);
  return problem;
}

}  // namespace dmlcpu
