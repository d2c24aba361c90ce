// top-k: items sorted, by comparison or by the digits of their keys, or divided by their keys.
#pragma once

#include <algorithm>

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Histograms of the items' digits, one for each of several equal shares of the items, and the move
/// of the items by them. The shares are walked side by side: a counter is often loaded soon after
/// it was stored, which waits for store-to-load forwarding, but the other shares go on meanwhile.
/// Counters are in the order of digits, those of a digit in the order of the shares.
template <class Counter>
struct DigitHistograms {
  static constexpr std::int64_t kShares = tuning::kTopKHistograms;
  Counter* counts;

  template <class Item, class Digit>
  void count(const Item* items, std::int64_t count, std::int64_t digits, const Digit& digit) {
    std::memset(counts, 0, sizeof(Counter) * static_cast<std::size_t>(digits * kShares));
    const std::int64_t length = count / kShares;
    for (std::int64_t i = 0; i < length; ++i) {
      unroll<kShares>([&](auto s) { ++counts[digit(items[s * length + i]) * kShares + s]; });
    }
    for (std::int64_t i = kShares * length; i < count; ++i) {
      ++counts[digit(items[i]) * kShares + kShares - 1];
    }
  }
  /// A digit's counts become the places of its items, share by share from `place` on; returns the
  /// place after them.
  Counter place(std::int64_t digit, Counter place) {
    for (std::int64_t s = digit * kShares; s < (digit + 1) * kShares; ++s) {
      place += std::exchange(counts[s], place);
    }
    return place;
  }
  template <class Item, class Digit>
  void move(const Item* items, std::int64_t count, const Digit& digit, Item* to) {
    const std::int64_t length = count / kShares;
    for (std::int64_t i = 0; i < length; ++i) {
      Item moved[kShares];
      Counter places[kShares];
      unroll<kShares>([&](auto s) { moved[s] = items[s * length + i]; });
      unroll<kShares>([&](auto s) { places[s] = counts[digit(moved[s]) * kShares + s]++; });
      // After all loads: where a load waits for the addresses of earlier stores (memory
      // disambiguation), it would wait for each.
      unroll<kShares>([&](auto s) { to[places[s]] = moved[s]; });
    }
    for (std::int64_t i = kShares * length; i < count; ++i) {
      to[counts[digit(items[i]) * kShares + kShares - 1]++] = items[i];
    }
  }
};

/// Inserts each item into those before it, which are sorted.
template <class Item>
void insertion_sort(Item* items, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i) {
    const Item inserted = items[i];
    std::int64_t place = i;
    for (; place > 0 && inserted < items[place - 1]; --place) items[place] = items[place - 1];
    items[place] = inserted;
  }
}

/// How many binary digits a number has.
constexpr int binary_digits(std::uint64_t n) { return n == 0 ? 0 : 64 - __builtin_clzll(n); }

/// Sorts items, given with equal keys in ascending order of position, by descending key: an LSD
/// radix sort, which moves them between `items` and `others`; returns where they ended. `counts`
/// has top_k_sort_counts(). It takes the highest bits of a key's distance from the lowest one, as
/// many as tell most keys apart; items equal in these are sorted again.
template <class Item>
Item* radix_sort(Item* items, Item* others, std::int64_t count, std::uint32_t* counts) {
  using U = typename Item::Key;
  U lowest = 0;
  U highest = static_cast<U>(~U{0});
  // All bits of bytes are one digit.
  if constexpr (sizeof(U) > 1) {
    lowest = highest = items[0].key();
    for (std::int64_t i = 1; i < count; ++i) {
      lowest = min_of(lowest, items[i].key());
      highest = max_of(highest, items[i].key());
    }
  }
  const int range_bits = binary_digits(static_cast<U>(highest - lowest));
  const int count_bits = binary_digits(static_cast<std::uint64_t>(count));
  const int key_bits = min_of(range_bits, count_bits + tuning::kTopKSpareBits);
  // At most as many values of a digit as items.
  const int most = min_of(tuning::kTopKDigitBits, count_bits - 1);
  const int passes = (key_bits + most - 1) / most;
  if (passes == 0) return items;
  const int bits = (key_bits + passes - 1) / passes;
  const int low = max_of(range_bits - passes * bits, 0);
  DigitHistograms<std::uint32_t> histograms = {counts};
  for (int pass = 0; pass < passes; ++pass) {
    const std::int64_t last = (std::int64_t{1} << bits) - 1;
    const auto digit = [lowest, last, shift = low + pass * bits](const Item& item) {
      return static_cast<std::int64_t>(static_cast<U>(item.key() - lowest) >> shift) & last;
    };
    histograms.count(items, count, last + 1, digit);
    std::uint32_t place = 0;
    for (std::int64_t d = last; d >= 0; --d) place = histograms.place(d, place);
    histograms.move(items, count, digit, others);
    std::swap(items, others);
  }
  if (low == 0) return items;
  // Where two are in the wrong order, all that are equal in the sorted bits are sorted again.
  const auto alike = [lowest, low](const Item& a, const Item& b) {
    return static_cast<U>(a.key() - lowest) >> low == static_cast<U>(b.key() - lowest) >> low;
  };
  for (std::int64_t i = 1; i < count; ++i) {
    if (!(items[i] < items[i - 1])) continue;
    std::int64_t first = i - 1;
    while (first > 0 && alike(items[first - 1], items[i])) --first;
    while (i < count && alike(items[i], items[first])) ++i;
    if (i - first < tuning::kTopKInsertionLength) {
      insertion_sort(items + first, i - first);
    } else {
      const Item* const sorted = radix_sort(items + first, others + first, i - first, counts);
      if (sorted != items + first) std::copy(sorted, sorted + (i - first), items + first);
    }
  }
  return items;
}

