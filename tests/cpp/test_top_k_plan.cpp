// The plan of top-k: which candidate is chosen, strategies, columns, their scratch memory, packing
// and parts.
#include <algorithm>
#include <variant>

#include "check.hpp"
#include "interface/tuning.hpp"
#include "ops/problem.hpp"
#include "plan/top_k_candidates.hpp"
#include "plan/top_k_plan.hpp"
#include "plan/tuning.hpp"
#include "tensors.hpp"

using dmlcpu::Packing;
using dmlcpu::TopKCandidate;
using dmlcpu::TopKColumnsPlan;
using dmlcpu::TopKDescriptor;
using dmlcpu::TopKPlan;
using dmlcpu::TopKStrategy;
using dmlcpu::TopKWay;

namespace tuning = dmlcpu::tuning;

namespace {

const dmlcpu::Machine machine = dmlcpu::machine_of("x86-64-v3", dmlcpu::Family::kAmd);

TopKDescriptor descriptor_of(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                             std::int64_t k) {
  static std::vector<float> memory(1 << 22);
  static std::vector<std::uint32_t> indices(1 << 22);
  TopKDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(memory, sizes);
  descriptor.axis = axis;
  descriptor.k = k;
  descriptor.values = tensors::contiguous(memory, sizes);
  descriptor.indices = tensors::contiguous(indices, sizes);
  return descriptor;
}

/// The plan of the first candidate that `wanted` takes.
template <class Plan, class Wanted>
Plan plan_by(const TopKDescriptor& descriptor, int threads, const Wanted& wanted) {
  const dmlcpu::TopKProblem problem = problem_of(descriptor);
  const auto candidates = enumerate(problem, problem.searched.size);
  for (int number = 0; number < static_cast<int>(candidates.size()); ++number) {
    if (!wanted(candidates[number])) continue;
    const auto plan = plan_top_k(problem, machine, threads, number);
    if (std::holds_alternative<Plan>(plan)) return std::get<Plan>(plan);
  }
  check::that(false, "a candidate", __FILE__, __LINE__);
  return {};
}

TopKPlan plan(std::initializer_list<std::int64_t> sizes, std::int64_t axis, std::int64_t k,
              int threads, TopKStrategy strategy = TopKStrategy::kSort) {
  return plan_by<TopKPlan>(descriptor_of(sizes, axis, k), threads, [&](const TopKCandidate& c) {
    return c.way == TopKWay::kRows && c.strategy == strategy;
  });
}

TopKColumnsPlan columns(const TopKDescriptor& descriptor, TopKWay way = TopKWay::kSlots,
                        int threads = 1) {
  return plan_by<TopKColumnsPlan>(descriptor, threads,
                                  [&](const TopKCandidate& c) { return c.way == way; });
}
TopKColumnsPlan columns(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                        std::int64_t k, int threads = 1) {
  return columns(descriptor_of(sizes, axis, k), TopKWay::kSlots, threads);
}

/// What is chosen where the next best takes longer by half: of float32.
void test_choices() {
  const auto chosen = [](std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                         std::int64_t k) {
    const dmlcpu::TopKProblem problem = problem_of(descriptor_of(sizes, axis, k));
    return choose(problem, problem.searched.size, machine);
  };
  const auto strategy = [&](std::int64_t n, std::int64_t k) {
    const TopKCandidate candidate = chosen({1, n}, 1, k);
    CHECK(candidate.way == TopKWay::kRows);
    return candidate.strategy;
  };
  // One row: all of it if it is short or most is wanted; else a threshold, of blocks if k is small.
  CHECK(strategy(20, 10) == TopKStrategy::kSort);
  CHECK(strategy(1'000'000, 999'999) == TopKStrategy::kSort);
  CHECK(strategy(2000, 300) == TopKStrategy::kStripes);
  CHECK(strategy(100'000, 2) == TopKStrategy::kBlocks);
  CHECK(strategy(1'000'000, 100'000) == TopKStrategy::kSample);
  // Many contiguous columns, or short rows side by side, have slots; with all wanted, they are
  // compared; of long columns many are wanted from rows.
  CHECK(chosen({500, 640}, 0, 5).way == TopKWay::kSlots);
  CHECK(chosen({640, 20}, 1, 3).way == TopKWay::kSlots);
  CHECK(chosen({50, 640}, 0, 50).way == TopKWay::kComparisons);
  CHECK(chosen({4000, 640}, 0, 300).way == TopKWay::kRows);
  // Few contiguous columns are groups beside the lanes of another axis.
  CHECK(chosen({500, 30, 3}, 1, 3).lanes == (dmlcpu::LaneChoice{0, 1}));
}

void test_candidates_are_feasible() {
  for (const std::int64_t n : {1, 2, 63, 400, 5000, 16'383, 16'384, 3'000'000}) {
    for (const std::int64_t k : {std::int64_t{1}, n / 100 + 1, n / 3 + 1, n / 2 + 1, n}) {
      if (k > n) continue;
      CHECK(is_feasible(TopKStrategy::kSort, n, k, 2 * k > n));
      for (const auto strategy :
           {TopKStrategy::kStripes, TopKStrategy::kBlocks, TopKStrategy::kSample}) {
        if (!is_feasible(strategy, n, k, 2 * k > n)) continue;
        const auto selection = dmlcpu::plan_selection(strategy, n, k);
        CHECK(2 * k <= n && selection.keys >= 1 && selection.capacity >= k);
        CHECK(strategy != TopKStrategy::kBlocks || selection.block > 1);
        CHECK((n >= tuning::kTopKSampleLeastLength) || strategy != TopKStrategy::kSample);
      }
    }
  }
  // A number beyond the last candidate is the cheapest.
  const auto problem = problem_of(descriptor_of({500, 640}, 0, 5));
  const auto all = enumerate(problem, 500);
  const int count = static_cast<int>(all.size());
  CHECK(choose(problem, 500, machine, count) == choose(problem, 500, machine));
  for (int number = 0; number < count; ++number) {
    CHECK(choose(problem, 500, machine, number) == all[number]);
  }
}

/// At least four stripes for each of k elements, and a cache line of bytes, which a vector of any
/// instruction set is at most; or an element each, where half of the row would be stripes.
void test_stripes_hold_the_row() {
  for (const std::int64_t k : {1, 2, 15, 16, 17, 100}) {
    const auto of = [k](std::int64_t n) {
      return dmlcpu::plan_selection(TopKStrategy::kStripes, n, k);
    };
    const std::int64_t stripes = of(100 * k + 1000).keys;
    CHECK(stripes >= 64 && stripes >= tuning::kTopKStripesPerResult * k);
    CHECK(stripes <= tuning::kTopKStripesPerResult * k + 64 + 8);
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
      if (!is_feasible(TopKStrategy::kBlocks, n, k, 2 * k > n)) continue;
      const auto selection = dmlcpu::plan_selection(TopKStrategy::kBlocks, n, k);
      CHECK((selection.block & (selection.block - 1)) == 0);
      CHECK(n / selection.block >= k);
    }
  }
  // 10 of 10 million float32, 40 MB: scratch memory is under 2 MB.
  const auto selection = dmlcpu::plan_selection(TopKStrategy::kBlocks, 10'000'000, 10);
  CHECK(top_k_row_scratch(selection, 4, 10'000'000).bytes < 2'000'000);
}

void test_strided_axes_are_packed() {
  const TopKPlan p = plan({500, 64}, 0, 40, 1);
  CHECK(p.packed);
  CHECK(p.row.strides[0] == 64);
  CHECK(!plan({64, 500}, 1, 40, 1).packed);
  // As many rows at a time as fit, but not where all threads share each.
  constexpr std::int64_t kPackBytes = tuning::kTopKPackBytes;
  CHECK(plan({kPackBytes / 12, 3}, 0, 40, 1).packed);
  CHECK(plan({kPackBytes / 12, 3}, 0, 40, 1).tasks.task_results == 3);
  CHECK(plan({kPackBytes / 8 + 1, 2}, 0, 40, 1).packed == false);
  const std::int64_t half = kPackBytes / 8;
  const TopKPlan shared = plan({half, 2}, 0, half, 4);
  CHECK(shared.parts > 1 && !shared.packed);
}

void test_columns_have_a_lane_each() {
  const auto in_place = columns({500, 64}, 0, 5).columns.columns;
  CHECK(in_place.tiling.packing == Packing::kInPlace);
  CHECK(in_place.lanes.count == 64 && in_place.walk.n == 500);
  const auto rows = columns({64, 300}, 1, 9).columns.columns;
  CHECK(rows.tiling.packing == Packing::kTransposed && rows.lanes.count == 64);
  // Elements of rows that have many gaps are packed one by one.
  TopKDescriptor gaps = descriptor_of({500, 30}, 1, 3);
  gaps.input.strides = {90, 3};
  CHECK(columns(gaps).columns.columns.tiling.packing == Packing::kStrided);
  // All elements are compared with each other, and fit the slots of a pass.
  const auto all = columns(descriptor_of({tuning::kTopKComparisonsBytes / 4, 640}, 0, 100),
                           TopKWay::kComparisons);
  CHECK(all.compares_all && all.columns.columns.tiling.lanes == 16);
  // A block that has fewer positions than slots: the first pass could not fill them.
  const TopKDescriptor narrow = descriptor_of({40, 900, 40}, 1, 20);
  const dmlcpu::TopKProblem problem = problem_of(narrow);
  const auto candidates = enumerate(problem, 900);
  for (int number = 0; number < static_cast<int>(candidates.size()); ++number) {
    const auto p = plan_top_k(problem, machine, 1, number);
    const auto* of_columns = std::get_if<TopKColumnsPlan>(&p);
    CHECK(of_columns == nullptr || of_columns->columns.columns.tiling.pass >= 40);
  }
}

void test_columns_have_slots_up_to_a_number() {
  const auto has = [](std::int64_t n, std::int64_t k, TopKWay way) {
    const auto problem = problem_of(descriptor_of({64, n}, 1, k));
    const auto candidates = enumerate(problem, n);
    return std::any_of(candidates.begin(), candidates.end(),
                       [way](const TopKCandidate& c) { return c.way == way; });
  };
  CHECK(has(50, tuning::kTopKColumnsMaxK, TopKWay::kSlots));
  CHECK(!has(50, tuning::kTopKColumnsMaxK + 1, TopKWay::kSlots));
  constexpr std::int64_t kLongest = tuning::kTopKComparisonsBytes / 4;
  CHECK(has(kLongest, 5, TopKWay::kComparisons) && !has(kLongest + 1, 5, TopKWay::kComparisons));
}

/// The keys that a tile holds, and its slots, at any k: what the kernel's caches are for.
void test_tiles_of_columns_are_small() {
  for (std::int64_t n = 2; n < 4000; n += n / 3 + 1) {
    for (std::int64_t k = 2; k <= tuning::kTopKComparisonsBytes / 2 && k <= n; ++k) {
      for (const int axis : {0, 1}) {
        const auto problem =
            problem_of(axis == 0 ? descriptor_of({n, 200}, 0, k) : descriptor_of({200, n}, 1, k));
        const int count = static_cast<int>(enumerate(problem, n).size());
        for (int c = 0; c < count; ++c) {
          const auto either = plan_top_k(problem, machine, 1, c);
          const auto* const p = std::get_if<TopKColumnsPlan>(&either);
          if (p == nullptr) continue;
          const dmlcpu::Columns all = p->columns.columns;
          CHECK(dmlcpu::top_k_columns_scratch(all, 4, k, p->compares_all).bytes < 300'000);
          CHECK(p->compares_all ||
                all.tiling.pass >= std::min(n, dmlcpu::top_k_slots(all, k, false)));
          CHECK(!has_blocks(all.tiling.packing) || all.tiling.lanes % 16 == 0);
        }
      }
    }
  }
}

/// Groups in place whose keys and slots fit together are a tile, if one pass takes them.
void test_groups_share_a_tile() {
  const auto tiles = [](std::int64_t groups, std::int64_t n, std::int64_t lanes, std::int64_t k) {
    const auto p = columns({groups, n, lanes}, 1, k);
    CHECK(p.columns.columns.tiling.packing == Packing::kInPlace);
    return p.columns.columns.tiling.groups;
  };
  constexpr std::int64_t kFit = tuning::kHalfL1Bytes / (16 * 29 * 4);
  CHECK(tiles(1000, 16, 29, 2) == kFit);
  CHECK(tiles(kFit - 1, 16, 29, 2) == kFit - 1);
  // Keys and positions of up to 16 slots.
  CHECK(tiles(1000, 9, 29, 8) == tuning::kHalfL1Bytes / (2 * 16 * 4) / 29);
  CHECK(tiles(1000, 200, 29, 2) == 1);
  // Gaps between groups; gaps between rows, of groups that overlap.
  for (const std::int64_t row : {29, 30}) {
    TopKDescriptor gaps = descriptor_of({1000, 16, 29}, 1, 2);
    gaps.input.strides = {16 * 29 + (row == 29), row, 1};
    CHECK(columns(gaps).columns.columns.tiling.groups == 1);
  }
  CHECK(tiles(1000, tuning::kHalfL1Bytes / 4 / 32 + 1, 32, 2) == 1);
  // L1 would hold several, but the table of positions has none as long.
  TopKDescriptor bytes = descriptor_of({50, tuning::kWalkRows + 1, 2}, 1, 2);
  bytes.input.type = bytes.values.type = dmlcpu::DataType::kUInt8;
  CHECK(columns(bytes).columns.columns.tiling.groups == 1);
}

/// Few slots are selected from elements where rows are at least a cache line, in passes of as many
/// rows as have a line each in L1; else from keys, of which L1 holds a pass.
void test_passes() {
  const auto pass = [](std::int64_t n, std::int64_t lanes, bool takes_elements,
                       std::int64_t k = 2) {
    const auto p = columns({n, lanes}, 0, k);
    CHECK(top_k_takes_elements(p.columns.columns, 4, k, false) == takes_elements);
    return p.columns.columns.tiling.pass;
  };
  constexpr std::int64_t kRows = tuning::kTopKPassRows;
  CHECK(pass(200, 16, true) == kRows && pass(200, 300, true) == kRows);
  CHECK(pass(kRows - 1, 16, true) == kRows - 1 && pass(kRows + 1, 16, true) == kRows);
  CHECK(pass(200, 16, true, tuning::kTopKElementsMaxK) == kRows);
  CHECK(pass(200, 16, false, tuning::kTopKElementsMaxK + 1) == 200);
  CHECK(pass(200, 15, false) == 200);
  CHECK(pass(1000, 15, false) == tuning::kHalfL1Bytes / (15 * 4));
}

void test_columns_are_shared() {
  for (const int threads : {2, 5}) {
    const auto wide = columns({20, 5000}, 0, 3, threads);
    CHECK(wide.tasks.task_results < 5000 &&
          wide.tasks.task_results % wide.columns.columns.tiling.lanes == 0);
    const auto groups = columns({50, 20, 300}, 1, 3, threads);
    CHECK(groups.tasks.task_groups < 50 && groups.tasks.task_results == 300);
  }
}

void test_long_rows_are_cut_only_when_there_are_too_few() {
  CHECK(plan({1 << 20}, 0, 5, 4).parts == 4);
  // Small k takes longer rows than large k does.
  constexpr std::int64_t kLargestSmall = tuning::kTopKBlocksMaxK;
  CHECK(plan({1 << 17}, 0, kLargestSmall, 4).parts == 1);
  CHECK(plan({1 << 17}, 0, kLargestSmall + 1, 4).parts == 4);
  CHECK(plan({8, 1 << 16}, 1, 5, 4).parts == 1);
  CHECK(plan({1 << 10}, 0, 5, 4).parts == 1);
}

/// A part may have all that is wanted of its row, which is then not most of the row.
void test_parts_of_much_share_a_threshold() {
  const auto problem = problem_of(descriptor_of({4'000'000}, 0, 900'000));
  const auto p = plan_top_k(problem, machine, 8);
  CHECK(std::get<TopKPlan>(p).parts == 8);
  CHECK(std::get<TopKPlan>(p).selection.strategy == TopKStrategy::kSample);
  const auto selection = dmlcpu::plan_selection(TopKStrategy::kSample, 1'000'000, 900'000);
  CHECK(selection.capacity == 1'000'001);
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
  const std::string text = to_text(plan({64, 500}, 1, 40, 1, TopKStrategy::kStripes));
  CHECK(text.find("stripes of 40 from 500 by 1\n") == 0);
  CHECK(to_text(columns({64, 300}, 1, 5)).find("slots of 5\ncolumns transposed, 300") == 0);
  const auto problem = problem_of(descriptor_of({500, 640}, 0, 5));
  const std::string all = candidates_text(problem, machine);
  CHECK(all.find("candidates\n") == 0 && all.find("\n* ") != std::string::npos);
  CHECK(all.find("  slots, in place, 1 groups of 640 results: ") != std::string::npos);
  CHECK(candidates_text(problem, machine, 1, 0).find("candidates\n* ") == 0);
  // One is marked, and is of rows if the plan is.
  for (const auto& descriptor :
       {descriptor_of({40, 900, 40}, 1, 20), descriptor_of({500, 640}, 0, 5)}) {
    const dmlcpu::TopKProblem of = problem_of(descriptor);
    for (int number = -1; number < 12; ++number) {
      const std::string lines = candidates_text(of, machine, 1, number);
      const auto star = lines.find("\n* ");
      CHECK(star != std::string::npos && lines.find("\n* ", star + 1) == std::string::npos);
      const bool is_rows = std::holds_alternative<TopKPlan>(plan_top_k(of, machine, 1, number));
      const std::string marked = lines.substr(star, lines.find('\n', star + 1) - star);
      CHECK((marked.find("  rows, ") != std::string::npos) == is_rows);
    }
  }
}

}  // namespace

int main() {
  test_choices();
  test_candidates_are_feasible();
  test_plans_can_be_printed();
  test_stripes_hold_the_row();
  test_blocks_are_powers_of_two_and_enough();
  test_strided_axes_are_packed();
  test_columns_have_a_lane_each();
  test_columns_have_slots_up_to_a_number();
  test_tiles_of_columns_are_small();
  test_groups_share_a_tile();
  test_passes();
  test_columns_are_shared();
  test_long_rows_are_cut_only_when_there_are_too_few();
  test_parts_of_much_share_a_threshold();
  test_parts_cover_the_row();
  return check::failures == 0 ? 0 : 1;
}
