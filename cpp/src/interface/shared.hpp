// What the interfaces of all kernels share: plain data in, plain data out.
//
// Like all headers of this folder it is compiled with every instruction set's own flags, so it
// holds nothing that becomes code by itself: no inline functions except constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

namespace dmlcpu {

/// Bytes of a cache line, and of the longest vector of any instruction set.
inline constexpr std::int64_t kCacheLine = 64;

/// Bytes rounded up to whole cache lines, at which each part of scratch memory begins.
constexpr std::int64_t round_up(std::int64_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

/// The smallest page of any system: what lies between readable bytes that are less than a page
/// apart can be read.
inline constexpr std::int64_t kPageBytes = 4096;

/// The order of a type's elements: the largest or the smallest come first, NaNs before or after all
/// numbers. An element's key is an unsigned integer of its width, the highest of which comes first;
/// equal elements have equal keys.
enum class Ordering : std::uint8_t {
  kSmallestNanLast,
  kSmallestNanFirst,
  kLargestNanLast,
  kLargestNanFirst,
};
inline constexpr int kOrderingCount = 4;

/// How keys of a type and order are computed, as data, for code that all of a width share.
/// kernels/order-inl.hpp says what it means.
struct KeyRule {
  bool is_integer;  ///< else a floating-point number, or if its width is a byte, a boolean
  bool nan_first;
  std::uint64_t inverted;
  std::uint64_t offset;
  std::uint64_t nan_key;   ///< all NaNs have it
  std::uint64_t infinity;  ///< the magnitude from which on there are no numbers
};

}  // namespace dmlcpu
