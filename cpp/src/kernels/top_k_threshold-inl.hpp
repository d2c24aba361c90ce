// Where a threshold for the k highest comes from: counting, or a sample.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// How many of n keys are at least t.
template <class U>
std::int64_t count_at_least(const U* keys, std::int64_t n, U t) {
  using V = Vector<U>;
  constexpr std::int64_t kGroup = 4 * V::kWidth;
  // A comparison that holds is -1 in its lane, which counts up to 255 of them before it wraps.
  constexpr std::int64_t kLeast = V::kWidth * 252;
  const auto high = [keys, t](std::int64_t i) { return V::load(keys + i) >= t; };
  std::int64_t count = 0;
  std::int64_t i = 0;
  while (i + kGroup <= n) {
    const std::int64_t end = min_of(n, i + kLeast);
    typename V::Type lanes{};
    // A loop over one vector is so short that its alignment decides how fast it is.
    for (; i + kGroup <= end; i += kGroup) {
      unroll<4>(
          [&](auto v) { lanes -= reinterpret_cast<typename V::Type>(high(i + v * V::kWidth)); });
    }
    if constexpr (sizeof(U) > 1) {
      count += static_cast<std::int64_t>(reduce<U>(lanes, [](auto a, auto b) { return a + b; }));
    } else {
      for (std::int64_t l = 0; l < V::kWidth; ++l) count += static_cast<std::int64_t>(lanes[l]);
    }
  }
  for (; i + V::kWidth <= n; i += V::kWidth) {
    count += __builtin_popcountll(bits_of_mask<sizeof(U)>(high(i)));
  }
  for (; i < n; ++i) count += keys[i] >= t;
  return count;
}

/// A threshold with at least k keys at or above it, where count(t) are at or above t; if there are
/// more than k, it is the k-th highest key. Its lower `bits` from the highest on, each set if k
/// keys still are at or above it; all keys have the others of `threshold`.
template <class U, class Count>
U threshold_of(std::int64_t k, const Count& count, U threshold = 0,
               int bits = 8 * static_cast<int>(sizeof(U))) {
  while (bits > 0) {
    const auto higher = static_cast<U>(threshold | static_cast<U>(U{1} << --bits));
    const std::int64_t above = count(higher);
    if (above < k) continue;
    threshold = higher;
    if (above == k) break;
  }
  return threshold;
}

/// The same of n keys, n >= k. The upper bits that all share, as numbers of one magnitude have, are
/// not searched for.
template <class U>
U threshold_of(const U* keys, std::int64_t n, std::int64_t k) {
  U differ = 0;
  for (std::int64_t i = 0; i < n; ++i) differ |= static_cast<U>(keys[i] ^ keys[0]);
  if (differ == 0) return keys[0];
  const int bits = 64 - __builtin_clzll(std::uint64_t{differ});
  const U lower = static_cast<U>((std::uint64_t{2} << (bits - 1)) - 1);
  return threshold_of(
      k, [keys, n](U t) { return count_at_least(keys, n, t); }, static_cast<U>(keys[0] & ~lower),
      bits);
}

/// The same of a row: as many passes over it as a key has bits, whatever the data.
template <class U>
U threshold_by_counting(const TopKRow& row) {
  return threshold_of<U>(row.k, [&row](U t) {
    std::int64_t above = 0;
    for_chunks<U>(row, [&](std::int64_t /*first*/, const U* keys, std::int64_t count) {
      above += count_at_least(keys, count, t);
    });
    return above;
  });
}

/// A key with probably somewhat more than k elements at or above it, from a stratified sample: one
/// element of each step of the row, at positions from a sequence that is walked twice, the first
/// time to prefetch. `keys` has capacity for the sample's.
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
  return threshold_of(keys, sample, row.selection->sample_k);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
