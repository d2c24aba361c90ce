// gather: validate, plan, check the indices, copy.
#include "ops/planned.hpp"

#include <algorithm>
#include <atomic>

#include "core/error.hpp"
#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "kernels/dispatch.hpp"
#include "ops/for_tasks.hpp"
#include "ops/validate.hpp"

namespace dmlcpu {
namespace {

static_assert(kMaxTupleLength == kMaxRank);

/// Checks all tuples, and copies their slices if there is an output; whether all are in range.
bool gather(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
            const void* indices, void* output) {
  const std::int64_t element_size = element_bytes(descriptor.input);
  const std::int64_t index_size = element_bytes(descriptor.indices);
  const GatherKernel kernel = kernels().gather[index_size == 8];
  const auto advance = [&](GatherPart& part, const Offsets& by) {
    part.indices += by[0] * index_size;
    // Only checked: there is no output, and of an empty input there may be no pointer.
    if (output == nullptr) return;
    part.data += by[1] * element_size;
    part.output += by[2] * element_size;
  };
  std::atomic<bool> good{true};
  for_tasks(plan.tasks, [&](const Task& task, int) {
    const std::int64_t bytes = plan.divides_runs ? task.results * element_size : plan.bytes;
    GatherPart part{static_cast<const char*>(indices), static_cast<const char*>(input),
                    static_cast<char*>(output), plan.divides_runs ? 1 : task.results,
                    output == nullptr ? 0 : bytes};
    advance(part, task.offsets);
    for (std::int64_t row = 0; row < task.groups; ++row) {
      if (!kernel(plan.layout, part)) good.store(false, std::memory_order_relaxed);
      advance(part, plan.tasks.groups.strides);
    }
  });
  return good.load();
}

/// Throws for the first coordinate out of range in row-major order, if there still is one. Only run
/// once one was found, so it may take its time.
void fail_first_out_of_range(const GatherNdDescriptor& descriptor, const GatherLayout& layout,
                             const void* data, const char* name) {
  const ConstTensor& indices = descriptor.indices;
  Axes axes;
  for (int d = 0; d < indices.rank; ++d) axes.push({indices.sizes[d], {indices.strides[d], 0, 0}});
  Odometer position(axes);
  for (std::int64_t i = 0, count = element_count(indices); i < count; ++i, position.next()) {
    const std::int64_t offset = position.offsets()[0];
    const std::int64_t read = info(indices.type).size == 8
                                  ? static_cast<const std::int64_t*>(data)[offset]
                                  : static_cast<const std::int32_t*>(data)[offset];
    const GatherAxis& axis = layout.axes[i % layout.length];
    const std::int64_t wrapped = read < 0 ? read + axis.wrap : read;
    if (static_cast<std::uint64_t>(wrapped) < static_cast<std::uint64_t>(axis.size)) continue;
    Shape at{indices.rank, {}};
    for (int d = 0; d < indices.rank; ++d) at.sizes[d] = position.at(d);
    const auto of_axis =
        text("for axis ", descriptor.batch_dims + i % layout.length, ", of size ", axis.size);
    const bool is_signed = is_signed_index(indices.type);
    const std::int64_t low = is_signed ? -axis.size : 0;
    fail<IndexError>(name,
                     axis.size == 0 ? text("must be empty ", of_axis)
                                    : text("must be in [", low, ", ", axis.size - 1, "] ", of_axis),
                     text(is_signed ? text(read) : text(static_cast<std::uint64_t>(wrapped)),
                          " at position ", to_text(at)));
  }
}

}  // namespace

GatherNdPlan plan(const GatherNdDescriptor& descriptor) {
  const std::int64_t coordinates = element_count(descriptor.indices);
  if (coordinates == 0) return {};
  const std::int64_t input_bytes = byte_count(descriptor.input);
  const std::int64_t looked_up =
      coordinates / tuple_length(descriptor) * tuning::look_up_work(input_bytes);
  const std::int64_t bytes = byte_count(descriptor.indices) + byte_count(descriptor.output) +
                             std::min(input_bytes, looked_up);
  return plan_gather_nd(descriptor, machine(), threads_for_bytes(bytes));
}

void run_planned(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
                 const void* indices, void* output, const char* name) {
  if (element_count(descriptor.indices) == 0) return;
  const bool raises = descriptor.mode == IndexMode::kRaise;
  // No coordinate is in range of an empty axis, and there is nothing to clip it to.
  const bool copies = element_count(descriptor.output) > 0 && element_count(descriptor.input) > 0;
  // Nobody has seen a new output yet: what was clipped may be in it.
  const bool checks_first = raises && !(copies && descriptor.output_is_new);
  const auto gather_to = [&](void* to, bool fails) {
    if (gather(descriptor, plan, input, indices, to) || !fails) return;
    fail_first_out_of_range(descriptor, plan.layout, indices, name);
  };
  // Another thread may change the indices after the check: what no longer is in range is clipped;
  // if nothing is out of range any more there is no error, and the output is written.
  if (checks_first) gather_to(nullptr, true);
  if (copies) gather_to(output, raises && !checks_first);
}

std::size_t detail::plan_text(const GatherNdDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  return copy_text(to_text(plan(descriptor)), text, size);
}

void run(const GatherNdDescriptor& descriptor) {
  validate(descriptor);
  run_planned(descriptor, plan(descriptor), descriptor.input.data, descriptor.indices.data,
              descriptor.output.data);
}

}  // namespace dmlcpu
