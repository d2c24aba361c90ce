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

ColumnsEstimate estimate_of(const TopKProblem& problem, const LaneChoice& lanes) {
  const std::int64_t results = iteration_count(problem.kept);
  return {{problem.element_size, results, problem.kept, searched_axes(problem)}, lanes, 0};
}

/// Calls body(candidate) for each strategy of rows.
template <class Body>
void for_rows(const TopKProblem& problem, std::int64_t length, const Body& body) {
  const std::int64_t k = std::min(problem.k, length);
  const bool is_most = 2 * problem.k > problem.searched.size;
  TopKCandidate candidate;
  for (const TopKStrategy strategy : {TopKStrategy::kSort, TopKStrategy::kStripes,
                                      TopKStrategy::kBlocks, TopKStrategy::kSample}) {
    candidate.strategy = strategy;
    if (is_feasible(strategy, length, k, is_most)) body(candidate);
  }
}

/// Calls body(candidate) for each way of columns.
template <class Body>
void for_columns(const TopKProblem& problem, const Body& body) {
  if (problem.k == 1) return;
  const std::int64_t n = problem.searched.size;
  const std::int64_t size = problem.element_size;
  // What a lane can count.
  if (n > std::int64_t{1} << (size <= 2 ? 16 : 31)) return;
  const bool compares =
      n * std::min<std::int64_t>(top_k_lane_bytes(size), 4) <= tuning::kTopKComparisonsBytes;
  const Axes searched = searched_axes(problem);
  const LanesOf lanes_of(size, problem.kept, searched);
  const auto add = [&](const LaneChoice& lanes) {
    const ColumnsEstimate columns = estimate_of(problem, lanes);
    // The first block of a tile fills the slots.
    const bool fills =
        !has_blocks(columns.packing) || columns.in_block >= real(std::min(n, 2 * problem.k));
    TopKCandidate candidate = {TopKWay::kSlots, TopKStrategy::kSort, lanes};
    if (problem.k <= tuning::kTopKColumnsMaxK && fills) body(candidate);
    candidate.way = TopKWay::kComparisons;
    if (compares) body(candidate);
  };
  if (lanes_of.inside >= 0) add({lanes_of.inside, lanes_of.inside - 1});
  if (lanes_of.outer >= 0) add({lanes_of.outer, lanes_of.inside});
}

/// Adds what candidates of a problem pay to a bill.
class TopKCosting {
 public:
  TopKCosting(const TopKProblem& problem, std::int64_t length, Bill& bill)
      : problem_(problem),
        n_(problem.searched.size),
        length_(length),
        size_(problem.element_size),
        bill_(bill) {}

  void add(const TopKCandidate& candidate) {
    candidate.way == TopKWay::kRows ? add_rows(candidate.strategy) : add_columns(candidate);
  }

 private:
  /// Rows, or parts of rows.
  void add_rows(TopKStrategy strategy) {
    const bool samples = strategy == TopKStrategy::kSample;
    // The parts of a row share the threshold of a sample.
    const std::int64_t parts = ceil_divide(n_, length_);
    const std::int64_t selected = samples ? n_ : length_;
    const std::int64_t k = std::min(problem_.k, selected);
    const TopKSelection selection = plan_selection(strategy, selected, k);
    const double rows = real(iteration_count(problem_.kept) * parts);
    const double vectors = rows * whole(real(length_ * size_) / real(bill_.machine.vector_bytes));
    if (std::abs(problem_.searched.strides[0]) > 1) add_packed(rows, parts);
    bill_.add(Cost::kSelectedRow, rows);
    if (strategy == TopKStrategy::kSort) return add_sorted(rows, length_);
    bill_.add(strategy == TopKStrategy::kStripes  ? Cost::kStripesVector
              : strategy == TopKStrategy::kBlocks ? Cost::kBlocksVector
                                                  : Cost::kSampleVector,
              vectors);
    // The k-th highest of these is found bit by bit.
    const double thresholds = samples ? rows / real(parts) : rows;
    bill_.add(Cost::kThresholdByte, thresholds * real(selection.keys * size_ * size_));
    if (strategy == TopKStrategy::kBlocks) bill_.add(Cost::kBlockSearched, rows * real(k));
    // What is at or above a threshold. That of a sample is meant to be reached by this many.
    const std::int64_t above =
        strategy == TopKStrategy::kStripes ? k + k / 4
        : samples ? std::min(selection.sample_k * length_ / selection.keys, length_)
                  : k + k / 2;
    bill_.add(Cost::kCollected, rows * real(above));
    add_sorted(rows, above);
  }

