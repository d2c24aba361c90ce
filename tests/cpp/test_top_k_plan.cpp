// The plan of top-k: strategies, columns, their scratch memory, packing and parts.
#include <optional>

#include "check.hpp"
#include "core/tuning.hpp"
#include "ops/problem.hpp"
#include "plan/top_k_plan.hpp"
#include "tensors.hpp"

using dmlcpu::TopKDescriptor;
using dmlcpu::TopKPlan;
using dmlcpu::TopKStrategy;

namespace {

dmlcpu::TopKSelection selection_of(std::int64_t n, std::int64_t k) {
  return dmlcpu::plan_selection(dmlcpu::choose_strategy(4, n, k, 2 * k > n), n, k);
}

void test_strategies() {
  const auto strategy = [](std::int64_t n, std::int64_t k) { return selection_of(n, k).strategy; };
  constexpr std::int64_t kShort = dmlcpu::tuning::kTopKThresholdLength;
  constexpr std::int64_t kSampled = dmlcpu::tuning::kTopKSampledLength;
  CHECK(strategy(kShort - 1, 5) == TopKStrategy::kSort);
  CHECK(strategy(kShort, kShort / 2) == TopKStrategy::kStripes);
  CHECK(selection_of(kShort, kShort / 2).block == 1);
  CHECK(strategy(kShort, kShort / 2 + 1) == TopKStrategy::kSort);
  CHECK(strategy(kSampled - 1, kSampled / 3) == TopKStrategy::kStripes);
  CHECK(strategy(kSampled - 1, 100) == TopKStrategy::kStripes);
  CHECK(strategy(kSampled - 1, 2) == TopKStrategy::kBlocks);
  CHECK(strategy(kSampled, 100) == TopKStrategy::kBlocks);
  CHECK(strategy(kSampled, kSampled / 3) == TopKStrategy::kSample);
  CHECK(strategy(128256, 50) == TopKStrategy::kBlocks);
  CHECK(selection_of(128256, 50).block > 1);
  CHECK(strategy(10'000'000, 1000) == TopKStrategy::kBlocks);
  CHECK(strategy(10'000'000, 100'000) == TopKStrategy::kSample);
  CHECK(strategy(1'000'000, 999'999) == TopKStrategy::kSort);
  // A part may have all that is selected of its row, which is then not most of the row.
  const auto part = dmlcpu::choose_strategy(4, 1'000'000, 900'000, false);
  CHECK(part == TopKStrategy::kSample);
  CHECK(dmlcpu::plan_selection(part, 1'000'000, 900'000).capacity == 1'000'001);
}

/// At least four stripes for each of k elements, and a cache line of bytes, which a vector of any
/// instruction set is at most; or an element each, where half of the row would be stripes.
void test_stripes_hold_the_row() {
  for (const std::int64_t k : {1, 2, 15, 16, 17, 100}) {
    const auto of = [k](std::int64_t n) {
      return dmlcpu::plan_selection(TopKStrategy::kStripes, n, k);
    };
    const std::int64_t stripes = of(100 * k + 1000).keys;
    CHECK(stripes >= 64 && stripes >= dmlcpu::tuning::kTopKStripesPerResult * k);
    CHECK(stripes <= dmlcpu::tuning::kTopKStripesPerResult * k + 64 + 8);
    for (const std::int64_t period : {2, 3, 5, 7}) CHECK(stripes % period != 0);
    CHECK(of(2 * stripes - 1).keys == 2 * stripes - 1 && of(2 * stripes - 1).block == 1);
    CHECK(of(2 * stripes - 1).held == 0);
    for (std::int64_t n = 2 * stripes; n < 5 * stripes; ++n) {
      const auto s = of(n);
      CHECK(s.keys == stripes && s.held == s.block * stripes);
      CHECK(s.held >= n && s.held < n + stripes && s.capacity == k * s.block + k);
    }
  }
}

void test_blocks_are_powers_of_two_and_enough() {
  for (std::int64_t n = 129; n < 1'000'000'000; n = n * 3 + 1) {
    for (std::int64_t k = 2; k < n; k = k * 5 + 1) {
      const auto selection = selection_of(n, k);
      if (selection.strategy != TopKStrategy::kBlocks) continue;
      CHECK((selection.block & (selection.block - 1)) == 0);
      CHECK(n / selection.block >= k);
    }
  }
}

void test_scratch_stays_small_for_small_k() {
  // 10 of 10 million float32, 40 MB: under 2 MB.
  const auto selection = selection_of(10'000'000, 10);
  CHECK(top_k_row_scratch(selection, 4, 10'000'000).bytes < 2'000'000);
}

TopKDescriptor descriptor_of(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                             std::int64_t k) {
  static std::vector<float> memory(1 << 20);
  static std::vector<std::uint32_t> indices(1 << 20);
  TopKDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(memory, sizes);
  descriptor.axis = axis;
  descriptor.k = k;
  descriptor.values = tensors::contiguous(memory, sizes);
  descriptor.indices = tensors::contiguous(indices, sizes);
  return descriptor;
}

TopKPlan plan(std::initializer_list<std::int64_t> sizes, std::int64_t axis, std::int64_t k,
              int threads) {
  return plan_top_k(problem_of(descriptor_of(sizes, axis, k)), threads);
}

std::optional<dmlcpu::TopKColumnsPlan> columns(std::initializer_list<std::int64_t> sizes,
                                               std::int64_t axis, std::int64_t k, int threads = 1) {
  return plan_top_k_columns(problem_of(descriptor_of(sizes, axis, k)), threads);
}

void test_strided_axes_are_packed() {
  const TopKPlan p = plan({500, 64}, 0, 40, 1);
  CHECK(p.packed);
  CHECK(p.row.strides[0] == 64);
  CHECK(!plan({64, 500}, 1, 40, 1).packed);
  // As many rows at a time as fit, but not where all threads share each.
  constexpr std::int64_t kPackBytes = dmlcpu::tuning::kTopKPackBytes;
  CHECK(plan({kPackBytes / 12, 3}, 0, 40, 1).packed);
  CHECK(plan({kPackBytes / 12, 3}, 0, 40, 1).tasks.task_results == 3);
  CHECK(plan({kPackBytes / 8 + 1, 2}, 0, 40, 1).packed == false);
  const std::int64_t half = kPackBytes / 8;
  const TopKPlan shared = plan({half, 2}, 0, half, 4);
  CHECK(shared.parts > 1 && !shared.packed);
}

void test_columns_have_a_lane_each() {
  namespace tuning = dmlcpu::tuning;
  const auto in_place = columns({500, 64}, 0, 5);
  CHECK(in_place && in_place->columns.columns.tiling.packing == dmlcpu::Packing::kInPlace);
  CHECK(in_place->columns.columns.lanes.count == 64 && in_place->columns.columns.walk.n == 500);
  const auto rows = columns({64, 300}, 1, 9);
  CHECK(rows && rows->columns.columns.tiling.packing == dmlcpu::Packing::kTransposed);
  CHECK(columns({64, 50}, 1, tuning::kTopKColumnsMaxK).has_value());
  // Many slots only of short columns.
  constexpr std::int64_t kMany = 2 * tuning::kTopKLongColumnsK;
  constexpr std::int64_t kLength = tuning::kTopKSlotsWork / (4 * kMany * kMany);
  CHECK(columns({kLength, 64}, 0, kMany).has_value());
  CHECK(!columns({kLength + 1, 64}, 0, kMany).has_value());
  CHECK(columns({tuning::kTopKMinLanes, 300}, 1, 5).has_value());
  CHECK(!columns({tuning::kTopKMinLanes - 1, 300}, 1, 5).has_value());
  // Long rows stay rows, the sooner the larger k is.
  for (const std::int64_t k : {2, 5, 8}) {
    const std::int64_t longest = tuning::kTopKShortRowWork / 4 / (k + tuning::kTopKRowSlots);
    CHECK(columns({16, longest}, 1, k).has_value());
    CHECK(!columns({16, longest + 1}, 1, k).has_value());
    CHECK(columns({16, 2 * longest, 3}, 1, k).has_value());
    CHECK(!columns({16, 2 * longest + 2, 3}, 1, k).has_value());
  }
  // Long columns only with few slots.
  CHECK(columns({10'000, 64}, 0, tuning::kTopKLongColumnsK).has_value());
  CHECK(!columns({10'000, 64}, 0, tuning::kTopKLongColumnsK + 1).has_value());
}

void test_few_elements_are_all_compared() {
  namespace tuning = dmlcpu::tuning;
  constexpr std::int64_t kLongest = tuning::kTopKCountedBytes / 4;
  constexpr std::int64_t kResults = kLongest / tuning::kTopKCountedPerResult;
  CHECK(columns({64, kLongest}, 1, kResults)->compares_all);
  CHECK(columns({64, kLongest}, 1, kLongest)->compares_all);
  CHECK(!columns({64, kLongest}, 1, kResults - 1).has_value());
  CHECK(!columns({64, kLongest + 1}, 1, kLongest).has_value());
  // Of few elements, all.
  CHECK(
      columns({64, tuning::kTopKLeastCounted + 1}, 1, tuning::kTopKLeastCounted + 1)->compares_all);
  CHECK(!columns({64, tuning::kTopKLeastCounted + 1}, 1, tuning::kTopKLeastCounted)->compares_all);
  CHECK(!columns({64, tuning::kTopKLeastCounted}, 1, tuning::kTopKLeastCounted)->compares_all);
  // Elements of other sizes.
  const auto of_type = [](dmlcpu::DataType type, std::int64_t n, std::int64_t k) {
    TopKDescriptor descriptor = descriptor_of({64, n}, 1, k);
    descriptor.input.type = descriptor.values.type = type;
    return plan_top_k_columns(problem_of(descriptor), 1);
  };
  constexpr std::int64_t kWide = 4 * tuning::kTopKWideCountedPerResult;
  CHECK(of_type(dmlcpu::DataType::kFloat64, kWide, 4)->compares_all);
  CHECK(!of_type(dmlcpu::DataType::kFloat64, kWide + 1, 4)->compares_all);
  CHECK(!of_type(dmlcpu::DataType::kFloat32, kWide, 4)->compares_all);
  for (const auto type : {dmlcpu::DataType::kUInt8, dmlcpu::DataType::kInt16}) {
    constexpr std::int64_t kNarrow = tuning::kTopKCountedBytes / 2;
    CHECK(of_type(type, kNarrow, kNarrow)->compares_all);
    CHECK(!of_type(type, kNarrow + 1, kNarrow).has_value());
  }
  // More than fit the slots of a pass.
  const auto wide = columns({kLongest, 640}, 0, 100);
  CHECK(wide->compares_all && wide->columns.columns.tiling.lanes == 16);
  CHECK(columns({tuning::kTopKMinLanes, 50}, 1, 40)->compares_all);
  CHECK(!columns({tuning::kTopKMinLanes - 1, 50}, 1, 40).has_value());
}

void test_lanes_of_columns() {
  namespace tuning = dmlcpu::tuning;
  // Few lanes only of short columns; they are what there is of the longest axis.
  constexpr std::int64_t kFew = tuning::top_k_longest_column(5, 4);
  CHECK(columns({5, kFew, 2}, 1, 3)->columns.columns.lanes.count == 5);
  CHECK(!columns({5, kFew + 1, 2}, 1, 3).has_value());
  CHECK(columns({100'000, tuning::kTopKLongColumnsLanes}, 0, 3).has_value());
  CHECK(!columns({100'000, tuning::kTopKLongColumnsLanes - 1}, 0, 3).has_value());
  // Few contiguous columns are groups beside the lanes of another axis.
  const auto groups = columns({500, 30, tuning::kTopKMinLanes - 1}, 1, 3);
  CHECK(groups->columns.columns.lanes.count == 500 &&
        groups->tasks.groups.size == tuning::kTopKMinLanes - 1);
  CHECK(groups->columns.columns.tiling.packing == dmlcpu::Packing::kTransposed);
  // So are those of blocks with many gaps.
  TopKDescriptor gaps = descriptor_of({500, 30}, 1, 3);
  gaps.input.strides = {90, 3};
  const auto strided = plan_top_k_columns(problem_of(gaps), 1);
  CHECK(strided && strided->columns.columns.tiling.packing == dmlcpu::Packing::kStrided);
  // Contiguous lanes that leave much of their cache lines empty are groups as well, unless the
  // other axis is shorter.
  for (const std::int64_t lanes : {8, 10, 11, 16, 17, 21, 22, 32, 33}) {
    const std::int64_t filled = 4 * lanes;
    const bool fills = 100 * filled >= tuning::kTopKLaneFill * dmlcpu::round_up(filled);
    CHECK(columns({500, 30, lanes}, 1, 3)->columns.columns.lanes.count == (fills ? lanes : 500));
    CHECK(columns({lanes, 30, lanes}, 1, 3)->columns.columns.lanes.count == lanes);
  }
}

/// The keys that a tile holds, and its slots, at any k: what the kernel's caches are for.
void test_tiles_of_columns_are_small() {
  for (std::int64_t n = 2; n < 4000; n += n / 3 + 1) {
    for (std::int64_t k = 2; k <= dmlcpu::tuning::kTopKCountedBytes / 2 && k <= n; ++k) {
      for (const int axis : {0, 1}) {
        const auto p = axis == 0 ? columns({n, 200}, 0, k) : columns({200, n}, 1, k);
        if (!p) continue;
        const dmlcpu::Columns c = p->columns.columns;
        CHECK(dmlcpu::top_k_columns_scratch(c, 4, k, p->compares_all).bytes < 300'000);
        CHECK(p->compares_all || c.tiling.pass >= std::min(n, dmlcpu::top_k_slots(c, k, false)));
        CHECK(!has_blocks(c.tiling.packing) || c.tiling.lanes % 16 == 0);
      }
    }
  }
}

/// Groups in place whose keys and slots fit together are a tile, if one pass takes them.
void test_groups_share_a_tile() {
  const auto tiles = [](std::int64_t groups, std::int64_t n, std::int64_t lanes, std::int64_t k) {
    const auto p = columns({groups, n, lanes}, 1, k);
    CHECK(p && p->columns.columns.tiling.packing == dmlcpu::Packing::kInPlace);
    return p->columns.columns.tiling.groups;
  };
  constexpr std::int64_t kFit = dmlcpu::tuning::kTopKTileBytes / (16 * 29 * 4);
  CHECK(tiles(1000, 16, 29, 2) == kFit);
  CHECK(tiles(kFit - 1, 16, 29, 2) == kFit - 1);
  // Keys and positions of up to 16 slots.
  CHECK(tiles(1000, 9, 29, 8) == dmlcpu::tuning::kTopKSlotBytes / (2 * 16 * 4) / 29);
  CHECK(tiles(1000, 200, 29, 2) == 1);
  // Gaps between groups; gaps between rows, of groups that overlap.
  for (const std::int64_t row : {29, 30}) {
    TopKDescriptor gaps = descriptor_of({1000, 16, 29}, 1, 2);
    gaps.input.strides = {16 * 29 + (row == 29), row, 1};
    CHECK(plan_top_k_columns(problem_of(gaps), 1)->columns.columns.tiling.groups == 1);
  }
  CHECK(tiles(1000, dmlcpu::tuning::kTopKTileBytes / 4 / 32 + 1, 32, 2) == 1);
}

/// Few slots are selected from elements where rows are at least a cache line, in passes of as many
/// rows as have a line each in L1; else from keys, of which L1 holds a pass.
void test_passes() {
  const auto pass = [](std::int64_t n, std::int64_t lanes, bool takes_elements,
                       std::int64_t k = 2) {
    const auto p = columns({n, lanes}, 0, k);
    CHECK(top_k_takes_elements(p->columns.columns, 4, k, false) == takes_elements);
    return p->columns.columns.tiling.pass;
  };
  constexpr std::int64_t kRows = dmlcpu::tuning::kTopKPassRows;
  CHECK(pass(200, 16, true) == kRows && pass(200, 300, true) == kRows);
  CHECK(pass(kRows - 1, 16, true) == kRows - 1 && pass(kRows + 1, 16, true) == kRows);
  CHECK(pass(200, 16, true, dmlcpu::tuning::kTopKLongColumnsK) == kRows);
  CHECK(pass(200, 16, false, dmlcpu::tuning::kTopKLongColumnsK + 1) == 200);
  CHECK(pass(200, 15, false) == 200);
  CHECK(pass(1000, 15, false) == dmlcpu::tuning::kTopKTileBytes / (15 * 4));
}

void test_columns_are_shared() {
  for (const int threads : {2, 5}) {
    const auto wide = columns({20, 5000}, 0, 3, threads);
    CHECK(wide->tasks.task_results < 5000 &&
          wide->tasks.task_results % wide->columns.columns.tiling.lanes == 0);
    const auto groups = columns({50, 20, 300}, 1, 3, threads);
    CHECK(groups->tasks.task_groups < 50 && groups->tasks.task_results == 300);
  }
}

void test_long_rows_are_cut_only_when_there_are_too_few() {
  CHECK(plan({1 << 20}, 0, 5, 4).parts == 4);
  // Small k takes longer rows than large k does.
  constexpr std::int64_t kLargestSmall = dmlcpu::tuning::kTopKBlocksMaxK;
  CHECK(plan({1 << 17}, 0, kLargestSmall, 4).parts == 1);
  CHECK(plan({1 << 17}, 0, kLargestSmall + 1, 4).parts == 4);
  CHECK(plan({8, 1 << 16}, 1, 5, 4).parts == 1);
  CHECK(plan({1 << 10}, 0, 5, 4).parts == 1);
}

void test_parts_cover_the_row() {
  const TopKPlan p = plan({(1 << 19) + 1}, 0, 5, 3);
  const auto start = [&p](std::int64_t i) { return dmlcpu::start_of_part(p.row.size, i, p.parts); };
  CHECK(start(0) == 0);
  CHECK(start(p.parts) == p.row.size);
  for (std::int64_t i = 0; i < p.parts; ++i) {
    CHECK(start(i + 1) - start(i) <= p.longest_part());
  }
}

void test_plans_can_be_printed() {
  const std::string text = to_text(plan({64, 500}, 1, 40, 1));
  CHECK(text.find("stripes of 40 from 500 by 1\n") == 0);
  CHECK(to_text(*columns({64, 300}, 1, 5)).find("slots of 5\ncolumns transposed, 300") == 0);
}

}  // namespace

int main() {
  test_plans_can_be_printed();
  test_strategies();
  test_stripes_hold_the_row();
  test_blocks_are_powers_of_two_and_enough();
  test_scratch_stays_small_for_small_k();
  test_strided_axes_are_packed();
  test_columns_have_a_lane_each();
  test_few_elements_are_all_compared();
  test_lanes_of_columns();
  test_tiles_of_columns_are_small();
  test_groups_share_a_tile();
  test_passes();
  test_columns_are_shared();
  test_long_rows_are_cut_only_when_there_are_too_few();
  test_parts_cover_the_row();
  return check::failures == 0 ? 0 : 1;
}
