// Running a plan's tasks on threads, and the memory that they work on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/tuning.hpp"
#include "interface/columns.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

/// The memory of an argmin, argmax or top-k, whose axes have strides of {input, indices, values}.
struct Memory {
  const char* input;
  char* indices;  ///< these and values are null where they are not wanted
  char* values;
  std::int64_t element_size;
  std::int64_t index_size;

  /// From this element of the input on.
  const char* at(std::int64_t offset) const { return input + offset * element_size; }
  /// From these elements of indices and values on, along those axes.
  Outputs outputs(const Offsets& offsets, const Axis& k, const Axis& groups,
                  const Axis& lanes) const {
    const auto of = [&](int s, char* data, std::int64_t size) {
      char* const first = data == nullptr ? nullptr : data + offsets[s] * size;
      return Output{first, k.strides[s], groups.strides[s], lanes.strides[s]};
    };
    return {of(2, values, element_size), of(1, indices, index_size), index_size};
  }
};

/// Calls body(call, worker) for every call in [0, count). Threads take shares of consecutive calls,
/// some kTasksPerThread for each thread.
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
