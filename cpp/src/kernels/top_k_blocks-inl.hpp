// top-k for small k: most of the row is only read once, for the extremes of its blocks.
//
// The k-th highest of the blocks' extremes is a threshold t: k elements, one in each of k blocks,
// rank at least t, so nothing below t is selected. Elements above t lie in the fewer than k blocks
// whose extreme is above t. Of those equal to t only the first k can be selected, so blocks whose
// extreme is t are looked into until k were found. So at most k * block + k elements become
// candidates, whatever the data's order: (k - 1) * block in blocks above, and less than k + block
// in blocks at t.
#pragma once

#include "kernels/top_k_candidates-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// The extremes of consecutive blocks, the loader's sibling of one element type and ranking.
template <class O>
void block_extremes(const void* data, std::int64_t stride, std::int64_t length, std::int64_t block,
                    void* extremes) {
  using T = typename O::Element;
  auto* out = static_cast<typename O::Unsigned*>(extremes);
  const T* p = static_cast<const T*>(data);
  T packed[tuning::kTopKMaxBlock];
  for (std::int64_t first = 0; first < length; first += block) {
    const std::int64_t count = min_of(block, length - first);
    const T* elements = p + first;
    if (stride != 1) {
      pack(p + first * stride, stride, count, packed);
      elements = packed;
    }
    *out++ = unsigned_rank<O>(block_rank<O>(elements, count));
  }
}

/// Scratch: twice `blocks` extremes, then k * block + k + 1 items, each aligned to 64 bytes.
template <class U>
void top_k_blocks(const TopKRow& row, TopKItem* out) {
  const std::int64_t block = row.block;
  const std::int64_t blocks = (row.length + block - 1) / block;
  const std::int64_t extremes_bytes =
      (blocks * static_cast<std::int64_t>(sizeof(U)) + 63) / 64 * 64;
  auto* scratch = static_cast<char*>(row.scratch);
  auto* extremes = reinterpret_cast<Descending<U>*>(scratch);
  auto* ordered = reinterpret_cast<Descending<U>*>(scratch + extremes_bytes);
  auto* items = reinterpret_cast<Item<U>*>(scratch + 2 * extremes_bytes);

  row.extremes(row.data, row.stride, row.length, block, extremes);
  std::memcpy(ordered, extremes, static_cast<std::size_t>(blocks) * sizeof(U));
  std::nth_element(ordered, ordered + row.k - 1, ordered + blocks);
  const U threshold = ordered[row.k - 1].rank;

  std::int64_t candidates = 0;
  std::int64_t equals = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    if (extremes[b].rank < threshold || (extremes[b].rank == threshold && equals >= row.k))
      continue;
    // Never, unless another thread changes the row meanwhile.
    if (candidates + block > row.k * block + row.k) break;
    const std::int64_t first = b * block;
    U ranks[tuning::kTopKMaxBlock];
    const std::int64_t count = min_of(block, row.length - first);
    row.load(static_cast<const char*>(row.data) + first * row.stride * row.element_size, row.stride,
             count, ranks);
    for (std::int64_t group = 0; group < count; group += kLanes<U>) {
      const std::int64_t end = min_of(group + kLanes<U>, count);
      if (end - group == kLanes<U> && !any_at_least(ranks + group, threshold)) continue;
      for (std::int64_t i = group; i < end; ++i) {
        // Written without a branch; kept only if counted.
        items[candidates] = Item<U>::make(ranks[i], first + i);
        candidates += ranks[i] >= threshold;
        equals += ranks[i] == threshold;
      }
    }
  }
  fill_up(items, candidates, row.k);
  select_by_comparison(items, max_of(candidates, row.k), row.k);
  write_items(items, row.k, out);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
