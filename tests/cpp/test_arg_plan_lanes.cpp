// The plan of columns of argmin and argmax, whatever they cost: lanes, also several of a result,
// the walk along them, blocks and tiles.
#include <algorithm>

#include "check.hpp"
#include "interface/tuning.hpp"
#include "plan/tuning.hpp"
#include "plan_tensors.hpp"

using dmlcpu::ArgDescriptor;
using dmlcpu::ArgPlan;
using dmlcpu::Columns;
using dmlcpu::DataType;
using plan_tensors::descriptor;
using plan_tensors::forced;
using plan_tensors::has_candidate;
using plan_tensors::strided;

namespace tuning = dmlcpu::tuning;

namespace {

Columns columns_of(const ArgDescriptor& d, const std::string& candidate) {
  return forced(d, candidate).columns.columns;
}

void test_results_are_lanes_in_groups() {
  const ArgPlan p = forced(descriptor({100, 30, 20}, {0}), "in place, 1 x 600");
  CHECK(p.columns.columns.lanes.count == 600 && p.columns.columns.lanes.stride == 1);
  CHECK(p.columns.columns.walk.n == 100 && p.columns.columns.walk.period == 100);
  CHECK(p.columns.indices.step == 1 && !p.columns.has_several() && !p.merges);
  const ArgPlan groups = forced(descriptor({30, 50, 20}, {1}), "in place, 30 x 20");
  CHECK(groups.columns.columns.lanes.count == 20 && groups.tasks.count() == 1);
  CHECK(groups.tasks.groups.strides[0] == 1000 && groups.tasks.groups.strides[1] == 20);
  // Groups without gaps are one row, in place or packed.
  for (const std::int64_t apart : {1, 2}) {
    const Columns row = columns_of(strided({69, 97, 7}, {679 * apart, 7 * apart, -apart}, {0}),
                                   apart == 1 ? "in place, 97 x 7" : "strided, 97 x 7");
    CHECK(row.lanes.count == 7 && row.lanes.stride == apart && row.tiling.groups == 97);
    CHECK(row.lanes.group_stride == 7 * apart);
  }
}

void test_walks_are_in_the_order_of_indices() {
  const ArgPlan p = forced(descriptor({80, 6, 50, 8}, {0, 2}), "in place, 6 x 8");
  const Columns& columns = p.columns.columns;
  CHECK(p.reduced.count == 0 && columns.walk.n == 4000 && p.columns.walk.count == 2);
  // Whole inner axes, as many in each period; the last period overlaps.
  const std::int64_t most = tuning::kWalkRows / 50;
  const std::int64_t whole = dmlcpu::ceil_divide(80, dmlcpu::ceil_divide(80, most));
  CHECK(columns.walk.period == whole * 50 && columns.walk.period_stride == whole * 6 * 50 * 8);
  CHECK(p.columns.indices.step == 1 && p.columns.indices.period_step == whole * 50);
  // In Fortran order: index steps are 1 along the outer axis and 40 along the inner one.
  const ArgPlan fortran =
      forced(strided({16, 30, 40, 3}, {1, 16, 496, 20336}, {1, 2}), "in place, 3 x 16");
  CHECK(fortran.columns.columns.walk.n == 1200 && fortran.columns.indices.step == 1);
  CHECK(fortran.columns.walk.last().strides[0] == 496);
  // A walk ends where the index step changes: here between the axes of 5 and 3 positions.
  const ArgPlan ends =
      forced(descriptor({5, 2, 40, 2, 3, 2}, {0, 2, 4}), "strided, 2 x 1, 40 each");
  CHECK(ends.columns.columns.walk.n == 5 && ends.columns.indices.step == 120);
  CHECK(ends.reduced.count == 1 && ends.reduced.axes[0].size == 3);
}

void test_the_last_step_overlaps() {
  // Steps of one size, at most ten positions: 9 of 9, or 10 of 10.
  const ArgPlan even = forced(descriptor({81, 3}, {0}), "in place, 1 x 3, some of 81");
  CHECK(even.columns.per_result == 9 && even.columns.cut.overlap() == 0);
  const ArgPlan p = forced(descriptor({95, 3}, {0}), "in place, 1 x 3, some of 95");
  const auto& [data, walk, lanes, tiling] = p.columns.columns;
  CHECK(p.columns.per_result == 10 && lanes.count == 30 && lanes.stride == 1);
  CHECK(p.columns.cut.overlap() == 5 && walk.n == 10 && walk.period == 10);
  // No table: the last step alone is not at the distance of the others.
  CHECK(!p.columns.has_table && p.columns.indices.step == 10);
  CHECK(p.columns.indices.last_from == 9 && p.columns.indices.last_index == -5);
  CHECK(!p.merges && p.tasks.task_results == 3 && tiling.lanes == 30);
  // Two positions at least.
  CHECK(forced(descriptor({95, 40}, {0}), "in place, 1 x 40, some of 95").columns.per_result == 2);
  // Axes around the one that is cut are walked with it, by a table if its steps overlap.
  for (const std::int64_t size : {300, 307}) {
    const ArgPlan around =
        forced(strided({900, size, 3}, {930, 3, 1}, {0, 1}), "in place, 1 x 3, some of");
    const std::int64_t steps = around.columns.cut.steps();
    CHECK(steps == dmlcpu::ceil_divide(size, 10) && around.columns.has_table == (size == 307));
    CHECK(around.columns.columns.walk.n == 900 * steps && around.reduced.count == 0);
    CHECK(around.columns.indices.period_step * steps == around.columns.columns.walk.period * size);
  }
  // So does the last of several periods.
  for (const std::int64_t steps : {tuning::kWalkRows, tuning::kWalkRows + 1}) {
    const ArgPlan periods = forced(descriptor({steps * 10 - 1, 3}, {0}), "in place, 1 x 3, some");
    const dmlcpu::Walk& of = periods.columns.columns.walk;
    const bool fits = steps == tuning::kWalkRows;
    CHECK(periods.columns.indices.last_index < 0 && of.n == steps);
    CHECK(of.period == (fits ? steps : dmlcpu::ceil_divide(steps, 2)));
    CHECK(of.last_skip == (fits ? 0 : 1) && of.last_offset == (fits ? 0 : -11 * 3));
  }
}

void test_lanes_are_in_the_order_of_memory() {
  ArgDescriptor d = descriptor({1000, 3}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const ArgPlan p = forced(d, "in place, 1 x 3, some of");
  CHECK(p.reversed && p.tasks.offsets[0] == 999 * 3 && p.columns.lanes.axes[0].strides[0] == -3);
  CHECK(p.columns.columns.lanes.stride == 1 && p.columns.input_offset == -3 * (10 - 1));
  const ArgPlan inner = forced(strided({3000, 5}, {5, -1}, {0, 1}), "in place, 1 x 1, 5 each");
  CHECK(inner.columns.lanes.last().strides[0] == -1 && inner.columns.input_offset == -4);
  // Elements that are apart are lanes in the order of the axis.
  d = strided({1003, 3}, {6, 1}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const ArgPlan apart = forced(d, "strided, 3 x 1, some of");
  CHECK(apart.columns.input_offset == 0 && apart.columns.columns.lanes.stride == -6);
}

void test_reduced_axes_are_lanes() {
  // Those that follow the results.
  const ArgPlan beside = forced(descriptor({30, 2, 40, 2}, {0, 2}), "in place, 2 x 2, 40 each");
  CHECK(beside.columns.columns.lanes.count == 80 && beside.columns.columns.lanes.stride == 1);
  CHECK(beside.columns.cut.size == 0 && beside.columns.columns.walk.n == 30);
  // Or each other: in Fortran order the index of the innermost axis has the largest step.
  const ArgPlan part =
      forced(strided({5, 3000}, {1, 5}, {0, 1}), "in place, 1 x 1, some of 3000 x 5");
  CHECK(part.columns.per_result == 6 * 5 && part.columns.columns.lanes.stride == 1);
  CHECK(part.columns.lanes.axes[1].strides[1] == 3000 &&
        part.columns.lanes.axes[0].strides[1] == 1);
  CHECK(!part.merges && part.reduced.count == 0);
  const ArgPlan whole =
      forced(strided({4, 20, 3000}, {1, 4, 80}, {0, 1, 2}), "in place, 1 x 1, 20 x 4 each");
  CHECK(whole.columns.columns.walk.n == 3000 && whole.columns.cut.size == 0);
  // Or neither: the longest one.
  const Columns longest =
      columns_of(strided({30, 2, 40, 2}, {240, 120, 3, 1}, {0, 2}), "strided, 2 x 1, 40 each");
  CHECK(longest.lanes.stride == 3 && longest.walk.n == 30);
  // Kept axes around them are groups: the longest one, or one without gaps.
  for (const char* const groups : {"in place, 50 x 1, 4 each", "in place, 8 x 1, 4 each"}) {
    CHECK(has_candidate(strided({900, 50, 8, 4}, {2000, 40, 4, 1}, {0, 3}), groups));
  }
  // Not if results fill more than four of the longest vectors.
  CHECK(has_candidate(descriptor({1000, 64}, {0}), "in place, 1 x 64, some of"));
  CHECK(!has_candidate(descriptor({1000, 65}, {0}), "in place, 1 x 65, some of"));
  // As far apart as can be packed, as many as a tile holds, or an integer numbers.
  for (const std::int64_t more : {0, 1}) {
    const std::int64_t apart = tuning::kPackedStride + more;
    const ArgDescriptor packed = strided({1000, 3}, {3 * apart, apart}, {0});
    CHECK(has_candidate(packed, "strided, 1 x 3, some of") == (more == 0));
    const std::int64_t size = tuning::kLanesTileBytes / 16 + more;
    const ArgDescriptor tile = strided({4, size, 300}, {1, 4, 4 * size}, {0, 1, 2});
    const std::string axes = dmlcpu::text("in place, 1 x 1, ", size, " x 4 each");
    CHECK(has_candidate(tile, axes) == (more == 0));
    const ArgDescriptor bytes = strided({30, 256 + more}, {1000, 3}, {0, 1}, DataType::kUInt8);
    CHECK(has_candidate(bytes, dmlcpu::text("strided, 1 x 1, ", 256 + more, " each")) ==
          (more == 0));
  }
}

void test_rows_in_registers() {
  const auto in_registers = [](DataType type, std::int64_t n, std::int64_t row_stride,
                               std::int64_t stride = 1) {
    return has_candidate(strided({1000, n}, {row_stride, stride}, {1}, type), "in registers");
  };
  constexpr std::int64_t kLeast = tuning::kSquareRowLeastBytes;
  CHECK(in_registers(DataType::kUInt8, kLeast, kLeast));
  CHECK(!in_registers(DataType::kUInt8, kLeast - 1, kLeast - 1));
  // Rows of less than a square's, as far apart as squares or less.
  CHECK(in_registers(DataType::kUInt8, 15, 16) && !in_registers(DataType::kUInt8, 15, 17));
  // No more positions than a counter of the element's width holds, or a block.
  CHECK(in_registers(DataType::kUInt8, 256, 256) && !in_registers(DataType::kUInt8, 257, 257));
  constexpr std::int64_t kBlock = tuning::kBlockElements;
  CHECK(in_registers(DataType::kFloat32, kBlock, kBlock));
  CHECK(!in_registers(DataType::kFloat32, kBlock + 1, kBlock + 1));
  // Gaps between rows, but none in them, and in the order of positions.
  CHECK(in_registers(DataType::kFloat32, 8, 9));
  CHECK(!in_registers(DataType::kFloat32, 8, 17, 2) && !in_registers(DataType::kFloat32, 8, 9, -1));
  // Tiles are fours of vectors of 64 bytes, or vectors where the buffer holds no four.
  for (const std::int64_t n : {8, 30, 80, 112, 113}) {
    const Columns columns = columns_of(descriptor({1000, n}, {1}), "in registers, 1 x 1000");
    CHECK(columns.lanes.stride == n && columns.tiling.block == n);
    CHECK(columns.tiling.lanes * n * 4 <= tuning::kTransposeBytes);
    CHECK(columns.tiling.lanes % 16 == 0 && (columns.tiling.lanes % 64 == 0) == (n <= 112));
  }
  // Lanes are of the innermost kept axis that fills a cache line, or of the longest one.
  for (const char* const lanes : {"in registers, 1000 x 20", "in registers, 20 x 1000"}) {
    CHECK(has_candidate(strided({1000, 20, 8}, {200, 8, 1}, {2}), lanes));
  }
  // Kept axes outside of blocks are groups with their own.
  const ArgPlan groups = forced(strided({50, 18, 5}, {180, 5, 1}, {2}), "in registers, 50 x 18", 4);
  CHECK(groups.columns.columns.tiling.groups == 1 && groups.tasks.kept.count == 0);
  CHECK(groups.columns.columns.lanes.group_stride == 180 && groups.tasks.task_groups < 50);
}

void test_transposed_blocks() {
  // A block holds the groups, which tasks do not divide, and at most kBlockElements.
  const ArgPlan groups = forced(descriptor({1000, 400, 3}, {1}), "transposed, 3 x 1000", 8);
  const Columns& of = groups.columns.columns;
  CHECK(of.walk.n == 400 && of.walk.period == 200 && of.tiling.block == 600);
  CHECK(of.tiling.groups == 3 && of.tiling.lanes == 16 && of.lanes.group_stride == 16);
  CHECK(groups.tasks.task_groups == 3 && groups.tasks.task_results < 1000 && groups.parts == 1);
  // Lanes of one result are in one tile.
  const Columns several =
      columns_of(strided({100, 4000}, {2, 1000}, {0, 1}), "transposed, 1 x 1, some of");
  CHECK(several.lanes.count == 64 && several.tiling.lanes == 64);
  // Axes outside of a lane are periods: its 3 x 4 elements are a block of 4 in each of three
  // places.
  const Columns periods = columns_of(descriptor({3, 100, 4}, {0, 2}), "transposed, 1 x 100");
  CHECK(periods.tiling.block == 4 && periods.walk.period == 4);
  CHECK(periods.walk.n == 12 && periods.walk.period_stride == 400);
  // A block that is read backwards begins with the last position.
  const ArgPlan back = forced(strided({1000, 6}, {6, -1}, {1}), "transposed, 1 x 1000");
  CHECK(back.columns.columns.tiling.block == 6 && back.columns.input_offset == -5);
  // Half of a block may be gaps; else elements are packed one by one.
  const Columns gaps = columns_of(strided({1000, 16}, {32, 2}, {1}), "transposed, 1 x 1000");
  CHECK(gaps.tiling.block == 31 && gaps.walk.period == 16);
  CHECK(!has_candidate(strided({1000, 16}, {48, 3}, {1}), "transposed"));
  // Reduced axes that leave no gaps are a block together.
  const ArgPlan p = forced(descriptor({620, 2, 9, 14}, {1, 3}), "transposed, 9 x 620");
  CHECK(p.columns.columns.tiling.block == 14 && p.reduced.count == 0);
  CHECK(p.columns.columns.walk.period == 14 && p.columns.columns.walk.n == 28);
}

void test_passes_and_groups_that_a_cache_holds() {
  const auto pass_of = [](std::int64_t positions, std::int64_t lanes) {
    return columns_of(descriptor({positions, lanes}, {0}), "in place, 1 x").tiling.pass;
  };
  const std::int64_t wide = tuning::kTileElements;
  CHECK(pass_of(1000, wide) == tuning::kPassRows);
  const std::int64_t fits = tuning::kHalfL1Bytes / (110 * 4);
  CHECK(pass_of(fits, 110) == fits);
  for (const std::int64_t lanes : {100, 1000}) {
    const std::int64_t rows = tuning::kHalfL1Bytes / (4 * lanes) / tuning::kPassRows;
    CHECK(pass_of(1000, lanes) == std::max<std::int64_t>(rows, 1) * tuning::kPassRows);
  }
  // Rows of the next pass are prefetched if the caches do not hold the input.
  CHECK(columns_of(descriptor({1000, 1000}, {0}), "in place").tiling.ahead == 0);
  CHECK(columns_of(descriptor({3000, 1000}, {0}), "in place").tiling.ahead == 8 * 1000);
  // Groups are as many as a tile's elements allow, and one pass over them fits a cache.
  const auto groups_of = [](std::int64_t positions, DataType type) {
    return columns_of(descriptor({500, positions, 16}, {1}, type), "in place, 500").tiling.groups;
  };
  CHECK(groups_of(4, DataType::kFloat32) == tuning::kTileElements / 16);
  CHECK(groups_of(1000, DataType::kFloat32) == tuning::kGroupsBytes / (1000 * 16 * 4));
  CHECK(groups_of(4, DataType::kFloat64) == tuning::kTileElements / 16);
  // Several lanes of each result are in one tile, with as many groups as such tiles have in L1.
  const Columns several = columns_of(descriptor({1000, 300, 3}, {1}), "in place, 1000 x 3, some");
  CHECK(several.tiling.lanes == 30 && several.tiling.groups == tuning::kLanesTileBytes / 4 / 30);
}

void test_threads_share_groups_without_gaps() {
  // The positions of a narrow row are split among threads; a wide row into wide tiles.
  const ArgPlan narrow = forced(strided({30000, 40, 3}, {120, 3, -1}, {0}), "in place, 40 x 3", 16);
  CHECK(narrow.parts > 16 && narrow.tasks.count() == 1);
  const ArgPlan wide = forced(strided({69, 970, 7}, {6790, 7, -1}, {0}), "in place, 970 x 7", 16);
  CHECK(wide.parts == 1 && wide.tasks.count() > 16);
  CHECK(wide.tasks.task_groups * 7 * 4 >= tuning::kLeastTileBytes);
}

}  // namespace

int main() {
  test_results_are_lanes_in_groups();
  test_walks_are_in_the_order_of_indices();
  test_the_last_step_overlaps();
  test_lanes_are_in_the_order_of_memory();
  test_reduced_axes_are_lanes();
  test_rows_in_registers();
  test_transposed_blocks();
  test_passes_and_groups_that_a_cache_holds();
  test_threads_share_groups_without_gaps();
  return check::failures == 0 ? 0 : 1;
}
