#include "plan/gather_nd_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "interface/shared.hpp"
#include "interface/tuning.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

/// Sets what coordinates mean. Returns how many bytes lie between the first and the last slice that
/// tuples may address.
std::int64_t set_coordinates(const GatherNdDescriptor& descriptor, GatherLayout& layout) {
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  layout.length = tuple_length(descriptor);
  layout.coordinate_stride = layout.length == 1 ? 1 : indices.strides[indices.rank - 1];
  std::int64_t span = 0;
  for (int j = 0; j < layout.length; ++j) {
    const auto axis = static_cast<int>(descriptor.batch_dims) + j;
    const std::int64_t size = input.sizes[axis];
    // No layout limits the stride of an axis that is not stepped along.
    const std::int64_t stride = size > 1 ? input.strides[axis] * element_bytes(input) : 0;
    const std::int64_t wrap = indices.type == DataType::kUInt32 ? std::int64_t{1} << 32 : 0;
    layout.axes[j] = {size, stride, is_signed_index(indices.type) ? size : wrap};
    span += std::abs(stride) * (size - 1);
  }
  return span;
}

/// Divides the tuples, which the tasks keep, among the threads. If they are too few, axes of their
/// slices become axes of the tasks; at last their runs are divided.
void split_tasks(int threads, std::int64_t element_size, const Axis& run, Axes& slices,
                 GatherNdPlan& plan) {
  Tasks& tasks = plan.tasks;
  Axes& outer = tasks.kept;
  const auto too_few = [&] {
    return threads > 1 && iteration_count(outer) < threads * tuning::kTasksPerThread;
  };
  while (slices.count > 0 && too_few()) {
    outer.push(slices.take(longest(slices, false)));
  }
  plan.divides_runs = too_few();
  if (plan.divides_runs) outer.push(run);
  tasks.results = outer.pop();
  tasks.groups = outer.pop();
  tasks.split(threads, plan.divides_runs ? kPageBytes / element_size : 1);
}

/// Chooses how runs are copied.
void choose_copy(const GatherNdDescriptor& descriptor, const Machine& machine, GatherNdPlan& plan) {
  GatherLayout& layout = plan.layout;
  const GatherAxis& inner = layout.axes[layout.length - 1];
  const bool single = layout.from_stride == 1 && layout.to_stride == 1 && layout.run_axes == 0;
  layout.at_once = single && !plan.divides_runs && plan.bytes <= tuning::kGatherSmallBytes &&
                   layout.output_stride == plan.bytes &&
                   (inner.size <= 1 || inner.stride == plan.bytes) && !layout.is_far;
  // Of the input as much is read as is written, at most.
  const std::int64_t written = byte_count(descriptor.output);
  const std::int64_t moved = written + std::min(written, byte_count(descriptor.input));
  // Runs are divided at pages.
  const bool whole = plan.divides_runs || (plan.bytes | layout.output_stride) % 16 == 0;
  // Not parts of cache lines, each of which would go to memory.
  layout.stream =
      single && whole && plan.bytes >= kCacheLine && machine.is_streamed(moved, plan.tasks.threads);
}

}  // namespace

GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, const Machine& machine,
                            int threads) {
  const std::int64_t element_size = element_bytes(descriptor.input);
  GatherNdPlan plan;
  GatherLayout& layout = plan.layout;
  const std::int64_t span = set_coordinates(descriptor, layout);
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  const Extents& output = descriptor.output.strides;
  const int outer = indices.rank - 1;
  for (int d = 0; d < outer; ++d) {
    plan.tasks.kept.push(
        {indices.sizes[d],
         {indices.strides[d], d < descriptor.batch_dims ? input.strides[d] : 0, output[d]}});
  }
  simplify(plan.tasks.kept);

  // Along slices the tuple stays the same.
  Axes slices;
  const int indexed = static_cast<int>(descriptor.batch_dims) + layout.length;
  for (int d = indexed; d < input.rank; ++d) {
    slices.push({input.sizes[d], {0, input.strides[d], output[outer + d - indexed]}});
  }
  simplify(slices, 1);
  const auto slice_bytes = std::max<std::int64_t>(iteration_count(slices) * element_size, 1);
  // More tuples than these touch more than the caches hold; not as a product, which may overflow
  // where indices broadcast.
  const std::int64_t many = tuning::kGatherNearBytes / std::max(slice_bytes, tuning::kLookUpBytes);
  layout.is_far = span > tuning::kGatherNearBytes && iteration_count(plan.tasks.kept) > many;
  const auto bytes = layout.is_far ? tuning::kGatherAheadBytes : tuning::kGatherNearAheadBytes;
  layout.ahead = std::clamp<std::int64_t>(bytes / slice_bytes, 1, tuning::kGatherAhead);
  const Axis run = slices.count > 0 ? slices.pop() : Axis{1, {0, 1, 1}};
  plan.bytes = run.size * element_size;
  layout.element_size = element_size;
  layout.from_stride = run.strides[1];
  layout.to_stride = run.strides[2];

  const bool divides = threads > 1 && element_count(descriptor.output) > 0;
  split_tasks(divides ? threads : 1, element_size, run, slices, plan);
  const Axis& tuples = plan.tasks.results;
  layout.tuple_stride = tuples.strides[0];
  layout.batch_stride = tuples.strides[1] * element_size;
  layout.output_stride = tuples.strides[2] * element_size;
  for (; layout.run_axes < slices.count; ++layout.run_axes) {
    const Axis& axis = slices.axes[layout.run_axes];
    layout.runs[layout.run_axes] = {axis.size, axis.strides[1] * element_size,
                                    axis.strides[2] * element_size};
  }
  choose_copy(descriptor, machine, plan);
  return plan;
}

std::string to_text(const GatherNdPlan& plan) {
  const Tasks& tasks = plan.tasks;
  const GatherLayout& layout = plan.layout;
  std::string all =
      text("tuples ", iteration_count(tasks.kept), " x ", tasks.groups.size, " x ",
           tasks.results.size, plan.divides_runs ? " elements" : "", " in ", tasks.count(),
           " tasks of ", tasks.task_groups, " x ", tasks.task_results, "\nslices ");
  for (int d = 0; d < layout.run_axes; ++d) all += text(layout.runs[d].size, " x ");
  const bool strided = layout.from_stride != 1 || layout.to_stride != 1;
  return all + text(plan.bytes, " bytes",
                    strided ? text(" by ", layout.from_stride, ", ", layout.to_stride) : "",
                    layout.at_once ? ", copied at once" : text(", ", layout.ahead, " ahead"),
                    layout.stream ? ", streamed" : "", "\nthreads ", tasks.threads, "\n",
                    scratch_text(0));
}

}  // namespace dmlcpu
