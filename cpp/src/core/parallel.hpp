// The one way to run work on several threads; parallel.cpp is the one file that knows OpenMP.
#pragma once

#include <cstdint>
#include <type_traits>

namespace dmlcpu {

/// How many threads a call over `bytes` bytes should use: at least 1, at most num_threads(), about
/// one more per grain (see set_grain_bytes); more than one from `least_grains` grains on.
int threads_for_bytes(std::int64_t bytes, std::int64_t least_grains = 2);

using TaskFunction = void (*)(void* context, std::int64_t task, int worker);

/// Calls function(context, task, worker) for every task in [0, tasks), each once, on up to
/// `threads` threads, and num_threads(); worker is in [0, threads) and no two calls at a time share
/// one. Runs on the calling thread alone when `threads` is 1, and in a forked child, which has no
/// workers.
void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context);

/// The same for a callable `body(task, worker)` that does not throw.
template <class Body>
void parallel_for(int threads, std::int64_t tasks, Body&& body) {
  run_tasks(
      threads, tasks,
      [](void* context, std::int64_t task, int worker) {
        (*static_cast<std::remove_reference_t<Body>*>(context))(task, worker);
      },
      &body);
}

/// Whether this process was forked off after the library was loaded.
bool is_forked_child();

}  // namespace dmlcpu
