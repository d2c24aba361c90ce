// What the top-k strategies with a threshold share: most elements are below it, and passed over a
// few vectors at a time.
#pragma once

#include "kernels/block_rank-inl.hpp"
#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// How many of n ranks are at least t.
template <class U>
std::int64_t count_at_least(const U* ranks, std::int64_t n, U t) {
  using V = Vector<U>;
  // A comparison that holds is -1 in its lane, of which the lane counts so many before it wraps.
  constexpr std::int64_t kLeast = V::kWidth * 255;
  std::int64_t count = 0;
  std::int64_t i = 0;
  while (i + V::kWidth <= n) {
    const std::int64_t end = min_of(n, i + kLeast);
    typename V::Type lanes{};
    for (; i + V::kWidth <= end; i += V::kWidth) {
      lanes -= reinterpret_cast<typename V::Type>(V::load(ranks + i) >= t);
    }
    for (std::int64_t lane = 0; lane < V::kWidth; ++lane) {
      count += static_cast<std::int64_t>(lanes[lane]);
    }
  }
  for (; i < n; ++i) count += ranks[i] >= t;
  return count;
}

/// A rank that at least k of n ranks reach, 1 <= k <= n; if more than k do, it is the k-th highest.
/// Its bits from the highest on, each set if enough ranks still reach it.
template <class U>
U threshold_for(const U* ranks, std::int64_t n, std::int64_t k) {
  U threshold = 0;
  for (int bit = 8 * static_cast<int>(sizeof(U)) - 1; bit >= 0; --bit) {
    const auto higher = static_cast<U>(threshold | static_cast<U>(U{1} << bit));
    const std::int64_t reached = count_at_least(ranks, n, higher);
    if (reached < k) continue;
    threshold = higher;
    if (reached == k) break;
  }
  return threshold;
}

/// Collects the elements above a threshold and the first `equals` of those equal to it, in
/// ascending order of position, as long as there is room.
template <class U>
class Collector {
 public:
  /// Writes to items[0] up to items[room].
  Collector(U threshold, std::int64_t equals, Item<U>* items, std::int64_t room)
      : threshold_(threshold), equals_(equals), items_(items), room_(room), lowest_(threshold) {}

  std::int64_t count() const { return count_; }
  bool full() const { return count_ == room_; }
  /// Whether an element equal to the threshold would still be taken.
  bool takes_equals() const { return equals_ > 0; }

  /// Takes the next `count` ranks, which stand in the row from `first` on.
  void take(const U* ranks, std::int64_t count, std::int64_t first) {
    using V = Vector<U>;
    constexpr std::int64_t kWidth = V::kWidth;
    constexpr std::int64_t kAtOnce = min_of<std::int64_t>(4, 64 / kWidth);
    // Copies, which the compiler knows that no store to an item changes.
    Item<U>* const items = items_;
    const std::int64_t room = room_;
    const U threshold = threshold_;
    std::int64_t taken = count_;
    std::int64_t equals = equals_;
    const auto take_one = [&](std::int64_t i) {
      // Written without a branch; kept only if counted.
      items[taken] = Item<U>::make(ranks[i], first + i);
      const bool equal = ranks[i] == threshold;
      taken += ((ranks[i] > threshold) | (equal & (equals > 0))) & (taken < room);
      equals -= equal;
    };
    std::int64_t i = 0;
    for (; i + kLanes<U> <= count; i += kLanes<U>) {
      const auto reaches = [&](std::int64_t j) { return V::load(ranks + j) >= lowest_; };
      const auto found =
          (reaches(i) | reaches(i + kWidth)) | (reaches(i + 2 * kWidth) | reaches(i + 3 * kWidth));
      if (!any(found)) continue;
      if (equals <= 0 && threshold == static_cast<U>(~U{0})) {
        // Nothing ranks above the threshold.
        i = count;
        break;
      }
      lowest_ = static_cast<U>(threshold + (equals <= 0));
      // As many vectors at once as a word has bits for: each loop over bits ends unforeseen.
      for (std::int64_t j = i; j < i + kLanes<U>; j += kAtOnce * kWidth) {
        std::uint64_t bits = 0;
        for (std::int64_t v = 0; v < kAtOnce; ++v) {
          bits |= bits_of_mask<sizeof(U)>(reaches(j + v * kWidth)) << (v * kWidth);
        }
        for (; bits != 0; bits &= bits - 1) take_one(j + __builtin_ctzll(bits));
      }
    }
    for (; i < count; ++i) take_one(i);
    count_ = taken;
    equals_ = equals;
  }

 private:
  U threshold_;
  std::int64_t equals_;
  Item<U>* items_;
  std::int64_t room_;
  U lowest_;  // nothing below is taken any more
  std::int64_t count_ = 0;
};

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
