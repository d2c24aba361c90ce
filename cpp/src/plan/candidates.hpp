// Every way to plan an argmin or argmax that may be the fastest on some machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "plan/columns_plan.hpp"
#include "plan/problem.hpp"

namespace dmlcpu {

struct Machine;

/// Rows one by one, or columns of some lanes.
struct Candidate {
  bool is_rows = true;
  LaneChoice lanes;

  bool operator==(const Candidate& other) const {
    return is_rows == other.is_rows && lanes == other.lanes;
  }
};

/// The candidates of a problem, whatever they cost; none if nothing is compared. The first one is
/// rows.
struct Candidates {
  static constexpr int kMost = 24;
  std::array<Candidate, kMost> all;
  int count = 0;
};
Candidates enumerate(const ArgProblem& problem);

/// The candidate `number`. A problem that has fewer gets its fastest one: that whose price, shared
/// by `threads` threads, is the lowest.
Candidate choose(const ArgProblem& problem, const Machine& machine, int number = -1,
                 int threads = 1);

/// The candidates in a line each: the price, what it is, how often it pays each cost. The one that
/// choose() returns is marked.
std::string candidates_text(const ArgProblem& problem, const Machine& machine, int threads = 1,
                            int number = -1);

/// The number that force_candidate() was called with, -1 at first.
int forced_candidate();

}  // namespace dmlcpu
