// Short rows transposed: packed as columns.
#pragma once

#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// A square of rows that start row_stride apart for each 16 bytes of a vector, transposed: as many
/// columns as 16 bytes have elements. A stage interleaves each row of the first half with its
/// partner in the second; after as many stages as the side has binary digits, every element is at
/// its place.
template <std::int64_t kBytes, class U>
struct Squares {
  static constexpr std::int64_t kSide = Vector<U, 16>::kWidth;
  using V = Vector<U, kBytes>;
  using Type = typename V::Type;
  Type columns[kSide];

  Squares(const U* from, std::int64_t row_stride) {
    for (int r = 0; r < kSide; ++r) {
      columns[r] = load_parts(from + r * row_stride, kSide * row_stride);
    }
    for (int stage = 1; stage < kSide; stage *= 2) {
      Type next[kSide];
      for (int i = 0; i < kSide / 2; ++i) {
        next[2 * i] = interleave<false>(columns[i], columns[i + kSide / 2]);
        next[2 * i + 1] = interleave<true>(columns[i], columns[i + kSide / 2]);
      }
      for (int i = 0; i < kSide; ++i) columns[i] = next[i];
    }
  }

  /// A vector of 16 bytes from each of several places, `apart` elements from each other.
  static Type load_parts(const U* p, [[maybe_unused]] std::int64_t apart) {
#ifdef __AVX2__
    const auto part = [p, apart](int i) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * apart));
    };
    if constexpr (kBytes == 32) return reinterpret_cast<Type>(_mm256_set_m128i(part(1), part(0)));
#endif
#ifdef __AVX512BW__
    if constexpr (kBytes == 64) {
      // Without a mask, g++ 12 warns of a value that its own headers leave open.
      constexpr auto kAll = static_cast<__mmask16>(-1);
      __m512i v = _mm512_castsi128_si512(part(0));
      v = _mm512_maskz_inserti32x4(kAll, v, part(1), 1);
      v = _mm512_maskz_inserti32x4(kAll, v, part(2), 2);
      return reinterpret_cast<Type>(_mm512_maskz_inserti32x4(kAll, v, part(3), 3));
    }
#endif
    if constexpr (kBytes == 16) return V::load(p);
  }

  /// Of each 16 bytes of two vectors the first or the second halves, element by element.
  template <bool kHigh>
  static Type interleave(Type a, Type b) {
    const auto index = [](std::int64_t i) {
      const std::int64_t in_part = i % kSide;
      return i - in_part + in_part / 2 + (kHigh ? kSide / 2 : 0) + (in_part % 2) * V::kWidth;
    };
    return shuffle(a, b, index, std::make_index_sequence<V::kWidth>());
  }
};

/// Prefetches addresses that start stride_bytes apart; of those that share cache lines only some.
inline void prefetch_at(const void* first, std::int64_t count, std::int64_t stride_bytes) {
  const auto* const from = static_cast<const char*>(first);
  const std::int64_t apart = max_of<std::int64_t>(max_of(stride_bytes, -stride_bytes), 1);
  const std::int64_t step = kCacheLine / min_of(apart, kCacheLine);
  for (std::int64_t i = 0; i < count; i += step) prefetch(from + i * stride_bytes);
}

/// Prefetches kRows rows in shares, one for each square. Where rows follow one another, cache lines
/// are prefetched in the order of memory, for each square its share but at least a few; else of
/// each row one. All at once would be more misses than a processor keeps.
template <class U, std::int64_t kRows>
struct RowPrefetch {
  static constexpr std::int64_t kSide = Vector<U, 16>::kWidth;
  static constexpr std::int64_t kLineElements = kCacheLine / kSizeOf<U>;
  std::int64_t row_stride;
  std::int64_t length;
  bool dense = row_stride >= length && row_stride < length + kLineElements;
  std::int64_t all = kRows * row_stride;
  std::int64_t share =
      max_of(all / ((length + kSide - 1) / kSide), tuning::kTransposePrefetchLines* kLineElements);

  /// The share of the square that begins with column i, or overlaps the one that would.
  void operator()(const U* rows, std::int64_t i) const {
    i = (i + kSide - 1) / kSide * kSide;
    if (dense) {
      const std::int64_t done = i / kSide * share;
      prefetch_at(rows + done, min_of(share, all - done), kSizeOf<U>);
    } else if (i % kLineElements == 0) {
      prefetch_at(rows + i, kRows, row_stride * kSizeOf<U>);
    }
  }
};

/// Writes element i of row r, data[r * row_stride + i], to columns[i * column_stride + r]. Reads
/// nothing outside the memory from the first row's start to the last one's end, but prefetches the
/// rows `ahead` rows after each, unless that is 0.
template <class U>
void transpose(const U* data, std::int64_t row_stride, std::int64_t rows, std::int64_t length,
               U* columns, std::int64_t column_stride, std::int64_t ahead) {
  constexpr std::int64_t kSide = Vector<U, 16>::kWidth;
  std::int64_t row = 0;
  // Rows of which whole squares can be read: of shorter ones, unless pages may lie between them,
  // all that have enough of the next ones after them.
  const std::int64_t missing = kSide - length;
  const bool is_near = row_stride > 0 && (row_stride - length) * kSizeOf<U> < kPageBytes;
  const std::int64_t whole = missing <= 0 ? rows
                             : is_near    ? rows - (missing + row_stride - 1) / row_stride
                                          : 0;
  const auto transpose_by = [&](auto bytes) {
    constexpr std::int64_t kRows = Vector<U, bytes>::kWidth;
    // The smallest squares take the rows that are left together with some before them, if there are
    // enough: these are written again.
    constexpr bool kOverlaps = bytes == 16;
    const RowPrefetch<U, kRows> prefetch_share = {row_stride, length};
    const std::int64_t end = kOverlaps && whole >= kRows ? whole : whole - kRows + 1;
    for (; row < end; row = min_of(row + kRows, whole)) {
      const std::int64_t first_row = min_of(row, whole - kRows);
      const U* const from = data + first_row * row_stride;
      for (std::int64_t i = 0; i < length; i += kSide) {
        if (ahead != 0) prefetch_share(from + ahead * row_stride, i);
        // The last square of a row overlaps the one before.
        const std::int64_t first = max_of<std::int64_t>(min_of(i, length - kSide), 0);
        const Squares<bytes, U> squares(from + first, row_stride);
        U* const to = columns + first * column_stride + first_row;
        for (std::int64_t c = 0; c < min_of(kSide, length); ++c) {
          Vector<U, bytes>::store(to + c * column_stride, squares.columns[c]);
        }
      }
    }
  };
  if constexpr (kVectorBytes > 16) transpose_by(Constant<kVectorBytes>());
  transpose_by(Constant<16>());
  for (; row < rows; ++row) {
    for (std::int64_t i = 0; i < length; ++i) {
      columns[i * column_stride + row] = data[row * row_stride + i];
    }
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
