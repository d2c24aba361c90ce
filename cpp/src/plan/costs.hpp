// What candidates pay, and which of them is the cheapest.
#pragma once

#include <limits>

#include "plan/columns_estimate.hpp"
#include "plan/machine.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {

/// Adds up the price of a candidate; and, if that is wanted, how often it pays each cost.
struct Bill {
  const Machine& machine;
  std::int64_t element_size;
  Counts* counts = nullptr;
  float price = 0;  ///< in nanoseconds

  void add(Cost cost, double count) {
    const auto times = static_cast<float>(count);
    price += machine.price(cost, element_size, times);
    if (counts != nullptr) (*counts)[static_cast<std::size_t>(cost)] += times;
  }

  /// Adds the transposition of `count` blocks of `block` elements, one of each of `lanes` lanes at
  /// a time: in squares of kSquareBytes, if there are as many lanes.
  void add_transposed(double count, double block, double lanes) {
    const double side = real(kSquareBytes / element_size);
    lanes >= side ? add(Cost::kTransposed, count * whole(block / side) * side)
                  : add(Cost::kStridedApart, count * block);
  }

  /// Adds the jumps between `runs` runs of `bytes` contiguous bytes, which begin `distance` bytes
  /// from each other, in an input of `input_bytes`. After `in_turns` runs the bytes beside the
  /// first one are read: the hardware prefetches them if the runs are few, and L2 still holds their
  /// cache lines if these are not too many.
  void add_jumps(double runs, double bytes, double distance, double in_turns,
                 std::int64_t input_bytes) {
    constexpr double kLine = kCacheLine;
    const double l2 = real(machine.caches.l2);
    if (real(input_bytes) > l2 && in_turns > real(tuning::kStreams) &&
        distance >= bytes + 2 * kLine) {
      add(Cost::kJump, in_turns * kLine <= l2 && bytes < kLine ? runs * bytes / kLine : runs);
    }
  }
};

/// The cheapest of the candidates that it is told; the one of this number, if it is 0 or more.
template <class Candidate>
class Cheapest {
 public:
  explicit Cheapest(int number) : left_(number) {}

  /// price() is in nanoseconds.
  template <class GetPrice>
  void tell(const Candidate& candidate, const GetPrice& price) {
    const float nanoseconds = left_-- == 0 ? -1 : price();
    if (nanoseconds >= lowest_) return;
    lowest_ = nanoseconds;
    best_ = candidate;
  }
  const Candidate& best() const { return best_; }

 private:
  int left_;  ///< candidates before the wanted one
  float lowest_ = std::numeric_limits<float>::infinity();
  Candidate best_;
};

}  // namespace dmlcpu
