// The plan of argmin and argmax where positions are lanes as well: which shapes are widened, the
// tail of positions that do not fill the lanes, and tiles.
#include <algorithm>

#include <vector>

#include "check.hpp"
#include "core/tuning.hpp"
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

void test_few_columns_are_widened() {
  const ArgPlan p = plan_of(descriptor({1000, 3}, {0}));
  const std::int64_t count = p.columns.columns.lanes / 3;
  CHECK(p.columns.widened() && p.tasks.results.size == 3);
  CHECK(p.columns.columns.packing == Packing::kNone && p.columns.columns.lane_stride == 1);
  CHECK(p.columns.columns.lanes * 4 <= tuning::kWidenedBytes);
  CHECK(p.columns.columns.lanes * 4 > tuning::kWidenedBytes - 3 * 4);
  CHECK(p.columns.columns.widened_step == 1);
  // The last positions do not fill the lanes: the tail has all that end with the axis.
  CHECK(1000 % count != 0);
  const dmlcpu::Columns& columns = p.columns.columns;
  CHECK(columns.tail == 1000 / count && columns.n == columns.tail + 1);
  CHECK(columns.tail_offset == 3 * (1000 - count) && columns.period == columns.n);
  CHECK(columns.tail * p.columns.columns.index_step + p.columns.columns.tail_index == 1000 - count);
  CHECK(!p.merges && p.tasks.task_results == 3);
  // From two times the lanes on.
  CHECK(plan_of(descriptor({2 * count, 3}, {0})).columns.widened());
  CHECK(plan_of(descriptor({2 * count, 3}, {0})).columns.columns.tail == -1);
  CHECK(!plan_of(descriptor({2 * count - 1, 3}, {0})).columns.widened());
  // Two positions at least.
  const ArgPlan two = plan_of(descriptor({1000, 40}, {0}));
  CHECK(two.columns.widened() && two.columns.columns.lanes == 80);
}

