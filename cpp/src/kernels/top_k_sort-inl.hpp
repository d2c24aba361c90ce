// top-k: items selected and sorted, by comparison or by the digits of their keys.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Sorts items that stand in ascending order of position by descending key, of which only the
/// lowest kPasses * kDigitBits bits may differ: least significant digit first, moving them between
/// `items` and `other`; returns where they ended. `counts` has a counter for each value of each
/// digit.
template <class U, int kDigitBits, int kPasses>
Item<U>* radix_sort(Item<U>* items, Item<U>* other, std::int64_t count, std::uint32_t* counts) {
  constexpr int kBins = 1 << kDigitBits;
  const auto digit = [](const Item<U>& item, int pass) {
    return static_cast<int>(item.key() >> (pass * kDigitBits)) & (kBins - 1);
  };
  std::memset(counts, 0, sizeof(std::uint32_t) * kPasses * kBins);
  for (std::int64_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass * kBins + digit(items[i], pass)];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    std::uint32_t* const starts = counts + pass * kBins;
    // A digit that all items share changes nothing.
    if (starts[digit(items[0], pass)] == count) continue;
    std::uint32_t start = 0;
    for (int bin = kBins - 1; bin >= 0; --bin) {
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

/// The same of any keys. `counts` holds top_k_sort_counts(), if top_k_sorts_by_digits() says so.
template <class U>
Item<U>* sort_items(Item<U>* items, Item<U>* other, std::int64_t count, std::uint32_t* counts) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(U));
  if (!top_k_sorts_by_digits(kBytes, count)) {
    std::sort(items, items + count);
    return items;
  }
  constexpr int kDigitBits = tuning::kTopKSortDigitBits;
  constexpr int kPasses = digit_count(8 * static_cast<int>(sizeof(U)), kDigitBits);
  return radix_sort<U, kDigitBits, kPasses>(items, other, count, counts);
}

/// The same where only the lowest kBits bits of the keys may differ: many items by few long
/// digits, few by more and shorter ones. `counts` holds top_k_bucket_counts().
template <class U, int kBits>
Item<U>* sort_low_bits(Item<U>* items, Item<U>* other, std::int64_t count, std::uint32_t* counts) {
  if (count < tuning::kTopKBucketRadixLength) {
    std::sort(items, items + count);
    return items;
  }
  const auto sort_by = [&](auto most_bits) {
    constexpr int kPasses = digit_count(kBits, most_bits);
    constexpr int kDigitBits = digit_count(kBits, kPasses);
    static_assert(kPasses << kDigitBits <= top_k_bucket_counts(sizeof(U)));
    return radix_sort<U, kDigitBits, kPasses>(items, other, count, counts);
  };
  if (count < tuning::kTopKLongDigitsLength) {
    return sort_by(std::integral_constant<int, tuning::kTopKShortDigitBits>());
  }
  return sort_by(std::integral_constant<int, tuning::kTopKLongDigitBits>());
}

/// Moves the first k of count items, in order, to the front.
template <class U>
void select_by_partition(Item<U>* items, std::int64_t count, std::int64_t k) {
  if (k < count) std::nth_element(items, items + k, items + count);
  std::sort(items, items + k);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
