#include "core/placement.hpp"

#include "core/tuning.hpp"

#ifdef __linux__
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#endif

namespace dmlcpu {

bool ThreadPlacement::take(int processor) {
  const std::uint64_t bit = std::uint64_t{1} << (processor % kWordBits);
  return (taken_[processor / kWordBits].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

#ifdef __linux__

namespace {

/// What a helper thread is told.
struct WakeUp {
  cpu_set_t processors;
  int pipe;
};

/// Wakes the thread that reads the pipe from one of the processors. A pipe, because its reader is
/// expected to run where the writer does; a futex makes no such promise.
void* wake(void* argument) {
  const WakeUp& wake_up = *static_cast<const WakeUp*>(argument);
  sched_setaffinity(0, sizeof wake_up.processors, &wake_up.processors);
  const char byte = 0;
  static_cast<void>(!write(wake_up.pipe, &byte, 1));
  return nullptr;
}

/// Moves this thread to one of the processors, if its own affinity allows. Does nothing where there
/// is no thread or pipe to be had.
void move_to(const cpu_set_t& processors) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  WakeUp wake_up{processors, ends[1]};
  // Signals are for the program's own threads; the helper inherits this.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t helper;
  const bool started = pthread_create(&helper, nullptr, wake, &wake_up) == 0;
  if (started) {
    char byte;
    static_cast<void>(!read(ends[0], &byte, 1));
    pthread_join(helper, nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[0]);
  close(ends[1]);
}

bool is_switched_off() {
  static const bool off = [] {
    // Nothing in this library changes the environment.
    const char* const value = std::getenv("DMLCPU_PLACEMENT");  // NOLINT(concurrency-mt-unsafe)
    return value != nullptr && std::strcmp(value, "0") == 0;
  }();
  return off;
}

}  // namespace

void ThreadPlacement::leave_taken() const {
  cpu_set_t free;
  // Fails on machines of more processors than the set has capacity for.
  if (sched_getaffinity(0, sizeof free, &free) != 0) return;
  for (int p = 0; p < kProcessors && p < CPU_SETSIZE; ++p) {
    const std::uint64_t word = taken_[p / kWordBits].load(std::memory_order_relaxed);
    if ((word >> (p % kWordBits) & 1U) != 0) CPU_CLR(p, &free);
  }
  if (CPU_COUNT(&free) > 0) move_to(free);
}

void ThreadPlacement::arrive(int thread, int threads) {
  if (is_switched_off()) return;
  const auto take_current = [&] {
    const int processor = sched_getcpu();
    return processor < 0 || processor >= kProcessors || take(processor);
  };
  if (!take_current() && thread != 0) {
    leave_taken();
    take_current();
  }
  arrived_.fetch_add(1, std::memory_order_relaxed);
  if (thread != 0) return;
  const auto missing = [&] { return arrived_.load(std::memory_order_relaxed) < threads; };
  for (int poll = 0; poll < tuning::kArrivalPolls && missing(); ++poll) {
  }
  // Those that were awake are here. Whoever waits for this processor can leave it now; one that
  // keeps it is none of ours.
  for (int other = 1; other < threads && missing(); ++other) {
    const auto before = std::chrono::steady_clock::now();
    sched_yield();
    const auto away = std::chrono::steady_clock::now() - before;
    if (away > std::chrono::microseconds(tuning::kLongYieldMicroseconds)) break;
  }
}

#else

void ThreadPlacement::arrive(int /*thread*/, int /*threads*/) {}

#endif

}  // namespace dmlcpu
