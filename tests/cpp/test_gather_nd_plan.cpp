// The plan of gather: which tuples, chunks and slices shapes lead to.
#include "check.hpp"
#include "core/tuning.hpp"
#include "interface/tuning.hpp"
#include "plan/gather_nd_plan.hpp"
#include "plan/tuning.hpp"
#include "tensors.hpp"

using dmlcpu::GatherNdDescriptor;
using dmlcpu::GatherNdPlan;

namespace {

const dmlcpu::Machine machine = dmlcpu::machine_of("x86-64-v3", dmlcpu::Family::kAmd);

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
  return plan_gather_nd(descriptor, machine, threads);
}

void test_contiguous_tuples_and_slices_merge() {
  const GatherNdPlan p = plan({5, 6, 7, 8}, {3, 4, 2}, 0, {3, 4, 7, 8});
  const dmlcpu::Axis& tuples = p.tasks.results;
  CHECK(p.tasks.kept.count == 0 && p.tasks.groups.size == 1);
  CHECK(tuples.size == 12 && tuples.strides[0] == 2 && tuples.strides[2] == 56);
  CHECK(p.layout.length == 2 && p.layout.axes[1].size == 6 && p.layout.axes[1].stride == 4 * 56);
  CHECK(p.layout.run_axes == 0 && p.bytes == 4 * 56 && !p.layout.at_once);
}

void test_batch_dimensions_step_through_the_input() {
  const GatherNdPlan p = plan({5, 6, 7}, {5, 4, 1}, 1, {5, 4, 7});
  CHECK(p.tasks.kept.count == 0);
  CHECK(p.tasks.groups.size == 5 && p.tasks.groups.strides[1] == 42);
  CHECK(p.tasks.results.size == 4 && p.tasks.results.strides[1] == 0);
  CHECK(p.layout.axes[0].size == 6);
}

void test_tuples_are_divided_among_threads() {
  const GatherNdPlan p = plan({5, 6}, {1000, 1}, 0, {1000, 6}, 4);
  CHECK(p.tasks.count() >= 4 && p.tasks.task_results * p.tasks.count() >= 1000);
}

