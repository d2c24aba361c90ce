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

template <class T>
constexpr bool kIsBool = std::is_same_v<T, Bool>;

template <class U>
constexpr U kSignBit = static_cast<U>(U{1} << (8 * sizeof(U) - 1));

/// The sign in every bit. Bits, here and below, are an unsigned integer U or a vector of them.
template <class Bits>
Bits signs_of(Bits bits) {
  if constexpr (std::is_integral_v<Bits>) {
    return static_cast<Bits>(-static_cast<Bits>(bits >> (8 * sizeof bits - 1)));
  } else {
    return reinterpret_cast<Bits>(reinterpret_cast<decltype(bits < bits)>(bits) < 0);
  }
}

/// The keys of floating-point numbers, as signed integers. With m the magnitude, and s the sign in
/// every bit of the word, (m ^ s) - s orders numbers and gives -0 and +0 the same key; `inverted`,
/// all bits or none, reverses the order. NaNs are beyond the infinities on both sides: adding
/// `offset` wraps those of one side around to the other. Their keys differ until canonical_key(),
/// which is one operation more.
template <class U, class Bits>
Bits raw_key(const KeyRule& rule, Bits bits) {
  const Bits s = signs_of(bits);
  const auto number = static_cast<Bits>(((bits & static_cast<U>(~kSignBit<U>)) ^ s) - s);
  return static_cast<Bits>((number ^ static_cast<U>(rule.inverted)) + static_cast<U>(rule.offset));
}

/// Makes all NaNs one key: the first beyond the numbers.
template <class U, class Keys>
Keys canonical_key(const KeyRule& rule, Keys raw) {
  const U bits = static_cast<U>(rule.nan_key) ^ kSignBit<U>;
  const auto nan = static_cast<Keys>(Keys{} + static_cast<std::make_signed_t<U>>(bits));
  return rule.nan_first ? min_of(raw, nan) : max_of(raw, nan);
}

/// The bytes of booleans as 0 and 1.
template <class Bits>
Bits truth_of(Bits bytes) {
  return min_of(bytes, static_cast<Bits>(Bits{} + 1));
}

/// The keys of elements of any type of U's width; a vector of them may have wider lanes. Those of
/// integers are the elements, their signs and their order reversed by `inverted`; those of booleans
/// are the same of 0 and 1.
template <class U, class Bits>
Bits key_of(const KeyRule& rule, Bits bits) {
  const auto inverted = static_cast<U>(rule.inverted);
  if (rule.is_integer) return static_cast<Bits>(bits ^ inverted);
  if constexpr (sizeof(U) == 1) return static_cast<Bits>(truth_of(bits) ^ inverted);
  const Bits raw = raw_key<U>(rule, bits);
  if constexpr (std::is_integral_v<Bits>) {
    return static_cast<U>(canonical_key<U>(rule, static_cast<std::make_signed_t<U>>(raw))) ^
           kSignBit<U>;
  } else {
    return reinterpret_cast<Bits>(
               canonical_key<U>(rule, reinterpret_cast<decltype(raw < raw)>(raw))) ^
           kSignBit<U>;
  }
}

/// Sets `bits` to those of the elements of this key; false if they differ in their bits, as zeros,
/// NaNs and true booleans do.
template <class U>
bool bits_of(const KeyRule& rule, U key, U* bits) {
  if (rule.is_integer || sizeof(U) == 1) {
    *bits = static_cast<U>(key ^ rule.inverted);
    return rule.is_integer || *bits == 0;
  }
  const auto raw = static_cast<U>(key ^ kSignBit<U>);
  const auto number = static_cast<U>((raw - rule.offset) ^ rule.inverted);
  const U s = signs_of(number);
  const auto magnitude = static_cast<U>((number ^ s) - s);
  *bits = static_cast<U>(magnitude | (s & kSignBit<U>));
  // Neither zero nor NaN.
  return static_cast<U>(magnitude - 1) < static_cast<U>(rule.infinity);
}

template <class T, bool kIsLargest, bool kIsNanFirst>
struct Order {
  using Element = T;
  using Unsigned = typename IntegersOf<sizeof(T)>::Unsigned;
  static constexpr bool kIsFloat = kInfinityBits<T> != 0;
  static constexpr bool kLargest = kIsLargest;
  static constexpr bool kNanFirst = kIsNanFirst;

  static constexpr auto kMagnitude =
      static_cast<Unsigned>(kIsFloat ? ~kSignBit<Unsigned> : ~Unsigned{0});
  static constexpr auto kInfinity = static_cast<Unsigned>(kInfinityBits<T>);
  /// The NaNs of either sign.
  static constexpr auto kNans = static_cast<Unsigned>(kMagnitude - kInfinity);

  static constexpr KeyRule rule() {
    constexpr auto kInverted = static_cast<Unsigned>(kLargest ? 0 : -1);
    constexpr Unsigned kSign = std::is_signed_v<T> ? kSignBit<Unsigned> : Unsigned{0};
    if (!kIsFloat) return {!kIsBool<T>, false, Unsigned{kInverted ^ kSign}, 0, 0, 0};
    // Numbers have keys from -kInfinity to kInfinity, or complements, from -kInfinity - 1 to
    // kInfinity - 1; NaNs have others, kNans on each side. With NaNs first the lowest number gets
    // the lowest key: NaNs below wrap to the top. With NaNs last the highest number gets the
    // highest key, kMagnitude: NaNs above wrap to the bottom.
    constexpr std::uint64_t kOffset = kNans + std::uint64_t{kLargest == kNanFirst};
    constexpr auto kNumbers = static_cast<Unsigned>(2 * kInfinity + 1);
    constexpr auto kNan = static_cast<Unsigned>(kNanFirst ? kNumbers : ~kNumbers);
    return {false, kNanFirst, kInverted, kNanFirst ? 0 - kOffset : kOffset, kNan, kInfinity};
  }
  static constexpr KeyRule kRule = rule();
  /// The highest key: NaN's if NaNs are first, else that of the first number, integer or truth.
  static constexpr auto kTop = static_cast<Unsigned>(kNanFirst                ? kRule.nan_key
                                                     : kIsBool<T> && kLargest ? 1
                                                                              : ~std::uint64_t{0});

  static Unsigned key(T x) {
    Unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return key_of<Unsigned>(kRule, bits);
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

/// A key's 64-bit signed integer of the same order.
template <class U>
std::int64_t wide_key(U unsigned_key) {
  return static_cast<std::int64_t>(unsigned_key ^ (std::uint64_t{sizeof(U) == 8} << 63));
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
