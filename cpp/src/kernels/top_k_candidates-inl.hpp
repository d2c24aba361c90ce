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

/// Whether any of kLanes<U> ranks is at least t.
template <class U>
bool any_at_least(const U* ranks, U t) {
  using V = Vector<U>;
  constexpr std::int64_t kWidth = V::kWidth;
  const auto found = (V::load(ranks) >= t) | (V::load(ranks + kWidth) >= t) |
                     (V::load(ranks + 2 * kWidth) >= t) | (V::load(ranks + 3 * kWidth) >= t);
  return Words(found).any();
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
