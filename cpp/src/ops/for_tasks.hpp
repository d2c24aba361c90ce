// Running a plan's tasks on threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/tuning.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

/// Workers that for_tasks() has at most.
inline int workers_for(const Tasks& tasks, int threads) {
  return static_cast<int>(std::min<std::int64_t>(threads, tasks.count()));
}

/// Calls body(task, worker) for every task. Consecutive tasks are run by one thread: there may be
/// many more of them than threads.
template <class Body>
void for_tasks(const Tasks& tasks, int threads, const Body& body) {
  const std::int64_t count = tasks.count();
  const std::int64_t calls =
      threads == 1 ? 1 : std::min<std::int64_t>(count, threads * tuning::kTasksPerThread);
  parallel_for(threads, calls, [&](std::int64_t call, int worker) {
    const std::int64_t last = start_of_part(count, call + 1, calls);
    for (std::int64_t t = start_of_part(count, call, calls); t < last; ++t) {
      body(tasks.at(t), worker);
    }
  });
}

}  // namespace dmlcpu
