// The plan of argmin and argmax: which candidate is chosen, and what does not depend on that: parts
// and tasks, merging, reversed and broadcast axes, values.
#include <cstdlib>

#include <algorithm>
#include <vector>

#include "arg_plan_case.hpp"
#include "check.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "ops/planned.hpp"
#include "plan/price.hpp"
#include "plan/tuning.hpp"
#include "plan_tensors.hpp"

using arg_plan_cases::random_case;
using dmlcpu::ArgDescriptor;
using dmlcpu::ArgPlan;
using dmlcpu::ArgProblem;
using dmlcpu::ArgStrategy;
using dmlcpu::DataType;
using plan_tensors::descriptor;
using plan_tensors::forced;
using plan_tensors::has_candidate;
using plan_tensors::machine;
using plan_tensors::plan_of;
using plan_tensors::strided;

namespace tuning = dmlcpu::tuning;

namespace {

/// A row of the table of choices. All rows are clear-cut: candidates of any other summary cost at
/// least a third more, so that small changes of the costs change no row.
void chosen(const ArgDescriptor& d, const std::string& candidate) {
  const std::string text = plan_tensors::summary_of(plan_of(d));
  check::that(text == candidate, ("chosen: " + text + " instead of " + candidate).c_str(), __FILE__,
              __LINE__);
}

void test_choices_of_rows() {
  // One row: its only lanes are its own positions, which would be merged at the end.
  chosen(descriptor({100000}, {0}), "rows of 100000");
  chosen(descriptor({12}, {0}), "rows of 12");
  // Reading it backwards takes about as long.
  chosen(strided({100000}, {-1}, {0}), "rows of 100000");
  // Rows with gaps are packed, as lanes would be, but need no merge.
  chosen(strided({6, 100000}, {200000, 2}, {1}, DataType::kFloat64), "rows of 100000");
  // A few long rows: as lanes they would not fill a vector.
  chosen(descriptor({7, 1000}, {1}), "rows of 1000");
  chosen(descriptor({6, 100000}, {1}, DataType::kUInt8), "rows of 100000");
  // Two short rows: a tile of columns takes longer to begin.
  chosen(descriptor({2, 3}, {1}), "rows of 3");
  // Several reduced axes: a call for each position of the other one costs little beside long rows.
  chosen(descriptor({20, 5, 4000}, {0, 2}), "rows of 4000");
}

void test_choices_in_place() {
  // Results beside each other fill vectors.
  chosen(descriptor({100, 1000}, {0}), "in place, 1 x 1000");
  chosen(descriptor({1000, 30000}, {0}), "in place, 1 x 30000");
  // Results of each group fill vectors as well; several reduced axes are one walk.
  chosen(descriptor({300, 50, 64}, {1}), "in place, 300 x 64");
  chosen(descriptor({40, 30, 6, 200}, {0, 2}), "in place, 30 x 200");
  // Narrow groups without gaps are one row.
  chosen(strided({69, 970, 7}, {13580, 7, -1}, {0}), "in place, 970 x 7");
}

void test_choices_of_packed_columns() {
  // Elements that are far apart are packed in any case, but each row would have its own start and
  // end.
  chosen(strided({1000, 16}, {160, 10}, {1}), "strided, 1 x 1000");
  chosen(strided({100, 1000}, {2000, 2}, {0}), "strided, 1 x 1000");
  // Short rows fill squares, which are compared in registers.
  chosen(descriptor({1000, 8}, {1}), "in registers, 1 x 1000");
  chosen(descriptor({1000, 8}, {1}, DataType::kFloat16), "in registers, 1 x 1000");
  chosen(descriptor({1000, 30}, {1}, DataType::kUInt8), "in registers, 1 x 1000");
  chosen(strided({100, 50, 20}, {2500, 20, 1}, {2}, DataType::kUInt8), "in registers, 50 x 100");
  // Not if squares would be mostly empty, hold positions out of order, or gaps.
  chosen(descriptor({1000, 5}, {1}, DataType::kUInt8), "transposed, 1 x 1000");
  chosen(strided({1000, 5}, {5, -1}, {1}), "transposed, 1 x 1000");
  chosen(strided({1000, 16}, {32, 2}, {1}), "transposed, 1 x 1000");
  // Groups too narrow for vectors are transposed with their positions.
  chosen(descriptor({1000, 8, 3}, {1}), "transposed, 3 x 1000");
  chosen(descriptor({1000, 20, 3}, {1}, DataType::kUInt8), "transposed, 3 x 1000");
}

void test_choices_of_several_lanes() {
  // Few results beside each other: positions that follow them fill the vectors.
  chosen(descriptor({20000, 3}, {0}), "in place, 1 x 3, some of 20000 each");
  chosen(descriptor({20000, 5}, {0}, DataType::kFloat16), "in place, 1 x 5, some of 20000 each");
  chosen(descriptor({10, 20000, 3}, {1}), "in place, 10 x 3, some of 20000 each");
  // A whole inner axis leaves no gaps between groups, which are one row.
  chosen(descriptor({900, 24, 8}, {0, 2}, DataType::kUInt8), "in place, 24 x 1, 8 each");
  chosen(descriptor({2000, 10, 40}, {0, 2}), "in place, 10 x 1, 40 each");
  chosen(descriptor({500, 12, 20, 3}, {0, 2}), "in place, 12 x 3, 20 each");
  // The innermost axis does not fill vectors: more axes do, or it and some of the next one.
  chosen(strided({5, 16, 3000}, {1, 5, 80}, {0, 1, 2}), "in place, 1 x 1, 16 x 5 each");
  chosen(strided({5, 3000}, {1, 5}, {0, 1}), "in place, 1 x 1, some of 3000 x 5 each");
  // No positions are adjacent: the longest axis has the most lanes, which are packed, or transposed
  // if each has a block of elements.
  chosen(strided({40, 4000}, {4, 160}, {0, 1}), "strided, 1 x 1, some of 4000 each");
  chosen(strided({20, 4000, 2}, {4, 160, 1}, {0, 1}), "transposed, 2 x 1, some of 4000 each");
}

void test_nothing_is_compared_without_reduced_axes() {
  for (const auto& d : {descriptor({7, 5}, {}), descriptor({7, 1, 5}, {1})}) {
    chosen(d, "fill");
    CHECK(enumerate(plan_tensors::problem(d)).empty());
    CHECK(plan_of(d).tasks.results.size == 35 && plan_of(d).tasks.kept.count == 0);
  }
  // The input's order is that of the loops if elements are wanted.
  const ArgDescriptor d = strided({3, 2, 1, 50, 7}, {1, 1000, 1, 3, 200}, {2});
  CHECK(plan_of(d).tasks.results.size == 3 * 2 * 50 * 7);
  // The longest axes are a task's loops.
  const dmlcpu::Tensor values{nullptr, d.input.type, 5, d.input.sizes, {700, 350, 350, 7, 1}};
  const ArgPlan plan = plan_of(d, 1, &values);
  CHECK(plan.tasks.results.size == 50 && plan.tasks.groups.size == 7);
  CHECK(plan.tasks.count() == 6);
}

/// The same problem with twice the positions, along the reduced axis of the largest stride.
ArgProblem twice(ArgProblem problem) {
  dmlcpu::Axis& axis = problem.reduced.axes[0];
  for (int d = 1; d < problem.reduced.count; ++d) {
    std::int64_t& step = problem.reduced.axes[d].strides[1];
    if (step > axis.strides[1]) step *= 2;
  }
  axis.size *= 2;
  problem.count *= 2;
  problem.bytes *= 2;
  return problem;
}

dmlcpu::Packing packing_of(const ArgProblem& problem, int number) {
  return plan_arg(problem, machine, 1, number).columns.columns.tiling.packing;
}

void test_candidates_are_chosen_by_price_or_number() {
  for (int i = 0; i < 500; ++i) {
    const ArgProblem problem = problem_of(random_case().descriptor);
    if (problem.results == 0 || problem.reduced.count == 0) continue;
    const auto all = enumerate(problem);
    const int count = static_cast<int>(all.size());
    const ArgProblem more = twice(problem);
    std::vector<float> prices;
    for (int number = 0; number < count; ++number) {
      CHECK(all[number].is_rows == (number == 0));
      CHECK(choose(problem, machine, number) == all[number]);
      prices.push_back(price(problem, all[number], machine).nanoseconds);
      CHECK(prices.back() > 0);
      // Twice the positions never cost less, if the same candidate walks and packs them.
      if (choose(more, machine, number) == all[number] &&
          all[number].lanes.whole < problem.reduced.count &&
          packing_of(more, number) == packing_of(problem, number)) {
        CHECK(price(more, all[number], machine).nanoseconds >= prices.back());
      }
    }
    const auto cheapest = std::min_element(prices.begin(), prices.end()) - prices.begin();
    CHECK(choose(problem, machine) == all[cheapest]);
    CHECK(choose(problem, machine, count) == all[cheapest]);
  }
}

/// A price is shared by as many threads as the plan has calls for, and one candidate is marked.
void test_prices_are_shared_by_threads() {
  for (int i = 0; i < 500; ++i) {
    const ArgProblem problem = problem_of(random_case().descriptor);
    if (problem.results == 0 || problem.reduced.count == 0) continue;
    const auto all = enumerate(problem);
    for (const int threads : {2, 4, 7}) {
      for (int number = 0; number < static_cast<int>(all.size()); ++number) {
        const dmlcpu::Price alone = price(problem, all[number], machine);
        const dmlcpu::Price shared = price(problem, all[number], machine, threads);
        CHECK(alone.threads == 1 && shared.threads >= 1 && shared.threads <= threads);
        CHECK(shared.nanoseconds == alone.nanoseconds / static_cast<float>(shared.threads));
        const ArgPlan plan = plan_arg(problem, machine, threads, number);
        CHECK(plan.tasks.count() * plan.parts >= shared.threads);
      }
      const std::string text = candidates_text(problem, machine, threads);
      const auto star = text.find("\n* ");
      CHECK(star != std::string::npos && text.find("\n* ", star + 1) == std::string::npos);
    }
  }
  // All lanes of a block of 3 elements would be one tile.
  const ArgDescriptor pixels = strided({500, 1000, 3}, {4000, 4, 1}, {0, 2});
  const ArgPlan split = forced(pixels, "transposed, 1 x 1000", 8);
  CHECK(split.tasks.count() * split.parts >= 8);
}

void test_limits_of_lanes_and_blocks() {
  // An integer as wide as a byte numbers the lanes of a result, but not those of all.
  CHECK(has_candidate(descriptor({50, 12, 100, 4}, {0, 2}, DataType::kUInt8),
                      "in place, 12 x 4, 100 each"));
  CHECK(has_candidate(descriptor({50, 12, 256, 4}, {0, 2}, DataType::kUInt8),
                      "in place, 12 x 4, 256 each"));
  CHECK(!has_candidate(descriptor({50, 12, 257, 4}, {0, 2}, DataType::kUInt8),
                       "in place, 12 x 4, 257 each"));
  // The groups are in the block as well: two blocks of 86 positions, not one of 171.
  const ArgPlan plan = forced(strided({1000, 171, 5}, {1030, 6, 1}, {1}), "transposed, 5 x 1000");
  CHECK(plan.columns.columns.walk.period == 86 && plan.columns.columns.tiling.block == 515);
}

void test_axes_of_rows() {
  const ArgPlan last = forced(descriptor({8, 4, 1000}, {2}), "rows");
  CHECK(last.n.size == 1000 && last.tasks.results.size == 32);
  CHECK(last.tasks.kept.count == 0 && last.reduced.count == 0);
  const ArgPlan merged = forced(descriptor({10, 30, 40}, {1, 2}), "rows");
  CHECK(merged.n.size == 1200 && merged.count == 1200);
  // Other reduced axes stay outside.
  const ArgPlan p = forced(descriptor({5, 6, 600}, {0, 2}), "rows");
  CHECK(p.n.size == 600 && p.tasks.results.size == 6);
  CHECK(p.reduced.count == 1 && p.reduced.axes[0].size == 5);
  CHECK(p.reduced.axes[0].strides[1] == 600);
}

void test_rows_come_from_memory_if_the_input_is_large() {
  const dmlcpu::Caches caches = {1024 * 1024, 8 * 1024 * 1024};
  const std::int64_t least = 2 * caches.l2 / 32;
  for (const std::int64_t n : {least - 1, least}) {
    const ArgProblem problem = plan_tensors::problem(descriptor({8, n}, {1}));
    for (const auto family : {dmlcpu::Family::kAmd, dmlcpu::Family::kOther}) {
      const dmlcpu::Machine of = dmlcpu::machine_of("x86-64-v3", family, caches);
      const ArgPlan rows = plan_arg(problem, of, 1, 0);
      CHECK(rows.from_memory == (n == least));
      CHECK(rows.prefetches == (rows.from_memory && of.prefetches_rows));
    }
  }
}

void test_results_are_written_at_once_unless_the_counter_wraps() {
  const auto merges = [](std::int64_t n, DataType type) {
    return forced(descriptor({n, 300}, {0}, type), "in place, 1 x 300").merges;
  };
  CHECK(!merges(256, DataType::kUInt8) && merges(257, DataType::kUInt8));
  CHECK(!merges(65536, DataType::kFloat16) && merges(65537, DataType::kFloat16));
  CHECK(!merges(65537, DataType::kFloat32));
}

void test_reversed_and_broadcast_axes() {
  ArgDescriptor d = descriptor({1000}, {0});
  d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  const ArgPlan p = forced(d, "rows");
  CHECK(p.reversed && p.tasks.offsets[0] == 999);
  CHECK(p.n.strides[0] == -1 && p.n.strides[1] == 1);
  // Reduced axes that broadcast are not walked.
  const ArgPlan broadcast = forced(strided({50, 60}, {0, 1}, {0, 1}), "rows");
  CHECK(broadcast.count == 3000 && broadcast.n.size == 60 && broadcast.reduced.count == 0);
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

/// Lanes of a result that are far apart, and an axis that is lanes as a whole, cannot be split.
void test_every_thread_has_a_part() {
  ArgDescriptor apart = descriptor({400'000}, {0});
  apart.input.strides = {512};
  ArgDescriptor reversed = descriptor({225, 120, 120}, {0, 1, 2});
  reversed.input.strides = {1, 225, 225 * 120};
  for (const ArgDescriptor& d : {apart, reversed}) {
    for (const int threads : {2, 8}) {
      const ArgPlan p = plan_of(d, threads);
      // The longest axis, of 225, has three parts.
      CHECK(p.tasks.count() * p.parts >= std::min(threads, 3));
    }
  }
}

void test_few_tasks_are_split_into_parts() {
  const ArgPlan row = forced(descriptor({60001}, {0}), "rows", 4);
  // One for each thread: a part that meets the highest value there is ends early.
  CHECK(row.parts == 4 && row.merges && row.shared.size == 60001);
  CHECK(row.n.size == row.part_size && row.part_size == 15001 && covers(row));
  CHECK(row.part_start(2) == 2 * 15001 && row.part_start(3) == 60001 - 15001);
  // 512 parts of 65 would begin beyond the axis.
  const ArgPlan threads = forced(descriptor({32769, 3}, {0}), "in place, 1 x 3", 128);
  CHECK(threads.parts == 505 && threads.part_size == 65 && covers(threads));
  const ArgPlan many = forced(descriptor({64, 900}, {1}), "rows", 4);
  CHECK(many.parts == 1 && many.tasks.count() >= 4);
  // The longest reduced axis is split: the walked one, one that is cut, or an outer one.
  const ArgPlan rows = forced(descriptor({100, 3, 600}, {0, 2}), "rows", 8);
  CHECK(rows.shared.size == 600 && rows.n.size == rows.part_size && covers(rows));
  const ArgPlan apart = forced(descriptor({900, 3, 500}, {0, 2}), "rows", 8);
  CHECK(apart.shared.size == 900 && apart.reduced.axes[0].size == apart.part_size);
  CHECK(apart.merges && covers(apart));
  // The last step of an axis that is cut overlaps in each part.
  const ArgPlan lanes = forced(descriptor({9000, 3}, {0}), "in place, 1 x 3, some of", 3);
  CHECK(lanes.parts == 12 && lanes.columns.cut.overlap() == 750 % 10 && covers(lanes));
  // Not an axis that is lanes as a whole.
  const ArgDescriptor axes = descriptor({200, 3, 1000}, {0, 2});
  CHECK(forced(axes, "in place, 3 x 1, 1000 each", 8).shared.size == 200);
  CHECK(forced(axes, "in place, 3 x 1, some of", 8).shared.size == 1000);
}

void test_columns_are_split_into_parts_or_tasks() {
  // Long ones are split in positions, at full width; short ones in width.
  const ArgPlan tall = forced(descriptor({60, 1000}, {0}), "in place, 1 x 1000", 4);
  CHECK(tall.parts == 1 && tall.tasks.count() >= 4 && tall.tasks.task_results < 1000);
  const ArgPlan split = forced(descriptor({641, 1000}, {0}), "in place, 1 x 1000", 4);
  CHECK(split.tasks.task_results == 1000 && split.merges && covers(split));
  CHECK(split.parts == 10 && split.columns.columns.walk.n == split.part_size);
  CHECK(split.part_size >= tuning::kMinPartPositions);
  // Groups, where there are some, come first.
  const ArgPlan groups = forced(descriptor({64, 10, 64}, {1}), "in place, 64 x 64", 4);
  CHECK(groups.parts == 1 && groups.tasks.task_groups < 64 && !groups.merges);
}

void test_values_are_found_by_the_index() {
  ArgDescriptor d = descriptor({50, 60}, {0});
  dmlcpu::Tensor values;
  values.rank = 2;
  values.sizes = {1, 60};
  values.strides = {60, 2};
  const ArgPlan p = plan_of(d, 1, &values);
  CHECK(p.value_stride == 60 && p.tasks.results.strides[2] == 2);
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
  const ArgPlan rows = forced(descriptor({5, 6, 600}, {0, 2}), "rows");
  CHECK(holds(rows, "n 600 by 1, 1") && holds(rows, "reduced 5 by 3600, 600"));
  CHECK(to_text(plan_of(descriptor({7}, {}))).find("fill") == 0);
  const ArgPlan squares = forced(descriptor({1000, 8}, {1}), "in registers");
  CHECK(to_text(squares).find("columns compared in registers, 8 positions in periods of 8") == 0);
  CHECK(holds(squares, "1000 lanes by 8;"));
  const ArgPlan several = forced(descriptor({1000, 3}, {0}), "in place, 1 x 3, some of");
  CHECK(holds(several, "30 lanes by 1, 10 of each of 3 results;"));
  const ArgPlan split = forced(descriptor({640, 1000}, {0}), "in place, 1 x 1000", 4);
  CHECK(holds(split, "parts 10 of 64 of 640, merged, threads 4"));
}

}  // namespace

int main() {
  test_every_thread_has_a_part();
  test_choices_of_rows();
  test_choices_in_place();
  test_choices_of_packed_columns();
  test_choices_of_several_lanes();
  test_nothing_is_compared_without_reduced_axes();
  test_candidates_are_chosen_by_price_or_number();
  test_prices_are_shared_by_threads();
  test_limits_of_lanes_and_blocks();
  test_axes_of_rows();
  test_rows_come_from_memory_if_the_input_is_large();
  test_results_are_written_at_once_unless_the_counter_wraps();
  test_reversed_and_broadcast_axes();
  test_few_tasks_are_split_into_parts();
  test_columns_are_split_into_parts_or_tasks();
  test_values_are_found_by_the_index();
  test_a_second_thread_is_used_from_some_grains_on();
  test_plans_can_be_printed();
  return check::failures == 0 ? 0 : 1;
}
