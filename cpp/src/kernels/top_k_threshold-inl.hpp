// Where a threshold for the k highest comes from: counting, histograms of digits, or a sample.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu::DMLCPU_LEVEL {
namespace {

/// How many of n keys are at least t.
template <class U>
std::int64_t count_at_least(const U* keys, std::int64_t n, U t) {
  using V = Vector<U>;
  // A comparison that holds is -1 in its lane, which counts up to 255 of them before it wraps.
  constexpr std::int64_t kLeast = V::kWidth * 255;
  std::int64_t count = 0;
  std::int64_t i = 0;
  while (i + V::kWidth <= n) {
    const std::int64_t end = min_of(n, i + kLeast);
    typename V::Type lanes{};
    for (; i + V::kWidth <= end; i += V::kWidth) {
      lanes -= reinterpret_cast<typename V::Type>(V::load(keys + i) >= t);
    }
    for (std::int64_t lane = 0; lane < V::kWidth; ++lane) {
      count += static_cast<std::int64_t>(lanes[lane]);
    }
  }
  for (; i < n; ++i) count += keys[i] >= t;
  return count;
}

/// A key that at least k of n keys reach, 1 <= k <= n; if more than k do, it is the k-th highest.
/// Its bits from the highest on, each set if enough keys still reach it.
template <class U>
U key_reached_by(const U* keys, std::int64_t n, std::int64_t k) {
  U threshold = 0;
  for (int bit = 8 * static_cast<int>(sizeof(U)) - 1; bit >= 0; --bit) {
    const auto higher = static_cast<U>(threshold | static_cast<U>(U{1} << bit));
    const std::int64_t reached = count_at_least(keys, n, higher);
    if (reached < k) continue;
    threshold = higher;
    if (reached == k) break;
  }
  return threshold;
}

/// The same of a row, digit by digit from histograms: as many passes over the row as a key has
/// digits, whatever the data. `counts` has kTopKHistogramCounts.
template <class U>
U threshold_by_histograms(const TopKRow& row, std::uint32_t* counts) {
  constexpr int kBits = tuning::kTopKHistogramBits;
  constexpr int kBins = 1 << kBits;
  const auto digit = [](U key, int d) {
    return static_cast<int>(key >> (d * kBits)) & (kBins - 1);
  };
  U prefix = 0;  // the digits known so far, the rest 0
  U known = 0;   // their bits
  std::int64_t wanted = row.k;
  for (int d = digit_count(8 * static_cast<int>(sizeof(U)), kBits) - 1; d >= 0; --d) {
    // Two histograms alternately: equal neighbours do not wait for each other's store.
    std::memset(counts, 0, sizeof(std::uint32_t) * kTopKHistogramCounts);
    for_chunks<U>(row, [&](std::int64_t, const U* keys, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        if ((keys[i] & known) == prefix) ++counts[(i & 1) * kBins + digit(keys[i], d)];
      }
    });
    const auto inside = [counts](int bin) {
      return std::int64_t{counts[bin]} + counts[kBins + bin];
    };
    int bin = kBins - 1;
    for (; inside(bin) < wanted && bin > 0; --bin) wanted -= inside(bin);
    prefix = static_cast<U>(prefix | static_cast<U>(static_cast<U>(bin) << (d * kBits)));
    known = static_cast<U>(known | static_cast<U>(static_cast<U>(kBins - 1) << (d * kBits)));
    // The whole bin is wanted: everything from the prefix on.
    if (inside(bin) == wanted) break;
  }
  return prefix;
}

/// A key that somewhat more than k elements probably reach, from a stratified sample: one element
/// of each step of the row, at positions from a sequence that is walked twice, the first time to
/// prefetch. `keys` has capacity for the sample's.
template <class U>
U threshold_by_sample(const TopKRow& row, U* keys) {
  const std::int64_t sample = row.selection->keys;
  const std::int64_t step = row.length / sample;
  auto walk = [&row, step, random = std::uint32_t{1}, first = row.first]() mutable {
    random = random * 1664525 + 1013904223;
    const U* const element =
        element_at<U>(row, first + static_cast<std::int64_t>(random >> 8) % step);
    first += step;
    return element;
  };
  auto ahead = walk;
  for (std::int64_t i = 0; i < tuning::kTopKSamplePrefetch; ++i) prefetch(ahead());
  U sampled[kKeyChunk<U>];
  for (std::int64_t first = 0; first < sample; first += kKeyChunk<U>) {
    const std::int64_t count = min_of(kKeyChunk<U>, sample - first);
    for (std::int64_t i = 0; i < count; ++i) {
      prefetch(ahead());
      sampled[i] = *walk();
    }
    row.element->load(sampled, 1, count, keys + first);
  }
  return key_reached_by(keys, sample, row.selection->sample_reaches);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_LEVEL
