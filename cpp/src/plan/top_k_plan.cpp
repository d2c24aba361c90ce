#include "plan/top_k_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/scratch.hpp"
#include "core/text.hpp"
#include "plan/columns_estimate.hpp"
#include "plan/top_k_candidates.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

/// The cheapest block length, a power of two, if there are enough blocks, or 1.
std::int64_t block_length(std::int64_t length, std::int64_t k) {
  std::int64_t block = tuning::kTopKMinBlock;
  while (block < tuning::kTopKMaxBlock &&
         4 * block * block * k <= tuning::kTopKBlockCostRatio * length) {
    block *= 2;
  }
  const bool enough =
      k <= tuning::kTopKBlocksMaxK && length / block >= tuning::kTopKBlocksPerResult * k;
  return enough ? block : 1;
}

/// The `sample_k`-th highest of the sampled elements has probably somewhat more than k of `length`
/// elements at or above it.
void set_sample(std::int64_t length, std::int64_t k, TopKSelection& selection) {
  const std::int64_t count = tuning::top_k_sample(length);
  // The number of sampled elements among the k highest varies by its square root; four times that
  // is hardly ever exceeded.
  const double expected = std::ceil(real(k) * real(count) / real(length));
  const double margin = std::ceil(4 * std::sqrt(expected));
  selection.keys = count;
  selection.sample_k = std::min(static_cast<std::int64_t>(expected + margin), count);
}

/// Tiles whose keys stay in L1, and slots beside them.
void choose_top_k_tiles(std::int64_t element_size, bool prefetches, TopKColumnsPlan& plan) {
  Columns& columns = plan.columns.columns;
  Tiling& tiling = columns.tiling;
  Lanes& lanes = columns.lanes;
  const std::int64_t lane_bytes = top_k_lane_bytes(element_size);
  const std::int64_t line = kCacheLine / lane_bytes;
  const std::int64_t slots = top_k_slots(columns, plan.k, plan.compares_all);
  const std::int64_t most = lanes_in_lines(tuning::kHalfL1Bytes / (2 * slots * lane_bytes), line);
  if (has_blocks(tiling.packing)) {
    const std::int64_t fit = tuning::kHalfL1Bytes / (tiling.block * element_size);
    // Of less than a line the kernel reads on into the next row.
    const std::int64_t round = lanes.count < line ? kLeastVectorBytes / lane_bytes : line;
    tiling.lanes =
        std::min({lanes_in_lines(fit, line), most, ceil_divide(lanes.count, round) * round});
    lanes.group_stride = plan.tasks.groups.strides[0] * tiling.lanes;
    return;
  }
  tiling.lanes = std::min(lanes.count, most);
  const std::int64_t rows = tuning::kHalfL1Bytes / (tiling.lanes * element_size);
  tiling.pass = std::min(columns.walk.period, std::max(rows, plan.compares_all ? 1 : slots));
  // Groups of which one pass takes all, and that follow each other without a gap, share a tile.
  const bool dense = tiling.packing == Packing::kInPlace && tiling.pass == columns.walk.n &&
                     plan.column.strides[0] == tiling.lanes &&
                     lanes.group_stride == columns.walk.n * tiling.lanes;
  const std::int64_t fit = dense ? std::min(rows / columns.walk.n, most / tiling.lanes) : 1;
  tiling.groups = std::clamp<std::int64_t>(fit, 1, lanes.groups);
  if (tiling.packing == Packing::kInPlace &&
      top_k_takes_elements(columns, element_size, plan.k, plan.compares_all)) {
    plan.columns.set_pass(tuning::kTopKPassRows, element_size, prefetches);
  }
}

}  // namespace

TopKSelection plan_selection(TopKStrategy strategy, std::int64_t length, std::int64_t k) {
  TopKSelection selection = {strategy, length};
  if (strategy == TopKStrategy::kStripes) {
    // Enough for each of the k to make the threshold close, and to fill vectors; but one of each
    // element, if that would be more than half of them. Elements at distances that small numbers
    // divide are in different stripes, as data often has such a period.
    std::int64_t stripes = round_up(tuning::kTopKStripesPerResult * k);
    while (stripes % 2 == 0 || stripes % 3 == 0 || stripes % 5 == 0 || stripes % 7 == 0) ++stripes;
    const bool spread = 2 * stripes <= length;
    selection.keys = spread ? stripes : length;
    selection.block = ceil_divide(length, selection.keys);
    selection.held = spread ? selection.block * stripes : 0;
    selection.capacity = k * selection.block + k;
  } else if (strategy == TopKStrategy::kBlocks) {
    selection.block = selection.held = block_length(length, k);
    selection.keys = ceil_divide(length, selection.block);
    // Once as many were collected, and at most a block more, only k are kept.
    selection.capacity =
        std::min(tuning::kTopKItemsPerResult * k, (k - 1) * selection.block + k) + selection.block;
  } else if (strategy == TopKStrategy::kSample) {
    set_sample(length, k, selection);
    selection.capacity = tuning::top_k_sample_capacity(length, k);
  }
  return selection;
}

bool is_feasible(TopKStrategy strategy, std::int64_t length, std::int64_t k, bool most) {
  if (strategy == TopKStrategy::kSort) return true;
  // There is something to leave out.
  if (most) return false;
  if (strategy == TopKStrategy::kBlocks) return block_length(length, k) > 1;
  return (strategy == TopKStrategy::kSample) == (length >= tuning::kTopKSampleLeastLength);
}

