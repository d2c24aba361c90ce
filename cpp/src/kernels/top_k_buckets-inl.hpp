// top-k of most of a long row, which is sorted: its elements go to buckets by the highest bits in
// which they differ, then each bucket, which a cache holds, is sorted by itself.
#pragma once

#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

template <class U>
KeyBits load_with_bits(const TopKRow& row, void* keys) {
  auto* const to = static_cast<U*>(keys);
  U some = 0;
  U all = static_cast<U>(~U{0});
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* chunk, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      to[at + i] = chunk[i];
      some = static_cast<U>(some | chunk[i]);
      all = static_cast<U>(all & chunk[i]);
    }
  });
  return {some, all};
}

/// The bucket of a key, the highest key's being the first.
template <class U>
std::int64_t bucket_of(U key, int shift) {
  return static_cast<std::int64_t>(~(std::uint64_t{key} >> shift) & (kTopKBuckets - 1));
}

template <class U>
void count_buckets(const void* keys, std::int64_t count, int shift, std::uint32_t* counts) {
  const auto* const from = static_cast<const U*>(keys);
  for (std::int64_t i = 0; i < count; ++i) ++counts[bucket_of(from[i], shift)];
}

template <class U>
void fill_buckets(const void* keys, std::int64_t count, std::int64_t first, int shift,
                  std::uint32_t* starts, void* items) {
  const auto* const from = static_cast<const U*>(keys);
  auto* const to = static_cast<Item<U>*>(items);
  for (std::int64_t i = 0; i < count; ++i) {
    Item<U>* const next = to + starts[bucket_of(from[i], shift)]++;
    prefetch(next + kCacheLine / static_cast<std::int64_t>(sizeof *next));
    *next = Item<U>::make(from[i], first + i);
  }
}

template <class U>
const void* sort_bucket(void* items, void* other, std::int64_t count, std::uint32_t* counts) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(U)) - tuning::kTopKBucketBits;
  if constexpr (kBits <= 0) {
    return items;
  } else {
    return sort_low_bits<U, kBits>(static_cast<Item<U>*>(items), static_cast<Item<U>*>(other),
                                   count, counts);
  }
}

template <class U>
void read_items(const void* items, std::int64_t first, std::int64_t count, TopKItem* to) {
  write_items(static_cast<const Item<U>*>(items) + first, count, to);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
