// The threshold for the k highest of some keys, by counting; and of a row, from a sample of it.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// How many of n keys are at least t.
template <class U>
std::int64_t count_at_least(const U* keys, std::int64_t n, U t) {
  using V = Vector<U>;
  constexpr std::int64_t kGroup = 4 * V::kWidth;
  // Lanes gain 1 for each comparison that holds. A byte wraps after 255, so sum up before that.
  constexpr std::int64_t kMostKeys = V::kWidth * 252;
  const auto high = [keys, t](std::int64_t i) { return V::load(keys + i) >= t; };
  std::int64_t count = 0;
  std::int64_t i = 0;
  while (i + kGroup <= n) {
    const std::int64_t end = min_of(n, i + kMostKeys);
    typename V::Type lanes{};
    // Four vectors at a time: the speed of a shorter loop depends on its alignment.
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

/// A threshold with at least k of n keys at or above it, n >= k; if there are more than k, it is
/// the k-th highest key. Found bit by bit from the highest: a bit is set if at least k keys are at
/// or above the threshold with it. Bits that all candidates share are skipped, at the start and
/// again after every kAtOnce bits. `keys` has capacity for at least one vector.
template <class U>
U threshold_of(U* keys, std::int64_t n, std::int64_t k) {
  using V = Vector<U>;
  constexpr int kBits = 8 * static_cast<int>(sizeof(U));
  constexpr int kAtOnce = 8;
  // Copies of a key change neither the AND nor the OR of the keys; they are not counted.
  for (std::int64_t i = n; i < V::kWidth; ++i) keys[i] = keys[0];
  U threshold = 0;
  // The candidates are the keys that agree with the threshold from this bit upwards.
  int bit = kBits;
  while (true) {
    const U mask = bit == kBits ? U{0} : static_cast<U>(static_cast<U>(~U{0}) << bit);
    // The bits that are set in all of them, and in any.
    typename V::Type all_of = V::all(static_cast<U>(~U{0}));
    typename V::Type any_of{};
    for_steps(max_of(n, V::kWidth), V::kWidth, [&](std::int64_t first) {
      const typename V::Type x = V::load(keys + first);
      const auto agrees = reinterpret_cast<typename V::Type>(((x ^ threshold) & mask) == 0);
      all_of &= x | ~agrees;
      any_of |= x & agrees;
    });
    threshold = reduce<U>(all_of, [](auto x, auto y) { return x & y; });
    const U some = reduce<U>(any_of, [](auto x, auto y) { return x | y; });
    const auto differ = static_cast<std::uint64_t>(threshold ^ some);
    if (differ == 0) return threshold;
    bit = 64 - __builtin_clzll(differ);
    threshold = bit == kBits ? U{0} : static_cast<U>(threshold >> bit << bit);
    for (const int end = max_of(bit - kAtOnce, 0); bit > end;) {
      const auto higher = static_cast<U>(threshold | static_cast<U>(U{1} << --bit));
      const std::int64_t at_least = count_at_least(keys, n, higher);
      if (at_least < k) continue;
      threshold = higher;
      if (at_least == k) return threshold;
    }
    if (bit == 0) return threshold;
  }
}

/// TopKRowKernels::select. Finds the k-th highest key, then the item that has it: with h keys above
/// it, the (k - h)-th of those items, as equal keys are in ascending order of position.
template <class Item>
const void* select_item(const void* from, std::int64_t count, std::int64_t k, void* scratch) {
  using U = typename Item::Key;
  const Item* const items = static_cast<const Item*>(from);
  U* const keys = static_cast<U*>(scratch);
  for (std::int64_t i = 0; i < count; ++i) keys[i] = items[i].key();
  const U threshold = threshold_of(keys, count, k);
  U key = static_cast<U>(~U{0});
  for (std::int64_t i = 0; i < count; ++i) key = min_of(key, keys[i] < threshold ? key : keys[i]);
  const auto higher = static_cast<U>(key + 1);
  std::int64_t left = k - (higher == 0 ? 0 : count_at_least(keys, count, higher));
  std::int64_t i = 0;
  while (keys[i] != key || --left > 0) ++i;
  return items + i;
}

/// A key with probably somewhat more than k elements at or above it, from a stratified sample: one
/// element of each step of the row, at positions from a sequence that is walked twice, the first
/// time to prefetch. The scratch memory has capacity for the sample's keys.
template <class Item>
std::uint64_t threshold_by_sample(const TopKRow& row) {
  using U = typename Item::Key;
  U* const keys = static_cast<U*>(row.scratch);
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
    load_keys(row.element->rule, sampled, 1, count, keys + first);
  }
  return threshold_of(keys, sample, row.selection->sample_k);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
