#include "core/placement.hpp"

#include "core/tuning.hpp"

#ifdef __linux__
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#endif

namespace dmlcpu {

#ifdef __linux__

namespace {

/// What the process may use when the library is loaded: its main thread's affinity.
const cpu_set_t first_affinity = []() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(getpid(), sizeof set, &set);
  return set;
}();

/// Whether affinities were seen that the process did not begin with; or none at all, as on machines
/// of more processors than a set has capacity for.
std::atomic<bool> others_set_affinities{CPU_COUNT(&first_affinity) == 0};

/// Whether this thread's affinity is the one expected; else somebody has set it.
bool has_affinity(const cpu_set_t& expected) {
  cpu_set_t now;
  CPU_ZERO(&now);
  if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &expected)) return true;
  others_set_affinities.store(true, std::memory_order_relaxed);
  return false;
}

/// Read when the library is loaded: later another thread may change the environment.
const bool switched_off = []() noexcept {
  const char* const value = std::getenv("DMLCPU_PLACEMENT");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && std::strcmp(value, "0") == 0;
}();

}  // namespace

void ThreadPlacement::leave_taken() const {
  if (others_set_affinities.load(std::memory_order_relaxed)) return;
  cpu_set_t free = first_affinity;
  for (int p = 0; p < kProcessors && p < CPU_SETSIZE; ++p) {
    const std::uint64_t word = taken_[p / kWordBits].load(std::memory_order_relaxed);
    if ((word >> (p % kWordBits) & 1U) != 0) CPU_CLR(p, &free);
  }
  if (CPU_COUNT(&free) == 0 || !has_affinity(first_affinity)) return;
  if (sched_setaffinity(0, sizeof free, &free) != 0) return;
  if (has_affinity(free)) sched_setaffinity(0, sizeof first_affinity, &first_affinity);
}

void ThreadPlacement::arrive(int thread, int threads) {
  if (switched_off) return;
  // Marks the processor as taken by one thread; false if another has it.
  const auto take_current = [&] {
    const int processor = sched_getcpu();
    if (processor < 0 || processor >= kProcessors) return true;
    const std::uint64_t bit = std::uint64_t{1} << (processor % kWordBits);
    return (taken_[processor / kWordBits].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
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
  // Threads that were awake have arrived. One that waits for our processor gets it, to move away;
  // who keeps it is not ours.
  for (int other = 1; other < threads && missing(); ++other) {
    const auto before = std::chrono::steady_clock::now();
    sched_yield();
    const auto away = std::chrono::steady_clock::now() - before;
    if (away > std::chrono::microseconds(tuning::kLongYieldMicroseconds)) break;
  }
}

bool ThreadPlacement::moves() {
  return !switched_off && !others_set_affinities.load(std::memory_order_relaxed);
}

#else

void ThreadPlacement::arrive(int /*thread*/, int /*threads*/) {}

bool ThreadPlacement::moves() { return false; }

#endif

}  // namespace dmlcpu
