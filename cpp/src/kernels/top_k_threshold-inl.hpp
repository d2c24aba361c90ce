// Where a threshold for the k highest comes from: counting, or a sample.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
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
    const auto take = [&](std::int64_t at) {
      lanes -= reinterpret_cast<typename V::Type>(V::load(keys + at) >= t);
    };
    // A loop over one vector is so short that its alignment decides how fast it is.
    for (; i + 4 * V::kWidth <= end; i += 4 * V::kWidth) {
      for (int v = 0; v < 4; ++v) take(i + v * V::kWidth);
    }
    for (; i + V::kWidth <= end; i += V::kWidth) take(i);
    for (std::int64_t lane = 0; lane < V::kWidth; ++lane) {
      count += static_cast<std::int64_t>(lanes[lane]);
    }
  }
  for (; i < n; ++i) count += keys[i] >= t;
  return count;
}

/// A key that at least k keys reach, of which count(t) are at least t; if more than k do, it is the
/// k-th highest. Its bits from the highest on, each set if enough keys still reach it.
template <class U, class Count>
U key_reached_by(std::int64_t k, const Count& count) {
  U threshold = 0;
  for (int bit = 8 * static_cast<int>(sizeof(U)) - 1; bit >= 0; --bit) {
    const auto higher = static_cast<U>(threshold | static_cast<U>(U{1} << bit));
    const std::int64_t reached = count(higher);
    if (reached < k) continue;
    threshold = higher;
    if (reached == k) break;
  }
  return threshold;
}

template <class U>
U key_reached_by(const U* keys, std::int64_t n, std::int64_t k) {
  return key_reached_by<U>(k, [keys, n](U t) { return count_at_least(keys, n, t); });
}

/// The same of a row: as many passes over it as a key has bits, whatever the data.
template <class U>
U threshold_by_counting(const TopKRow& row) {
  return key_reached_by<U>(row.k, [&row](U t) {
    std::int64_t reached = 0;
    for_chunks<U>(row, [&](std::int64_t /*first*/, const U* keys, std::int64_t count) {
      reached += count_at_least(keys, count, t);
    });
    return reached;
  });
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
}  // namespace dmlcpu::DMLCPU_TARGET
