// What the interfaces of all kernels share: plain data in, plain data out.
//
// Like all interface headers of kernels it is compiled with every instruction set's own flags, so
// it holds nothing that becomes code by itself: no inline functions but constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

namespace dmlcpu {

/// Bytes rounded up to whole cache lines, at which each part of scratch memory begins.
constexpr std::int64_t round_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The smallest page of any system: what lies between readable bytes that are less than a page
/// apart can be read.
inline constexpr std::int64_t kPageBytes = 4096;

/// The order of a type's elements: the largest or the smallest come first, NaNs before or after all
/// numbers. An element's key is an integer of this order; equal elements have equal keys.
enum class Ordering : std::uint8_t {
  kSmallestNanLast,
  kSmallestNanFirst,
  kLargestNanLast,
  kLargestNanFirst,
};
inline constexpr int kOrderingCount = 4;

}  // namespace dmlcpu
