// What the top-k strategies with a threshold share: most elements are below it, and passed over a
// few vectors at a time.
#pragma once

#include "kernels/block_rank-inl.hpp"
#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// A rank by itself, higher ones first. A type of this namespace, for std::nth_element.
template <class U>
struct Descending {
  U rank;
  bool operator<(const Descending& other) const { return rank > other.rank; }
};

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
      for (std::int64_t j = i; j < i + kLanes<U>; j += kWidth) {
        for_each_in<U>(reaches(j), [&](std::int64_t at) { take_one(j + at); });
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
