#include "plan/gather_nd_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/tuning.hpp"
#include "core/validate.hpp"

namespace dmlcpu {

GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, int threads) {
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  const Tensor& output = descriptor.output;
  const int batch = static_cast<int>(descriptor.batch_dims);
  const int last = indices.rank - 1;
  GatherNdPlan plan;
  plan.threads = threads;
  plan.tuple_length = tuple_length(descriptor);
  plan.coordinate_stride = indices.strides[last];

  for (int d = 0; d < last; ++d) {
    plan.outer.push({indices.sizes[d],
                     {indices.strides[d], d < batch ? input.strides[d] : 0, output.strides[d]}});
  }
  bool sizes_narrow = true;
  for (int j = 0; j < plan.tuple_length; ++j) {
    plan.sizes[j] = input.sizes[batch + j];
    plan.strides[j] = input.strides[batch + j];
    const std::int64_t extent = plan.strides[j] * std::max<std::int64_t>(plan.sizes[j] - 1, 0);
    plan.lowest += std::min<std::int64_t>(extent, 0);
    plan.range += std::abs(extent);
    sizes_narrow = sizes_narrow && plan.sizes[j] <= std::numeric_limits<std::int32_t>::max();
  }
  plan.narrow = sizes_narrow && plan.range <= std::numeric_limits<std::uint32_t>::max();
  simplify(plan.outer);
  if (plan.outer.count > 0) plan.tuples = plan.outer.pop();

  plan.packed = (plan.coordinate_stride == 1 || plan.tuple_length == 1) &&
                (plan.tuples.strides[0] == plan.tuple_length || plan.tuples.size == 1);

  for (int d = batch + plan.tuple_length, o = last; d < input.rank; ++d, ++o) {
    plan.slices.push({input.sizes[d], {input.strides[d], output.strides[o], 0}});
  }
  simplify(plan.slices);
  if (plan.slices.count > 0) plan.slice = plan.slices.pop();

  const std::int64_t wanted = threads == 1 ? 1 : threads * tuning::kTasksPerThread;
  const std::int64_t outer = std::max<std::int64_t>(positions(plan.outer), 1);
  const std::int64_t per_outer = (wanted + outer - 1) / outer;
  plan.chunk = std::max<std::int64_t>((plan.tuples.size + per_outer - 1) / per_outer, 1);
  return plan;
}

std::string to_text(const GatherNdPlan& plan) {
  return "tuples " + std::to_string(positions(plan.outer)) + " x " +
         std::to_string(plan.tuples.size) + " in chunks of " + std::to_string(plan.chunk) +
         "\nslices " + std::to_string(positions(plan.slices)) + " x " +
         std::to_string(plan.slice.size) + " by " + std::to_string(plan.slice.strides[0]) + ", " +
         std::to_string(plan.slice.strides[1]) + "\n";
}

}  // namespace dmlcpu
