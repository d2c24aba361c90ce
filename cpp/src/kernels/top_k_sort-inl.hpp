// top-k: items selected and sorted, by comparison or by the digits of their ranks.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Sorts items that stand in ascending order of position by descending rank, least significant
/// digit first, moving them between `items` and `other`; returns where they ended.
template <class U>
Item<U>* radix_sort(Item<U>* items, Item<U>* other, std::int64_t count) {
  constexpr int kSortBits = 8;
  constexpr int kSortBins = 1 << kSortBits;
  constexpr int kBits = 8 * static_cast<int>(sizeof(U));
  constexpr int kPasses = (kBits + kSortBits - 1) / kSortBits;
  const auto digit = [](const Item<U>& item, int pass) {
    return static_cast<int>(item.rank() >> (pass * kSortBits)) & (kSortBins - 1);
  };
  std::uint32_t counts[kPasses][kSortBins] = {};
  for (std::int64_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass][digit(items[i], pass)];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    std::uint32_t* const starts = counts[pass];
    // A digit that all items share changes nothing.
    if (starts[digit(items[0], pass)] == count) continue;
    std::uint32_t start = 0;
    for (int bin = kSortBins - 1; bin >= 0; --bin) {
      const std::uint32_t size = starts[bin];
      starts[bin] = start;
      start += size;
    }
    const auto distribute = [&](auto ask_ahead) {
      for (std::int64_t i = 0; i < count; ++i) {
        Item<U>* const to = other + starts[digit(items[i], pass)]++;
        if constexpr (ask_ahead) prefetch(to + kCacheLine / static_cast<std::int64_t>(sizeof *to));
        *to = items[i];
      }
    };
    if (count < tuning::kTopKSortPrefetchLength) {
      distribute(std::false_type());
    } else {
      distribute(std::true_type());
    }
    Item<U>* const sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

/// Sorts items that stand in ascending order of position; returns where they ended.
template <class U>
Item<U>* sort_items(Item<U>* items, Item<U>* other, std::int64_t count) {
  if (count < tuning::kTopKRadixSortLength) {
    std::sort(items, items + count);
    return items;
  }
  return radix_sort(items, other, count);
}

/// Moves the first k of count items, in order, to the front.
template <class U>
void select_by_partition(Item<U>* items, std::int64_t count, std::int64_t k) {
  if (k < count) std::nth_element(items, items + k, items + count);
  std::sort(items, items + k);
}

/// The first k of count items that stand in ascending order of position; returns where they ended.
template <class U>
Item<U>* select_items(Item<U>* items, Item<U>* other, std::int64_t count, std::int64_t k) {
  if (k > count / 4) return sort_items(items, other, count);
  if (k < count / tuning::kTopKHeapShare) {
    std::partial_sort(items, items + k, items + count);
  } else {
    select_by_partition(items, count, k);
  }
  return items;
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