void test_reversed_positions_are_widened_in_the_order_of_memory() {
  ArgDescriptor d = descriptor({1000, 3}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const ArgPlan p = plan_of(d);
  const std::int64_t count = p.columns.columns.lanes / 3;
  CHECK(p.reversed && p.tasks.offsets[0] == 999 * 3);
  CHECK(p.columns.columns.widened_step == 1 && p.columns.columns.backwards);
  CHECK(p.columns.columns.lane_stride == 1 && p.columns.input_offset == -3 * (count - 1));
  CHECK(p.columns.columns.tail_offset == -3 * (1000 - count));
  // Elements that are apart are lanes in the order of the axis.
  d = descriptor({1003, 3}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  d.input.strides = {6, 1};
  const ArgPlan apart = plan_of(d);
  CHECK(apart.columns.widened() && !apart.columns.columns.backwards &&
        apart.columns.input_offset == 0);
  CHECK(apart.columns.columns.lane_stride == -6);
}

void test_a_divisor_of_an_axis_among_several_leaves_no_tail() {
  ArgDescriptor d = descriptor({900, 300, 3}, {0, 1});
  d.input.strides[0] = 910;
  const ArgPlan p = plan_of(d);
  CHECK(p.columns.per_result == 20 && p.columns.columns.tail == -1);
  CHECK(p.columns.columns.n == 900 * 15 && p.reduced.count == 0);
  // Where there is no divisor, as many as fit.
  d = descriptor({900, 307, 3}, {0, 1});
  d.input.strides[0] = 930;
  CHECK(plan_of(d).columns.per_result == 21 && plan_of(d).columns.columns.tail >= 0);
  // Not of one alone, which is walked once.
  CHECK(plan_of(descriptor({300, 3}, {0})).columns.per_result == 21);
}

void test_groups_beside_each_other_are_a_row() {
  // Kept axes that the output keeps apart.
  ArgDescriptor d = descriptor({69, 97, 7}, {0});
  for (const std::int64_t apart : {1, 2}) {
    d.input.strides = {679 * apart, 7 * apart, -apart};
    const ArgPlan p = plan_of(d);
    const dmlcpu::Columns& columns = p.columns.columns;
    CHECK(columns.packing == (apart == 1 ? Packing::kNone : Packing::kStrided));
    CHECK(columns.lanes == 7 && columns.lane_stride == apart && columns.tile_groups == 97);
    CHECK(p.tasks.groups.size == 97 && columns.group_stride == 7 * apart);
  }
  // The positions of a narrow row are split among threads; a wide row into wide tiles.
  d = descriptor({30000, 40, 3}, {0});
  d.input.strides = {120, 3, -1};
  const ArgPlan narrow = plan_of(d, 16);
  CHECK(narrow.parts > 16 && narrow.tasks.count() == 1);
  for (const std::int64_t apart : {tuning::kPackedStride, tuning::kPackedStride + 1}) {
    d.input.strides = {120 * apart, 3 * apart, -apart};
    CHECK((plan_of(d, 16).parts > 16) == (apart <= tuning::kPackedStride));
  }
  d = descriptor({69, 9700, 7}, {0});
  d.input.strides = {67900, 7, -1};
  const ArgPlan wide = plan_of(d, 16);
  CHECK(wide.parts == 1 && wide.tasks.count() > 16);
  CHECK(wide.tasks.task_groups * 7 * 4 >= tuning::kLeastTileBytes);
  // A whole reduced axis, from kBesidePositions of the others on.
  const auto whole = [](std::int64_t positions) {
    return plan_of(descriptor({positions, 24, 8}, {0, 2}, DataType::kUInt8));
  };
  const ArgPlan p = whole(tuning::kBesidePositions);
  CHECK(p.columns.widened() && p.tasks.results.size == 1 && p.tasks.groups.size == 24);
  CHECK(p.columns.columns.lanes == 8 && p.columns.columns.tile_groups == 24);
  CHECK(p.columns.columns.group_stride == 8 && p.reduced.count == 0);
  CHECK(!whole(tuning::kBesidePositions - 1).columns.widened());
  // Not of fewer than kBesideBytes: 32 of each position.
  ArgDescriptor few = descriptor({100, 31, 4, 8}, {1, 3}, DataType::kUInt8);
  CHECK(!plan_of(few).columns.widened());
  few = descriptor({100, 32, 4, 8}, {1, 3}, DataType::kUInt8);
  CHECK(plan_of(few).columns.widened());
}

void test_neighbours_at_one_distance_are_widened() {
  ArgDescriptor d = descriptor({1000, 3}, {0});
  for (const std::int64_t apart : {tuning::kPackedStride, tuning::kPackedStride + 1}) {
    d.input.strides = {3 * apart, apart};
    const ArgPlan p = plan_of(d);
    CHECK((p.tasks.results.size == 3) == (apart <= tuning::kPackedStride));
    CHECK(p.columns.widened() &&
          p.columns.columns.lane_stride == (p.tasks.results.size == 3 ? apart : 3 * apart));
  }
}

void test_a_reduced_axis_is_the_lanes_where_no_kept_one_fills_vectors() {
  // An axis of several, taken whole: beside narrow results, or alone.
  const ArgPlan beside = plan_of(descriptor({30, 2, 40, 2}, {0, 2}));
  CHECK(beside.columns.widened() && beside.tasks.results.size == 2);
  CHECK(beside.columns.columns.lanes == 80 && beside.columns.columns.lane_stride == 1);
  CHECK(beside.columns.columns.tail == -1 && beside.columns.columns.n == 30);
  ArgDescriptor gaps = descriptor({30, 2, 40, 2}, {0, 2});
  gaps.input.strides = {240, 120, 3, 1};
  const ArgPlan whole = plan_of(gaps);
  CHECK(whole.columns.widened() && whole.tasks.results.size == 1);
  CHECK(whole.columns.columns.lanes == 40 && whole.columns.columns.lane_stride == 3);
  CHECK(whole.columns.columns.tail == -1 && whole.columns.columns.widened_step == 1);
  CHECK(whole.tasks.groups.size == 2 && whole.columns.columns.n == 30);
  // More than any integer numbers: a part.
  gaps = descriptor({30, 2, tuning::kWholeAxisLanes + 1, 2}, {0, 2});
  CHECK(plan_of(gaps).columns.columns.lanes * 4 <= tuning::kWidenedBytes);
  // So where there are few positions beside it, which whole lanes would take longer to merge.
  for (const std::int64_t others : {tuning::kWholeAxisPositions - 1, tuning::kWholeAxisPositions}) {
    ArgDescriptor far = descriptor({others, 1000}, {0, 1});
    far.input.strides = {4, 4 * others};
    const ArgPlan p = plan_of(far);
    const bool some = others < tuning::kWholeAxisPositions;
    CHECK(p.columns.widened() && p.columns.columns.lane_stride == 4 * others);
    CHECK(p.columns.columns.lanes == (some ? tuning::kWidenedBytes / 4 : 1000));
    CHECK(p.reduced.count == (some ? 1 : 0));
  }
  // A part of the only one, every other element of which is read.
  ArgDescriptor few = descriptor({3, 1003}, {1});
  few.input.strides = {1, 6};
  const ArgPlan part = plan_of(few);
  CHECK(part.columns.widened() && part.tasks.results.size == 1);
  CHECK(part.columns.columns.lanes == tuning::kWidenedBytes / 4 &&
        part.columns.columns.lane_stride == 6);
  CHECK(part.columns.columns.tail >= 0 && part.columns.columns.packing == Packing::kStrided);
}

ArgPlan plan_by(std::initializer_list<std::int64_t> sizes,
                std::initializer_list<std::int64_t> strides,
                std::initializer_list<std::int64_t> axes, DataType type = DataType::kFloat32) {
  ArgDescriptor d = descriptor(sizes, axes, type);
  std::copy(strides.begin(), strides.end(), d.input.strides.begin());
  return plan_of(d);
}

void test_the_innermost_reduced_axes_are_joined() {
  // In Fortran order the index of the innermost axis has the largest step.
  const ArgPlan p = plan_by({5, 3000}, {1, 5}, {0, 1});
  CHECK(p.columns.joins() && p.columns.joined.count == 1 && p.merges && p.reduced.count == 0);
  CHECK(p.columns.joined.axes[0].size == 5 && p.columns.joined.axes[0].strides[1] == 3000);
  CHECK(p.tasks.results.size == 5 && p.tasks.results.strides[1] == 0);
  CHECK(p.columns.columns.packing == Packing::kNone && p.columns.columns.lane_stride == 1);
  // Few lanes are widened by the next axis, of which each lane is a result's.
  CHECK(p.columns.widened() && p.columns.columns.lanes == 60 &&
        p.columns.columns.widened_step == 1);
  // Several axes, the last of which changes fastest; none is widened.
  const ArgPlan several = plan_by({4, 20, 3000}, {1, 4, 80}, {0, 1, 2});
  CHECK(several.columns.joined.count == 2 && several.tasks.results.size == 80);
  CHECK(several.columns.joined.axes[0].size == 20 && several.columns.joined.axes[1].size == 4);
  CHECK(!several.columns.widened() && several.columns.columns.n == 3000);
  // Not one that would not fit a tile beside the others.
  const std::int64_t fit = tuning::kWidenedTileBytes / 16;
  CHECK(plan_by({4, fit, 300}, {1, 4, 4 * fit}, {0, 1, 2}).columns.joined.count == 2);
  CHECK(plan_by({4, fit + 44, 300}, {1, 4, 4 * fit + 176}, {0, 1, 2}).columns.joined.count == 1);
  // Reversed: lanes are in the order of memory, and the index begins from the last position.
  const ArgPlan reversed = plan_by({3000, 5}, {5, -1}, {0, 1});
  CHECK(reversed.columns.joins() && reversed.columns.input_offset == -4);
  CHECK(reversed.columns.index_offset == 4 && reversed.columns.joined.axes[0].strides[1] == -1);
}

void test_axes_are_joined_where_that_takes_less_time() {
  // The other axes have enough positions: more where there are several results.
  const auto plan_for = [](std::int64_t results, std::int64_t inner, std::int64_t positions) {
    return plan_by({results, inner, positions}, {inner * positions, 1, inner}, {1, 2});
  };
  const auto joins = [&](std::int64_t results, std::int64_t inner, std::int64_t positions) {
    return plan_for(results, inner, positions).columns.joins();
  };
  constexpr std::int64_t kWalked = tuning::kJoinedBytes / 4 / 4;
  CHECK(joins(1, 5, tuning::kWholeAxisPositions) && joins(12, 8, kWalked));
  CHECK(!joins(1, 5, tuning::kWholeAxisPositions - 1) && !joins(12, 8, kWalked - 1));
  // Widened results leave at least as many.
  CHECK(plan_for(12, 8, 2 * kWalked).columns.columns.n == kWalked && !joins(12, 5, kWalked));
  // Results that fill vectors are the lanes.
  CHECK(!joins(16, 8, kWalked));
  // Elements that follow each other, and fill a vector.
  CHECK(!plan_by({12, 300}, {2, 24}, {0, 1}).columns.joins());
  CHECK(plan_by({8, 300}, {1, 16}, {0, 1}).columns.joins());
  CHECK(!plan_by({7, 300}, {1, 16}, {0, 1}).columns.joins());
  // Widened by a divisor of the next of several axes; without one, only if they are too few.
  const auto lanes = [](std::int64_t inner, std::int64_t next) {
    return plan_by({inner, next, 3000}, {1, inner, 8000}, {0, 1, 2}).columns.columns.lanes;
  };
  CHECK(lanes(10, 600) == 60 && lanes(10, 601) == 10 && lanes(5, 601) == 60);
  // A narrow kept axis inside is the lanes, or beside them.
  CHECK(!plan_by({2, 5, 3000}, {1, 2, 10}, {1, 2}).columns.joins());
}

void test_results_that_are_far_apart_and_few_are_no_lanes() {
  for (const std::int64_t far : {tuning::kBlockElements, tuning::kBlockElements + 1}) {
    ArgDescriptor few_results = descriptor({16, 20, 20}, {0, 1});
    few_results.input.strides = {1, 16, far};
    const ArgPlan p = plan_of(few_results);
    const bool apart = far > tuning::kBlockElements;
    CHECK(p.columns.widened() == apart && p.columns.columns.lanes == (apart ? 16 : 20));
    // One axis is widened where positions have gaps between them.
    few_results.input.strides = {4, 64, far};
    const ArgPlan strided = plan_of(few_results);
    CHECK(strided.columns.widened() == apart && strided.columns.columns.lanes == 20);
    CHECK(strided.columns.columns.lane_stride == (apart ? 64 : far));
  }
  // Nor where positions follow each other, with all groups, and are enough to merge lanes.
  constexpr std::int64_t kLeast = tuning::kWidenedApartPositions * tuning::kWidenedBytes / 16;
  for (const std::int64_t positions : {kLeast - 1, kLeast}) {
    ArgDescriptor apart = descriptor({22, positions, 4}, {1});
    apart.input.strides[0] = tuning::kBlockElements + 1;
    const ArgPlan p = plan_of(apart);
    const bool widened = positions == kLeast;
    CHECK(p.columns.widened() == widened && p.tasks.groups.size == (widened ? 22 : 4));
    CHECK((p.columns.columns.packing == Packing::kTransposed) == !widened);
  }
  for (const std::int64_t positions :
       {tuning::kBlockElements / 4, tuning::kBlockElements / 4 + 1}) {
    ArgDescriptor apart = descriptor({100, positions, 4}, {1}, DataType::kInt16);
    apart.input.strides[0] = 2 * tuning::kBlockElements;
    CHECK(plan_of(apart).columns.widened() == (4 * positions > tuning::kBlockElements));
  }
}

void test_long_rows_are_no_columns() {
  const auto plan_for = [](std::int64_t rows, std::int64_t bytes, DataType type) {
    const auto size = static_cast<std::int64_t>(dmlcpu::info(type).size);
    return plan_of(descriptor({rows, bytes / size}, {1}, type));
  };
  for (const DataType type : {DataType::kUInt8, DataType::kFloat16, DataType::kFloat64}) {
    const auto size = static_cast<std::int64_t>(dmlcpu::info(type).size);
    // Or with more positions than a counter of the element's width holds.
    const std::int64_t bytes =
        std::min(tuning::kRowBytes, (dmlcpu::arg_run_positions(size) + 1) * size);
    CHECK(plan_for(100, bytes, type).strategy == ArgStrategy::kRows);
    const ArgPlan transposed = plan_for(100, bytes - size, type);
    CHECK(transposed.columns.columns.packing == Packing::kTransposed);
    CHECK(!transposed.columns.widened());
  }
  // Reversed rows, and those of elements apart, as well.
  ArgDescriptor d = descriptor({100, tuning::kRowBytes / 4}, {1});
  for (const std::int64_t stride : {2, -1}) {
    d.input.strides = {tuning::kRowBytes, stride};
    CHECK(plan_of(d).strategy == ArgStrategy::kRows);
  }
}

void test_tiles_of_widened_columns() {
  // As many groups as the tile's arrays have in L1, and each result's lanes in one tile.
  const ArgPlan few = plan_of(descriptor({1000, 400, 3}, {1}));
  const dmlcpu::Columns& columns = few.columns.columns;
  CHECK(few.columns.widened() && columns.tile_lanes == columns.lanes);
  CHECK(columns.tile_groups == tuning::kWidenedTileBytes / 4 / columns.lanes);
  // Lanes of bytes are numbered in a byte: longer axes are several tiles, which are merged.
  for (const std::int64_t lanes : {256, 257}) {
    ArgDescriptor d = descriptor({30, 2, lanes, 2}, {0, 2}, DataType::kUInt8);
    d.input.strides = {6 * lanes, 3 * lanes, 3, 1};
    const ArgPlan bytes = plan_of(d);
    CHECK(bytes.columns.columns.lanes == lanes && bytes.columns.columns.tile_lanes == 256);
    CHECK(bytes.merges == (lanes > 256));
  }
}

void test_a_tail_is_in_the_table_while_there_is_one_period() {
  const std::int64_t count = tuning::kWidenedBytes / 12;
  for (const std::int64_t walked : {tuning::kWalkRows - 1, tuning::kWalkRows}) {
    const dmlcpu::ColumnsPlan p = plan_of(descriptor({walked * count + 1, 3}, {0})).columns;
    const bool fits = walked < tuning::kWalkRows;
    CHECK(p.columns.tail == walked && p.columns.n == walked + 1);
    CHECK(p.columns.period == (fits ? walked + 1 : tuning::kWalkRows - 1));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(p.columns.period));
    p.fill_rows(rows.data());
    CHECK((rows[static_cast<std::size_t>(p.columns.period - 1)] == p.columns.tail_offset) == fits);
  }
}

}  // namespace

int main() {
  test_few_columns_are_widened();
  test_reversed_positions_are_widened_in_the_order_of_memory();
  test_a_divisor_of_an_axis_among_several_leaves_no_tail();
  test_groups_beside_each_other_are_a_row();
  test_neighbours_at_one_distance_are_widened();
  test_a_reduced_axis_is_the_lanes_where_no_kept_one_fills_vectors();
  test_the_innermost_reduced_axes_are_joined();
  test_axes_are_joined_where_that_takes_less_time();
  test_results_that_are_far_apart_and_few_are_no_lanes();
  test_long_rows_are_no_columns();
  test_tiles_of_widened_columns();
  test_a_tail_is_in_the_table_while_there_is_one_period();
  return check::failures == 0 ? 0 : 1;
}
