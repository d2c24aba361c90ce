// top-k for any k: a threshold, then a pass that collects what ranks at least as high, then a sort
// of that. The threshold is guessed from a sample of the row; where the guess turns out to be too
// high or far too low, it is found digit by digit from histograms, in as many passes over the row
// as the rank has digits, whatever the data.
#pragma once

#include "kernels/top_k_candidates-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"

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

/// A rank that somewhat more than k elements probably reach, as far as a sample tells, which lies
/// in `sample` meanwhile: tuning::top_k_sample() elements, spread over the row without a period.
template <class U>
U sampled_rank(const TopKRow& row, U* sample) {
  const std::int64_t count = tuning::top_k_sample(row.length);
  const std::int64_t step = row.length / count;
  std::uint32_t random = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    random = random * 1664525 + 1013904223;
    const std::int64_t at = i * step + static_cast<std::int64_t>(random >> 8) % step;
    row.load(static_cast<const char*>(row.data) + at * row.stride * row.element_size, row.stride, 1,
             sample + i);
  }
  // The number of sampled elements among the k highest varies by its square root; four times that
  // is hardly ever exceeded.
  const double expected =
      static_cast<double>(row.k) * static_cast<double>(count) / static_cast<double>(row.length);
  std::int64_t above = 0;
  while (static_cast<double>(above) < expected) ++above;
  std::int64_t margin = 2;
  while (margin * margin < 16 * above) ++margin;
  const std::int64_t at = min_of(above + margin, count) - 1;
  auto* ordered = reinterpret_cast<Descending<U>*>(sample);
  std::nth_element(ordered, ordered + at, ordered + count);
  return ordered[at].rank;
}

/// Collects all elements above `rank` and the first k equal to it, in ascending order of position;
/// returns how many, or 0 if they are fewer than k or more than `room`.
template <class U>
std::int64_t collect(const TopKRow& row, U rank, Item<U>* items, std::int64_t room) {
  std::int64_t taken = 0;
  std::int64_t equals = 0;
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    for (std::int64_t group = 0; group < count; group += kLanes<U>) {
      const std::int64_t end = min_of(group + kLanes<U>, count);
      if (taken > room - kLanes<U>) {
        taken = room + 1;
        return;
      }
      const bool whole = end - group == kLanes<U>;
      if (equals >= row.k && rank == static_cast<U>(~U{0})) return;
      const auto lowest = static_cast<U>(rank + (equals >= row.k));
      const auto take = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          // Written without a branch; kept only if counted.
          items[taken] = Item<U>::make(ranks[i], at + i);
          taken += ranks[i] >= lowest;
          equals += ranks[i] == rank;
        }
      };
      if (!whole) {
        take(group, end);
        continue;
      }
      if (!any_at_least(ranks + group, lowest)) continue;
      for (std::int64_t i = group; i < end; i += Vector<U>::kWidth) {
        if (Words(Vector<U>::load(ranks + i) >= lowest).any()) take(i, i + Vector<U>::kWidth);
      }
    }
  });
  return taken <= room && taken >= row.k ? taken : 0;
}

/// Collects the k elements that a threshold from histograms selects.
template <class U>
void collect_exactly(const TopKRow& row, Item<U>* items) {
  const Threshold<U> threshold = find_threshold<U>(row);
  std::int64_t taken = 0;
  std::int64_t equals = 0;
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      // Written without a branch; kept only if counted. The bound holds by itself, unless another
      // thread changes the row meanwhile.
      items[taken] = Item<U>::make(ranks[i], at + i);
      const bool equal = ranks[i] == threshold.rank;
      taken +=
          ((ranks[i] > threshold.rank) | (equal & (equals < threshold.equals))) & (taken < row.k);
      equals += equal;
    }
  });
  fill_up(items, taken, row.k);
}

/// Scratch: twice top_k_radix_room() items and one; then, aligned to 64 bytes, the sample's ranks.
template <class U>
void top_k_radix(const TopKRow& row, TopKItem* out) {
  const std::int64_t room = tuning::top_k_radix_room(row.length, row.k, row.sort_all);
  auto* items = static_cast<Item<U>*>(row.scratch);
  std::int64_t count = 0;
  if (row.sort_all) {
    count = row.length;
    for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t in_chunk) {
      for (std::int64_t i = 0; i < in_chunk; ++i) items[at + i] = Item<U>::make(ranks[i], at + i);
    });
  } else {
    if (tuning::top_k_sample(row.length) > 0) {
      const std::int64_t bytes =
          (2 * (room + 1) * static_cast<std::int64_t>(sizeof(Item<U>)) + 63) / 64 * 64;
      auto* sample = reinterpret_cast<U*>(static_cast<char*>(row.scratch) + bytes);
      count = collect(row, sampled_rank(row, sample), items, room);
    }
    if (count == 0) {
      collect_exactly(row, items);
      count = row.k;
    }
  }
  write_items(sort_items(items, items + room + 1, count), row.k, out);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
