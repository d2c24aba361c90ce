// The plan of argmin and argmax: which strategy, lanes, packing and parts a shape leads to.
#include <cstdlib>

#include <algorithm>

#include "check.hpp"
#include "core/processor.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "ops/planned.hpp"
#include "plan_tensors.hpp"

using dmlcpu::ArgDescriptor;
using dmlcpu::ArgPlan;
using dmlcpu::ArgStrategy;
using dmlcpu::DataType;
using dmlcpu::Packing;
using plan_tensors::descriptor;
using plan_tensors::plan_of;

namespace tuning = dmlcpu::tuning;

namespace {

void test_last_axis_is_reduced_by_rows() {
  const ArgPlan p = plan_of(descriptor({8, 4, 1000}, {2}));
  CHECK(p.strategy == ArgStrategy::kRows);
  CHECK(p.n.size == 1000);
  CHECK(p.tasks.results.size == 32);
  CHECK(p.tasks.kept.count == 0 && p.reduced.count == 0);
}

void test_rows_come_from_memory_if_the_input_is_large() {
  constexpr std::int64_t kLeast = tuning::kRowPrefetchLeastBytes / 32;
  for (const std::int64_t n : {kLeast - 1, kLeast}) {
    const ArgPlan rows = plan_of(descriptor({8, n}, {1}));
    CHECK(rows.strategy == ArgStrategy::kRows && rows.from_memory == (n == kLeast));
    CHECK(rows.prefetches == (rows.from_memory && !dmlcpu::is_amd()));
  }
}

void test_first_axis_is_reduced_by_columns() {
  const ArgPlan p = plan_of(descriptor({100, 30, 20}, {0}));
  CHECK(p.columns.columns.tiling.packing == Packing::kInPlace);
  CHECK(p.columns.columns.lanes.count == 600 && p.columns.columns.lanes.stride == 1);
  CHECK(p.tasks.results.size == 600 && !p.columns.has_several());
  CHECK(p.tasks.groups.size == 1);
  CHECK(p.columns.columns.walk.n == 100 && p.columns.columns.walk.period == 100);
  CHECK(p.columns.indices.step == 1);
  CHECK(!p.merges);
}

void test_groups_are_the_next_kept_axis() {
  const ArgPlan p = plan_of(descriptor({30, 50, 20}, {1}));
  CHECK(p.strategy == ArgStrategy::kColumns);
  CHECK(p.columns.columns.lanes.count == 20);
  CHECK(p.tasks.groups.size == 30 && p.tasks.groups.strides[0] == 1000 &&
        p.tasks.groups.strides[1] == 20);
  CHECK(p.tasks.count() == 1);
}

void test_nothing_is_compared_without_reduced_axes() {
  for (const auto& d : {descriptor({7, 5}, {}), descriptor({7, 1, 5}, {1})}) {
    const ArgPlan p = plan_of(d);
    CHECK(p.strategy == ArgStrategy::kFill);
    CHECK(p.tasks.results.size == 35 && p.tasks.kept.count == 0);
  }
  // The input's order is that of the loops if elements are wanted.
  ArgDescriptor d = descriptor({3, 2, 1, 50, 7}, {2});
  d.input.strides = {1, 1000, 1, 3, 200};
  CHECK(plan_of(d).tasks.results.size == 3 * 2 * 50 * 7);
  // The longest axes are a task's loops.
  const dmlcpu::Tensor values{nullptr, d.input.type, 5, d.input.sizes, {700, 350, 350, 7, 1}};
  const ArgPlan strided = plan_of(d, 1, &values);
  CHECK(strided.tasks.results.size == 50 && strided.tasks.groups.size == 7);
  CHECK(strided.tasks.count() == 6);
}

void test_few_rows() {
  // In Fortran order, where kept axes are rows of their own.
  const auto strategy_of = [](std::int64_t n, std::int64_t rows, std::int64_t others) {
    ArgDescriptor d = descriptor({n, rows, others}, {0});
    d.input.strides = {1, n, n * rows};
    return plan_of(d).strategy;
  };
  constexpr std::int64_t kLeast = tuning::kLeastLaneBytes / 4;
  CHECK(strategy_of(100, kLeast - 1, 1) == ArgStrategy::kRows);
  CHECK(strategy_of(100, kLeast, 1) == ArgStrategy::kColumns);
  // Short ones, but at least 16 bytes of lanes.
  CHECK(strategy_of(7, 7, 1) == ArgStrategy::kRows);
  CHECK(strategy_of(7, 7, 5) == ArgStrategy::kColumns);
  CHECK(strategy_of(7, 5, 6) == ArgStrategy::kRows);
  CHECK(strategy_of(3, 4, 3) == ArgStrategy::kColumns);
  CHECK(strategy_of(2, 3, 3) == ArgStrategy::kRows);
}

void test_adjacent_reduced_axes_merge() {
  const ArgPlan p = plan_of(descriptor({10, 30, 40}, {1, 2}));
  CHECK(p.n.size == 1200);
  CHECK(p.count == 1200);
}

void test_other_reduced_axes_stay_outside_of_rows() {
  const ArgPlan p = plan_of(descriptor({5, 6, 600}, {0, 2}));
  CHECK(p.strategy == ArgStrategy::kRows);
  CHECK(p.n.size == 600);
  CHECK(p.reduced.count == 1 && p.reduced.axes[0].size == 5);
  CHECK(p.reduced.axes[0].strides[1] == 600);
  CHECK(p.tasks.results.size == 6);
}

void test_several_reduced_axes_are_one_walk() {
  const ArgPlan p = plan_of(descriptor({80, 6, 50, 8}, {0, 2}));
  const dmlcpu::Columns& columns = p.columns.columns;
  CHECK(p.columns.columns.lanes.count == 8 && p.tasks.groups.size == 6);
  CHECK(p.reduced.count == 0);
  CHECK(columns.walk.n == 4000 && p.columns.walk.count == 2);
  // Whole inner axes, as many in each period; the last period overlaps.
  const std::int64_t most = tuning::kWalkRows / 50;
  const std::int64_t whole = dmlcpu::ceil_divide(80, dmlcpu::ceil_divide(80, most));
  CHECK(columns.walk.period == whole * 50 && columns.walk.period_stride == whole * 6 * 50 * 8);
  CHECK(p.columns.indices.step == 1);
}

void test_walks_end_where_the_index_step_changes() {
  // In Fortran order: index steps are 1 along the outer axis and 40 along the inner one.
  ArgDescriptor d = descriptor({16, 30, 40, 3}, {1, 2});
  d.input.strides = {1, 16, 16 * 31, 16 * 31 * 41};
  const ArgPlan p = plan_of(d);
  CHECK(p.columns.columns.lanes.count == 16);
  CHECK(p.columns.columns.walk.n == 1200 && p.columns.indices.step == 1);
  CHECK(p.columns.walk.last().strides[0] == 16 * 31);
  // An axis of another index step is outside.
  const ArgPlan q = plan_of(descriptor({5, 2, 40, 2}, {0, 2}));
  CHECK(q.columns.columns.lanes.count == 80 && q.columns.columns.walk.n == 5 &&
        q.columns.indices.step == 40);
}

void test_short_rows_are_transposed() {
  const ArgPlan p = plan_of(descriptor({1000, 8}, {1}));
  CHECK(p.strategy == ArgStrategy::kColumns);
  CHECK(p.columns.columns.lanes.count == 1000 && p.columns.columns.lanes.stride == 8);
  CHECK(p.columns.columns.tiling.block == 8 &&
        p.columns.columns.tiling.packing == Packing::kRegisters);
  CHECK(p.columns.columns.tiling.lanes * 8 * 4 <= tuning::kTransposeBytes);
  // Fours of vectors of 64 bytes, or vectors where the buffer holds no four.
  const auto tile_of = [](std::int64_t n) {
    return plan_of(descriptor({1000, n}, {1})).columns.columns.tiling.lanes;
  };
  for (const std::int64_t n : {8, 30, 80, 111}) CHECK(tile_of(n) % 64 == 0);
  const ArgPlan few = plan_of(descriptor({1000, 8, 30, 3}, {1, 2}));
  CHECK(few.columns.columns.tiling.block == 720 && few.columns.columns.tiling.lanes == 16);
}

void test_rows_in_registers() {
  const auto in_registers = [](DataType type, std::int64_t n, std::int64_t row_stride,
                               std::int64_t stride = 1) {
    ArgDescriptor d = descriptor({1000, n}, {1}, type);
    d.input.strides = {row_stride, stride};
    return plan_of(d).columns.columns.tiling.packing == Packing::kRegisters;
  };
  constexpr std::int64_t least = tuning::kSquareRowLeastBytes;
  CHECK(in_registers(DataType::kUInt8, least, least));
  CHECK(!in_registers(DataType::kUInt8, least - 1, least - 1));
  // Rows of less than a square's, as far apart as squares or less.
  CHECK(in_registers(DataType::kUInt8, 15, 16) && !in_registers(DataType::kUInt8, 15, 17));
  // More positions than a counter of the element's width holds.
  CHECK(in_registers(DataType::kUInt8, 256, 256));
  CHECK(!in_registers(DataType::kUInt8, 257, 257));
  // Gaps between rows, but none in them, and in the order of positions.
  CHECK(in_registers(DataType::kFloat32, 8, 9));
  CHECK(!in_registers(DataType::kFloat32, 8, 17, 2));
  CHECK(!in_registers(DataType::kFloat32, 8, 9, -1));
}

void test_narrow_groups_are_transposed_with_their_block() {
  const ArgPlan p = plan_of(descriptor({1000, 8, 3}, {1}));
  CHECK(p.columns.columns.tiling.packing == Packing::kTransposed);
  CHECK(p.columns.columns.lanes.count == 1000 && p.tasks.groups.size == 3);
  CHECK(p.columns.columns.tiling.block == 24 && p.columns.columns.tiling.groups == 3);
}

void test_axes_outside_of_a_lane_are_periods() {
  // A lane's 3 x 4 elements are a block of 4 in each of three places.
  const ArgPlan p = plan_of(descriptor({3, 100, 4}, {0, 2}));
  CHECK(p.columns.columns.tiling.packing == Packing::kTransposed);
  CHECK(p.columns.columns.tiling.block == 4 && p.columns.columns.walk.period == 4);
  CHECK(p.columns.columns.walk.n == 12 && p.columns.columns.walk.period_stride == 400);
}

void test_blocks_of_many_gaps_are_packed_element_by_element() {
  for (const std::int64_t step : {2, 3}) {
    ArgDescriptor d = descriptor({1000, 16}, {1});
    d.input.strides = {16 * step, step};
    const ArgPlan p = plan_of(d);
    // Half of a block may be gaps.
    CHECK(p.columns.columns.tiling.packing ==
          (step == 2 ? Packing::kTransposed : Packing::kStrided));
    CHECK(p.columns.columns.walk.period == 16);
  }
  // Of several axes those that leave no gaps are a block.
  const ArgPlan p = plan_of(descriptor({620, 2, 9, 14}, {1, 3}));
  CHECK(p.columns.columns.tiling.packing == Packing::kTransposed &&
        p.columns.columns.tiling.block == 14);
  CHECK(p.columns.columns.walk.period == 14 && p.columns.columns.walk.n == 28 &&
        p.reduced.count == 0);
}

void test_passes_read_what_a_cache_holds() {
  const std::int64_t wide = std::min(tuning::kTileElements, tuning::kTileBytes / 4);
  CHECK(plan_of(descriptor({1000, wide}, {0})).columns.columns.tiling.pass == tuning::kPassRows);
  const std::int64_t fits = tuning::kPassBytes / (100 * 4);
  CHECK(plan_of(descriptor({fits, 100}, {0})).columns.columns.tiling.pass == fits);
  for (const std::int64_t lanes : {100, 1000}) {
    const std::int64_t rows = tuning::kPassBytes / (4 * lanes);
    CHECK(plan_of(descriptor({1000, lanes}, {0})).columns.columns.tiling.pass ==
          std::max<std::int64_t>(rows / tuning::kPassRows, 1) * tuning::kPassRows);
  }
}

void test_tiles_of_a_few_groups() {
  // Groups are as many as a tile's elements allow, and one pass over them fits a cache.
  const ArgPlan small = plan_of(descriptor({500, 4, 16}, {1}));
  CHECK(small.columns.columns.tiling.groups == tuning::kTileElements / 16);
  const ArgPlan long_walk = plan_of(descriptor({500, 1000, 16}, {1}));
  CHECK(long_walk.columns.columns.tiling.groups == tuning::kGroupsBytes / (1000 * 16 * 4));
  const ArgPlan doubles = plan_of(descriptor({500, 4, 16}, {1}, DataType::kFloat64));
  CHECK(doubles.columns.columns.tiling.groups == tuning::kTileBytes / 8 / 16);
}

void test_results_are_written_at_once_unless_the_counter_wraps() {
  const auto merges = [](std::int64_t n, DataType type) {
    return plan_of(descriptor({n, 300}, {0}, type)).merges;
  };
  CHECK(!merges(256, DataType::kUInt8) && merges(257, DataType::kUInt8));
  CHECK(!merges(65536, DataType::kFloat16) && merges(65537, DataType::kFloat16));
  CHECK(!merges(65537, DataType::kFloat32));
}

void test_last_ties_reverse_the_axis() {
  ArgDescriptor d = descriptor({1000}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const ArgPlan p = plan_of(d);
  CHECK(p.reversed);
  CHECK(p.n.strides[0] == -1);
  CHECK(p.n.strides[1] == 1);
  CHECK(p.tasks.offsets[0] == 999);
}

void test_broadcast_reduced_axes_are_not_walked() {
  ArgDescriptor d = descriptor({50, 60}, {0, 1});
  d.input.strides[0] = 0;
  const ArgPlan p = plan_of(d);
  CHECK(p.count == 3000);
  CHECK(p.n.size == 60);
  CHECK(p.reduced.count == 0);
}

/// The parts are of one size, and together all of the axis; the last one overlaps.
bool covers(const ArgPlan& p) {
  std::int64_t end = 0;
  for (std::int64_t part = 0; part < p.parts; ++part) {
    const std::int64_t start = p.part_start(part);
    if (start < 0 || start > end || start + p.part_size <= end) return false;
    end = start + p.part_size;
  }
  return end == p.shared.size;
}

void test_few_tasks_are_split_into_parts() {
  const ArgPlan row = plan_of(descriptor({60001}, {0}), 4);
  // One for each thread: a part that meets the highest value there is ends early.
  CHECK(row.parts == 4 && row.merges && row.shared.size == 60001);
  CHECK(row.n.size == row.part_size && row.part_size == 15001 && covers(row));
  CHECK(row.part_start(2) == 2 * 15001 && row.part_start(3) == 60001 - 15001);
  // 512 parts of 65 would begin beyond the axis.
  const ArgPlan threads = plan_of(descriptor({32769, 3}, {0}), 128);
  CHECK(threads.parts == 505 && threads.part_size == 65 && covers(threads));
  const ArgPlan many = plan_of(descriptor({64, 900}, {1}), 4);
  CHECK(many.parts == 1 && many.tasks.count() >= 4);
  // The longest reduced axis is split, be it walked, the lanes or an outer one.
  const ArgPlan rows = plan_of(descriptor({100, 3, 600}, {0, 2}), 8);
  CHECK(rows.shared.size == 600 && rows.n.size == rows.part_size && covers(rows));
  const ArgPlan far = plan_of(descriptor({900, 3, 500}, {0, 2}), 8);
  CHECK(far.shared.size == 900 && far.reduced.axes[0].size == far.part_size);
  CHECK(far.merges && covers(far));
  // Columns: long ones are split in positions, at full width; short ones in width.
  const ArgPlan tall = plan_of(descriptor({60, 1000}, {0}), 4);
  CHECK(tall.parts == 1);
  CHECK(tall.tasks.count() >= 4 && tall.tasks.task_results < 1000);
  const ArgPlan split = plan_of(descriptor({641, 1000}, {0}), 4);
  CHECK(split.tasks.task_results == 1000 && split.merges && covers(split));
  CHECK(split.parts == 10 && split.columns.columns.walk.n == split.part_size);
  CHECK(split.part_size >= tuning::kMinPartPositions);
  // Groups, where there are some, come first.
  const ArgPlan groups = plan_of(descriptor({64, 10, 64}, {1}), 4);
  CHECK(groups.parts == 1 && groups.tasks.task_groups < 64 && !groups.merges);
  // The last step of an axis that is cut overlaps in each part.
  const ArgPlan lanes = plan_of(descriptor({9000, 3}, {0}), 3);
  CHECK(lanes.parts == 12 && lanes.columns.cut.overlap() > 0 && covers(lanes));
  ArgDescriptor gaps = descriptor({900, 307, 3}, {0, 1});
  gaps.input.strides[0] = 930;
  const ArgPlan outer = plan_of(gaps, 3);
  CHECK(outer.shared.size == 900 && outer.columns.cut.overlap() > 0);
}

void test_blocks_are_not_split_between_groups() {
  const ArgPlan p = plan_of(descriptor({40, 8, 3}, {1}), 8);
  CHECK(p.columns.columns.tiling.packing == Packing::kTransposed);
  CHECK(p.tasks.task_groups == 3);
}

void test_groups_outside_of_blocks_have_their_own() {
  ArgDescriptor d = descriptor({50, 18, 5}, {2});
  d.input.strides = {180, 5, 1};
  const ArgPlan p = plan_of(d, 4);
  const dmlcpu::Columns& columns = p.columns.columns;
  CHECK(has_blocks(columns.tiling.packing) && columns.lanes.count == 18);
  CHECK(p.tasks.groups.size == 50 && columns.tiling.groups == 1 &&
        columns.lanes.group_stride == 180);
  CHECK(p.tasks.kept.count == 0 && p.tasks.task_groups < 50);
}

void test_values_are_found_by_the_index() {
  ArgDescriptor d = descriptor({50, 60}, {0});
  dmlcpu::Tensor values;
  values.rank = 2;
  values.sizes = {1, 60};
  values.strides = {60, 2};
  const ArgPlan p = plan_of(d, 1, &values);
  CHECK(p.value_stride == 60);
  CHECK(p.tasks.results.strides[2] == 2);
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  d.input.strides[1] = -1;
  const ArgPlan reversed = plan_of(d, 1, &values);
  CHECK(reversed.tasks.results.strides[0] == 1 && reversed.tasks.results.strides[2] == -2);
  CHECK(reversed.tasks.offsets[2] == 2 * 59);
}

void test_a_second_thread_is_used_from_some_grains_on() {
  const dmlcpu::ScopedThreads two(2);
  const auto threads_for = [](std::int64_t bytes) {
    ArgDescriptor d = descriptor({bytes / 4}, {0});
    d.output.rank = 1;
    d.output.sizes[0] = 1;
    return dmlcpu::plan(d).tasks.threads;
  };
  constexpr std::int64_t kLeast = tuning::kArgLeastGrains * tuning::kGrainBytes;
  CHECK(threads_for(kLeast - 4) == 1);
  CHECK(threads_for(kLeast) == dmlcpu::num_threads());
}

void test_plans_can_be_printed() {
  const auto holds = [](const ArgPlan& p, const char* what) {
    return to_text(p).find(what) != std::string::npos;
  };
  const ArgPlan rows = plan_of(descriptor({5, 6, 600}, {0, 2}));
  CHECK(holds(rows, "n 600 by 1, 1") && holds(rows, "reduced 5 by 3600, 600"));
  CHECK(dmlcpu::to_text(plan_of(descriptor({7}, {}))).find("fill") == 0);
  const ArgPlan transposed = plan_of(descriptor({1000, 8}, {1}));
  CHECK(to_text(transposed).find("columns compared in registers, 8 positions in periods of 8") ==
        0);
  CHECK(holds(transposed, "1000 lanes by 8;"));
  CHECK(holds(plan_of(descriptor({1000, 3}, {0})), ", 21 of each of 3 results;"));
  const ArgPlan split = plan_of(descriptor({640, 1000}, {0}), 4);
  CHECK(holds(split, "parts 10 of 64 of 640, merged, threads 4"));
}

}  // namespace

int main() {
  test_last_axis_is_reduced_by_rows();
  test_rows_come_from_memory_if_the_input_is_large();
  test_first_axis_is_reduced_by_columns();
  test_groups_are_the_next_kept_axis();
  test_nothing_is_compared_without_reduced_axes();
  test_few_rows();
  test_adjacent_reduced_axes_merge();
  test_other_reduced_axes_stay_outside_of_rows();
  test_several_reduced_axes_are_one_walk();
  test_walks_end_where_the_index_step_changes();
  test_short_rows_are_transposed();
  test_rows_in_registers();
  test_narrow_groups_are_transposed_with_their_block();
  test_axes_outside_of_a_lane_are_periods();
  test_blocks_of_many_gaps_are_packed_element_by_element();
  test_passes_read_what_a_cache_holds();
  test_tiles_of_a_few_groups();
  test_results_are_written_at_once_unless_the_counter_wraps();
  test_last_ties_reverse_the_axis();
  test_broadcast_reduced_axes_are_not_walked();
  test_few_tasks_are_split_into_parts();
  test_blocks_are_not_split_between_groups();
  test_groups_outside_of_blocks_have_their_own();
  test_values_are_found_by_the_index();
  test_a_second_thread_is_used_from_some_grains_on();
  test_plans_can_be_printed();
  return check::failures == 0 ? 0 : 1;
}
