#include "plan/top_k_candidates.hpp"

#include <algorithm>
#include <cmath>

#include "interface/tuning.hpp"
#include "plan/candidates_text.hpp"
#include "plan/columns_estimate.hpp"
#include "plan/columns_lanes.hpp"
#include "plan/costs.hpp"
#include "plan/top_k_plan.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

std::int64_t columns_of(const TopKProblem& problem) { return iteration_count(problem.kept); }

/// Calls body(candidate) for each strategy of rows.
template <class Body>
void for_rows(const TopKProblem& problem, std::int64_t length, const Body& body) {
  const std::int64_t k = std::min(problem.k, length);
  const bool most = 2 * problem.k > problem.searched.size;
  TopKCandidate candidate;
  for (const TopKStrategy strategy : {TopKStrategy::kSort, TopKStrategy::kStripes,
                                      TopKStrategy::kBlocks, TopKStrategy::kSample}) {
    candidate.strategy = strategy;
    if (is_feasible(strategy, length, k, most)) body(candidate);
  }
}

/// Calls body(candidate) for each.
template <class Body>
void for_candidates(const TopKProblem& problem, std::int64_t length, const Body& body) {
  for_rows(problem, length, body);
  if (problem.k == 1) return;
  TopKCandidate candidate;
  const std::int64_t n = problem.searched.size;
  const std::int64_t size = problem.element_size;
  // What a lane can count.
  if (n > std::int64_t{1} << (size <= 2 ? 16 : 31)) return;
  const bool compares =
      n * std::min<std::int64_t>(top_k_lane_bytes(size), 4) <= tuning::kTopKComparisonsBytes;
  const Axes reduced = searched_axes(problem);
  const LanesOf of(size, problem.kept, reduced);
  const auto add = [&](const LaneChoice& lanes) {
    const ColumnsEstimate columns({size, columns_of(problem), problem.kept, reduced}, lanes, 0);
    // The first block of a tile fills the slots.
    const bool fills =
        !has_blocks(columns.packing) || columns.in_block >= real(std::min(n, 2 * problem.k));
    candidate = {TopKWay::kSlots, TopKStrategy::kSort, lanes};
    if (problem.k <= tuning::kTopKColumnsMaxK && fills) body(candidate);
    candidate.way = TopKWay::kComparisons;
    if (compares) body(candidate);
  };
  if (of.inside >= 0) add({of.inside, of.inside - 1});
  if (of.outer >= 0) add({of.outer, of.inside});
}

template <class To>
class TopKCosting {
 public:
  TopKCosting(const TopKProblem& problem, std::int64_t length, const Machine& machine, To& to)
      : problem_(problem),
        length_(length),
        size_(problem.element_size),
        machine_(machine),
        to_(to) {}

  void count(const TopKCandidate& candidate) {
    candidate.way == TopKWay::kRows ? count_rows(candidate.strategy) : count_columns(candidate);
  }

 private:
  void count_rows(TopKStrategy strategy) {
    constexpr double kLine = kCacheLine;
    const std::int64_t k = std::min(problem_.k, length_);
    const TopKSelection selection = plan_selection(strategy, length_, k);
    const double rows = real(columns_of(problem_)) * real(problem_.searched.size) / real(length_);
    const double vectors = rows * whole(real(length_ * size_) / real(machine_.vector_bytes));
    const std::int64_t apart = std::abs(problem_.searched.strides[0]);
    if (apart > 1) {
      const bool beside_others = problem_.kept.last().strides[0] == 1;
      const Cost packed = apart > tuning::kPackedStride ? Cost::kRowPacked : Cost::kRowStrided;
      to_.add(beside_others ? Cost::kTransposed : packed, rows * real(length_));
      // Neighbouring rows are packed together.
      const double beside = std::min(real(problem_.kept.last().strides[0] * size_ + 1), kLine);
      count_jumps(machine_, rows * real(length_) * beside / kLine, kLine, real(apart * size_),
                  kLine, problem_.bytes, to_);
    }
    to_.add(Cost::kSelectedRow, rows);
    if (strategy == TopKStrategy::kSort) return count_sorted(rows, length_);
    if (strategy == TopKStrategy::kStripes) to_.add(Cost::kStripesVector, vectors);
    if (strategy == TopKStrategy::kBlocks) to_.add(Cost::kBlocksVector, vectors);
    if (strategy == TopKStrategy::kSample) to_.add(Cost::kSampleVector, vectors);
    // The k-th highest of these is found bit by bit.
    to_.add(Cost::kThresholdByte, rows * real(selection.keys * size_ * size_));
    if (strategy == TopKStrategy::kBlocks) to_.add(Cost::kBlockSearched, rows * real(k));
    // The parts of a row share the threshold of a sample.
    const std::int64_t items =
        strategy == TopKStrategy::kSample
            ? std::max<std::int64_t>(k / (problem_.searched.size / length_), 1)
            : k;
    to_.add(Cost::kCollected, rows * real(items));
    count_sorted(rows, items + (strategy == TopKStrategy::kStripes ? items / 4 : items / 2));
  }

