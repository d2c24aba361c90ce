#include "plan/gather_nd_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/cpu.hpp"
#include "core/shapes.hpp"
#include "core/tuning.hpp"
#include "kernels/interface.hpp"
#include "plan/text.hpp"

namespace dmlcpu {
namespace {

/// Of GatherAxis.
std::int64_t wrap_of(DataType index_type, std::int64_t size) {
  if (is_signed_index(index_type)) return size;
  return index_type == DataType::kUInt32 ? std::int64_t{1} << 32 : 0;
}

/// An axis of slices as one of tuples, whose indices stay where they are.
Axis of_tuples(const Axis& slice) { return {slice.size, {0, slice.strides[0], slice.strides[1]}}; }

}  // namespace

GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, int threads) {
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  const Tensor& output = descriptor.output;
  const int batch = static_cast<int>(descriptor.batch_dims);
  const int last = indices.rank - 1;
  const std::int64_t element_size = element_bytes(input);
  GatherNdPlan plan;
  GatherLayout& layout = plan.layout;
  plan.threads = threads;
  layout.is_signed = is_signed_index(indices.type);
  layout.length = tuple_length(descriptor);
  layout.coordinate_stride = layout.length == 1 ? 1 : indices.strides[last];

  Axes& outer = plan.tasks.kept;
  for (int d = 0; d < last; ++d) {
    outer.push({indices.sizes[d],
                {indices.strides[d], d < batch ? input.strides[d] : 0, output.strides[d]}});
  }
  simplify(outer);
  std::int64_t span = 0;  // bytes between the slices that tuples address
  for (int j = 0; j < layout.length; ++j) {
    const std::int64_t size = input.sizes[batch + j];
    // No layout limits the stride of an axis that is not stepped along.
    const std::int64_t stride = size > 1 ? input.strides[batch + j] * element_size : 0;
    layout.axes[j] = {size, stride, wrap_of(indices.type, size)};
    span += std::abs(stride) * (size - 1);
  }
  const std::int64_t tuples = positions(outer);
  const bool near = std::min(span, tuples * tuning::kLookUpBytes) <= tuning::kGatherNearBytes;

  Axes slices;
  for (int d = batch + layout.length, o = last; d < input.rank; ++d, ++o) {
    slices.push({input.sizes[d], {input.strides[d], output.strides[o], 0}});
  }
  simplify(slices);
  Axis run = {1, {1, 1, 0}};
  if (slices.count > 0) run = slices.pop();
  const bool contiguous = run.strides == Offsets{1, 1, 0};
  plan.bytes = run.size * element_size;
  layout.element_size = element_size;
  layout.from_stride = run.strides[0];
  layout.to_stride = run.strides[1];

  const bool divides = threads > 1 && element_count(output) > 0;
  const std::int64_t wanted = divides ? threads * tuning::kTasksPerThread : 1;
  while (wanted > 1 && slices.count > 0 && positions(outer) < wanted) {
    outer.push(of_tuples(slices.take(longest(slices, false))));
  }
  plan.divides_runs = wanted > 1 && positions(outer) < wanted;
  if (plan.divides_runs) outer.push(of_tuples(run));
  Tasks& tasks = plan.tasks;
  if (outer.count > 0) tasks.results = outer.pop();
  if (outer.count > 0) tasks.groups = outer.pop();
  tasks.join();
  if (wanted > 1) {
    tasks.split_groups(wanted);
    tasks.split_results(wanted, plan.divides_runs ? kPageBytes / element_size : 1);
  }

  layout.tuple_stride = tasks.results.strides[0];
  layout.batch_stride = tasks.results.strides[1] * element_size;
  layout.output_stride = tasks.results.strides[2] * element_size;
  for (; layout.run_axes < slices.count; ++layout.run_axes) {
    const Axis& axis = slices.axes[layout.run_axes];
    layout.runs[layout.run_axes] = {axis.size, axis.strides[0] * element_size,
                                    axis.strides[1] * element_size};
  }
  const GatherAxis& inner = layout.axes[layout.length - 1];
  const bool single = contiguous && slices.count == 0;
  layout.at_once = single && !plan.divides_runs && plan.bytes <= tuning::kGatherSmallBytes &&
                   layout.output_stride == plan.bytes &&
                   (inner.size <= 1 || inner.stride == plan.bytes) && (near || layout.length <= 3);
  // Of the input as much is read as is written, at most.
  const std::int64_t written = byte_count(output);
  const bool is_large =
      written >= tuning::kGatherStreamBytes &&
      written + std::min(written, byte_count(input)) >= tuning::kGatherCachedBytes;
  layout.stream = single && plan.bytes >= tuning::kGatherStreamLeastBytes && plan.bytes % 16 == 0 &&
                  layout.output_stride % 16 == 0 && is_large && cpu_gains_by_streaming();
  return plan;
}

std::string to_text(const GatherNdPlan& plan) {
  const Tasks& tasks = plan.tasks;
  const GatherLayout& layout = plan.layout;
  std::string all =
      text("tuples ", positions(tasks.kept), " x ", tasks.groups.size, " x ", tasks.results.size,
           plan.divides_runs ? " elements" : "", " in ", tasks.count(), " tasks of ",
           tasks.task_groups, " x ", tasks.task_results, "\nslices ");
  for (int d = 0; d < layout.run_axes; ++d) all += text(layout.runs[d].size, " x ");
  all += text(plan.bytes, " bytes");
  if (layout.from_stride != 1 || layout.to_stride != 1) {
    all += text(" by ", layout.from_stride, ", ", layout.to_stride);
  }
  return all + text(layout.at_once ? ", copied at once" : "", layout.stream ? ", streamed" : "",
                    "\nthreads ", plan.threads, "\n");
}

}  // namespace dmlcpu
