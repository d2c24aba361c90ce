#include "core/spread.hpp"

#include "core/tuning.hpp"

#ifdef __linux__
#include <sched.h>

#include <chrono>
#include <cstring>
#endif

namespace dmlcpu {

bool Spread::take(int processor) {
  const std::uint64_t bit = std::uint64_t{1} << (processor % kWordBits);
  return (taken_[processor / kWordBits].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

#ifdef __linux__

void Spread::leave_taken() const {
  cpu_set_t allowed;
  // Fails on machines of more processors than the set has room for.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t free = allowed;
  for (int p = 0; p < kProcessors && p < CPU_SETSIZE; ++p) {
    const std::uint64_t word = taken_[p / kWordBits].load(std::memory_order_relaxed);
    if ((word >> (p % kWordBits) & 1U) != 0) CPU_CLR(p, &free);
  }
  if (CPU_COUNT(&free) == 0) return;
  if (sched_setaffinity(0, sizeof free, &free) != 0) return;
  // That moved this thread, which is not to be tied to where it went. Linux remembers a set that
  // was asked for: the old one was either, or whatever the process may use at any time.
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  cpu_set_t now;
  const bool unlimited = sched_setaffinity(0, sizeof all, &all) == 0 &&
                         sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &allowed);
  if (!unlimited) sched_setaffinity(0, sizeof allowed, &allowed);
}

void Spread::arrive(int thread, int threads) {
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

void Spread::arrive(int /*thread*/, int /*threads*/) {}

#endif

}  // namespace dmlcpu
