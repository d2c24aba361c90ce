// top-k: items selected and sorted, by comparison or by the digits of their keys.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Sorts items in ascending order of position by descending key, of which only the lowest kPasses *
/// kDigitBits bits may differ: an LSD radix sort, which moves them between `items` and `other`;
/// returns where they ended. `counts` has a counter for each value of each digit.
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
    const auto distribute = [&](auto prefetches) {
      for (std::int64_t i = 0; i < count; ++i) {
        Item<U>* const to = other + starts[digit(items[i], pass)]++;
        if constexpr (prefetches) prefetch(to + kCacheLine / static_cast<std::int64_t>(sizeof *to));
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

/// Writes the first `wanted` of few items in ascending order of position, in order: each item's
/// place is the number of keys above its own, and of equal keys before it. n^2 comparisons, but n /
/// width vectors of them, and no branch to mispredict, unlike a sort by comparison.
template <class U>
void write_ranked(const Item<U>* items, std::int64_t count, std::int64_t wanted, TopKItem* to) {
  using V = Vector<U>;
  constexpr std::int64_t kMost = tuning::kTopKRankedLength;
  U keys[kMost + V::kWidth];
  std::uint8_t equals[kMost];
  for (std::int64_t i = 0; i < count; ++i) keys[i] = items[i].key();
  V::store(keys + count, V::all(0));
  std::memset(equals, 0, static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    const typename V::Type key = V::all(keys[i]);
    for (std::int64_t j = 0; j < count; j += V::kWidth) {
      place += __builtin_popcountll(bits_of_mask<sizeof(U)>(V::load(keys + j) > key));
    }
    place += equals[place]++;
    if (place < wanted) to[place] = {std::uint64_t{keys[i]}, items[i].position()};
  }
}

/// Writes the first `wanted` of items in ascending order of position, in order. `others` has
/// capacity for as many, and `counts` for the counters, if top_k_sorts_by_digits() says so.
template <class U>
void write_first(Item<U>* items, Item<U>* others, std::int64_t count, std::int64_t wanted,
                 std::uint32_t* counts, TopKItem* to) {
  constexpr std::int64_t kFew =
      min_of(tuning::kTopKRankedVectors * Vector<U>::kWidth, tuning::kTopKRankedLength);
  if (count <= kFew) return write_ranked(items, count, wanted, to);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(U));
  const Item<U>* sorted = items;
  if (others != nullptr && top_k_sorts_by_digits(kBytes, count)) {
    constexpr int kDigitBits = tuning::kTopKSortDigitBits;
    constexpr int kPasses = digit_count(8 * static_cast<int>(sizeof(U)), kDigitBits);
    sorted = radix_sort<U, kDigitBits, kPasses>(items, others, count, counts);
  } else {
    // Many items of blocks are those of data that rise block by block, which a heap is slow with.
    if (wanted < count) std::nth_element(items, items + wanted, items + count);
    std::sort(items, items + wanted);
  }
  write_items(sorted, wanted, to);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
