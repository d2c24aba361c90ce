// argmin and argmax of a row by itself: the extremes of blocks are found at memory speed, then the
// position of the best one, in the one block that has it.
#pragma once

#include "kernels/highest_key-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

template <class O>
void arg_rows(const ArgRows& rows, std::int64_t* keys, std::int64_t* indices) {
  using T = typename O::Element;
  using Key = typename O::Unsigned;
  const std::int64_t stride = rows.stride;
  alignas(kVectorBytes) T packed[tuning::kArgBlockBytes / sizeof(T)];
  // A backward row is read forwards too, as memory is prefetched: the first of equal elements is
  // then the last one met.
  const bool backward = stride == -1;
  const bool in_place = stride == 1 || backward;
  const bool prefetches = rows.prefetches && in_place;
  // Lanes count fours of vectors, as numbers of the elements' size.
  static_assert(tuning::kArgOnePassBytes / kCacheLine < (1 << 16));
  static_assert(tuning::kArgBlockBytes / kCacheLine < (1 << 8));
  // Contiguous rows that come from memory, or of which several are long, are searched in one pass,
  // but of bytes, which have more lanes to reduce, and often meet the highest value early. Of what
  // was packed, four vectors are packed again to locate the element, not a block.
  const bool are_long = rows.rows > 1 && rows.n * kSizeOf<T> >= tuning::kArgOnePassLeastBytes;
  const bool one_pass = !in_place || (kSizeOf<T> > 1 && (rows.from_memory || are_long));
  const bool locates = one_pass && !backward && rows.n > kLanes<T>;
  std::int64_t block_length =
      (in_place && locates ? tuning::kArgOnePassBytes : tuning::kArgBlockBytes) / kSizeOf<T>;
  while (in_place && !locates && block_length < tuning::kArgMaxBlockBytes / kSizeOf<T> &&
         tuning::kArgBlocks * block_length <= rows.n) {
    block_length *= 2;
  }
  const auto block_at = [&](const T* row, std::int64_t first, std::int64_t count) {
    if (in_place) return row + first;
    pack(row + first * stride, stride, count, packed);
    return static_cast<const T*>(packed);
  };
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const T* row = static_cast<const T*>(rows.data) + r * rows.row_stride;
    if (backward) row -= rows.n - 1;
    Key best{};
    Span where = {-1, 0};
    for (std::int64_t first = 0; first < rows.n; first += block_length) {
      const std::int64_t count = min_of(block_length, rows.n - first);
      const T* const block = block_at(row, first, count);
      Span span = {0, count};
      const Key key = locates ? highest_key<O, true>(block, count, prefetches, &span)
                              : highest_key<O>(block, count, prefetches);
      if (where.first < 0 || key > best || (backward && key == best)) {
        best = key;
        where = {first + span.first, span.count};
        if (best == O::kTop && !backward) break;
      }
    }
    const std::int64_t wide = wide_key(best);
    if (!rows.starts && wide < keys[r]) continue;
    const T* const block = block_at(row, where.first, where.count);
    const std::int64_t at = where.first + (backward ? find<true, O>(block, where.count, best)
                                                    : find<false, O>(block, where.count, best));
    const std::int64_t index =
        rows.index_base + rows.index_step * (backward ? rows.n - 1 - at : at);
    if (rows.starts || wide > keys[r] || index < indices[r]) {
      keys[r] = wide;
      indices[r] = index;
    }
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
