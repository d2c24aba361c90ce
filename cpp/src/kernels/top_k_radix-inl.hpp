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

constexpr int kDigitBits = tuning::kTopKHistogramBits;
constexpr int kBins = 1 << kDigitBits;

template <class U>
constexpr int kDigits = digit_count(8 * static_cast<int>(sizeof(U)), kDigitBits);

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

/// `counts` has kTopKHistogramCounts.
template <class U>
Threshold<U> find_threshold(const TopKRow& row, std::uint32_t* counts) {
  std::uint32_t* const odd = counts + kBins;
  U prefix = 0;  // the digits known so far, the rest 0
  U known = 0;   // their bits
  std::int64_t wanted = row.k;
  for (int d = kDigits<U> - 1; d >= 0; --d) {
    // Two histograms alternately: equal neighbours do not wait for each other's store.
    std::memset(counts, 0, sizeof(std::uint32_t) * kTopKHistogramCounts);
    for_chunks<U>(row, 0, row.length, [&](std::int64_t, const U* ranks, std::int64_t count) {
      if (known == 0) {
        for (std::int64_t i = 0; i < count; ++i) ++counts[(i & 1) * kBins + digit(ranks[i], d)];
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          if ((ranks[i] & known) == prefix) ++counts[(i & 1) * kBins + digit(ranks[i], d)];
        }
      }
    });
    int bin = kBins - 1;
    std::int64_t inside = std::int64_t{counts[bin]} + odd[bin];
    while (inside < wanted && bin > 0) {
      wanted -= inside;
      --bin;
      inside = std::int64_t{counts[bin]} + odd[bin];
    }
    prefix = static_cast<U>(prefix | static_cast<U>(static_cast<U>(bin) << (d * kDigitBits)));
    known = static_cast<U>(known | static_cast<U>(static_cast<U>(kBins - 1) << (d * kDigitBits)));
    // The whole bin is wanted: everything from the prefix on.
    if (inside == wanted) break;
  }
  return {prefix, wanted};
}

/// Positions in ascending order, one in each step of the row, from a sequence that two can walk.
template <class U>
void sample_ranks(const TopKRow& row, void* ranks) {
  const std::int64_t step = row.length / row.sample;
  struct Position {
    std::uint32_t random = 1;
    std::int64_t first = 0;
  };
  const auto next = [&row, step](Position& position) {
    position.random = position.random * 1664525 + 1013904223;
    const std::int64_t at = position.first + static_cast<std::int64_t>(position.random >> 8) % step;
    position.first += step;
    return static_cast<const char*>(row.data) + at * row.stride * row.element_size;
  };
  Position ahead;
  for (std::int64_t i = 0; i < tuning::kTopKSamplePrefetch; ++i) prefetch(next(ahead));
  Position position;
  U sampled[kRankChunk<U>];
  for (std::int64_t first = 0; first < row.sample; first += kRankChunk<U>) {
    const std::int64_t count = min_of(kRankChunk<U>, row.sample - first);
    for (std::int64_t i = 0; i < count; ++i) {
      prefetch(next(ahead));
      std::memcpy(sampled + i, next(position), sizeof(U));
    }
    row.load(sampled, 1, count, static_cast<U*>(ranks) + first);
  }
}

template <class U>
std::uint64_t guess(const void* ranks, std::int64_t n, std::int64_t k) {
  return threshold_for(static_cast<const U*>(ranks), n, k);
}

/// Collects the elements that a threshold from histograms selects, which are k, unless another
/// thread changes the row meanwhile.
template <class U>
void collect_exactly(const TopKRow& row, std::uint32_t* counts, Item<U>* items) {
  const Threshold<U> threshold = find_threshold<U>(row, counts);
  Collector<U> selected(threshold.rank, threshold.equals, items, row.k);
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    selected.take(ranks, count, at);
  });
  fill_up(items, selected.count(), row.k);
}

/// Collects the elements that reach a guess, if there is room for them; false if there are more.
template <class U>
bool collect_guessed(const TopKRow& row, U guessed, Item<U>* items, std::int64_t* count) {
  Collector<U> candidates(guessed, row.k, items, row.room);
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t in_chunk) {
    if (!candidates.full()) candidates.take(ranks, in_chunk, at);
  });
  *count = candidates.count();
  return !candidates.full();
}

/// Scratch: kTopKHistogramCounts counters; twice row.room items and one; then, aligned to 64 bytes,
/// the sample's ranks.
template <class U>
std::int64_t top_k_radix(const TopKRow& row, TopKItem* out) {
  static_assert(kTopKHistogramCounts >= top_k_sort_counts(sizeof(U)));
  auto* const counts = static_cast<std::uint32_t*>(row.scratch);
  auto* const items = reinterpret_cast<Item<U>*>(counts + kTopKHistogramCounts);
  std::int64_t count = 0;
  if (row.sort_all) {
    count = row.length;
    for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t in_chunk) {
      for (std::int64_t i = 0; i < in_chunk; ++i) items[at + i] = Item<U>::make(ranks[i], at + i);
    });
  } else {
    bool collected = false;
    if (row.guess != nullptr) {
      collected = collect_guessed(row, static_cast<U>(*row.guess), items, &count);
    } else if (row.sample > 0) {
      const std::int64_t bytes =
          round_up(2 * (row.room + 1) * static_cast<std::int64_t>(sizeof(Item<U>)));
      auto* const sample = reinterpret_cast<U*>(reinterpret_cast<char*>(items) + bytes);
      sample_ranks<U>(row, sample);
      const U guessed = threshold_for(sample, row.sample, row.sample_reaches);
      collected = collect_guessed(row, guessed, items, &count) && count >= row.k;
    }
    if (!collected) {
      collect_exactly(row, counts, items);
      count = row.k;
    }
  }
  const std::int64_t selected = min_of(count, row.k);
  write_items(sort_items(items, items + row.room + 1, count, counts), selected, out);
  return selected;
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
