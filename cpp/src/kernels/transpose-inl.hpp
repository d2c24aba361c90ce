// Short lines, one behind the other in memory, turned into columns.
#pragma once

#include <type_traits>

#include "kernels/interleave-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Squares of elements, a side of kSide, which are turned over in registers: one in each 16 bytes
/// of the rows, as processors move elements about within these.
template <class U, std::int64_t kBytes>
struct Squares {
  static constexpr int kSide = 16 / static_cast<int>(sizeof(U));
  static constexpr std::int64_t kLines = kBytes / static_cast<std::int64_t>(sizeof(U));
  using Row = typename Vector<U, kBytes>::Type;

  Row rows[kSide];
};

/// Turns rows into columns. A stage interleaves each row of the first half with its partner in the
/// second; after as many stages as the side has binary digits, every element is at its place.
template <class U, std::int64_t kBytes>
void turn_over(Squares<U, kBytes>& squares) {
  constexpr int kSide = Squares<U, kBytes>::kSide;
  for (int stage = 1; stage < kSide; stage *= 2) {
    Squares<U, kBytes> next;
    for (int i = 0; i < kSide / 2; ++i) {
      next.rows[2 * i] = interleave_low(squares.rows[i], squares.rows[i + kSide / 2]);
      next.rows[2 * i + 1] = interleave_high(squares.rows[i], squares.rows[i + kSide / 2]);
    }
    squares = next;
  }
}

/// The first `count` columns, kLines elements of each, of lines that start line_stride apart.
template <std::int64_t kBytes, class U>
void transpose_squares(const U* from, std::int64_t line_stride, std::int64_t count, U* to,
                       std::int64_t column_stride) {
  using S = Squares<U, kBytes>;
  S squares;
  for (int r = 0; r < S::kSide; ++r) {
    squares.rows[r] = load_parts<U, kBytes>(
        from + r * line_stride, S::kSide * line_stride * static_cast<std::int64_t>(sizeof(U)));
  }
  turn_over(squares);
  for (std::int64_t c = 0; c < count; ++c) {
    Vector<U, kBytes>::store(to + c * column_stride, squares.rows[c]);
  }
}

/// Asks for consecutive bytes. Their last cache line may be asked for twice: a number of requests
/// that depends on the address is one that processors do not foresee.
inline void prefetch_bytes(const char* first, std::int64_t count) {
  for (std::int64_t b = 0; b < count; b += kCacheLine) prefetch(first + b);
  prefetch(first + count - 1);
}

/// Asks for lines that start stride_bytes apart, and for what is between them if that is little.
inline void prefetch_lines(const void* first, std::int64_t count, std::int64_t stride_bytes,
                           std::int64_t line_bytes) {
  const auto* const from = static_cast<const char*>(first);
  const std::int64_t last = (count - 1) * stride_bytes;
  if (absolute(stride_bytes) <= kCacheLine) {
    prefetch_bytes(from + min_of<std::int64_t>(last, 0), absolute(last) + line_bytes);
    return;
  }
  for (std::int64_t line = 0; line < count; ++line) {
    prefetch_bytes(from + line * stride_bytes, line_bytes);
  }
}

/// Writes element i of line l, from data[l * line_stride + i], to columns[i * column_stride + l].
/// Reads nothing outside the memory from the first line's start to the last one's end, but asks for
/// the lines that lie `ahead` lines behind each, unless that is 0.
template <class T>
void transpose(const T* data, std::int64_t line_stride, std::int64_t lines, std::int64_t length,
               T* columns, std::int64_t column_stride, std::int64_t ahead) {
  using U = typename IntegersOf<sizeof(T)>::Unsigned;
  constexpr std::int64_t kSide = Squares<U, 16>::kSide;
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
  // Reading 16 bytes of a shorter line reaches into the next ones, so the last few are left.
  const std::int64_t left =
      length >= kSide ? 0
                      : (kSide - length + line_stride - 1) / max_of<std::int64_t>(line_stride, 1);
  const std::int64_t turned = length >= kSide || line_stride > 0 ? lines - left : 0;
  const auto turn = [&](auto bytes) {
    constexpr std::int64_t kLines = Squares<U, bytes>::kLines;
    for (; line + kLines <= turned; line += kLines) {
      ask_ahead_of(line, kLines);
      for (std::int64_t i = 0; i < length; i += kSide) {
        // The last square of a line overlaps the one before.
        const std::int64_t first = max_of<std::int64_t>(min_of(i, length - kSide), 0);
        transpose_squares<bytes>(from + line * line_stride + first, line_stride,
                                 min_of(kSide, length), to + first * column_stride + line,
                                 column_stride);
      }
    }
  };
  turn(std::integral_constant<std::int64_t, kVectorBytes>());
  if constexpr (kVectorBytes > 16) turn(std::integral_constant<std::int64_t, 16>());
  for (; line < lines; ++line) {
    for (std::int64_t i = 0; i < length; ++i) {
      columns[i * column_stride + line] = data[line * line_stride + i];
    }
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
