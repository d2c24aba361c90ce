// top-k of short rows, and the plain strategy that the others are tested against: every element
// becomes an item, and the standard library selects.
#pragma once

#include "kernels/top_k_items-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Scratch: `length` items.
template <class U>
void top_k_direct(const TopKRow& row, TopKItem* out) {
  auto* items = static_cast<Item<U>*>(row.scratch);
  for_chunks<U>(row, 0, row.length, [&](std::int64_t at, const U* ranks, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) items[at + i] = Item<U>::make(ranks[i], at + i);
  });
  select_by_comparison(items, row.length, row.k);
  write_items(items, row.k, out);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
