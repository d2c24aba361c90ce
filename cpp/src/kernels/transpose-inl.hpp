// Short lines, one behind the other in memory, turned into columns.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// A square of elements, a side of kSide, is turned over in registers of 16 bytes, which every
/// level has.
template <class U>
struct Square {
  static constexpr int kSide = 16 / static_cast<int>(sizeof(U));
  using Row = typename Vector<U, 16>::Type;

  Row rows[kSide];
};

// The first and the second halves of two rows, interleaved.
#define DMLCPU_INTERLEAVE(U, low, high)                                       \
  inline Square<U>::Row interleave_low(Square<U>::Row a, Square<U>::Row b) {  \
    return DMLCPU_SHUFFLE(Square<U>::Row, a, b, DMLCPU_UNPACK low);           \
  }                                                                           \
  inline Square<U>::Row interleave_high(Square<U>::Row a, Square<U>::Row b) { \
    return DMLCPU_SHUFFLE(Square<U>::Row, a, b, DMLCPU_UNPACK high);          \
  }
#define DMLCPU_UNPACK(...) __VA_ARGS__
DMLCPU_INTERLEAVE(std::uint8_t, (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                  (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
DMLCPU_INTERLEAVE(std::uint16_t, (0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15))
DMLCPU_INTERLEAVE(std::uint32_t, (0, 4, 1, 5), (2, 6, 3, 7))
DMLCPU_INTERLEAVE(std::uint64_t, (0, 2), (1, 3))
#undef DMLCPU_INTERLEAVE
#undef DMLCPU_UNPACK

/// Turns rows into columns. A stage interleaves each row of the first half with its partner in the
/// second; after as many stages as the side has binary digits, every element is at its place.
template <class U>
void turn_over(Square<U>& square) {
  constexpr int kSide = Square<U>::kSide;
  for (int stage = 1; stage < kSide; stage *= 2) {
    Square<U> next;
    for (int i = 0; i < kSide / 2; ++i) {
      next.rows[2 * i] = interleave_low(square.rows[i], square.rows[i + kSide / 2]);
      next.rows[2 * i + 1] = interleave_high(square.rows[i], square.rows[i + kSide / 2]);
    }
    square = next;
  }
}

/// The first `count` columns of a square whose rows start line_stride apart.
template <class U>
void transpose_square(const U* from, std::int64_t line_stride, std::int64_t count, U* to,
                      std::int64_t column_stride) {
  Square<U> square;
  for (int r = 0; r < Square<U>::kSide; ++r) {
    square.rows[r] = Vector<U, 16>::load(from + r * line_stride);
  }
  turn_over(square);
  for (std::int64_t c = 0; c < count; ++c) {
    Vector<U, 16>::store(to + c * column_stride, square.rows[c]);
  }
}

/// Asks for lines that start stride_bytes apart; of packed ones, which share cache lines, for some.
inline void prefetch_lines(const void* first, std::int64_t count, std::int64_t stride_bytes,
                           std::int64_t line_bytes) {
  const std::int64_t apart = max_of<std::int64_t>(1, absolute(stride_bytes));
  const std::int64_t step = max_of<std::int64_t>(1, kCacheLine / apart);
  for (std::int64_t line = 0; line < count; line += step) {
    const char* at = static_cast<const char*>(first) + line * stride_bytes;
    for (std::int64_t b = 0; b < line_bytes; b += kCacheLine) prefetch_level_2(at + b);
  }
}

/// Writes element i of line l, from data[l * line_stride + i], to columns[i * column_stride + l].
/// Reads nothing outside the memory from the first line's start to the last one's end, but asks for
/// the lines that lie `ahead` lines behind each, unless that is 0.
template <class T>
void transpose(const T* data, std::int64_t line_stride, std::int64_t lines, std::int64_t length,
               T* columns, std::int64_t column_stride, std::int64_t ahead) {
  using U = typename IntegersOf<sizeof(T)>::Unsigned;
  constexpr std::int64_t kSide = Square<U>::kSide;
  const auto* from = reinterpret_cast<const U*>(data);
  auto* to = reinterpret_cast<U*>(columns);
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const auto ask_ahead_of = [&](std::int64_t line, std::int64_t count) {
    if (ahead == 0) return;
    prefetch_lines(data + (line + ahead) * line_stride, count, line_stride * kSize, length * kSize);
  };
  std::int64_t line = 0;
  if (length <= tuning::kTransposePackedLength && line_stride == length) {
    for (; line < lines; line += tuning::kTransposePackedLines) {
      const std::int64_t count = min_of(tuning::kTransposePackedLines, lines - line);
      ask_ahead_of(line, count);
      for (std::int64_t i = 0; i < length; ++i) {
        pack(from + line * length + i, length, count, to + i * column_stride + line);
      }
    }
    return;
  }
  if (length >= kSide) {
    for (; line + kSide <= lines; line += kSide) {
      ask_ahead_of(line, kSide);
      for (std::int64_t i = 0; i < length; i += kSide) {
        // The last square of a line overlaps the one before.
        const std::int64_t first = min_of(i, length - kSide);
        transpose_square(from + line * line_stride + first, line_stride, kSide,
                         to + first * column_stride + line, column_stride);
      }
    }
  } else if (line_stride > 0) {
    // Reading a register reaches into the next lines, so the last few are left for the loop below.
    const std::int64_t whole = lines - (kSide - length + line_stride - 1) / line_stride;
    for (; line + kSide <= whole; line += kSide) {
      ask_ahead_of(line, kSide);
      transpose_square(from + line * line_stride, line_stride, length, to + line, column_stride);
    }
  }
  for (; line < lines; ++line) {
    for (std::int64_t i = 0; i < length; ++i) {
      columns[i * column_stride + line] = data[line * line_stride + i];
    }
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
