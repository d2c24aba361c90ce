// Threads of the library's own, which wait for tasks; parallel.cpp alone uses them.
#pragma once

#include <cstdint>

#include "core/parallel.hpp"

namespace dmlcpu {

/// run_tasks() on the calling thread and up to `threads` - 1 workers.
///
/// Tasks are claimed one by one, by the caller too, and the call is over when all are done: a
/// worker that has not begun by then is not waited for, and finds nothing. So a call takes about as
/// long as on one thread where the system gives the workers no processor.
///
/// A worker that has nothing to do spins for a while, then sleeps. Waking it takes longer than
/// short calls gain, so a call wakes workers if its first task says that it is long, or if another
/// call ended a moment ago. Where workers lose their processor to somebody else, the processors are
/// contended: workers do not spin, and short calls use none of them for a while, which gets longer
/// as long as that is seen again. Before they are used again, one spins for a while as a probe.
///
/// Workers are started as calls need them. The system may refuse; then there are fewer. Their
/// stacks and signals are those of Thread. They do not exist in a forked child, which must not call
/// this. When the library is unloaded, or the process exits, they end.
void run_on_pool(int threads, std::int64_t tasks, TaskFunction function, void* context);

/// What tests delay workers with: called by each worker that was given tasks, before it claims one.
/// Null: nothing.
void set_pool_hook(void (*before_tasks)());

/// Whether the processors are contended, as far as threads have seen.
bool pool_is_contended();

/// For tests: from now on the processors are contended, or not, whatever threads see.
void fix_contention(bool contended);

}  // namespace dmlcpu
