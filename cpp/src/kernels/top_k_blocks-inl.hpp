// top-k for small k: most of the row is only read once, for the extremes of its blocks.
//
// The k-th highest of the blocks' extremes is a threshold t: k elements, one in each of k blocks,
// rank at least t, so nothing below t is selected. Elements above t lie in the fewer than k blocks
// whose extreme is above t. Of those equal to t only the first k can be selected, so blocks whose
// extreme is t are looked into until k were found. So at most k * block + k elements become
// candidates, whatever the data's order: (k - 1) * block in blocks above, and less than k + block
// in blocks at t.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// A block's extreme. A type of this namespace, for std::nth_element.
template <class U>
struct Extreme {
  U rank;
  bool operator<(const Extreme& other) const { return rank > other.rank; }
};

template <class U>
U highest(const U* ranks, std::int64_t count) {
  U best = ranks[0];
  for (std::int64_t i = 1; i < count; ++i) best = max_of(best, ranks[i]);
  return best;
}

/// Scratch: twice `blocks` extremes, then k * block + k + 1 items, each aligned to 64 bytes.
template <class U>
void top_k_blocks(const TopKRow& row, TopKItem* out) {
  const std::int64_t block = row.block;
  const std::int64_t blocks = (row.length + block - 1) / block;
  const std::int64_t extremes_bytes =
      (blocks * static_cast<std::int64_t>(sizeof(U)) + 63) / 64 * 64;
  auto* scratch = static_cast<char*>(row.scratch);
  auto* extremes = reinterpret_cast<Extreme<U>*>(scratch);
  auto* ordered = reinterpret_cast<Extreme<U>*>(scratch + extremes_bytes);
  auto* items = reinterpret_cast<Item<U>*>(scratch + 2 * extremes_bytes);

  // Blocks and chunks are powers of two, so one divides the other.
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += block) {
      const U extreme = highest(ranks + i, min_of(block, count - i));
      Extreme<U>& of_block = extremes[(at + i) / block];
      const bool starts_block = (at + i) % block == 0;
      of_block.rank = starts_block ? extreme : max_of(of_block.rank, extreme);
    }
  });
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
    for_chunks<U>(row, first, min_of(first + block, row.length),
                  [&](std::int64_t at, const U* ranks, std::int64_t count) {
                    for (std::int64_t i = 0; i < count; ++i) {
                      // Written without a branch; kept only if counted.
                      items[candidates] = Item<U>::make(ranks[i], at + i);
                      candidates += ranks[i] >= threshold;
                      equals += ranks[i] == threshold;
                    }
                  });
  }
  fill_up(items, candidates, row.k);
  select_by_comparison(items, max_of(candidates, row.k), row.k);
  write_items(items, row.k, out);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