/// Copies few items, given with equal keys in ascending order of position, to where they are in
/// descending order of their keys, by comparison counting: each item's place is the number of keys
/// above its own, and of equal keys before it. n^2 comparisons, but n / width vectors of them, and
/// no branch to mispredict, unlike a sort by comparison.
template <class Item>
void sort_few(const Item* items, std::int64_t count, Item* to) {
  using U = typename Item::Key;
  using Signed = typename IntegersOf<sizeof(U)>::Signed;
  using V = Vector<Signed>;
  using Places = Vector<U>;
  constexpr U kFlip = U{1} << (8 * sizeof(U) - 1);
  constexpr int kVectors = 2;
  constexpr std::int64_t kAtOnce = kVectors * V::kWidth;
  Signed keys[tuning::kTopKPairwiseLength + kAtOnce];
  Signed numbers[kAtOnce];
  U places[kAtOnce];
  for (std::int64_t i = 0; i < count; ++i) keys[i] = static_cast<Signed>(items[i].key() ^ kFlip);
  for (std::int64_t l = 0; l < kAtOnce; ++l) {
    keys[count + l] = 0;
    numbers[l] = static_cast<Signed>(l);
  }
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    const std::int64_t after = min_of(first + kAtOnce, count);
    typename V::Type own[kVectors];
    typename Places::Type place[kVectors];
    const auto for_keys = [&](std::int64_t begin, std::int64_t end, const auto& each) {
      for (std::int64_t j = begin; j < end; ++j) {
        unroll<kVectors>([&, key = V::all(keys[j])](auto v) { each(v, j, key); });
      }
    };
    unroll<kVectors>([&](auto v) {
      own[v] = V::load(keys + first + v * V::kWidth);
      place[v] = Places::all(static_cast<U>(first));
    });
    // Masks are -1. Places of bytes do not fit their signed type.
    const auto ones = [](auto mask) { return reinterpret_cast<typename Places::Type>(mask); };
    for_keys(0, first, [&](auto v, std::int64_t, auto key) { place[v] += ones(own[v] > key); });
    for_keys(first, after, [&](auto v, std::int64_t j, auto key) {
      const auto later = V::load(numbers + v * V::kWidth) > V::all(static_cast<Signed>(j - first));
      place[v] -= ones((key > own[v]) | ((key == own[v]) & later));
    });
    for_keys(after, count, [&](auto v, std::int64_t, auto key) { place[v] -= ones(key > own[v]); });
    unroll<kVectors>([&](auto v) { Places::store(places + v * V::kWidth, place[v]); });
    for (std::int64_t i = first; i < after; ++i) to[places[i - first]] = items[i];
  }
}

/// TopKRowKernels::sort.
template <class Item>
const void* sort_items(void* from, void* to, std::int64_t count, std::uint32_t* counts) {
  Item* const items = static_cast<Item*>(from);
  Item* const others = static_cast<Item*>(to);
  if (!top_k_compares_items(Vector<typename Item::Key>::kWidth, count)) {
    return radix_sort(items, others, count, counts);
  }
  sort_few(items, count, others);
  return others;
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
void distribute(const void* all, std::int64_t count, const TopKBins& bins, std::int64_t* places,
                void* to) {
  const auto bucket = [&bins](const Item& item) {
    return std::int64_t{bins.buckets[item.bin(bins)]};
  };
  const Item* const items = static_cast<const Item*>(all);
  // The counts of bins after the buckets' places are no longer needed: scratch memory.
  DigitHistograms<std::int64_t> histograms = {places + kTopKMostBuckets};
  histograms.count(items, count, kTopKMostBuckets, bucket);
  for (std::int64_t b = 0; b < kTopKMostBuckets; ++b) histograms.place(b, places[b]);
  histograms.move(items, count, bucket, static_cast<Item*>(to));
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
