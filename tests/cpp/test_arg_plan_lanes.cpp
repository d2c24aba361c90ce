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

/// The sizes of the reduced axes that are lanes, the last of which changes fastest.
std::vector<std::int64_t> lane_sizes(const ArgPlan& plan) {
  std::vector<std::int64_t> sizes;
  for (int d = 0; d < plan.columns.lanes.count; ++d) {
    sizes.push_back(plan.columns.lanes.axes[d].size);
  }
  return sizes;
}

using Sizes = std::vector<std::int64_t>;

ArgPlan plan_by(std::initializer_list<std::int64_t> sizes,
                std::initializer_list<std::int64_t> strides,
                std::initializer_list<std::int64_t> axes, DataType type = DataType::kFloat32) {
  ArgDescriptor d = descriptor(sizes, axes, type);
  std::copy(strides.begin(), strides.end(), d.input.strides.begin());
  return plan_of(d);
}

void test_positions_are_lanes_where_results_are_few() {
  const ArgPlan p = plan_of(descriptor({1000, 3}, {0}));
  const auto& [data, walk, lanes, tiling] = p.columns.columns;
  const std::int64_t count = lanes.count / 3;
  CHECK(lane_sizes(p) == Sizes{count} && p.tasks.results.size == 3);
  CHECK(tiling.packing == Packing::kInPlace && lanes.stride == 1);
  CHECK(lanes.count * 4 <= tuning::kWidenedBytes);
  CHECK(lanes.count * 4 > tuning::kWidenedBytes - 3 * 4);
  // The last positions do not fill the lanes: the last step overlaps, in the table.
  CHECK(1000 % count != 0 && p.columns.cut.overlap() == walk.n * count - 1000);
  CHECK(walk.n == walk.period && p.columns.indices.last_from == walk.n - 1);
  CHECK(!p.columns.has_table && !p.merges && p.tasks.task_results == 3);
  // From two times the lanes on.
  CHECK(plan_of(descriptor({2 * count, 3}, {0})).columns.has_several());
  CHECK(plan_of(descriptor({2 * count, 3}, {0})).columns.cut.overlap() == 0);
  CHECK(!plan_of(descriptor({2 * count - 1, 3}, {0})).columns.has_several());
  // Two positions at least.
  const ArgPlan two = plan_of(descriptor({1000, 40}, {0}));
  CHECK(two.columns.has_several() && two.columns.columns.lanes.count == 80);
  // Steps are of one size: as many as there must be overlap least.
  CHECK(plan_of(descriptor({100, 3}, {0})).columns.cut.count == 20);
}

