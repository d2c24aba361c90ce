#include "core/spread.hpp"

#include "core/tuning.hpp"

#ifdef __linux__
#include <sched.h>
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
  // The first call moves this thread, the second keeps it from being tied to where it went.
  if (sched_setaffinity(0, sizeof free, &free) == 0) {
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

void Spread::arrive(int thread, int threads) {
  const auto take_current = [&] {
    const int processor = sched_getcpu();
    return processor < 0 || processor >= kProcessors || take(processor);
  };
  if (!take_current()) {
    leave_taken();
    take_current();
  }
  arrived_.fetch_add(1, std::memory_order_relaxed);
  if (thread != 0) return;
  const auto missing = [&] { return arrived_.load(std::memory_order_relaxed) < threads; };
  for (int poll = 0; poll < tuning::kArrivalPolls && missing(); ++poll) {
  }
  // Those that were awake are here. Whoever waits for this processor can leave it now.
  for (int other = 1; other < threads && missing(); ++other) sched_yield();
}

#else

void Spread::arrive(int /*thread*/, int /*threads*/) {}

#endif

}  // namespace dmlcpu