/// Of float: small slices, next to each other in the input and the output.
void test_small_slices_are_copied_at_once() {
  CHECK(plan({5, 6}, {10, 2}, 0, {10}).layout.at_once);
  CHECK(plan({5, 6, 16}, {10, 2}, 0, {10, 16}).layout.at_once);
  CHECK(!plan({5, 6, 17}, {10, 2}, 0, {10, 17}).layout.at_once);
  CHECK(plan({50, 1, 1}, {10, 3}, 0, {10}).layout.at_once);
  CHECK(plan({5, 6, 2}, {5, 10, 1}, 1, {5, 10, 2}).layout.at_once);
  CHECK(plan({5, 6, 2}, {5, 1, 1}, 1, {5, 1, 2}).layout.at_once);
  static std::vector<float> memory(1 << 16);
  static std::vector<std::int64_t> index_memory(1 << 16);
  GatherNdDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(memory, {6, 6});
  descriptor.indices = tensors::contiguous_input(index_memory, {10, 2});
  descriptor.output = tensors::contiguous(memory, {10});
  const auto at_once = [](const GatherNdDescriptor& d) {
    return plan_gather_nd(d, machine, 1).layout.at_once;
  };
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
  other.indices.strides = {3, 10};
  CHECK(at_once(other));

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

/// What tuples touch of the input is as much as is between the first and the last slice, or their
/// own cache lines or slices; where the caches do not hold it, slices are far.
void test_far_slices() {
  const std::int64_t most = dmlcpu::tuning::kGatherNearBytes;
  const std::int64_t tuples = most / 64;
  const auto is_far = [](const GatherNdPlan& p) {
    CHECK(p.layout.at_once == !p.layout.is_far);
    return p.layout.is_far;
  };
  for (const std::int64_t count : {tuples, most}) {
    CHECK(!is_far(plan({most / 4 + 1}, {count, 1}, 0, {count})));
    CHECK(!is_far(plan({1, 1, 1, most / 4 + 1}, {count, 4}, 0, {count})));
  }
  CHECK(!is_far(plan({most}, {tuples, 1}, 0, {tuples})));
  CHECK(is_far(plan({most / 4 + 2}, {tuples + 1, 1}, 0, {tuples + 1})));
  CHECK(is_far(plan({1, most / 4 + 2}, {tuples + 1, 2}, 0, {tuples + 1})));
  CHECK(is_far(plan({1, 1, 1, most / 4 + 2}, {tuples + 1, 4}, 0, {tuples + 1})));
  CHECK(!plan({most, 64}, {most / 256, 1}, 0, {most / 256, 64}).layout.is_far);
  CHECK(plan({most, 64}, {most / 256 + 1, 1}, 0, {most / 256 + 1, 64}).layout.is_far);
}

/// Slices are prefetched kGatherAhead ahead, long ones fewer, at least one.
void test_slices_ahead() {
  namespace tuning = dmlcpu::tuning;
  const auto ahead = [](std::int64_t inner, std::int64_t tuples) {
    return plan({tuples, inner}, {tuples, 1}, 0, {tuples, inner}).layout.ahead;
  };
  const std::int64_t many = tuning::kGatherNearBytes / 64;
  CHECK(ahead(32, many) == tuning::kGatherAhead);
  CHECK(ahead(1024, many) == tuning::kGatherAheadBytes / 4096);
  CHECK(ahead(tuning::kGatherAheadBytes / 2, many) == 1);
  CHECK(ahead(16, 10) == tuning::kGatherAhead);
  CHECK(ahead(256, 10) == tuning::kGatherNearAheadBytes / 1024);
  CHECK(ahead(tuning::kGatherNearAheadBytes, 10) == 1);
  CHECK(ahead(0, 10) == tuning::kGatherAhead);
}

/// The tasks cover every byte of the output once, in runs that begin at pages.
void test_slices_of_few_tuples_are_divided() {
  for (const std::int64_t inner : {3000, 4096, 50000, 50001}) {
    for (const std::int64_t tuples : {1, 2, 7}) {
      for (const int threads : {1, 2, 3}) {
        const GatherNdPlan p = plan({9, inner}, {tuples, 1}, 0, {tuples, inner}, threads);
        CHECK(p.divides_runs == (threads > 1 && tuples < threads * 4));
        if (!p.divides_runs) continue;
        CHECK(p.layout.tuple_stride == 0 && !p.layout.at_once);
        CHECK(p.tasks.count() > tuples || inner * 4 <= 4096 * 3);
        std::vector<int> visits(static_cast<std::size_t>(tuples * inner));
        for (std::int64_t t = 0; t < p.tasks.count(); ++t) {
          const dmlcpu::Task task = p.tasks.at(t);
          for (std::int64_t group = 0; group < task.groups; ++group) {
            const std::int64_t begin = task.offsets[2] + group * p.tasks.groups.strides[2];
            CHECK(begin % inner * 4 % 4096 == 0);
            for (std::int64_t e = 0; e < task.results; ++e) {
              ++visits[static_cast<std::size_t>(begin + e)];
            }
          }
        }
        CHECK(visits == std::vector<int>(visits.size(), 1));
      }
    }
  }
  // Loops over runs come first: their longest suffices.
  static std::vector<float> memory(1 << 16);
  static std::vector<std::int64_t> index_memory(4);
  GatherNdDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(memory, {4, 20, 30, 5});
  descriptor.input.strides = {3000, 5, 100, 1};
  descriptor.indices = tensors::contiguous_input(index_memory, {1, 1});
  descriptor.output = tensors::contiguous(memory, {1, 20, 30, 5});
  const GatherNdPlan p = plan_gather_nd(descriptor, machine, 2);
  CHECK(!p.divides_runs && p.bytes == 20 && p.layout.run_axes == 1 && p.layout.runs[0].size == 20);
  CHECK(p.tasks.results.size == 30 && p.layout.tuple_stride == 0);
  CHECK(p.layout.batch_stride == 400 && p.layout.output_stride == 20);
  CHECK(plan_gather_nd(descriptor, machine, 1).layout.run_axes == 2);
  // Nothing to copy, but tuples to check.
  const GatherNdPlan none = plan({9, 0}, {2, 1}, 0, {2, 0}, 2);
  CHECK(none.tasks.results.size == 2 && none.layout.tuple_stride == 1);
}

void test_plans_can_be_printed() {
  CHECK(to_text(plan({5, 6}, {10, 1}, 0, {10, 6})) ==
        "tuples 1 x 1 x 10 in 1 tasks of 1 x 10\nslices 24 bytes, copied at once\n"
        "threads 1\nscratch 0 bytes\n");
  CHECK(to_text(plan({5, 60}, {10, 1}, 0, {10, 60})) ==
        "tuples 1 x 1 x 10 in 1 tasks of 1 x 10\nslices 240 bytes, 17 ahead\nthreads 1\n"
        "scratch 0 bytes\n");
  CHECK(to_text(plan({5, 6000}, {2, 1}, 0, {2, 6000}, 2)) ==
        "tuples 1 x 2 x 6000 elements in 12 tasks of 1 x 1024\nslices 24000 bytes, 1 "
        "ahead\nthreads 2\nscratch 0 bytes\n");
}

/// Large outputs, where the machine streams, unless slices are of parts of 16 bytes; runs that
/// are divided are divided at pages, so that only the last one ends with such a part.
void test_large_outputs_are_streamed() {
  const std::int64_t most = machine.caches.l3 / 64;
  const bool streams = plan({most, 16}, {most, 1}, 0, {most, 16}, 2).layout.stream;
  CHECK(streams);
  CHECK(!plan({most, 17}, {most, 1}, 0, {most, 17}, 2).layout.stream);
  CHECK(!plan({1, 16}, {most / 8, 1}, 0, {most / 8, 16}, 2).layout.stream);
  const GatherNdPlan divided = plan({2, 17 * most}, {1, 1}, 0, {1, 17 * most}, 2);
  CHECK(divided.divides_runs && divided.layout.stream == streams);
  CHECK(!plan({2, most}, {1, 1}, 0, {1, most}, 2).layout.stream);
}

}  // namespace

int main() {
  test_contiguous_tuples_and_slices_merge();
  test_batch_dimensions_step_through_the_input();
  test_tuples_are_divided_among_threads();
  test_small_slices_are_copied_at_once();
  test_small_rows_share_a_task();
  test_far_slices();
  test_slices_ahead();
  test_slices_of_few_tuples_are_divided();
  test_large_outputs_are_streamed();
  test_plans_can_be_printed();
  return check::failures == 0 ? 0 : 1;
}
