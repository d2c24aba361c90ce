#include "plan/gather_nd_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/tuning.hpp"
#include "core/validate.hpp"

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

  for (int d = 0; d < last; ++d) {
    plan.outer.push({indices.sizes[d],
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
  simplify(plan.outer);
  if (plan.outer.count > 0) plan.tuples = plan.outer.pop();
  const std::int64_t outer = positions(plan.outer);

  for (int d = batch + plan.tuple_length, o = last; d < input.rank; ++d, ++o) {
    plan.slices.push({input.sizes[d], {input.strides[d], output.strides[o], 0}});
  }
  simplify(plan.slices);
  if (plan.slices.count > 0) plan.slice = plan.slices.pop();

  const std::int64_t touched_lines = outer * plan.tuples.size * tuning::kLookUpBytes;
  const std::int64_t slice_bytes = plan.slice.size * element_size;
  const GatherAxis& inner = plan.axes[plan.tuple_length - 1];
  plan.contiguous =
      plan.slice.size == 1 || (plan.slice.strides[0] == 1 && plan.slice.strides[1] == 1);
  plan.at_once = plan.contiguous && plan.slices.count == 0 &&
                 slice_bytes <= tuning::kGatherAtOnceBytes &&
                 std::min(span, touched_lines) <= tuning::kGatherAtOnceInputBytes &&
                 plan.coordinate_stride == 1 &&
                 plan.tuples.strides == Offsets{plan.tuple_length, 0, plan.slice.size} &&
                 (inner.size <= 1 || inner.stride == slice_bytes);

  const std::int64_t wanted = threads == 1 ? 1 : threads * tuning::kTasksPerThread;
  const std::int64_t per_outer = (wanted + outer - 1) / outer;
  plan.chunk = (plan.tuples.size + per_outer - 1) / per_outer;
  plan.rows = std::max<std::int64_t>(outer / wanted, 1);
  return plan;
}

std::string to_text(const GatherNdPlan& plan) {
  return "tuples " + std::to_string(positions(plan.outer)) + " x " +
         std::to_string(plan.tuples.size) + " in chunks of " + std::to_string(plan.chunk) +
         (plan.rows > 1 ? ", " + std::to_string(plan.rows) + " rows per task" : "") + "\nslices " +
         std::to_string(positions(plan.slices)) + " x " + std::to_string(plan.slice.size) + " by " +
         std::to_string(plan.slice.strides[0]) + ", " + std::to_string(plan.slice.strides[1]) +
         (plan.at_once ? ", copied at once" : "") + "\nthreads " + std::to_string(plan.threads) +
         "\n";
}

}  // namespace dmlcpu
