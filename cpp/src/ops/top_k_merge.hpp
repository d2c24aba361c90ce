// Merging what was selected from the pieces of one row.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/top_k_interface.hpp"

namespace dmlcpu {

/// The sorted items of a piece, whose positions count from the piece's start.
struct TopKPiece {
  const TopKItem* items;
  std::int64_t count;
  std::int64_t start;
};

/// Reads a row's items, best first, off those of its pieces; of equal keys the earlier piece's
/// come first. It may begin anywhere, so that several share the work.
class TopKMerge {
 public:
  /// All memory it needs, for so many pieces.
  explicit TopKMerge(std::int64_t pieces) { heads_.reserve(static_cast<std::size_t>(pieces)); }
  TopKMerge(const TopKMerge& other)
      : TopKMerge(static_cast<std::int64_t>(other.heads_.capacity())) {}

  /// Begins with the item that `skipped` others come before.
  void start(const std::vector<TopKPiece>& pieces, std::int64_t skipped);

  /// The next `count` items, as many as there are at least.
  void take(TopKItem* items, std::int64_t count);

 private:
  struct Head {
    const TopKItem* next;
    const TopKItem* last;
    std::int64_t start;
  };

  TopKItem* take_of_two(TopKItem* items, const TopKItem* end);

  std::vector<Head> heads_;  // in the order of the pieces, those that are not empty
};

}  // namespace dmlcpu