namespace {

std::optional<TopKColumnsPlan> plan_top_k_columns(const TopKProblem& problem,
                                                  const Machine& machine,
                                                  const TopKCandidate& candidate, int threads) {
  const std::int64_t element_size = problem.element_size;
  const std::int64_t k = problem.k;
  const std::int64_t n = problem.searched.size;
  TopKColumnsPlan plan;
  plan.k = k;
  plan.first = problem.last_alone ? k - 1 : 0;
  plan.compares_all = candidate.way == TopKWay::kComparisons;
  plan.column = problem.searched;
  plan.tasks.kept = problem.kept;
  plan.tasks.offsets = problem.offsets;
  Axes reduced = searched_axes(problem);
  const bool prefetches = machine.columns_are_far(problem.bytes);
  plan.columns =
      plan_columns(element_size, prefetches, candidate.lanes, false, plan.tasks, reduced);
  const Columns& columns = plan.columns.columns;
  choose_top_k_tiles(element_size, prefetches, plan);
  // The first pass fills the slots.
  if (!plan.compares_all && columns.tiling.pass < std::min(n, top_k_slots(columns, k, false))) {
    return std::nullopt;
  }
  plan.tasks.split(threads, columns.tiling.lanes, plan.columns.least_groups);
  plan.table_bytes = plan.columns.table_bytes();
  plan.worker_bytes = top_k_columns_scratch(columns, element_size, k, plan.compares_all).bytes;
  return plan;
}

TopKPlan plan_top_k_rows(const TopKProblem& problem, const Machine& machine, std::int64_t parts,
                         TopKStrategy strategy, int threads) {
  const std::int64_t element_size = problem.element_size;
  TopKPlan plan;
  plan.k = problem.k;
  plan.selects = problem.last_alone;
  plan.prefetches = machine.rows_are_far(problem.bytes);
  plan.row = problem.searched;
  plan.tasks.kept = problem.kept;
  plan.tasks.offsets = problem.offsets;
  plan.tasks.results = plan.tasks.kept.pop();
  plan.threads = threads;
  plan.parts = parts;
  const std::int64_t length = plan.longest_part();
  plan.selection = plan_selection(strategy, length, std::min(plan.k, length));
  if (strategy == TopKStrategy::kSample && parts > 1) {
    set_sample(plan.row.size, plan.k, plan.selection);
  }

  // How many rows a task takes, and how it reads them.
  Tasks& tasks = plan.tasks;
  const std::int64_t row_stride = tasks.results.strides[0];
  const bool neighbours = row_stride > 0 && row_stride < std::abs(plan.row.strides[0]);
  const std::int64_t fit = tuning::kTopKPackBytes / (plan.row.size * element_size);
  plan.packed = neighbours && fit > 1 && plan.parts == 1;
  // Enough tasks for all threads, but neighbouring rows at least as many as fill a cache line.
  tasks.split(plan.parts > 1 ? 1 : threads, plan.packed ? kCacheLine / element_size : 1);
  tasks.task_results = std::min(tasks.task_results, tuning::kTopKGroupRows);
  if (plan.packed) tasks.task_results = std::min(tasks.task_results, fit);
  const std::int64_t packed = plan.packed ? tasks.task_results * plan.row.size * element_size : 0;
  plan.scratch = top_k_row_scratch(plan.selection, element_size, plan.row.size, plan.parts,
                                   plan.parts > 1 ? threads : 1, packed, plan.selects);
  return plan;
}

}  // namespace

std::int64_t count_parts(const TopKProblem& problem, int threads) {
  const std::int64_t size = problem.searched.size;
  std::int64_t parts = 1;
  if (iteration_count(problem.kept) < threads) {
    const std::int64_t fit = size * problem.element_size / tuning::top_k_min_part_bytes(problem.k);
    parts = std::clamp<std::int64_t>(fit, 1, threads);
  }
  return std::max(parts, ceil_divide(size, kTopKMaxPart));
}

std::variant<TopKColumnsPlan, TopKPlan> plan_top_k(const TopKProblem& problem,
                                                   const Machine& machine, int threads,
                                                   int number) {
  const std::int64_t parts = count_parts(problem, threads);
  const std::int64_t length = ceil_divide(problem.searched.size, parts);
  TopKCandidate candidate = choose(problem, length, machine, number);
  if (candidate.way != TopKWay::kRows) {
    if (const auto columns = plan_top_k_columns(problem, machine, candidate, threads))
      return *columns;
    candidate = choose(problem, length, machine, -1, true);
  }
  return plan_top_k_rows(problem, machine, parts, candidate.strategy, threads);
}

std::string to_text(const TopKColumnsPlan& plan) {
  return text(plan.compares_all ? "comparisons of " : "slots of ", plan.k, "\n",
              to_text(plan.columns, plan.tasks), "tasks ", plan.tasks.count(), ", threads ",
              plan.tasks.threads, "\n", scratch_text(plan.scratch_bytes()));
}

std::string to_text(const TopKPlan& plan) {
  static const char* const names[] = {"sort", "stripes", "blocks", "sample"};
  return text(names[static_cast<int>(plan.selection.strategy)], " of ", plan.k, " from ",
              plan.row.size, " by ", plan.row.strides[0], plan.packed ? ", packed" : "", "\ntasks ",
              plan.tasks.count(), ", parts ", plan.parts, ", threads ", plan.threads, "\n",
              scratch_text(plan.scratch_bytes()));
}

}  // namespace dmlcpu
