// The plan of gather: which tuples, chunks and slices shapes lead to.
#include "check.hpp"
#include "core/tuning.hpp"
#include "plan/gather_nd_plan.hpp"
#include "tensors.hpp"

using dmlcpu::GatherNdDescriptor;
using dmlcpu::GatherNdPlan;

namespace {

GatherNdPlan plan(std::initializer_list<std::int64_t> input,
                  std::initializer_list<std::int64_t> indices, std::int64_t batch_dims,
                  std::initializer_list<std::int64_t> output, int threads = 1) {
  static std::vector<float> memory(1 << 16);
  static std::vector<std::int64_t> index_memory(1 << 16);
  GatherNdDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(memory, input);
  descriptor.indices = tensors::contiguous_input(index_memory, indices);
  descriptor.batch_dims = batch_dims;
  descriptor.output = tensors::contiguous(memory, output);
  return plan_gather_nd(descriptor, threads);
}

void test_contiguous_tuples_and_slices_merge() {
  const GatherNdPlan p = plan({5, 6, 7, 8}, {3, 4, 2}, 0, {3, 4, 7, 8});
  const dmlcpu::Axis& tuples = p.tasks.results;
  CHECK(p.tasks.kept.count == 0 && p.tasks.groups.size == 1);
  CHECK(tuples.size == 12 && tuples.strides[0] == 2 && tuples.strides[2] == 56);
  CHECK(p.tuple_length == 2 && p.axes[1].size == 6 && p.axes[1].stride == 4 * 56);
  CHECK(p.slices.count == 0 && p.slice.size == 56 && p.slice.strides[0] == 1);
}

void test_batch_dimensions_step_through_the_input() {
  const GatherNdPlan p = plan({5, 6, 7}, {5, 4, 1}, 1, {5, 4, 7});
  CHECK(p.tasks.kept.count == 0);
  CHECK(p.tasks.groups.size == 5 && p.tasks.groups.strides[1] == 42);
  CHECK(p.tasks.results.size == 4 && p.tasks.results.strides[1] == 0);
  CHECK(p.axes[0].size == 6);
}

void test_tuples_are_divided_among_threads() {
  const GatherNdPlan p = plan({5, 6}, {1000, 1}, 0, {1000, 6}, 4);
  CHECK(p.tasks.count() >= 4 && p.tasks.task_results * p.tasks.count() >= 1000);
}

/// Of float: small slices, next to each other in an input of up to kGatherAtOnceSpan, the output
/// and the indices.
void test_small_slices_are_copied_at_once() {
  CHECK(plan({5, 6}, {10, 2}, 0, {10}).at_once);
  CHECK(plan({5, 6, 8}, {10, 2}, 0, {10, 8}).at_once);
  CHECK(!plan({5, 6, 9}, {10, 2}, 0, {10, 9}).at_once);
  CHECK(plan({50, 1, 1}, {10, 3}, 0, {10}).at_once);
  CHECK(plan({5, 6, 2}, {5, 10, 1}, 1, {5, 10, 2}).at_once);
  CHECK(!plan({5, 6, 2}, {5, 1, 1}, 1, {5, 1, 2}).at_once);  // each tuple has its own part
  const std::int64_t most = dmlcpu::tuning::kGatherAtOnceInputBytes;
  CHECK(plan({most}, {most / 64, 1}, 0, {most / 64}).at_once);
  CHECK(plan({most / 4 + 1}, {most, 1}, 0, {most}).at_once);
  CHECK(!plan({most / 4 + 2}, {most / 64 + 1, 1}, 0, {most / 64 + 1}).at_once);
  static std::vector<float> memory(1 << 16);
  static std::vector<std::int64_t> index_memory(1 << 16);
  GatherNdDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(memory, {6, 6});
  descriptor.indices = tensors::contiguous_input(index_memory, {10, 2});
  descriptor.output = tensors::contiguous(memory, {10});
  const auto at_once = [](const GatherNdDescriptor& d) { return plan_gather_nd(d, 1).at_once; };
  CHECK(at_once(descriptor));
  GatherNdDescriptor other = descriptor;
  other.input.strides[1] = 2;
  CHECK(!at_once(other));
  other = descriptor;
  other.input.strides[0] = -6;
  CHECK(at_once(other));
  other = descriptor;
  other.output.strides[0] = 2;
  CHECK(!at_once(other));
  other = descriptor;
  other.indices.strides[0] = 3;
  CHECK(!at_once(other));
  other = descriptor;
  other.indices.strides[1] = 10;
  CHECK(!at_once(other));

  descriptor.input = tensors::contiguous_input(memory, {6, 2, 3});
  descriptor.indices = tensors::contiguous_input(index_memory, {10, 1});
  descriptor.output = tensors::contiguous(memory, {10, 2, 3});
  CHECK(at_once(descriptor));
  other = descriptor;
  other.input.strides[1] = -3;
  CHECK(!at_once(other));
  other.input.strides = {3, 18, 1};  // two slices of 3 for each tuple
  other.output.strides = {3, 30, 1};
  CHECK(!at_once(other));
  other = descriptor;
  other.input.strides = {6, -3, -1};
  CHECK(!at_once(other));
}

void test_small_rows_share_a_task() {
  const GatherNdPlan p = plan({1000, 6}, {1000, 3, 1}, 1, {1000, 3}, 2);
  CHECK(p.tasks.task_results == 3 && p.tasks.task_groups > 1);
  CHECK(p.tasks.count() >= 4 && p.tasks.task_groups * p.tasks.count() >= 1000);
  CHECK(plan({1000, 6}, {1000, 3, 1}, 1, {1000, 3}).tasks.count() == 1);
  const GatherNdPlan few = plan({3, 6}, {3, 1000, 1}, 1, {3, 1000}, 2);
  CHECK(few.tasks.task_groups == 1 && few.tasks.task_results < 1000);
}

void test_plans_can_be_printed() {
  CHECK(
      to_text(plan({5, 6}, {10, 1}, 0, {10, 6})) ==
      "tuples 1 x 1 x 10 in 1 tasks of 1 x 10\nslices 1 x 6 by 1, 1, copied at once\nthreads 1\n");
  CHECK(to_text(plan({5, 60}, {10, 1}, 0, {10, 60})) ==
        "tuples 1 x 1 x 10 in 1 tasks of 1 x 10\nslices 1 x 60 by 1, 1\nthreads 1\n");
}

}  // namespace

int main() {
  test_contiguous_tuples_and_slices_merge();
  test_batch_dimensions_step_through_the_input();
  test_tuples_are_divided_among_threads();
  test_small_slices_are_copied_at_once();
  test_small_rows_share_a_task();
  test_plans_can_be_printed();
  return check::failures == 0 ? 0 : 1;
}
