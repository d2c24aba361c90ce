// top-k for any k: the k-th highest rank digit by digit from histograms, then one pass that
// collects what ranks at least as high, then a sort of that. Takes as many passes over the row as
// the rank has digits, whatever the data.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

constexpr int kDigitBits = 11;
constexpr int kBins = 1 << kDigitBits;

template <class U>
constexpr int kDigits = (8 * static_cast<int>(sizeof(U)) + kDigitBits - 1) / kDigitBits;

/// Digit number d, 0 the lowest.
template <class U>
int digit(U rank, int d) {
  return static_cast<int>(rank >> (d * kDigitBits)) & (kBins - 1);
}

/// Which elements are the k highest: all above `rank`, and the first `equals` of those equal to it.
template <class U>
struct Threshold {
  U rank;
  std::int64_t equals;
};

template <class U>
Threshold<U> find_threshold(const TopKRow& row) {
  U prefix = 0;  // the digits known so far, the rest 0
  U known = 0;   // their bits
  std::int64_t wanted = row.k;
  for (int d = kDigits<U> - 1; d >= 0; --d) {
    // Two histograms by turns: equal neighbours do not wait for each other's store.
    std::uint32_t counts[2][kBins] = {};
    for_chunks<U>(row, 0, row.length, [&](std::int64_t, const U* ranks, std::int64_t count) {
      if (known == 0) {
        for (std::int64_t i = 0; i < count; ++i) ++counts[i & 1][digit(ranks[i], d)];
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          if ((ranks[i] & known) == prefix) ++counts[i & 1][digit(ranks[i], d)];
        }
      }
    });
    int bin = kBins - 1;
    std::int64_t inside = std::int64_t{counts[0][bin]} + counts[1][bin];
    while (inside < wanted && bin > 0) {
      wanted -= inside;
      --bin;
      inside = std::int64_t{counts[0][bin]} + counts[1][bin];
    }
    prefix = static_cast<U>(prefix | static_cast<U>(static_cast<U>(bin) << (d * kDigitBits)));
    known = static_cast<U>(known | static_cast<U>(static_cast<U>(kBins - 1) << (d * kDigitBits)));
    // The whole bin is wanted: everything from the prefix on.
    if (inside == wanted) break;
  }
  return {prefix, wanted};
}

/// Sorts items that stand in ascending order of position by descending rank, least significant
/// digit first, moving them between `items` and `other`; returns where they ended.
template <class U>
Item<U>* radix_sort(Item<U>* items, Item<U>* other, std::int64_t count) {
  for (int d = 0; d < kDigits<U>; ++d) {
    std::int64_t starts[kBins] = {};
    for (std::int64_t i = 0; i < count; ++i) ++starts[digit(items[i].rank(), d)];
    // A digit that all items share changes nothing.
    if (starts[digit(items[0].rank(), d)] == count) continue;
    std::int64_t start = 0;
    for (int bin = kBins - 1; bin >= 0; --bin) {
      const std::int64_t size = starts[bin];
      starts[bin] = start;
      start += size;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      other[starts[digit(items[i].rank(), d)]++] = items[i];
    }
    Item<U>* const sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

/// Scratch: twice as many items, plus one, as are sorted: `length` with `sort_all`, else k.
template <class U>
void top_k_radix(const TopKRow& row, TopKItem* out) {
  const std::int64_t wanted = row.sort_all ? row.length : row.k;
  auto* items = static_cast<Item<U>*>(row.scratch);
  if (row.sort_all) {
    for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) items[at + i] = Item<U>::make(ranks[i], at + i);
    });
  } else {
    const Threshold<U> threshold = find_threshold<U>(row);
    std::int64_t taken = 0;
    std::int64_t equals = 0;
    for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        // Written without a branch; kept only if counted. The bound holds by itself, unless
        // another thread changes the row meanwhile.
        items[taken] = Item<U>::make(ranks[i], at + i);
        const bool equal = ranks[i] == threshold.rank;
        taken += ((ranks[i] > threshold.rank) | (equal & (equals < threshold.equals))) &
                 (taken < wanted);
        equals += equal;
      }
    });
    fill_up(items, taken, wanted);
  }
  if (wanted > tuning::kTopKRadixSortLength) {
    items = radix_sort(items, items + wanted + 1, wanted);
  } else {
    std::sort(items, items + wanted);
  }
  write_items(items, row.k, out);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
