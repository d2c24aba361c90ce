#include "ops/top_k_merge.hpp"

#include <algorithm>
#include <limits>

namespace dmlcpu {
namespace {

/// How many items of a piece have a key above `key`.
std::int64_t above(const TopKPiece& piece, std::uint64_t key) {
  const TopKItem* const found =
      std::partition_point(piece.items, piece.items + piece.count,
                           [key](const TopKItem& item) { return item.key > key; });
  return found - piece.items;
}

std::int64_t above(const std::vector<TopKPiece>& pieces, std::uint64_t key) {
  std::int64_t count = 0;
  for (const TopKPiece& piece : pieces) count += above(piece, key);
  return count;
}

/// The key of the item that `skipped` others come before: the lowest that no more are above.
std::uint64_t key_after(const std::vector<TopKPiece>& pieces, std::int64_t skipped) {
  std::uint64_t low = 0;
  std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (above(pieces, middle) <= skipped) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

void TopKMerge::start(const std::vector<TopKPiece>& pieces, std::int64_t skipped) {
  const std::uint64_t key =
      skipped == 0 ? std::numeric_limits<std::uint64_t>::max() : key_after(pieces, skipped);
  // Those above it are skipped in every piece, and of those equal to it the first ones.
  std::int64_t equals = skipped - above(pieces, key);
  heads_.clear();
  for (const TopKPiece& piece : pieces) {
    std::int64_t first = above(piece, key);
    const std::int64_t equal = (key == 0 ? piece.count : above(piece, key - 1)) - first;
    const std::int64_t skipped_here = std::min(equals, equal);
    equals -= skipped_here;
    first += skipped_here;
    if (first == piece.count) continue;
    heads_.push_back({piece.items + first, piece.items + piece.count, piece.start});
  }
}

void TopKMerge::take(TopKItem* items, std::int64_t count) {
  TopKItem* const end = items + count;
  while (items < end) {
    if (heads_.size() == 2) {
      items = take_of_two(items, end);
      continue;
    }
    Head* best = heads_.data();
    for (Head& head : heads_) {
      if (head.next->key > best->next->key) best = &head;
    }
    *items++ = {best->next->key, best->next->index + best->start};
    if (++best->next == best->last) heads_.erase(heads_.begin() + (best - heads_.data()));
  }
}

TopKItem* TopKMerge::take_of_two(TopKItem* items, const TopKItem* end) {
  const Head& a = heads_[0];
  const Head& b = heads_[1];
  const TopKItem* next_a = a.next;
  const TopKItem* next_b = b.next;
  // Neither runs out within so many, so that no branch depends on the data.
  const std::int64_t sure = std::min({a.last - next_a, b.last - next_b, end - items});
  for (std::int64_t i = 0; i < sure; ++i) {
    const bool second = next_b->key > next_a->key;
    const TopKItem* const from = second ? next_b : next_a;
    *items++ = {from->key, from->index + (second ? b.start : a.start)};
    next_a += !second;
    next_b += second;
  }
  heads_[0].next = next_a;
  heads_[1].next = next_b;
  if (next_a == a.last) {
    heads_.erase(heads_.begin());
  } else if (next_b == b.last) {
    heads_.pop_back();
  }
  return items;
}

}  // namespace dmlcpu
