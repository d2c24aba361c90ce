#include "plan/gather_nd_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/shapes.hpp"
#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

/// Of GatherAxis.
std::int64_t wrap_of(DataType index_type, std::int64_t size) {
  if (is_signed_index(index_type)) return size;
  return index_type == DataType::kUInt32 ? std::int64_t{1} << 32 : 0;
}

}  // namespace

GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, int threads) {
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  const Tensor& output = descriptor.output;
  const int batch = static_cast<int>(descriptor.batch_dims);
  const int last = indices.rank - 1;
  GatherNdPlan plan;
  plan.threads = threads;
  plan.tuple_length = tuple_length(descriptor);
  plan.coordinate_stride = plan.tuple_length == 1 ? 1 : indices.strides[last];

  Axes& outer = plan.tasks.kept;
  for (int d = 0; d < last; ++d) {
    outer.push({indices.sizes[d],
                {indices.strides[d], d < batch ? input.strides[d] : 0, output.strides[d]}});
  }
  const auto element_size = static_cast<std::int64_t>(info(input.type).size);
  std::int64_t span = 0;  // bytes between the slices that tuples address
  for (int j = 0; j < plan.tuple_length; ++j) {
    const std::int64_t size = input.sizes[batch + j];
    // No layout limits the stride of an axis that is not stepped along.
    const std::int64_t stride = size > 1 ? input.strides[batch + j] * element_size : 0;
    plan.axes[j] = {size, stride, wrap_of(indices.type, size)};
    span += std::abs(stride) * (size - 1);
  }
  simplify(outer);
  const std::int64_t tuples = positions(outer);
  if (outer.count > 0) plan.tasks.results = outer.pop();
  if (outer.count > 0) plan.tasks.groups = outer.pop();

  for (int d = batch + plan.tuple_length, o = last; d < input.rank; ++d, ++o) {
    plan.slices.push({input.sizes[d], {input.strides[d], output.strides[o], 0}});
  }
  simplify(plan.slices);
  if (plan.slices.count > 0) plan.slice = plan.slices.pop();

  const std::int64_t touched_lines = tuples * tuning::kLookUpBytes;
  const std::int64_t slice_bytes = plan.slice.size * element_size;
  const GatherAxis& inner = plan.axes[plan.tuple_length - 1];
  plan.contiguous =
      plan.slice.size == 1 || (plan.slice.strides[0] == 1 && plan.slice.strides[1] == 1);
  plan.at_once = plan.contiguous && plan.slices.count == 0 &&
                 slice_bytes <= tuning::kGatherAtOnceBytes &&
                 std::min(span, touched_lines) <= tuning::kGatherAtOnceInputBytes &&
                 plan.coordinate_stride == 1 &&
                 plan.tasks.results.strides == Offsets{plan.tuple_length, 0, plan.slice.size} &&
                 (inner.size <= 1 || inner.stride == slice_bytes);

  plan.tasks.join();
  if (threads > 1) {
    const std::int64_t wanted = threads * tuning::kTasksPerThread;
    plan.tasks.split_groups(wanted);
    plan.tasks.split_results(wanted, 1);
  }
  return plan;
}

std::string to_text(const GatherNdPlan& plan) {
  const Tasks& tasks = plan.tasks;
  return "tuples " + std::to_string(positions(tasks.kept)) + " x " +
         std::to_string(tasks.groups.size) + " x " + std::to_string(tasks.results.size) + " in " +
         std::to_string(tasks.count()) + " tasks of " + std::to_string(tasks.task_groups) + " x " +
         std::to_string(tasks.task_results) + "\nslices " + std::to_string(positions(plan.slices)) +
         " x " + std::to_string(plan.slice.size) + " by " + std::to_string(plan.slice.strides[0]) +
         ", " + std::to_string(plan.slice.strides[1]) + (plan.at_once ? ", copied at once" : "") +
         "\nthreads " + std::to_string(plan.threads) + "\n";
}

}  // namespace dmlcpu