  /// Elements of rows that are not contiguous are packed, those of neighbouring rows together.
  void add_packed(double rows, std::int64_t parts) {
    const std::int64_t apart = std::abs(problem_.searched.strides[0]);
    const std::int64_t row_stride = problem_.kept.last().strides[0];
    const bool together = row_stride > 0 && row_stride < apart && parts == 1 &&
                          2 * n_ * size_ <= tuning::kTopKPackBytes;
    const Cost packed = apart > tuning::kPackedStride ? Cost::kRowPacked : Cost::kRowStrided;
    bill_.add(together && row_stride == 1 ? Cost::kTransposed : packed, rows * real(length_));
    constexpr double kLine = kCacheLine;
    const double of_row = together ? std::min(real(row_stride * size_), kLine) : kLine;
    bill_.add_jumps(rows * real(length_), of_row, real(apart * size_), real(n_), problem_.bytes);
  }

  /// Each of few items is compared with all, many are sorted by digits.
  void add_sorted(double rows, std::int64_t items) {
    if (problem_.last_alone) return bill_.add(Cost::kCollected, rows * real(items));
    if (top_k_compares_items(bill_.machine.vector_bytes / size_, items)) {
      const double vectors = whole(real(items * size_) / real(bill_.machine.vector_bytes));
      return bill_.add(Cost::kSortedPair, rows * real(items) * vectors);
    }
    bill_.add(Cost::kSortedByDigits, rows);
    bill_.add(Cost::kSortedItem, rows * real(items));
  }

  void add_columns(const TopKCandidate& candidate) {
    const ColumnsEstimate columns = estimate_of(problem_, candidate.lanes);
    const bool slots = candidate.way == TopKWay::kSlots;
    const std::int64_t lane_bytes = top_k_lane_bytes(size_);
    const std::int64_t line = kCacheLine / lane_bytes;
    // Slots, or all elements, and their positions are in L1; blocks as well.
    const std::int64_t held = slots ? 2 * problem_.k : n_;
    std::int64_t most = lanes_in_lines(tuning::kHalfL1Bytes / (2 * held * lane_bytes), line);
    const bool blocks = has_blocks(columns.packing);
    if (blocks) {
      const auto block_bytes = static_cast<std::int64_t>(columns.block) * size_;
      most = std::min(most, lanes_in_lines(tuning::kHalfL1Bytes / block_bytes, line));
    }
    const double n = real(n_);
    const double written = problem_.last_alone ? 1 : real(problem_.k);
    const double lanes = real(columns.lanes);
    const double rows = columns.others * columns.groups;
    const double tiles = rows * whole(lanes / real(most));
    const double in_tile = rows * lanes / tiles;
    if (columns.output_stride != 1) {
      bill_.add(Cost::kWrittenApart, rows * lanes * written);
    }
    bill_.add(Cost::kTile, tiles / (blocks ? columns.groups : 1));
    add_packed(columns, tiles * n, in_tile);
    if (!slots) {
      bill_.add(Cost::kPlaced, rows * lanes * n);
      return bill_.add(Cost::kPair, tiles * vectors_of(in_tile) * n * n / 2);
    }
    // Keys of rows that do not follow each other are made row by row.
    const bool takes_elements = problem_.k <= tuning::kTopKElementsMaxK &&
                                in_tile * real(columns.apart * size_) >= real(kCacheLine);
    if (columns.packing == Packing::kInPlace && !takes_elements &&
        real(problem_.searched.strides[0]) != in_tile) {
      bill_.add(Cost::kKeyRow, tiles * n);
    }
    add_slots(tiles * vectors_of(in_tile));
    bill_.add(Cost::kSlotWritten, rows * lanes * written);
  }

