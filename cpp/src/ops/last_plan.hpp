// The plan of a thread's last call, for the next call of the same problem.
#pragma once

#include <type_traits>

#include "kernels/dispatch.hpp"
#include "plan/candidates.hpp"

namespace dmlcpu {

/// make()'s plan of a problem. It is made only if the calling thread's last problem was another
/// one: calls in a loop mostly have one shape, and planning takes longer than small ones run. Valid
/// until the thread's next call of this.
template <class Plan, class Problem, class Make>
const Plan& last_or_new_plan(const Problem& problem, int threads, const Make& make) {
  struct Last {
    const Machine* machine = nullptr;
    int threads = 0;
    int candidate = 0;
    Problem problem;
    Plan plan;
  };
  // Threads end, and libraries are unloaded, without a destructor of it.
  static_assert(std::is_trivially_destructible_v<Last>);
  thread_local Last last;
  const int candidate = forced_candidate();
  if (last.machine != &machine() || last.threads != threads || last.candidate != candidate ||
      last.problem != problem) {
    last.machine = nullptr;  // in case that make() throws
    last.plan = make();
    last.problem = problem;
    last.threads = threads;
    last.candidate = candidate;
    last.machine = &machine();
  }
  return last.plan;
}

}  // namespace dmlcpu
