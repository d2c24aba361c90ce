// The plan of argmin and argmax: which strategy, axes, folds and parts a shape leads to.
#include "check.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "ops/arg.hpp"
#include "tensors.hpp"

using dmlcpu::ArgDescriptor;
using dmlcpu::ArgPlan;
using dmlcpu::ArgStrategy;

namespace {

std::vector<float> memory(1 << 16);
std::vector<std::uint32_t> results(1 << 16);

ArgPlan plan(std::initializer_list<std::int64_t> sizes, std::initializer_list<std::int64_t> axes,
             int threads = 1, bool last = false) {
  ArgDescriptor descriptor;
  descriptor.input = tensors::packed_input(memory, sizes);
  descriptor.axes = tensors::axes(axes);
  if (last) descriptor.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const dmlcpu::Shape shape = output_shape(descriptor);
  descriptor.output = tensors::packed(results, {});
  descriptor.output.rank = shape.rank;
  descriptor.output.sizes = shape.sizes;
  std::int64_t stride = 1;
  for (int d = shape.rank - 1; d >= 0; --d) {
    descriptor.output.strides[d] = stride;
    stride *= shape.sizes[d];
  }
  return plan_arg(descriptor, threads);
}

void test_last_axis_is_reduced_by_rows() {
  const ArgPlan p = plan({8, 4, 1000}, {2});
  CHECK(p.strategy == ArgStrategy::kRows);
  CHECK(p.length.size == 1000);
  CHECK(p.lines.size == 32);
  CHECK(p.kept.count == 0 && p.reduced.count == 0);
}

void test_first_axis_is_reduced_by_columns() {
  const ArgPlan p = plan({100, 30, 20}, {0});
  CHECK(p.strategy == ArgStrategy::kColumns);
  CHECK(p.lines.size == 600);
  CHECK(p.length.size == 100);
  CHECK(p.fold.folds == 1);
}

void test_adjacent_reduced_axes_merge() {
  const ArgPlan p = plan({10, 30, 40}, {1, 2});
  CHECK(p.length.size == 1200);
  CHECK(p.reduced_count == 1200);
}

void test_other_reduced_axes_stay_outside() {
  const ArgPlan p = plan({5, 6, 500}, {0, 2});
  CHECK(p.strategy == ArgStrategy::kRows);
  CHECK(p.length.size == 500);
  CHECK(p.reduced.count == 1 && p.reduced.axes[0].size == 5);
  CHECK(p.reduced.axes[0].strides[1] == 500);
  CHECK(p.lines.size == 6);
}

void test_short_rows_become_columns() {
  const ArgPlan p = plan({1000, 8}, {1});
  CHECK(p.strategy == ArgStrategy::kColumns);
  CHECK(p.length.size == 8);
  CHECK(p.lines.size == 1000 && p.lines.strides[0] == 8);
}

void test_narrow_columns_fold_with_a_tail() {
  const ArgPlan p = plan({1000, 3}, {0});
  const std::int64_t folds = p.fold.folds;
  CHECK(folds > 1);
  CHECK(p.lines.size == 3 * folds);
  CHECK(p.length.size == 1000 / folds);
  CHECK(p.fold.tail == 1000 % folds);
  CHECK(p.lines.size * 4 >= dmlcpu::tuning::kNarrowColumnsBytes);
  CHECK(p.tile == p.lines.size);
}

void test_last_ties_turn_the_axis_around() {
  const ArgPlan p = plan({1000}, {0}, 1, true);
  CHECK(p.from_end);
  CHECK(p.length.strides[0] == -1);
  CHECK(p.length.strides[1] == 1);
  CHECK(p.input_offset == 999);
}

void test_broadcast_reduced_axes_are_not_walked() {
  ArgDescriptor descriptor;
  descriptor.input = tensors::packed_input(memory, {50, 60});
  descriptor.input.strides[0] = 0;
  descriptor.output = tensors::packed(results, {1, 1});
  const ArgPlan p = plan_arg(descriptor, 1);
  CHECK(p.reduced_count == 3000);
  CHECK(p.length.size == 60);
  CHECK(p.reduced.count == 0);
}

void test_few_cells_are_cut_into_parts() {
  const ArgPlan row = plan({60000}, {0}, 4);
  CHECK(row.parts == 4);
  CHECK(row.parts_of_length);
  const ArgPlan outer = plan({100, 1, 500}, {0, 2}, 4);
  CHECK(outer.parts == 1 || outer.cells() * outer.parts >= 4);
  const ArgPlan many = plan({64, 900}, {1}, 4);
  CHECK(many.parts == 1);
  CHECK(many.cells() >= 4);
  // Columns: long ones are cut in length, at full width; short ones are cut in width.
  const ArgPlan tall = plan({60, 1000}, {0}, 4);
  CHECK(tall.parts == 1);
  CHECK(tall.cells() >= 4 && tall.tile < 1000);
  ArgDescriptor wide;
  wide.input = tensors::packed_input(memory, {640, 1000});
  wide.axes = tensors::axes({0});
  wide.output = tensors::packed(results, {1, 1000});
  const ArgPlan cut = plan_arg(wide, 4);
  CHECK(cut.tile == 1000 && cut.parts_of_length);
  CHECK(cut.parts >= 4 && cut.length.size / cut.parts >= dmlcpu::tuning::kMinPartSteps);
}

void test_a_second_thread_is_used_from_some_grains_on() {
  const dmlcpu::ScopedThreads two(2);
  const auto threads_for = [](std::int64_t bytes) {
    ArgDescriptor descriptor;
    descriptor.input = tensors::packed_input(memory, {1});
    descriptor.input.sizes[0] = bytes / 4;
    descriptor.output = tensors::packed(results, {1});
    return dmlcpu::plan(descriptor).threads;
  };
  constexpr std::int64_t kLeast = dmlcpu::tuning::kArgLeastGrains * dmlcpu::tuning::kGrainBytes;
  CHECK(threads_for(kLeast - 4) == 1);
  CHECK(threads_for(kLeast) == dmlcpu::num_threads());
}

void test_plans_can_be_printed() {
  const std::string text = to_text(plan({5, 6, 500}, {0, 2}));
  CHECK(text.find("rows") == 0);
  CHECK(text.find("length 500 by 1, 1") != std::string::npos);
}

}  // namespace

int main() {
  test_last_axis_is_reduced_by_rows();
  test_first_axis_is_reduced_by_columns();
  test_adjacent_reduced_axes_merge();
  test_other_reduced_axes_stay_outside();
  test_short_rows_become_columns();
  test_narrow_columns_fold_with_a_tail();
  test_last_ties_turn_the_axis_around();
  test_broadcast_reduced_axes_are_not_walked();
  test_few_cells_are_cut_into_parts();
  test_a_second_thread_is_used_from_some_grains_on();
  test_plans_can_be_printed();
  return check::failures == 0 ? 0 : 1;
}
