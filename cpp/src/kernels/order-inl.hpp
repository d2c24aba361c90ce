// The one definition of order: every element has a rank, the highest rank wins, equal elements have
// equal ranks. "Smallest" is "largest" with all ranks reversed.
#pragma once

#include "kernels/level-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// The bits of +infinity in the floating-point types; 0 for integers.
template <class T>
constexpr std::uint64_t kInfinityBits = 0;
template <>
constexpr std::uint64_t kInfinityBits<Float16> = 0x7c00;
template <>
constexpr std::uint64_t kInfinityBits<BFloat16> = 0x7f80;
template <>
constexpr std::uint64_t kInfinityBits<float> = 0x7f800000;
template <>
constexpr std::uint64_t kInfinityBits<double> = 0x7ff0000000000000;

/// Whether the processor compares values of the type by itself, NaNs apart.
template <class T>
constexpr bool kHasNativeOrder = false;
template <>
constexpr bool kHasNativeOrder<float> = true;
template <>
constexpr bool kHasNativeOrder<double> = true;

/// Ranks of integers: the values themselves, or their complements, which reverse every order.
template <class T, Ranking kRanking, bool kIsFloat = kInfinityBits<T> != 0>
struct Order {
  using Element = T;
  using Rank = T;
  using Unsigned = typename IntegersOf<sizeof(T)>::Unsigned;
  static constexpr bool kLargest =
      kRanking == Ranking::kLargestNanFirst || kRanking == Ranking::kLargestNanLast;
  static constexpr Unsigned kSignBit = static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(T) - 1));
  static constexpr bool kNanFirst = false;
  static constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(1);

  /// The highest rank there is.
  static constexpr Rank kTop =
      kSigned ? static_cast<T>(kSignBit - 1) : static_cast<T>(~Unsigned{0});

  static Rank rank(T x) { return kLargest ? x : static_cast<T>(~x); }
  /// What rank() returns, but for NaNs, which may come out further from the numbers; settle()
  /// maps it to rank() and keeps the order. One operation less per element.
  static Rank loose_rank(T x) { return rank(x); }
  /// The same for a vector, given its bits; Signed is the vector of their signed type.
  template <class Ranks, class Signed, class Bits>
  static Ranks loose_ranks(Bits bits) {
    return reinterpret_cast<Ranks>(kLargest ? bits : ~bits);
  }
  static Rank settle(Rank r) { return r; }

  /// Whether all elements of rank r have the same bits, and which.
  static bool bits_of(Rank r, Unsigned* bits) {
    *bits = static_cast<Unsigned>(kLargest ? r : static_cast<T>(~r));
    return true;
  }
};

/// Ranks of floating-point numbers, as signed integers of their width.
///
/// With magnitude m and the sign spread over the word s, key = (m ^ s) - s orders numbers, gives
/// -0 and +0 the same key, and lies in [-kMax, kMax]; numbers have |key| <= kInfinity, NaNs of
/// either sign lie beyond, kNans of them on each side. Adding a constant modulo 2^width moves one
/// side's NaNs around to the other:
///   key + kNans:      numbers end at kMax, so positive NaNs wrap to the bottom, below negative
///   ones; key - kNans - 1:  numbers start at -kMax - 1, so negative NaNs wrap to the top, above
///   positive.
/// Then a clamp makes all NaNs one rank. Reversing the order is the complement, -1 - key, which
/// turns the subtraction around instead of costing an operation.
template <class T, Ranking kRanking>
struct Order<T, kRanking, true> {
  using Element = T;
  using Unsigned = typename IntegersOf<sizeof(T)>::Unsigned;
  using Rank = typename IntegersOf<sizeof(T)>::Signed;
  static constexpr bool kLargest =
      kRanking == Ranking::kLargestNanFirst || kRanking == Ranking::kLargestNanLast;
  static constexpr bool kNanFirst =
      kRanking == Ranking::kLargestNanFirst || kRanking == Ranking::kSmallestNanFirst;
  static constexpr bool kSigned = true;