  /// Each of few items is compared with all, many are sorted by digits.
  void count_sorted(double rows, std::int64_t items) {
    if (problem_.last_alone) return to_.add(Cost::kCollected, rows * real(items));
    if (top_k_sort_counts(size_, items) == 0) {
      const double vectors = whole(real(items * size_) / real(machine_.vector_bytes));
      return to_.add(Cost::kSortedPair, rows * real(items) * vectors);
    }
    to_.add(Cost::kSortedByDigits, rows);
    to_.add(Cost::kSortedItem, rows * real(items));
  }

  void count_columns(const TopKCandidate& candidate) {
    const Axes reduced = searched_axes(problem_);
    const ColumnsEstimate columns({size_, columns_of(problem_), problem_.kept, reduced},
                                  candidate.lanes, 0);
    const double n = real(problem_.searched.size);
    const bool slots = candidate.way == TopKWay::kSlots;
    const double lane_bytes = real(top_k_lane_bytes(size_));
    const double width = real(machine_.vector_bytes) / lane_bytes;
    const double lanes = real(columns.lanes);
    // Slots, or all elements, and their positions are in L1.
    const double k = real(problem_.k);
    const double held = slots ? 2 * k : n;
    const double line = real(kCacheLine) / lane_bytes;
    const double most =
        std::max(whole(real(tuning::kHalfL1Bytes) / (2 * held * lane_bytes * line)), 1.0) * line;
    const double in_tile = std::min(lanes, most);
    const bool blocks = has_blocks(columns.packing);
    const double rows = columns.others * columns.groups;
    const double vectors = rows * whole(lanes / in_tile) * whole(in_tile / width);
    to_.add(Cost::kTile, rows * whole(lanes / in_tile) / (blocks ? columns.groups : 1));
    if (blocks)
      to_.add(Cost::kTransposed, columns.others * lanes * columns.block * n / columns.in_block);
    const double of_lanes = in_tile * real(columns.apart * size_);
    if (blocks) {
      count_jumps(machine_, rows * lanes * n / (columns.in_block * columns.groups),
                  columns.block * real(size_), real(columns.apart * size_), in_tile, problem_.bytes,
                  to_);
    } else {
      count_jumps(machine_, rows * whole(lanes / in_tile) * n, of_lanes,
                  columns.position_apart * real(size_), n, problem_.bytes, to_);
    }
    if (columns.packing == Packing::kStrided) to_.add(Cost::kStrided, rows * lanes * n);
    if (!slots) {
      to_.add(Cost::kPlaced, rows * lanes * n);
      return to_.add(Cost::kPair, vectors * n * n / 2);
    }
    to_.add(Cost::kSlotWritten, rows * lanes * (problem_.last_alone ? 1 : k));
    // A vector of the first `sure` positions has nearly always a lane with a better element; later
    // ones ever more rarely.
    const std::int64_t sure =
        tuning::top_k_sure_positions(problem_.k, static_cast<std::int64_t>(width));
    const double taken = std::min(n, real(sure));
    const double later = n <= taken ? 0 : std::min(n - taken, width * k * std::log(n / taken));
    // Keys of rows that do not follow each other are made row by row.
    const bool takes_elements =
        problem_.k <= tuning::kTopKElementsMaxK && of_lanes >= real(kCacheLine);
    if (columns.packing == Packing::kInPlace && !takes_elements &&
        real(problem_.searched.strides[0]) != in_tile) {
      to_.add(Cost::kKeyRow, rows * whole(lanes / in_tile) * n);
    }
    to_.add(Cost::kSlotInsert, vectors * (taken + later) * k);
    to_.add(Cost::kSlotLater, vectors * later);
    to_.add(Cost::kSlotVector, vectors * n);
  }

