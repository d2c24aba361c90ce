// Short rows transposed: packed as columns.
#pragma once

#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// A vector of 16 bytes from each of several places, stride_bytes apart.
template <class U, std::int64_t kBytes>
typename Vector<U, kBytes>::Type load_parts(const void* first,
                                            [[maybe_unused]] std::int64_t stride_bytes) {
  using V [[maybe_unused]] = typename Vector<U, kBytes>::Type;
  const auto* const p = static_cast<const char*>(first);
#ifdef __AVX2__
  const auto part = [p, stride_bytes](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * stride_bytes));
  };
  if constexpr (kBytes == 32) return reinterpret_cast<V>(_mm256_set_m128i(part(1), part(0)));
#endif
#ifdef __AVX512BW__
  if constexpr (kBytes == 64) {
    // Without a mask, g++ 12 warns of a value that its own headers leave open.
    constexpr auto kAll = static_cast<__mmask16>(-1);
    __m512i v = _mm512_castsi128_si512(part(0));
    v = _mm512_maskz_inserti32x4(kAll, v, part(1), 1);
    v = _mm512_maskz_inserti32x4(kAll, v, part(2), 2);
    return reinterpret_cast<V>(_mm512_maskz_inserti32x4(kAll, v, part(3), 3));
  }
#endif
  if constexpr (kBytes == 16) return Vector<U, 16>::load(reinterpret_cast<const U*>(p));
}

/// Of each 16 bytes of two vectors the first or the second halves, element by element.
template <bool kHigh, class U, std::int64_t kBytes>
typename Vector<U, kBytes>::Type interleave(typename Vector<U, kBytes>::Type a,
                                            typename Vector<U, kBytes>::Type b) {
  constexpr std::int64_t kSide = Vector<U, 16>::kWidth;
  constexpr std::int64_t kElements = Vector<U, kBytes>::kWidth;
  const auto index = [](std::int64_t i) {
    const std::int64_t in_part = i % kSide;
    return i - in_part + in_part / 2 + (kHigh ? kSide / 2 : 0) + (in_part % 2) * kElements;
  };
  return shuffle(a, b, index, std::make_index_sequence<kElements>());
}

/// The first `count` columns of rows that start row_stride apart, as many rows as a vector has
/// elements. A stage interleaves each row of the first half with its partner in the second; after
/// as many stages as the side has binary digits, every element is at its place.
template <std::int64_t kBytes, class U>
void transpose_squares(const U* from, std::int64_t row_stride, std::int64_t count, U* to,
                       std::int64_t column_stride) {
  constexpr std::int64_t kSide = Vector<U, 16>::kWidth;
  using V = typename Vector<U, kBytes>::Type;
  V rows[kSide];
  for (int r = 0; r < kSide; ++r) {
    rows[r] = load_parts<U, kBytes>(from + r * row_stride, kSide * row_stride * kSizeOf<U>);
  }
  for (int stage = 1; stage < kSide; stage *= 2) {
    V next[kSide];
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = interleave<false, U, kBytes>(rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = interleave<true, U, kBytes>(rows[i], rows[i + kSide / 2]);
    }
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
  for (std::int64_t c = 0; c < count; ++c)
    Vector<U, kBytes>::store(to + c * column_stride, rows[c]);
}

/// Prefetches addresses that start stride_bytes apart; of those that share cache lines only some.
inline void prefetch_at(const void* first, std::int64_t count, std::int64_t stride_bytes) {
  const auto* const from = static_cast<const char*>(first);
  const std::int64_t apart = max_of<std::int64_t>(max_of(stride_bytes, -stride_bytes), 1);
  const std::int64_t step = kCacheLine / min_of(apart, kCacheLine);
  for (std::int64_t i = 0; i < count; i += step) prefetch(from + i * stride_bytes);
}

/// Writes element i of row r, data[r * row_stride + i], to columns[i * column_stride + r]. Reads
/// nothing outside the memory from the first row's start to the last one's end, but prefetches the
/// rows `ahead` rows after each, unless that is 0.
template <class U>
void transpose(const U* data, std::int64_t row_stride, std::int64_t rows, std::int64_t length,
               U* columns, std::int64_t column_stride, std::int64_t ahead) {
  constexpr std::int64_t kSide = Vector<U, 16>::kWidth;
  constexpr std::int64_t kLineElements = kCacheLine / kSizeOf<U>;
  // Where rows follow one another, cache lines are prefetched in the order of memory, for each
  // square its share but at least a few; else of each row one. All at once would be more misses
  // than a processor keeps.
  const bool dense = row_stride >= length && row_stride < length + kLineElements;
  std::int64_t row = 0;
  // 16 bytes of a shorter row are read, and some of the next rows with them: the last rows, which
  // have too few after them, are left to the loop at the end.
  const std::int64_t left =
      length >= kSide ? 0 : (kSide - length + row_stride - 1) / max_of<std::int64_t>(row_stride, 1);
  const bool near = row_stride > 0 && (row_stride - length) * kSizeOf<U> < kPageBytes;
  const std::int64_t whole = length >= kSide || near ? rows - left : 0;
  const auto transpose_by = [&](auto bytes) {
    constexpr std::int64_t kRows = Vector<U, bytes>::kWidth;
    constexpr std::int64_t kFew = tuning::kTransposePrefetchLines * kLineElements;
    const std::int64_t all = kRows * row_stride;
    const std::int64_t share = max_of(all / ((length + kSide - 1) / kSide), kFew);
    for (; row + kRows <= whole; row += kRows) {
      for (std::int64_t i = 0; i < length; i += kSide) {
        if (ahead != 0) {
          const U* const from = data + (row + ahead) * row_stride;
          if (dense) {
            const std::int64_t done = i / kSide * share;
            prefetch_at(from + done, min_of(share, all - done), kSizeOf<U>);
          } else if (i % kLineElements == 0) {
            prefetch_at(from + i, kRows, row_stride * kSizeOf<U>);
          }
        }
        // The last square of a row overlaps the one before.
        const std::int64_t first = max_of<std::int64_t>(min_of(i, length - kSide), 0);
        transpose_squares<bytes>(data + row * row_stride + first, row_stride, min_of(kSide, length),
                                 columns + first * column_stride + row, column_stride);
      }
    }
  };
  transpose_by(Constant<kVectorBytes>());
  if constexpr (kVectorBytes > 16) transpose_by(Constant<16>());
  for (; row < rows; ++row) {
    for (std::int64_t i = 0; i < length; ++i) {
      columns[i * column_stride + row] = data[row * row_stride + i];
    }
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