  static constexpr int kSignShift = 8 * sizeof(T) - 1;
  static constexpr Unsigned kSignBit = static_cast<Unsigned>(Unsigned{1} << kSignShift);
  static constexpr Unsigned kMax = static_cast<Unsigned>(kSignBit - 1);
  static constexpr Unsigned kInfinity = static_cast<Unsigned>(kInfinityBits<T>);
  static constexpr Unsigned kNans = static_cast<Unsigned>(kMax - kInfinity);
  /// NaNs stand above the numbers before a possible reversal.
  static constexpr bool kNansAbove = kLargest == kNanFirst;
  static constexpr Unsigned kRotation = kNansAbove ? static_cast<Unsigned>(0 - kNans - 1) : kNans;

  /// The one rank of all NaNs: the first beyond the numbers.
  static constexpr Rank nan_rank() {
    const auto key =
        kNansAbove ? static_cast<Unsigned>(kInfinity + 1 + kRotation)
                   : static_cast<Unsigned>(static_cast<Unsigned>(0 - kInfinity) - 1 + kRotation);
    return static_cast<Rank>(kLargest ? key : static_cast<Unsigned>(~key));
  }
  /// The highest rank there is: NaN's, or infinity's (with NaNs last the numbers end at the top).
  static constexpr Rank kTop = kNanFirst ? nan_rank() : static_cast<Rank>(kMax);

  static Rank loose_rank(T x) {
    Unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto m = static_cast<Unsigned>(bits & kMax);
    const auto s = static_cast<Unsigned>(static_cast<Rank>(bits) >> kSignShift);
    const auto flipped = static_cast<Unsigned>(m ^ s);
    constexpr auto kReversed = static_cast<Unsigned>(~kRotation);
    return static_cast<Rank>(kLargest ? static_cast<Unsigned>(flipped - s + kRotation)
                                      : static_cast<Unsigned>(s - flipped + kReversed));
  }
  template <class Ranks, class Signed, class Bits>
  static Ranks loose_ranks(Bits bits) {
    const Bits m = bits & kMax;
    const auto s = reinterpret_cast<Bits>(reinterpret_cast<Signed>(bits) >> kSignShift);
    const Bits flipped = m ^ s;
    constexpr auto kReversed = static_cast<Unsigned>(~kRotation);
    return reinterpret_cast<Ranks>(kLargest ? flipped - s + kRotation : s - flipped + kReversed);
  }
  static Rank settle(Rank r) { return kNanFirst ? min_of(r, nan_rank()) : max_of(r, nan_rank()); }
  static Rank rank(T x) { return settle(loose_rank(x)); }

  /// Whether all elements of rank r have the same bits, and which. Not so for zero and NaN.
  static bool bits_of(Rank r, Unsigned* bits) {
    const auto rotated = static_cast<Unsigned>(kLargest ? r : static_cast<Rank>(~r));
    const auto key = static_cast<Unsigned>(rotated - kRotation);
    const auto s = static_cast<Unsigned>(static_cast<Rank>(key) >> kSignShift);
    const auto magnitude = static_cast<Unsigned>((key ^ s) - s);
    *bits = static_cast<Unsigned>(magnitude | (s & kSignBit));
    // From 1 to kInfinity.
    return static_cast<Unsigned>(magnitude - 1) < kInfinity;
  }
};

/// The number of a floating-point type that ranks below all others.
template <class O, class T = typename O::Element>
constexpr T worst_value() {
  return O::kLargest ? -static_cast<T>(__builtin_inf()) : static_cast<T>(__builtin_inf());
}

/// A rank as an unsigned integer of the same order.
template <class O>
typename O::Unsigned unsigned_rank(typename O::Rank r) {
  const auto bits = static_cast<typename O::Unsigned>(r);
  return O::kSigned ? static_cast<typename O::Unsigned>(bits ^ O::kSignBit) : bits;
}

/// The inverse of unsigned_rank().
template <class O>
typename O::Rank from_unsigned_rank(typename O::Unsigned bits) {
  return static_cast<typename O::Rank>(
      O::kSigned ? static_cast<typename O::Unsigned>(bits ^ O::kSignBit) : bits);
}

/// A rank as a 64-bit signed integer of the same order.
template <class O>
std::int64_t wide_rank(typename O::Rank r) {
  if (!O::kSigned && sizeof(r) == 8) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(r) ^ (std::uint64_t{1} << 63));
  }
  return static_cast<std::int64_t>(r);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
