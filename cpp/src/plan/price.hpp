// What a candidate costs.
#pragma once

#include "plan/candidates.hpp"
#include "plan/machine.hpp"

namespace dmlcpu {

/// How often a candidate pays each cost, on one thread. Estimated from sizes and strides, as
/// planning each candidate would take longer than many calls.
Counts count_costs(const ArgProblem& problem, const Candidate& candidate, const Machine& machine);

/// How many tasks its results can be divided into that read memory in long runs.
std::int64_t count_tasks(const ArgProblem& problem, const Candidate& candidate);

/// The number of the reduced axis that can be split into parts, or -1: the longest, but not one
/// that is lanes as a whole, as others may follow it in memory.
int axis_of_parts(const ArgProblem& problem, const Candidate& candidate);

/// The largest share of the work that one of `threads` threads has.
float share_of_thread(const ArgProblem& problem, const Candidate& candidate, int threads);

/// Nanoseconds on one thread, without what all candidates pay.
float price(const ArgProblem& problem, const Candidate& candidate, const Machine& machine);

}  // namespace dmlcpu
