#include "ops/problem.hpp"

#include <algorithm>

#include "core/shapes.hpp"
#include "ops/validate.hpp"

namespace dmlcpu {
namespace {

/// Pushed innermost first; equal strides keep their order.
void turn(Axes& axes) { std::reverse(axes.axes.begin(), axes.axes.begin() + axes.count); }

/// As few loops as possible, along which the input ascends.
void simplify_kept(Axes& kept, Offsets& offsets) {
  for (int d = 0; d < kept.count; ++d) {
    if (kept.axes[d].strides[0] < 0) reverse(kept.axes[d], offsets);
  }
  simplify(kept);
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
    if (!reduced) {
      problem.results *= size;
      problem.kept.push({size,
                         {input.strides[d], descriptor.output.strides[output_axis],
                          values == nullptr ? 0 : values->strides[d]}});
      continue;
    }
    Axis axis{size, {input.strides[d], 0, 0}};
    // Reversed, the axis still counts its index upwards from its new start.
    if (problem.reversed) reverse(axis, problem.offsets);
    axis.strides[1] = problem.count;
    problem.value_stride = axis.strides[0];
    problem.count *= size;
    if (axis.strides[0] != 0) problem.reduced.push(axis);
  }
  problem.bytes = problem.results * problem.count * problem.element_size;
  turn(problem.kept);
  turn(problem.reduced);
  simplify_kept(problem.kept, problem.offsets);
  simplify(problem.reduced);
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
  simplify_kept(problem.kept, problem.offsets);
  return problem;
}

}  // namespace dmlcpu
