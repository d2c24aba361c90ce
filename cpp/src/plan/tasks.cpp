#include "plan/tasks.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

/// How many tiles an axis has. A division takes long, and is needed only if there are several.
std::int64_t tiles_of(const Axis& axis, std::int64_t per_task) {
  return axis.size <= per_task ? 1 : ceil_divide(axis.size, per_task);
}

}  // namespace

std::int64_t Tasks::count() const {
  return iteration_count(kept) * tiles_of(groups, task_groups) * tiles_of(results, task_results);
}

Task Tasks::at(std::int64_t number) const {
  const auto next_of = [&number](std::int64_t tiles) {
    return tiles == 1 ? 0 : std::exchange(number, number / tiles) % tiles;
  };
  const std::int64_t result = next_of(tiles_of(results, task_results)) * task_results;
  const std::int64_t group = next_of(tiles_of(groups, task_groups)) * task_groups;
  Task task = {Odometer(kept, number).offsets(), std::min(task_groups, groups.size - group),
               std::min(task_results, results.size - result)};
  for (int s = 0; s < 3; ++s) {
    task.offsets[s] += offsets[s] + group * groups.strides[s] + result * results.strides[s];
  }
  return task;
}

void Tasks::split(int for_threads, std::int64_t least, std::int64_t least_groups,
                  std::int64_t parts) {
  threads = for_threads;
  task_groups = groups.size;
  task_results = results.size;
  if (threads == 1) return;
  const auto missing = [&] {
    return ceil_divide(threads * tuning::kTasksPerThread, count() * parts);
  };
  task_groups = std::min(std::max(task_groups / missing(), least_groups), task_groups);
  const std::int64_t share = ceil_divide(task_results, missing());
  task_results = std::min(task_results, std::max<std::int64_t>(share / least, 1) * least);
}

}  // namespace dmlcpu
