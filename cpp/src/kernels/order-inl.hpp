// The one definition of order: every element has a key, the highest key wins, equal elements have
// equal keys. "Smallest" is "largest" with all keys reversed.
#pragma once

#include "kernels/target-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
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
constexpr bool kHasNativeOrder = std::is_floating_point_v<T>;

/// Keys of integers: the values themselves, or their complements, which reverse every order.
template <class T, Ordering kOrdering, bool kIsFloat = kInfinityBits<T> != 0>
struct Order {
  using Element = T;
  using Key = T;
  using Unsigned = typename IntegersOf<sizeof(T)>::Unsigned;
  static constexpr bool kLargest =
      kOrdering == Ordering::kLargestNanFirst || kOrdering == Ordering::kLargestNanLast;
  static constexpr Unsigned kSignBit = static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(T) - 1));
  static constexpr bool kNanFirst = false;
  static constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(1);

  /// The highest key there is.
  static constexpr Key kTop = kSigned ? static_cast<T>(kSignBit - 1) : static_cast<T>(~Unsigned{0});

  static Key key(T x) { return kLargest ? x : static_cast<T>(~x); }
  /// The keys of a vector of elements, given by their bits, before canonical_key(): those of NaNs
  /// differ, and all lie beyond the numbers. The order is that of key(), for one operation less per
  /// element. Signed is the vector of signed integers of the width.
  template <class Keys, class Signed, class Bits>
  static Keys raw_keys(Bits bits) {
    return reinterpret_cast<Keys>(kLargest ? bits : ~bits);
  }
  static Key canonical_key(Key r) { return r; }

  /// Sets `bits` to those of the elements of key r; false if they differ in their bits.
  static bool bits_of(Key r, Unsigned* bits) {
    *bits = static_cast<Unsigned>(kLargest ? r : static_cast<T>(~r));
    return true;
  }
};

/// Keys of floating-point numbers, as signed integers of their width.
///
/// With m the magnitude, and s the sign in every bit of the word, key = (m ^ s) - s orders numbers
/// and gives -0 and +0 the same key. Keys of numbers lie in [-kInfinity, kInfinity], those of NaNs
/// beyond, kNans of them on each side, up to -kMax and kMax. Adding a constant modulo 2^width wraps
/// the NaNs of one side around to the other:
///
/// - key + kNans: numbers end at kMax, so that positive NaNs wrap to the bottom.
/// - key - kNans - 1: numbers start at -kMax - 1, so that negative NaNs wrap to the top.
///
/// Then a clamp makes all NaNs one key. Reversing the order is the complement, -1 - key, which
/// turns the subtraction around instead of costing an operation.
template <class T, Ordering kOrdering>
struct Order<T, kOrdering, true> {
  using Element = T;
  using Unsigned = typename IntegersOf<sizeof(T)>::Unsigned;
  using Key = typename IntegersOf<sizeof(T)>::Signed;
  static constexpr bool kLargest =
      kOrdering == Ordering::kLargestNanFirst || kOrdering == Ordering::kLargestNanLast;
  static constexpr bool kNanFirst =
      kOrdering == Ordering::kLargestNanFirst || kOrdering == Ordering::kSmallestNanFirst;
  static constexpr bool kSigned = true;

  static constexpr int kSignShift = 8 * sizeof(T) - 1;
  static constexpr Unsigned kSignBit = static_cast<Unsigned>(Unsigned{1} << kSignShift);
  static constexpr Unsigned kMax = static_cast<Unsigned>(kSignBit - 1);
  static constexpr Unsigned kInfinity = static_cast<Unsigned>(kInfinityBits<T>);
  static constexpr Unsigned kNans = static_cast<Unsigned>(kMax - kInfinity);
  /// NaNs are above the numbers before a possible reversal.
  static constexpr bool kNansAbove = kLargest == kNanFirst;
  static constexpr Unsigned kRotation = kNansAbove ? static_cast<Unsigned>(0 - kNans - 1) : kNans;

  /// The one key of all NaNs: the first beyond the numbers.
  static constexpr Key nan_key() {
    const auto key =
        kNansAbove ? static_cast<Unsigned>(kInfinity + 1 + kRotation)
                   : static_cast<Unsigned>(static_cast<Unsigned>(0 - kInfinity) - 1 + kRotation);
    return static_cast<Key>(kLargest ? key : static_cast<Unsigned>(~key));
  }
  /// The highest key there is: NaN's, or infinity's (with NaNs last the numbers end at the top).
  static constexpr Key kTop = kNanFirst ? nan_key() : static_cast<Key>(kMax);

