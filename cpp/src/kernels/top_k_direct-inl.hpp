// top-k of rows too short for a threshold to pay: every element becomes an item.
#pragma once

#include "kernels/top_k_sort-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Scratch: twice `length` items.
template <class U>
std::int64_t top_k_direct(const TopKRow& row, TopKItem* out) {
  auto* items = static_cast<Item<U>*>(row.scratch);
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) items[at + i] = Item<U>::make(ranks[i], at + i);
  });
  write_items(select_items(items, items + row.length, row.length, row.k), row.k, out);
  return row.k;
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
