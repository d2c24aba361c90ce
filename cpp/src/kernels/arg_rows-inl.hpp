// argmin and argmax of a row by itself: the extremes of blocks are found at memory speed, then the
// position of the best one, in the one block that has it.
#pragma once

#include <type_traits>

#include "kernels/highest_key-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Where `wanted` is first, or last, among n consecutive elements, one of which has that key.
template <bool kLast, class O, class T = typename O::Element>
std::int64_t find(const T* p, std::int64_t n, typename O::Key wanted) {
  using U = typename O::Unsigned;
  const U* const elements = reinterpret_cast<const U*>(p);
  U bits;
  if constexpr (kInfinityBits<T> != 0) {
    // Zeros, of which there are two, and NaNs, of which there are many, by their magnitudes.
    const bool exact = O::bits_of(wanted, &bits);
    const bool is_nan = wanted == O::nan_key();
    const U relevant = exact ? static_cast<U>(~U{0}) : O::kMax;
    const U first = exact ? bits : is_nan ? O::kInfinity + 1 : 0;
    const U others = is_nan ? O::kNans - 1 : 0;
    return find_match<kLast>(elements, n, [relevant, first, others](auto x) {
      return static_cast<decltype(x)>((x & relevant) - first) <= others;
    });
  } else {
    O::bits_of(wanted, &bits);
    return find_match<kLast>(elements, n, [bits](auto x) { return x == bits; });
  }
}

/// Elements per block of a row of n elements that is read where it is.
template <class T>
std::int64_t arg_block(std::int64_t n) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  std::int64_t block = tuning::kArgBlockBytes / kSize;
  while (block < tuning::kArgMaxBlockBytes / kSize && tuning::kArgBlocks * block <= n) {
    block *= 2;
  }
  return block;
}

/// Whether contiguous rows of the type are searched in one pass. Bytes have more lanes to reduce,
/// and often meet the highest value early.
template <class T>
constexpr bool kOnePass = sizeof(T) >= 2;

template <class O>
void arg_rows(const ArgRows& rows, std::int64_t* keys, std::int64_t* indices) {
  using T = typename O::Element;
  using Key = typename O::Key;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
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
  // Of what was packed, four vectors are packed again to locate the element, not a block.
  const bool locates = (kOnePass<T> || !in_place) && !backward && rows.n > kLanes<T>;
  const std::int64_t block_length = !in_place ? tuning::kArgBlockBytes / kSize
                                    : locates ? tuning::kArgOnePassBytes / kSize
                                              : arg_block<T>(rows.n);
  const auto block_at = [&](const T* row, std::int64_t first, std::int64_t count) {
    if (in_place) return row + first;
    pack(row + first * stride, stride, count, packed);
    return static_cast<const T*>(packed);
  };
  const auto highest = [&](const T* p, std::int64_t count, Span* span) {
    if (locates) return highest_key<O, true>(p, count, prefetches, span);
    *span = {0, count};
    return highest_key<O>(p, count, prefetches);
  };
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const T* row = static_cast<const T*>(rows.data) + r * rows.row_stride;
    if (backward) row -= rows.n - 1;
    Key best{};
    Span where = {-1, 0};
    for (std::int64_t first = 0; first < rows.n; first += block_length) {
      const std::int64_t count = min_of(block_length, rows.n - first);
      Span span;
      const Key key = highest(block_at(row, first, count), count, &span);
      if (where.first < 0 || key > best || (backward && key == best)) {
        best = key;
        where = {first + span.first, span.count};
        if (best == O::kTop && !backward) break;
      }
    }
    const std::int64_t wide = wide_key(unsigned_key<O>(best));
    if (!rows.starts && wide < keys[r]) continue;
    const T* const block = block_at(row, where.first, where.count);
    const std::int64_t at = backward
                                ? rows.n - 1 - where.first - find<true, O>(block, where.count, best)
                                : where.first + find<false, O>(block, where.count, best);
    const std::int64_t index = rows.index_base + rows.index_step * at;
    if (rows.starts || wide > keys[r] || index < indices[r]) {
      keys[r] = wide;
      indices[r] = index;
    }
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
