// top-k: items sorted, by comparison or by the digits of their keys, or divided by their keys.
#pragma once

#include <algorithm>

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Sorts items, given with equal keys in ascending order of position, by descending key: an LSD
/// radix sort, which moves them between `items` and `other`; returns where they ended. `counts` has
/// a counter for each value of each digit.
template <int kDigitBits, class Item>
Item* radix_sort(Item* items, Item* other, std::int64_t count, std::uint32_t* counts) {
  constexpr int kBins = 1 << kDigitBits;
  constexpr int kPasses = digit_count(8 * static_cast<int>(sizeof(typename Item::Key)), kDigitBits);
  const auto digit = [](const Item& item, int pass) {
    return static_cast<int>(item.key() >> (pass * kDigitBits)) & (kBins - 1);
  };
  constexpr auto kLineItems = kCacheLine / static_cast<std::int64_t>(sizeof(Item));
  const bool prefetches = count >= tuning::kTopKSortPrefetchLength;
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
    for (std::int64_t i = 0; i < count; ++i) {
      Item* const to = other + starts[digit(items[i], pass)]++;
      if (prefetches) prefetch(to + kLineItems);
      *to = items[i];
    }
    std::swap(items, other);
  }
  return items;
}

/// Sorts few items, given with equal keys in ascending order of position: each item's place is the
/// number of keys above its own, and of equal keys before it. n^2 comparisons, but n / width
/// vectors of them, and no branch to mispredict, unlike a sort by comparison.
template <class Item>
void sort_few(Item* items, std::int64_t count) {
  using U = typename Item::Key;
  using V = Vector<U>;
  constexpr std::int64_t kMost = tuning::kTopKPairwiseLength;
  U keys[kMost + V::kWidth];
  Item unsorted[kMost];
  std::uint8_t equals[kMost];
  for (std::int64_t i = 0; i < count; ++i) {
    keys[i] = items[i].key();
    unsorted[i] = items[i];
    equals[i] = 0;
  }
  V::store(keys + count, V::all(0));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    const typename V::Type key = V::all(keys[i]);
    for (std::int64_t j = 0; j < count; j += V::kWidth) {
      place += __builtin_popcountll(bits_of_mask<sizeof(U)>(V::load(keys + j) > key));
    }
    place += equals[place]++;
    items[place] = unsorted[i];
  }
}

/// TopKRowKernels::sort. `to` may be null: items are then not sorted by digits.
template <class Item>
const void* sort_first(void* from, void* to, std::int64_t count, std::int64_t wanted,
                       std::uint32_t* counts) {
  using U = typename Item::Key;
  Item* const items = static_cast<Item*>(from);
  Item* const others = static_cast<Item*>(to);
  if (count <=
      min_of(tuning::kTopKPairwiseVectors * Vector<U>::kWidth, tuning::kTopKPairwiseLength)) {
    sort_few(items, count);
    return items;
  }
  if (others != nullptr && top_k_sort_counts(sizeof(U), count) > 0) {
    return top_k_digit_bits(sizeof(U), count) == tuning::kTopKWideDigitBits
               ? radix_sort<tuning::kTopKWideDigitBits>(items, others, count, counts)
               : radix_sort<tuning::kTopKDigitBits>(items, others, count, counts);
  }
  // Many items of blocks are those of data that rise block by block, which a heap is slow with.
  if (wanted < count) std::nth_element(items, items + wanted, items + count);
  std::sort(items, items + wanted);
  return items;
}

template <class Item>
TopKRange range_of(const void* items, std::int64_t count) {
  TopKRange range = {~std::uint64_t{0}, 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t number = static_cast<const Item*>(items)[i].number();
    range = {min_of(range.lowest, number), max_of(range.highest, number)};
  }
  return range;
}

template <class Item>
void count_bins(const void* items, std::int64_t count, const TopKBins& bins, std::int64_t* counts) {
  std::memset(counts, 0, sizeof(std::int64_t) * kTopKBinCount);
  for (std::int64_t i = 0; i < count; ++i) {
    ++counts[static_cast<const Item*>(items)[i].bin(bins)];
  }
}

template <class Item>
void distribute(const void* items, std::int64_t count, const TopKBins& bins, std::int64_t* places,
                void* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Item item = static_cast<const Item*>(items)[i];
    static_cast<Item*>(to)[places[bins.buckets[item.bin(bins)]]++] = item;
  }
}

/// A chunk at a time: to look up every element by itself would wait for memory each time, if the
/// row is long.
template <class Item>
void write_items(const TopKRow& row, const void* all, std::int64_t all_count,
                 const Outputs& outputs) {
  using U = typename Item::Key;
  constexpr std::int64_t kChunk = tuning::kTopKWriteChunk;
  U values[kChunk];
  std::uint64_t indices[kChunk];
  // Where it takes less time than to look up results, look whether booleans are other than 0 and 1.
  const bool looks = sizeof(U) == 1 && !row.element->rule.is_integer && row.stride == 1 &&
                     outputs.values.data != nullptr && row.length <= all_count * kCacheLine;
  const bool odd = !looks || any_odd(element_at<U>(row, row.first), row.length);
  const KeyRule rule = rule_of_values<U>(row.element->rule, odd);
  for (std::int64_t done = 0; done < all_count; done += kChunk) {
    const Item* const items = static_cast<const Item*>(all) + done;
    write_results(
        rule, 1, min_of(kChunk, all_count - done), outputs_at<U>(outputs, 0, 0, done),
        &Output::k_stride, values, indices,
        [items](std::int64_t /*one*/, std::int64_t i) { return items[i].key(); },
        [items](std::int64_t /*one*/, std::int64_t i) { return items[i].position(); },
        [&row](std::int64_t /*one*/, std::int64_t /*lane*/, std::int64_t at) {
          return *element_at<U>(row, at);
        });
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
