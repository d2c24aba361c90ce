// How costs are counted, or added up.
#pragma once

#include <limits>

#include "plan/columns_estimate.hpp"
#include "plan/machine.hpp"

namespace dmlcpu {

/// Adds up how often each cost is paid.
struct Counter {
  Counts all{};

  void add(Cost cost, double count) {
    all[static_cast<std::size_t>(cost)] += static_cast<float>(count);
  }
};

/// Adds up what is paid.
struct PriceSum {
  const Machine& machine;
  std::int64_t element_size;
  float all = 0;

  void add(Cost cost, double count) {
    all += machine.price(cost, element_size, static_cast<float>(count));
  }
};

/// The cheapest of the candidates that it is told; the one of this number, if it is 0 or more.
template <class Candidate>
class Cheapest {
 public:
  explicit Cheapest(int number) : left_(number) {}

  /// price() is in nanoseconds.
  template <class Price>
  void tell(const Candidate& candidate, const Price& price) {
    const float of = left_-- == 0 ? -1 : price();
    if (of >= lowest_) return;
    lowest_ = of;
    best_ = candidate;
  }
  const Candidate& best() const { return best_; }

 private:
  int left_;  ///< candidates before the wanted one
  float lowest_ = std::numeric_limits<float>::infinity();
  Candidate best_;
};

/// Counts the jumps between `runs` runs of `bytes` contiguous bytes, which begin `apart` bytes from
/// each other, in an input of `input_bytes`. `in_turns` runs are read at the same time: the
/// hardware prefetches each of them if they are few.
template <class To>
void count_jumps(const Machine& machine, double runs, double bytes, double apart, double in_turns,
                 std::int64_t input_bytes, To& to) {
  constexpr double kLine = kCacheLine;
  if (input_bytes > machine.caches.l2 && in_turns > machine.streams_ahead &&
      apart >= bytes + 2 * kLine) {
    to.add(Cost::kJump, runs * whole(bytes / kLine));
  }
}

}  // namespace dmlcpu
