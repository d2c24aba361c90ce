// Every way to plan an argmin or argmax that may be the fastest on some machine.
#pragma once

#include <string>
#include <vector>

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
/// rows. For tests and texts: choose() does not store them.
std::vector<Candidate> enumerate(const ArgProblem& problem);

/// The candidate `number`. A problem that has fewer gets the one whose price on `threads` threads
/// is the lowest.
Candidate choose(const ArgProblem& problem, const Machine& machine, int number = -1,
                 int threads = 1);

/// The candidates in a line each: the price, what it is, how often it pays each cost. The one that
/// choose() returns is marked, and has the lowest price unless `number` chose it.
std::string candidates_text(const ArgProblem& problem, const Machine& machine, int threads = 1,
                            int number = -1);

/// The number that force_candidate() was called with, -1 at first.
int forced_candidate();

}  // namespace dmlcpu
