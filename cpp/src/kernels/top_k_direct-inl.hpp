// top-k of rows that are too short for a threshold from less than all of their elements.
#pragma once

#include "kernels/top_k_candidates-inl.hpp"
#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Collects the k highest of n ranks, in ascending order of position: all above the k-th highest,
/// and the first of those equal to it. There is room for one item more.
template <class U>
void collect_highest(const U* ranks, std::int64_t n, std::int64_t k, Item<U>* items) {
  const U threshold = threshold_for(ranks, n, k);
  const bool highest = threshold == static_cast<U>(~U{0});
  const std::int64_t above = highest ? 0 : count_at_least(ranks, n, static_cast<U>(threshold + 1));
  Collector<U> selected(threshold, k - above, items, k);
  selected.take(ranks, n, 0);
}

/// Scratch: twice `length` items; then, aligned to 64 bytes, the counters of a sort by digits, if
/// there is one.
template <class U>
std::int64_t top_k_direct(const TopKRow& row, TopKItem* out) {
  const std::int64_t n = row.length;
  auto* const items = static_cast<Item<U>*>(row.scratch);
  auto* const counts = reinterpret_cast<std::uint32_t*>(
      static_cast<char*>(row.scratch) + round_up(2 * n * static_cast<std::int64_t>(sizeof *items)));
  if (top_k_direct_by_threshold(n, row.k)) {
    // The ranks lie where items are only moved to when they are sorted.
    U* const ranks = reinterpret_cast<U*>(items + n);
    row.load(row.data, row.stride, n, ranks);
    collect_highest(ranks, n, row.k, items);
    write_items(sort_items(items, items + n, row.k, counts), row.k, out);
    return row.k;
  }
  for_chunks<U>(row, 0, n, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) items[at + i] = Item<U>::make(ranks[i], at + i);
  });
  if (top_k_direct_sorted(n, row.k) > 0) {
    write_items(sort_items(items, items + n, n, counts), row.k, out);
  } else {
    select_by_partition(items, n, row.k);
    write_items(items, row.k, out);
  }
  return row.k;
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
