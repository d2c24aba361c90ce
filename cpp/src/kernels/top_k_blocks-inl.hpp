// top-k for small k: most of the row is only read once, for the extremes of its blocks.
//
// A threshold t that k of the blocks' extremes reach: k elements, one in each of k blocks, rank at
// least t, so nothing below t is selected. Elements above t lie in the at most k blocks whose
// extreme is above t; exactly k only if no extreme is t. Of those equal to t only the first k can
// be selected, so blocks whose extreme is t are looked into until k were found. So at most k *
// block + k elements become candidates, whatever the data's order.
#pragma once

#include "kernels/top_k_candidates-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// The extremes of consecutive blocks, the loader's sibling of one element type and ranking.
template <class O>
void block_extremes(const void* data, std::int64_t stride, std::int64_t length, std::int64_t block,
                    bool prefetches, void* packed, void* extremes) {
  using T = typename O::Element;
  auto* out = static_cast<typename O::Unsigned*>(extremes);
  const T* p = static_cast<const T*>(data);
  T* const contiguous = static_cast<T*>(packed);
  for (std::int64_t first = 0; first < length; first += block) {
    const std::int64_t count = min_of(block, length - first);
    const T* elements = p + first;
    if (stride != 1) {
      pack(p + first * stride, stride, count, contiguous);
      elements = contiguous;
    }
    *out++ = unsigned_rank<O>(block_rank<O>(elements, count, prefetches && stride == 1));
  }
}

/// Scratch: `blocks` extremes, then k * block + k + 1 items, then a block's ranks, each aligned to
/// 64 bytes.
template <class U>
std::int64_t top_k_blocks(const TopKRow& row, TopKItem* out) {
  const std::int64_t block = row.block;
  const std::int64_t blocks = (row.length + block - 1) / block;
  const std::int64_t extremes_bytes = round_up(blocks * static_cast<std::int64_t>(sizeof(U)));
  const std::int64_t items_bytes =
      round_up((row.k * block + row.k + 1) * static_cast<std::int64_t>(sizeof(Item<U>)));
  auto* const scratch = static_cast<char*>(row.scratch);
  auto* const extremes = reinterpret_cast<U*>(scratch);
  auto* const items = reinterpret_cast<Item<U>*>(scratch + extremes_bytes);
  auto* const ranks = reinterpret_cast<U*>(scratch + extremes_bytes + items_bytes);

  row.extremes(row.data, row.stride, row.length, block, row.prefetches, ranks, extremes);
  const U threshold = threshold_for(extremes, blocks, row.k);
  Collector<U> candidates(threshold, row.k, items, row.k * block + row.k);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const U extreme = extremes[b];
    if (extreme < threshold || (extreme == threshold && !candidates.takes_equals())) continue;
    const std::int64_t first = b * block;
    const std::int64_t count = min_of(block, row.length - first);
    row.load(static_cast<const char*>(row.data) + first * row.stride * row.element_size, row.stride,
             count, ranks);
    candidates.take(ranks, count, first);
  }
  fill_up(items, candidates.count(), row.k);
  // Many candidates are those of data that rise block by block, which a heap is slow with.
  select_by_partition(items, max_of(candidates.count(), row.k), row.k);
  write_items(items, row.k, out);
  return row.k;
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
