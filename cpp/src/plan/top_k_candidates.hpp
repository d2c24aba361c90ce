// Every way to plan a top-k that may be the fastest on some machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// The most lanes that fill whole cache lines of `line` lanes and of which there are at most
/// `count`; a line at least.
constexpr std::int64_t lanes_in_lines(std::int64_t count, std::int64_t line) {
  return (count < line ? 1 : count / line) * line;
}

/// The candidates of a problem, whatever they cost. The first one is rows that are sorted as a
/// whole. Rows that threads share in parts have strategies for `length` elements, a part's. For
/// tests and texts: choose() does not store them.
std::vector<TopKCandidate> enumerate(const TopKProblem& problem, std::int64_t length);

/// The candidate `number`. A problem that has fewer gets its cheapest one; if `is_rows`, its
/// cheapest one of rows.
TopKCandidate choose(const TopKProblem& problem, std::int64_t length, const Machine& machine,
                     int number = -1, bool is_rows = false);

/// The price of a candidate, as of argmin and argmax, but on one thread.
Price price(const TopKProblem& problem, std::int64_t length, const TopKCandidate& candidate,
            const Machine& machine, Counts* counts = nullptr);

/// The candidates in a line each, as those of argmin and argmax.
std::string candidates_text(const TopKProblem& problem, const Machine& machine, int threads = 1,
                            int number = -1);

}  // namespace dmlcpu
