#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>

#include "core/contention.hpp"
#include "core/thread.hpp"
#include "core/thread_tuning.hpp"
#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

/// The tasks of one call, in its caller's frame.
struct alignas(64) Job {
  TaskFunction function;
  void* context;
  std::int64_t tasks;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> workers{0};

  std::int64_t claim() { return next.fetch_add(1, std::memory_order_relaxed); }
  std::int64_t unclaimed() const { return tasks - next.load(std::memory_order_relaxed); }
};

/// What a worker's slot holds: nothing, a job that it was given, a job that it has begun, or that
/// it is to end.
using Slot = std::uintptr_t;
constexpr Slot kIdle = 0;
constexpr Slot kBegun = 1;  // a bit beside the job's address
constexpr Slot kStop = 2;

struct alignas(64) Worker {
  explicit Worker(Slot first) : slot(first) {}

  std::atomic<Slot> slot;
  std::atomic<bool> sleeps{false};
  std::atomic<int> waiting{0};  ///< callers that sleep until it is done
  std::mutex mutex;
  std::condition_variable changed;
  Thread thread;
};

Contention contention;
std::atomic<void (*)()> hook{nullptr};
/// Until when calls wake sleeping workers at once: more of those are expected that use them.
std::atomic<Nanoseconds> wakes_until{0};

// Never freed, so that calls of other threads at the end of the process find them; each time that a
// program unloads the library their memory is lost.
std::atomic<Worker*> all_workers[tuning::kMostWorkers];
std::atomic<int> worker_count{0};
std::atomic<int> most_workers{tuning::kMostWorkers};  ///< fewer once one could not be started
std::mutex growth;

/// Spins until the slot holds something; false after a while, or at once where processors are
/// contended.
bool spin(Worker& worker) {
  const bool probes = contention.is_probing();
  if (!probes && !contention.calm()) return worker.slot.load() != kIdle;
  const Nanoseconds start = now();
  Nanoseconds last = start;
  for (;;) {
    for (int poll = 0; poll < 64; ++poll) {
      if (worker.slot.load(std::memory_order_acquire) != kIdle) {
        if (probes) contention.not_probed();
        return true;
      }
      pause_thread();
    }
    const Nanoseconds time = now();
    if (time - last > tuning::kPreempted) {
      contention.seen(time);
      return false;
    }
    if (time - start > (probes ? tuning::kProbe : tuning::kSpin)) {
      if (probes) contention.passed();
      return false;
    }
    last = time;
  }
}

/// The job that the worker is given, or kStop.
Slot next_job(Worker& worker) {
  while (!spin(worker)) {
    std::unique_lock<std::mutex> lock(worker.mutex);
    worker.sleeps.store(true);
    // Once: who was woken in vain spins before it sleeps again.
    if (worker.slot.load() == kIdle) worker.changed.wait(lock);
    worker.sleeps.store(false);
  }
  return worker.slot.load(std::memory_order_acquire);
}

void work(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  for (;;) {
    Slot slot = next_job(worker);
    if (slot == kStop) return;
    if (void (*const before)() = hook.load(std::memory_order_acquire)) before();
    if (slot == kIdle || !worker.slot.compare_exchange_strong(slot, slot | kBegun)) continue;
    Job& job = *reinterpret_cast<Job*>(slot);  // NOLINT(performance-no-int-to-ptr)
    const int number = 1 + job.workers.fetch_add(1, std::memory_order_relaxed);
    for (std::int64_t task = job.claim(); task < job.tasks; task = job.claim()) {
      job.function(job.context, task, number);
    }
    worker.slot.store(kIdle);
    if (worker.waiting.load() == 0) continue;
    const std::lock_guard<std::mutex> lock(worker.mutex);
    worker.changed.notify_all();
  }
}

void wake(Worker& worker) {
  {
    const std::lock_guard<std::mutex> lock(worker.mutex);
    worker.thread.keep_off_this_processor();
  }
  worker.changed.notify_all();
}