  static Key key(T x) {
    Unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto m = static_cast<Unsigned>(bits & kMax);
    const auto s = static_cast<Unsigned>(static_cast<Key>(bits) >> kSignShift);
    const auto flipped = static_cast<Unsigned>(m ^ s);
    constexpr auto kReversed = static_cast<Unsigned>(~kRotation);
    return canonical_key(static_cast<Key>(kLargest
                                              ? static_cast<Unsigned>(flipped - s + kRotation)
                                              : static_cast<Unsigned>(s - flipped + kReversed)));
  }
  template <class Keys, class Signed, class Bits>
  static Keys raw_keys(Bits bits) {
    const Bits m = bits & kMax;
    const auto s = reinterpret_cast<Bits>(reinterpret_cast<Signed>(bits) >> kSignShift);
    const Bits flipped = m ^ s;
    constexpr auto kReversed = static_cast<Unsigned>(~kRotation);
    return reinterpret_cast<Keys>(kLargest ? flipped - s + kRotation : s - flipped + kReversed);
  }
  static Key canonical_key(Key r) {
    return kNanFirst ? min_of(r, nan_key()) : max_of(r, nan_key());
  }

  /// Sets `bits` to those of the elements of key r; false if they differ in their bits, as zeros
  /// and NaNs do.
  static bool bits_of(Key r, Unsigned* bits) {
    const auto rotated = static_cast<Unsigned>(kLargest ? r : static_cast<Key>(~r));
    const auto key = static_cast<Unsigned>(rotated - kRotation);
    const auto s = static_cast<Unsigned>(static_cast<Key>(key) >> kSignShift);
    const auto magnitude = static_cast<Unsigned>((key ^ s) - s);
    *bits = static_cast<Unsigned>(magnitude | (s & kSignBit));
    // From 1 to kInfinity.
    return static_cast<Unsigned>(magnitude - 1) < kInfinity;
  }
};

/// Integers have no NaNs, so that two of their orders are one.
template <class T, Ordering kOrdering>
using OrderOf =
    Order<T, kInfinityBits<T> != 0 ? kOrdering
             : kOrdering == Ordering::kLargestNanLast || kOrdering == Ordering::kLargestNanFirst
                 ? Ordering::kLargestNanLast
                 : Ordering::kSmallestNanLast>;

/// An entry of a table for each order of a type, made by X(order).
#define DMLCPU_OF_ORDERS(X, T)                                                  \
  {X(DMLCPU_ORDER(T, kSmallestNanLast)), X(DMLCPU_ORDER(T, kSmallestNanFirst)), \
   X(DMLCPU_ORDER(T, kLargestNanLast)), X(DMLCPU_ORDER(T, kLargestNanFirst))}
#define DMLCPU_ORDER(T, ordering) DMLCPU_TARGET::OrderOf<T, Ordering::ordering>

/// The number of a floating-point type that comes after all others.
template <class O, class T = typename O::Element>
constexpr T worst_value() {
  return O::kLargest ? -static_cast<T>(__builtin_inf()) : static_cast<T>(__builtin_inf());
}

/// A key as an unsigned integer of the same order.
template <class O>
typename O::Unsigned unsigned_key(typename O::Key r) {
  const auto bits = static_cast<typename O::Unsigned>(r);
  return O::kSigned ? static_cast<typename O::Unsigned>(bits ^ O::kSignBit) : bits;
}

/// The inverse of unsigned_key().
template <class O>
typename O::Key from_unsigned_key(typename O::Unsigned bits) {
  return static_cast<typename O::Key>(
      O::kSigned ? static_cast<typename O::Unsigned>(bits ^ O::kSignBit) : bits);
}

/// A key's 64-bit signed integer of the same order.
template <class U>
std::int64_t wide_key(U unsigned_key) {
  return static_cast<std::int64_t>(sizeof(U) == 8
                                       ? std::uint64_t{unsigned_key} ^ (std::uint64_t{1} << 63)
                                       : std::uint64_t{unsigned_key});
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
