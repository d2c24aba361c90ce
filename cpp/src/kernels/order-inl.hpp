// The one definition of order: every element has a key, the highest key wins, equal elements have
// equal keys. "Smallest" is "largest" with all keys reversed.
#pragma once

#include "kernels/target-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// The bits of +infinity in the floating-point types; 0 for integers.
template <class T>
constexpr std::uint64_t kInfinityBits = std::is_same_v<T, Float16>    ? 0x7c00
                                        : std::is_same_v<T, BFloat16> ? 0x7f80
                                        : std::is_same_v<T, float>    ? 0x7f800000
                                        : std::is_same_v<T, double>   ? 0x7ff0000000000000
                                                                      : 0;

/// Keys of integers are the values themselves, those of floating-point numbers signed integers of
/// their width; or their complements, which reverse every order.
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
template <class T, bool kIsLargest, bool kIsNanFirst>
struct Order {
  using Element = T;
  using Unsigned = typename IntegersOf<sizeof(T)>::Unsigned;
  static constexpr bool kIsFloat = kInfinityBits<T> != 0;
  using Key = std::conditional_t<kIsFloat, typename IntegersOf<sizeof(T)>::Signed, T>;
  static constexpr bool kLargest = kIsLargest;
  static constexpr bool kNanFirst = kIsNanFirst;

  static constexpr int kSignShift = 8 * sizeof(T) - 1;
  static constexpr Unsigned kSignBit = static_cast<Unsigned>(Unsigned{1} << kSignShift);
  static constexpr Unsigned kMax = static_cast<Unsigned>(kSignBit - 1);
  static constexpr Unsigned kInfinity = static_cast<Unsigned>(kInfinityBits<T>);
  static constexpr Unsigned kNans = static_cast<Unsigned>(kMax - kInfinity);
  /// NaNs are to be above the numbers, before a possible reversal, or below.
  static constexpr Unsigned kRotation =
      kLargest == kNanFirst ? static_cast<Unsigned>(0 - kNans - 1) : kNans;
  /// What makes a key an unsigned integer of the same order, and back.
  static constexpr Unsigned kFlip =
      static_cast<Key>(-1) < static_cast<Key>(1) ? kSignBit : Unsigned{0};

  /// The one key of all NaNs: the first beyond the numbers. With NaNs first the numbers begin at
  /// -kMax - 1 and have 2 * kInfinity + 1 keys, and kMax is kInfinity + kNans: it is kInfinity -
  /// kNans. With NaNs last it is the complement.
  static constexpr Key kNanKey =
      static_cast<Key>(kNanFirst ? kInfinity - kNans : ~(kInfinity - kNans));
  /// The highest key: NaN's if NaNs are first, else that of the first number or integer.
  static constexpr Key kTop = kNanFirst ? kNanKey : static_cast<Key>(~Unsigned{0} ^ kFlip);

  static Key key(T x) {
    if constexpr (kIsFloat) {
      Unsigned bits;
      std::memcpy(&bits, &x, sizeof bits);
      const auto s = static_cast<Unsigned>(static_cast<Key>(bits) >> kSignShift);
      return canonical_key(static_cast<Key>(raw_key(bits, s)));
    } else {
      return kLargest ? x : static_cast<T>(~x);
    }
  }
  /// Raw keys of floating-point numbers, or of vectors of them, from their bits and their signs in
  /// every bit. Numbers have the keys of key(). All NaNs are on the right side of the numbers, but
  /// have different keys until canonical_key(), which is one operation more per element.
  template <class Bits>
  static Bits raw_key(Bits bits, Bits s) {
    const auto flipped = static_cast<Bits>((bits & kMax) ^ s);
    constexpr auto kReversed = static_cast<Unsigned>(~kRotation);
    return static_cast<Bits>(kLargest ? flipped - s + kRotation : s - flipped + kReversed);
  }
  template <class Keys>
  static Keys canonical_key(Keys r) {
    const auto nan = static_cast<Keys>(Keys{} + kNanKey);
    return (kNanFirst ? r < nan : r > nan) ? r : nan;
  }

  /// Sets `bits` to those of the elements of key r; false if they differ in their bits, as zeros
  /// and NaNs do.
  static bool bits_of(Key r, Unsigned* bits) {
    *bits = static_cast<Unsigned>(kLargest ? r : static_cast<Key>(~r));
    if (!kIsFloat) return true;
    const auto key = static_cast<Unsigned>(*bits - kRotation);
    const auto s = static_cast<Unsigned>(static_cast<Key>(key) >> kSignShift);
    const auto magnitude = static_cast<Unsigned>((key ^ s) - s);
    *bits = static_cast<Unsigned>(magnitude | (s & kSignBit));
    // Neither zero nor NaN.
    return static_cast<Unsigned>(magnitude - 1) < kInfinity;
  }
};

/// Integers have no NaNs, so that two of their orders are one.
template <class T, bool kLargest, bool kNanFirst>
using OrderOf = Order<T, kLargest, kNanFirst && kInfinityBits<T> != 0>;

/// An entry of a table for each order of a type, made by X(order), as Ordering counts them. To the
/// preprocessor an order is three arguments.
#define DMLCPU_OF_ORDERS(X, T)                                                          \
  {X(OrderOf<T, false, false>), X(OrderOf<T, false, true>), X(OrderOf<T, true, false>), \
   X(OrderOf<T, true, true>)}

/// The number of a floating-point type that comes after all others.
template <class O, class T = typename O::Element>
constexpr T worst_value() {
  return O::kLargest ? -static_cast<T>(__builtin_inf()) : static_cast<T>(__builtin_inf());
}

/// A key as an unsigned integer of the same order.
template <class O>
typename O::Unsigned unsigned_key(typename O::Key r) {
  return static_cast<typename O::Unsigned>(static_cast<typename O::Unsigned>(r) ^ O::kFlip);
}

/// A key's 64-bit signed integer of the same order.
template <class U>
std::int64_t wide_key(U unsigned_key) {
  return static_cast<std::int64_t>(unsigned_key ^ (std::uint64_t{sizeof(U) == 8} << 63));
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