/// Gives the job to up to `count` idle workers, to sleeping ones only if it `wakes`, which also
/// starts missing ones. Returns how many are still missing; who has the job is before `end`.
int recruit(Job& job, int& end, int count, bool wakes) {
  const auto slot = reinterpret_cast<Slot>(&job);
  const auto add = [&](int number) {
    end = std::max(end, number + 1);
    --count;
  };
  for (int w = 0; w < worker_count.load(std::memory_order_acquire) && count > 0; ++w) {
    Worker& worker = *all_workers[w].load(std::memory_order_relaxed);
    Slot idle = kIdle;
    if (!wakes && worker.sleeps.load(std::memory_order_relaxed)) continue;
    if (!worker.slot.compare_exchange_strong(idle, slot)) continue;
    add(w);
    if (worker.sleeps.load()) wake(worker);
  }
  if (!wakes || count == 0 || worker_count.load() >= most_workers.load()) return count;
  const std::lock_guard<std::mutex> lock(growth);
  while (count > 0 && worker_count.load() < most_workers.load()) {
    auto* const worker = new (std::nothrow) Worker(slot);
    if (worker == nullptr || !worker->thread.start(work, worker)) {
      delete worker;
      most_workers.store(worker_count.load());
      break;
    }
    const int number = worker_count.load();
    all_workers[number].store(worker, std::memory_order_relaxed);
    worker_count.store(number + 1, std::memory_order_release);
    add(number);
  }
  return count;
}

/// Takes the job back from a worker that has not begun it, and waits for one that has. Others, whom
/// it may have been given to as well, are left alone. The call began at `start`.
void part_with(Worker& worker, const Job& job, Nanoseconds start) {
  Slot given = reinterpret_cast<Slot>(&job);
  const Slot begun = given | kBegun;
  if (worker.slot.compare_exchange_strong(given, kIdle) || given != begun) return;
  const auto is_done = [&] { return worker.slot.load(std::memory_order_acquire) != begun; };
  const Nanoseconds end = now();
  const Nanoseconds patience =
      contention.calm() ? std::max(end - start, tuning::kShortWait) : tuning::kShortWait;
  for (;;) {
    for (int poll = 0; poll < 64; ++poll) {
      if (is_done()) return;
      pause_thread();
    }
    if (now() - end > patience) break;
  }
  {
    std::unique_lock<std::mutex> lock(worker.mutex);
    worker.waiting.fetch_add(1);
    worker.changed.wait(lock, [&] { return worker.slot.load() != begun; });
    worker.waiting.fetch_sub(1);
  }
  // A task as long as all of the caller's own: its thread lost the processor.
  if (now() - end > std::max(end - start, tuning::kPreempted)) contention.seen(now());
}

/// Ends the workers where the library is unloaded or the process exits: their code goes.
struct AtExit {
  ~AtExit() {
    if (is_forked_child()) return;
    const std::lock_guard<std::mutex> lock(growth);
    most_workers.store(0);
    for (int w = 0; w < worker_count.load(); ++w) {
      Worker& worker = *all_workers[w].load();
      for (Slot idle = kIdle; !worker.slot.compare_exchange_weak(idle, kStop); idle = kIdle) {
        yield_thread();
      }
      {
        const std::lock_guard<std::mutex> sleeping(worker.mutex);
      }
      worker.changed.notify_all();
      worker.thread.join();
    }
    worker_count.store(0);
  }
} at_exit;

}  // namespace

void run_on_pool(int threads, std::int64_t tasks, TaskFunction function, void* context) {
  Job job{function, context, tasks};
  int end = 0;
  const Nanoseconds start = now();
  int missing = threads - 1;
  contention.forget(start);
  if (contention.calm()) {
    // Of few tasks the first one would be most of the work.
    const bool wakes = tasks < tuning::kTasksPerThread * threads / 2 ||
                       start < wakes_until.load(std::memory_order_relaxed);
    missing = recruit(job, end, missing, wakes);
  } else if (contention.probe_is_due(start) && worker_count.load() > 0) {
    wake(*all_workers[0].load());
  }
  std::int64_t done = 0;
  for (std::int64_t task = job.claim(); task < tasks; task = job.claim()) {
    function(context, task, 0);
    if (missing == 0) continue;
    const Nanoseconds rest = (now() - start) / ++done * job.unclaimed();
    if (rest <= (contention.calm() ? tuning::kShortRest : tuning::kShortContendedRest)) continue;
    recruit(job, end, missing, true);
    missing = 0;
  }
  for (int w = 0; w < end; ++w) part_with(*all_workers[w].load(), job, start);
  const Nanoseconds time = now();
  if (time - start > tuning::kLong) {
    wakes_until.store(time + tuning::kRecentLong, std::memory_order_relaxed);
  } else if (missing > 0) {
    wakes_until.store(time + tuning::kRecent, std::memory_order_relaxed);
  }
}

void set_pool_hook(void (*before_tasks)()) { hook.store(before_tasks); }

bool pool_is_contended() { return !contention.calm(); }

void fix_contention(bool contended) { contention.fix(contended); }

}  // namespace dmlcpu
