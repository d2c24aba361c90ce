// Every way to plan a top-k that may be the fastest on some machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "interface/top_k.hpp"
#include "plan/columns_plan.hpp"
#include "plan/machine.hpp"
#include "plan/problem.hpp"

namespace dmlcpu {

enum class TopKWay : std::uint8_t {
  kRows,         ///< rows one by one, by a strategy
  kSlots,        ///< columns, whose better elements are inserted into slots
  kComparisons,  ///< columns, whose elements are all compared with each other
};

struct TopKCandidate {
  TopKWay way = TopKWay::kRows;
  TopKStrategy strategy = TopKStrategy::kSort;  ///< of rows
  LaneChoice lanes;                             ///< of columns

  bool operator==(const TopKCandidate& other) const {
    return way == other.way && strategy == other.strategy && lanes == other.lanes;
  }
};

/// The searched axis as the reduced one of columns, whose indices are positions on it.
Axes searched_axes(const TopKProblem& problem);

/// The candidates of a problem, whatever they cost. The first one is rows that are sorted as a
/// whole; rows in parts of `length` elements have strategies of these.
struct TopKCandidates {
  static constexpr int kMost = 16;
  std::array<TopKCandidate, kMost> all;
  int count = 0;
};
TopKCandidates enumerate(const TopKProblem& problem, std::int64_t length);

/// The candidate `number`. A problem that has fewer gets its cheapest one.
TopKCandidate choose(const TopKProblem& problem, std::int64_t length, const Machine& machine,
                     int number = -1);

/// The cheapest strategy of rows.
TopKCandidate choose_rows(const TopKProblem& problem, std::int64_t length, const Machine& machine);

/// How often a candidate pays each cost, on one thread.
Counts count_costs(const TopKProblem& problem, std::int64_t length, const TopKCandidate& candidate,
                   const Machine& machine);

/// The candidates in a line each, as those of argmin and argmax.
std::string candidates_text(const TopKProblem& problem, const Machine& machine, int threads = 1,
                            int number = -1);

}  // namespace dmlcpu
