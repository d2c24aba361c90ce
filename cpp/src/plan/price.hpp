// What a candidate costs.
#pragma once

#include "plan/candidates.hpp"
#include "plan/machine.hpp"

namespace dmlcpu {

/// The price of a candidate, without what all candidates pay. Estimated from sizes and strides, as
/// planning each candidate would take longer than many calls. `counts`, if not null, gets how often
/// it pays each cost.
Price price(const ArgProblem& problem, const Candidate& candidate, const Machine& machine,
            int threads = 1, Counts* counts = nullptr);

/// How many tasks its results can be divided into that read memory in long runs.
std::int64_t count_tasks(const ArgProblem& problem, const Candidate& candidate);

/// The number of the reduced axis that can be split into parts, or -1: the longest, but not one
/// that is lanes as a whole, as others may follow it in memory.
int axis_of_parts(const ArgProblem& problem, const Candidate& candidate);

}  // namespace dmlcpu
