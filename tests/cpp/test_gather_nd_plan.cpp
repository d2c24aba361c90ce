// The plan of gather: which tuples, chunks and slices shapes lead to.
#include "check.hpp"
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
  descriptor.input = tensors::packed_input(memory, input);
  descriptor.indices = tensors::packed_input(index_memory, indices);
  descriptor.batch_dims = batch_dims;
  descriptor.output = tensors::packed(memory, output);
  return plan_gather_nd(descriptor, threads);
}

void test_packed_tuples_and_slices_merge() {
  const GatherNdPlan p = plan({5, 6, 7, 8}, {3, 4, 2}, 0, {3, 4, 7, 8});
  CHECK(p.outer.count == 0);
  CHECK(p.tuples.size == 12 && p.tuples.strides[0] == 2 && p.tuples.strides[2] == 56);
  CHECK(p.tuple_length == 2 && p.sizes[1] == 6 && p.strides[1] == 56);
  CHECK(p.slices.count == 0 && p.slice.size == 56 && p.slice.strides[0] == 1);
}

void test_batch_dimensions_step_through_the_input() {
  const GatherNdPlan p = plan({5, 6, 7}, {5, 4, 1}, 1, {5, 4, 7});
  CHECK(p.outer.count == 1 && p.outer.axes[0].strides[1] == 42);
  CHECK(p.tuples.size == 4 && p.tuples.strides[1] == 0);
  CHECK(p.sizes[0] == 6);
}

void test_chunks_serve_all_threads() {
  const GatherNdPlan p = plan({5, 6}, {1000, 1}, 0, {1000, 6}, 4);
  CHECK(p.cells() >= 4);
  CHECK(p.chunk * p.cells() >= 1000);
}

void test_plans_can_be_printed() {
  CHECK(to_text(plan({5, 6}, {10, 1}, 0, {10, 6})) ==
        "tuples 1 x 10 in chunks of 10\nslices 1 x 6 by 1, 1\n");
}

}  // namespace

int main() {
  test_packed_tuples_and_slices_merge();
  test_batch_dimensions_step_through_the_input();
  test_chunks_serve_all_threads();
  test_plans_can_be_printed();
  return check::failures == 0 ? 0 : 1;
}