  /// `tile_rows` rows of lanes, of n positions of each tile.
  void add_packed(const ColumnsEstimate& columns, double tile_rows, double lanes) {
    const double apart = real(columns.apart * size_);
    if (has_blocks(columns.packing)) {
      const double all = tile_rows * lanes / (columns.in_block * columns.groups);
      bill_.add_transposed(all, columns.block, lanes);
      return bill_.add_jumps(all, columns.block * real(size_), apart, real(columns.lanes),
                             problem_.bytes);
    }
    if (columns.packing == Packing::kStrided) {
      const bool far = columns.apart > tuning::kPackedStride;
      bill_.add(far ? Cost::kStridedApart : Cost::kStrided, tile_rows * lanes);
    }
    bill_.add_jumps(tile_rows, lanes * apart, columns.position_apart * real(size_), real(n_),
                    problem_.bytes);
  }

  /// A vector of the first `sure` positions has nearly always a lane with a better element; later
  /// ones ever more rarely.
  void add_slots(double vectors) {
    const double n = real(n_);
    const double k = real(problem_.k);
    const std::int64_t width = bill_.machine.vector_bytes / top_k_lane_bytes(size_);
    const double sure = std::min(n, real(tuning::top_k_sure_positions(problem_.k, width)));
    const double later = n <= sure ? 0 : std::min(n - sure, real(width) * k * std::log(n / sure));
    bill_.add(Cost::kSlotInsert, vectors * (sure + later) * k);
    bill_.add(Cost::kSlotLater, vectors * later);
    bill_.add(Cost::kSlotVector, vectors * n);
  }

  double vectors_of(double lanes) const {
    return whole(lanes * real(top_k_lane_bytes(size_)) / real(bill_.machine.vector_bytes));
  }

  const TopKProblem& problem_;
  const std::int64_t n_;
  const std::int64_t length_;  ///< of a row, or a part of it
  const std::int64_t size_;    ///< of an element
  Bill& bill_;
};

}  // namespace

Axes searched_axes(const TopKProblem& problem) {
  Axes axes;
  axes.push({problem.searched.size, {problem.searched.strides[0], 1, 0}});
  return axes;
}

std::vector<TopKCandidate> enumerate(const TopKProblem& problem, std::int64_t length) {
  std::vector<TopKCandidate> all;
  const auto add = [&](const TopKCandidate& candidate) { all.push_back(candidate); };
  for_rows(problem, length, add);
  for_columns(problem, add);
  return all;
}

TopKCandidate choose(const TopKProblem& problem, std::int64_t length, const Machine& machine,
                     int number, bool is_rows) {
  Cheapest<TopKCandidate> cheapest(number);
  const auto tell = [&](const TopKCandidate& candidate) {
    cheapest.tell(candidate,
                  [&] { return price(problem, length, candidate, machine).nanoseconds; });
  };
  for_rows(problem, length, tell);
  if (!is_rows) for_columns(problem, tell);
  return cheapest.best();
}

Price price(const TopKProblem& problem, std::int64_t length, const TopKCandidate& candidate,
            const Machine& machine, Counts* counts) {
  Bill bill = {machine, problem.element_size, counts};
  TopKCosting(problem, length, bill).add(candidate);
  return {bill.price, 1};
}

std::string candidates_text(const TopKProblem& problem, const Machine& machine, int threads,
                            int number) {
  static const char* const strategies[] = {"rows, sorted", "rows, threshold of stripes",
                                           "rows, threshold of blocks",
                                           "rows, threshold of a sample"};
  const std::int64_t length = ceil_divide(problem.searched.size, count_parts(problem, threads));
  const bool is_rows =
      std::holds_alternative<TopKPlan>(plan_top_k(problem, machine, threads, number));
  const TopKCandidate chosen = choose(problem, length, machine, number, is_rows);
  std::string all = "candidates\n";
  for (const TopKCandidate& candidate : enumerate(problem, length)) {
    std::string name = strategies[static_cast<int>(candidate.strategy)];
    if (candidate.way != TopKWay::kRows) {
      name = (candidate.way == TopKWay::kSlots ? "slots, " : "comparisons, ") +
             to_text(estimate_of(problem, candidate.lanes));
    }
    Counts counts{};
    const Price of_candidate = price(problem, length, candidate, machine, &counts);
    all += candidate_text(name, candidate == chosen, of_candidate, counts);
  }
  return all;
}

}  // namespace dmlcpu
