// Running a plan's tasks on threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/tuning.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

/// Calls body(call, worker) for every call in [0, count). Consecutive ones are run by one thread:
/// there may be many more of them than threads.
template <class Body>
void for_calls(std::int64_t count, int threads, const Body& body) {
  const std::int64_t shares =
      threads == 1 ? 1 : std::min<std::int64_t>(count, threads * tuning::kTasksPerThread);
  parallel_for(threads, shares, [&](std::int64_t share, int worker) {
    const std::int64_t last = start_of_part(count, share + 1, shares);
    for (std::int64_t call = start_of_part(count, share, shares); call < last; ++call) {
      body(call, worker);
    }
  });
}

/// Calls body(task, worker) for every task.
template <class Body>
void for_tasks(const Tasks& tasks, const Body& body) {
  for_calls(tasks.count(), tasks.threads,
            [&](std::int64_t call, int worker) { body(tasks.at(call), worker); });
}

}  // namespace dmlcpu