void test_lanes_are_in_the_order_of_memory() {
  ArgDescriptor d = descriptor({1000, 3}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const ArgPlan p = plan_of(d);
  CHECK(p.reversed && p.tasks.offsets[0] == 999 * 3 && p.columns.lanes.axes[0].strides[0] == -3);
  CHECK(p.columns.columns.lanes.stride == 1);
  CHECK(p.columns.input_offset == -3 * (p.columns.cut.count - 1));
  // Elements that are apart are lanes in the order of the axis.
  d = descriptor({1003, 3}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  d.input.strides = {6, 1};
  const ArgPlan apart = plan_of(d);
  CHECK(apart.columns.has_several() && apart.columns.input_offset == 0);
  CHECK(apart.columns.columns.lanes.stride == -6);
}

void test_axes_around_one_that_is_cut_are_walked_with_it() {
  for (const std::int64_t size : {300, 307}) {
    const ArgPlan p = plan_by({900, size, 3}, {930, 3, 1}, {0, 1});
    const std::int64_t steps = p.columns.cut.steps();
    CHECK(p.columns.columns.walk.n == 900 * steps && p.reduced.count == 0);
    CHECK(steps == dmlcpu::ceil_divide(size, 21) && p.columns.has_table == (size == 307));
    CHECK(p.columns.indices.period_step == p.columns.columns.walk.period / steps * size);
  }
}

void test_groups_beside_each_other_are_a_row() {
  // Kept axes that the output keeps apart.
  ArgDescriptor d = descriptor({69, 97, 7}, {0});
  for (const std::int64_t apart : {1, 2}) {
    d.input.strides = {679 * apart, 7 * apart, -apart};
    const ArgPlan p = plan_of(d);
    const dmlcpu::Columns& columns = p.columns.columns;
    CHECK(columns.tiling.packing == (apart == 1 ? Packing::kInPlace : Packing::kStrided));
    CHECK(columns.lanes.count == 7 && columns.lanes.stride == apart && columns.tiling.groups == 97);
    CHECK(p.tasks.groups.size == 97 && columns.lanes.group_stride == 7 * apart);
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
  CHECK(p.columns.has_several() && p.tasks.results.size == 1 && p.tasks.groups.size == 24);
  CHECK(p.columns.columns.lanes.count == 8 && p.columns.columns.tiling.groups == 24);
  CHECK(p.columns.columns.lanes.group_stride == 8 && p.reduced.count == 0);
  CHECK(!whole(tuning::kBesidePositions - 1).columns.has_several());
  // Not of fewer than kBesideBytes: 32 of each position.
  ArgDescriptor few = descriptor({100, 31, 4, 8}, {1, 3}, DataType::kUInt8);
  CHECK(!plan_of(few).columns.has_several());
  few = descriptor({100, 32, 4, 8}, {1, 3}, DataType::kUInt8);
  CHECK(plan_of(few).columns.has_several());
}

void test_neighbours_at_one_distance_are_lanes() {
  ArgDescriptor d = descriptor({1000, 3}, {0});
  for (const std::int64_t apart : {tuning::kPackedStride, tuning::kPackedStride + 1}) {
    d.input.strides = {3 * apart, apart};
    const ArgPlan p = plan_of(d);
    CHECK((p.tasks.results.size == 3) == (apart <= tuning::kPackedStride));
    CHECK(p.columns.has_several() &&
          p.columns.columns.lanes.stride == (p.tasks.results.size == 3 ? apart : 3 * apart));
  }
}

void test_a_reduced_axis_is_the_lanes_where_no_kept_one_fills_vectors() {
  // An axis of several, taken whole: beside narrow results, or alone.
  const ArgPlan beside = plan_of(descriptor({30, 2, 40, 2}, {0, 2}));
  CHECK(lane_sizes(beside) == Sizes{40} && beside.tasks.results.size == 2);
  CHECK(beside.columns.columns.lanes.count == 80 && beside.columns.columns.lanes.stride == 1);
  CHECK(beside.columns.cut.size == 0 && beside.columns.columns.walk.n == 30);
  const ArgPlan whole = plan_by({30, 2, 40, 2}, {240, 120, 3, 1}, {0, 2});
  CHECK(lane_sizes(whole) == Sizes{40} && whole.tasks.results.size == 1);
  CHECK(whole.columns.columns.lanes.stride == 3 && whole.columns.cut.size == 0);
  CHECK(whole.tasks.groups.size == 2 && whole.columns.columns.walk.n == 30);
  // More than any integer numbers: a part.
  const ArgPlan part_of_axis = plan_of(descriptor({30, 2, tuning::kWholeAxisLanes + 1, 2}, {0, 2}));
  CHECK(part_of_axis.columns.columns.lanes.count * 4 <= tuning::kWidenedBytes);
  // A part as well if the other axis is short: whole lanes would take longer to merge than to walk.
  for (const std::int64_t others : {tuning::kWholeAxisPositions - 1, tuning::kWholeAxisPositions}) {
    const ArgPlan p = plan_by({others, 1000}, {4, 4 * others}, {0, 1});
    const bool some = others < tuning::kWholeAxisPositions;
    CHECK(p.columns.has_several() && p.columns.columns.lanes.stride == 4 * others);
    CHECK(p.columns.columns.lanes.count <= (some ? tuning::kWidenedBytes / 4 : 1000));
    CHECK((p.columns.cut.size > 0) == some);
  }
  // A part of the only one, every other element of which is read.
  const ArgPlan part = plan_by({3, 1003}, {1, 6}, {1});
  CHECK(part.columns.has_several() && part.tasks.results.size == 1);
  CHECK(part.columns.columns.lanes.stride == 6 && part.columns.cut.overlap() > 0);
  CHECK(part.columns.columns.tiling.packing == Packing::kStrided);
}

void test_the_innermost_reduced_axes_are_lanes() {
  // In Fortran order the index of the innermost axis has the largest step; few lanes are more of
  // the next axis.
  const ArgPlan p = plan_by({5, 3000}, {1, 5}, {0, 1});
  CHECK(lane_sizes(p) == Sizes({12, 5}) && !p.merges && p.reduced.count == 0);
  CHECK(p.columns.lanes.axes[1].strides[1] == 3000 && p.columns.lanes.axes[0].strides[1] == 1);
  CHECK(p.tasks.results.size == 1 && p.columns.columns.lanes.stride == 1);
  CHECK(p.columns.columns.tiling.packing == Packing::kInPlace && p.columns.cut.size == 3000);
  // Several axes, none of them cut.
  const ArgPlan several = plan_by({4, 20, 3000}, {1, 4, 80}, {0, 1, 2});
  CHECK(lane_sizes(several) == Sizes({20, 4}) && several.columns.columns.walk.n == 3000);
  // Not one that would not fit a tile beside the others.
  const std::int64_t fit = tuning::kWidenedTileBytes / 16;
  CHECK(lane_sizes(plan_by({4, fit, 300}, {1, 4, 4 * fit}, {0, 1, 2})) == Sizes({fit, 4}));
  CHECK(lane_sizes(plan_by({4, fit + 44, 300}, {1, 4, 4 * fit + 176}, {0, 1, 2})).back() == 4);
  // Reversed: lanes are in the order of memory.
  const ArgPlan reversed = plan_by({3000, 5}, {5, -1}, {0, 1});
  CHECK(reversed.columns.has_several() && reversed.columns.input_offset == -4);
  CHECK(reversed.columns.lanes.axes[1].strides[0] == -1);
}

void test_axes_are_lanes_where_that_takes_less_time() {
  // The other axes need enough positions, and more of them with several results.
  const auto plan_for = [](std::int64_t results, std::int64_t inner, std::int64_t positions) {
    return plan_by({results, inner, positions}, {inner * positions, 1, inner}, {1, 2});
  };
  const auto joins = [&](std::int64_t results, std::int64_t inner, std::int64_t positions) {
    return plan_for(results, inner, positions).columns.has_several();
  };
  constexpr std::int64_t kWalked = tuning::kJoinedBytes / 4 / 4;
  CHECK(joins(1, 5, tuning::kWholeAxisPositions) && joins(12, 8, kWalked));
  CHECK(!joins(1, 5, tuning::kWholeAxisPositions - 1) && !joins(12, 8, kWalked - 1));
  // Widened results leave at least as many.
  CHECK(plan_for(12, 8, 2 * kWalked).columns.columns.walk.n == kWalked && !joins(12, 5, kWalked));
  // Results that fill vectors are the lanes.
  CHECK(!joins(16, 8, kWalked));
  // Elements that follow each other, and fill a vector.
  CHECK(lane_sizes(plan_by({12, 300}, {2, 24}, {0, 1})).size() == 1);
  CHECK(plan_by({8, 300}, {1, 16}, {0, 1}).columns.lanes.last().size == 8);
  // A narrow kept axis inside is the results, or beside them.
  CHECK(lane_sizes(plan_by({2, 5, 3000}, {1, 2, 10}, {1, 2})).size() == 1);
}

void test_results_that_are_far_apart_and_few_are_no_lanes() {
  for (const std::int64_t far : {tuning::kBlockElements, tuning::kBlockElements + 1}) {
    ArgDescriptor few_results = descriptor({16, 20, 20}, {0, 1});
    few_results.input.strides = {1, 16, far};
    const ArgPlan p = plan_of(few_results);
    const bool apart = far > tuning::kBlockElements;
    CHECK(p.columns.has_several() == apart && p.columns.columns.lanes.count == (apart ? 16 : 20));
    // One axis is widened where positions have gaps between them.
    few_results.input.strides = {4, 64, far};
    const ArgPlan strided = plan_of(few_results);
    CHECK(strided.columns.has_several() == apart && strided.columns.columns.lanes.count == 20);
    CHECK(strided.columns.columns.lanes.stride == (apart ? 64 : far));
  }
  // Nor where positions follow each other, with all groups, and are enough to merge lanes.
  constexpr std::int64_t kLeast = tuning::kWidenedApartPositions * tuning::kWidenedBytes / 16;
  for (const std::int64_t positions : {kLeast - 1, kLeast}) {
    ArgDescriptor apart = descriptor({22, positions, 4}, {1});
    apart.input.strides[0] = tuning::kBlockElements + 1;
    const ArgPlan p = plan_of(apart);
    const bool widened = positions == kLeast;
    CHECK(p.columns.has_several() == widened && p.tasks.groups.size == (widened ? 22 : 4));
    CHECK((p.columns.columns.tiling.packing == Packing::kTransposed) == !widened);
  }
  for (const std::int64_t positions :
       {tuning::kBlockElements / 4, tuning::kBlockElements / 4 + 1}) {
    ArgDescriptor apart = descriptor({100, positions, 4}, {1}, DataType::kInt16);
    apart.input.strides[0] = 2 * tuning::kBlockElements;
    CHECK(plan_of(apart).columns.has_several() == (4 * positions > tuning::kBlockElements));
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
    CHECK(has_blocks(transposed.columns.columns.tiling.packing));
    CHECK(!transposed.columns.has_several());
  }
  // Reversed rows, and those of elements apart, as well.
  ArgDescriptor d = descriptor({100, tuning::kRowBytes / 4}, {1});
  for (const std::int64_t stride : {2, -1}) {
    d.input.strides = {tuning::kRowBytes, stride};
    CHECK(plan_of(d).strategy == ArgStrategy::kRows);
  }
}

void test_tiles_of_several_lanes() {
  // As many groups as the tile's arrays have in L1, and each result's lanes in one tile.
  const ArgPlan few = plan_of(descriptor({1000, 400, 3}, {1}));
  const dmlcpu::Columns& columns = few.columns.columns;
  CHECK(few.columns.has_several() && columns.tiling.lanes == columns.lanes.count);
  CHECK(columns.tiling.groups == tuning::kWidenedTileBytes / 4 / columns.lanes.count);
  // Ranks of bytes are bytes: of longer axes some positions are lanes.
  for (const std::int64_t lanes : {256, 257}) {
    const ArgPlan bytes =
        plan_by({30, 2, lanes, 2}, {6 * lanes, 3 * lanes, 3, 1}, {0, 2}, DataType::kUInt8);
    CHECK(bytes.columns.columns.tiling.lanes == bytes.columns.columns.lanes.count);
    CHECK(bytes.columns.columns.lanes.count <= 256);
    CHECK((bytes.columns.cut.size > 0) == (lanes > 256));
  }
}

void test_the_last_period_overlaps() {
  const std::int64_t count = tuning::kWidenedBytes / 12;
  for (const std::int64_t steps : {tuning::kWalkRows, tuning::kWalkRows + 1}) {
    const ArgPlan p = plan_of(descriptor({steps * count - 1, 3}, {0}));
    const dmlcpu::Walk& walk = p.columns.columns.walk;
    const bool fits = steps == tuning::kWalkRows;
    CHECK(p.columns.indices.last_index < 0 && (walk.period == walk.n) == fits);
    CHECK(walk.period == (fits ? steps : dmlcpu::ceil_divide(steps, 2)));
    CHECK((walk.last_offset != 0) == !fits && walk.n == steps);
  }
}

}  // namespace

int main() {
  test_positions_are_lanes_where_results_are_few();
  test_lanes_are_in_the_order_of_memory();
  test_axes_around_one_that_is_cut_are_walked_with_it();
  test_groups_beside_each_other_are_a_row();
  test_neighbours_at_one_distance_are_lanes();
  test_a_reduced_axis_is_the_lanes_where_no_kept_one_fills_vectors();
  test_the_innermost_reduced_axes_are_lanes();
  test_axes_are_lanes_where_that_takes_less_time();
  test_results_that_are_far_apart_and_few_are_no_lanes();
  test_long_rows_are_no_columns();
  test_tiles_of_several_lanes();
  test_the_last_period_overlaps();
  return check::failures == 0 ? 0 : 1;
}