  const TopKProblem& problem_;
  const std::int64_t length_;  ///< of a row, or a part of it
  const std::int64_t size_;
  const Machine& machine_;
  To& to_;
};

/// Calls for_some(tell), and returns the cheapest candidate that it tells.
template <class ForSome>
TopKCandidate cheapest(const TopKProblem& problem, std::int64_t length, const Machine& machine,
                       int number, const ForSome& for_some) {
  Cheapest<TopKCandidate> cheapest(number);
  for_some([&](const TopKCandidate& candidate) {
    cheapest.tell(candidate, [&] {
      PriceSum sum = {machine, problem.element_size};
      TopKCosting<PriceSum>(problem, length, machine, sum).count(candidate);
      return sum.all;
    });
  });
  return cheapest.best();
}

}  // namespace

Axes searched_axes(const TopKProblem& problem) {
  Axes axes;
  axes.push({problem.searched.size, {problem.searched.strides[0], 1, 0}});
  return axes;
}

TopKCandidates enumerate(const TopKProblem& problem, std::int64_t length) {
  TopKCandidates found;
  const auto add = [&](const TopKCandidate& candidate) {
    if (found.count < TopKCandidates::kMost) found.all[found.count++] = candidate;
  };
  for_candidates(problem, length, add);
  return found;
}

TopKCandidate choose(const TopKProblem& problem, std::int64_t length, const Machine& machine,
                     int number) {
  return cheapest(problem, length, machine, number,
                  [&](const auto& tell) { for_candidates(problem, length, tell); });
}

TopKCandidate choose_rows(const TopKProblem& problem, std::int64_t length, const Machine& machine) {
  return cheapest(problem, length, machine, -1,
                  [&](const auto& tell) { for_rows(problem, length, tell); });
}

Counts count_costs(const TopKProblem& problem, std::int64_t length, const TopKCandidate& candidate,
                   const Machine& machine) {
  Counter counter;
  TopKCosting<Counter>(problem, length, machine, counter).count(candidate);
  return counter.all;
}

std::string candidates_text(const TopKProblem& problem, const Machine& machine, int threads,
                            int number) {
  static const char* const strategies[] = {"rows, sorted", "rows, threshold of stripes",
                                           "rows, threshold of blocks",
                                           "rows, threshold of a sample"};
  const std::int64_t length = ceil_divide(problem.searched.size, count_parts(problem, threads));
  const TopKCandidates candidates = enumerate(problem, length);
  const TopKCandidate chosen = choose(problem, length, machine, number);
  std::string all = "candidates\n";
  for (int c = 0; c < candidates.count; ++c) {
    const TopKCandidate& candidate = candidates.all[c];
    std::string name = strategies[static_cast<int>(candidate.strategy)];
    if (candidate.way != TopKWay::kRows) {
      const Axes reduced = searched_axes(problem);
      const ColumnsEstimate columns(
          {problem.element_size, columns_of(problem), problem.kept, reduced}, candidate.lanes, 0);
      name = (candidate.way == TopKWay::kSlots ? "slots, " : "comparisons, ") + to_text(columns);
    }
    all += candidate_text(name, candidate == chosen, machine, problem.element_size,
                          count_costs(problem, length, candidate, machine));
  }
  return all;
}

}  // namespace dmlcpu
