// What vectors of elements are compared by.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// What a lane holds, and how lanes are compared: elements themselves; of booleans 0 or 1; or, of
/// floating-point types that are not kNative, their keys. The processor's own comparisons of float
/// and double cost less than keys, but none with a NaN holds.
template <class O, bool kIsNative = std::is_floating_point_v<typename O::Element>>
struct Compare {
  using T = typename O::Element;
  using U = typename O::Unsigned;
  static constexpr bool kNative = kIsNative;
  static constexpr bool kByKey = kInfinityBits<T> != 0 && !kNative;
  static constexpr bool kHoldsElements = !kByKey && !kIsBool<T>;
  /// Bytes are compared as signed ones: of unsigned ones only v4 has comparisons.
  using Lane = std::conditional_t<kHoldsElements, T, std::make_signed_t<U>>;

  /// What the lanes hold of elements. The keys of NaNs may differ, before canonical().
  template <std::int64_t kBytes = kVectorBytes>
  static auto lanes_of(typename Vector<U, kBytes>::Type bits) {
    using Lanes = typename Vector<Lane, kBytes>::Type;
    if constexpr (kIsBool<T>) return reinterpret_cast<Lanes>(truth_of(bits));
    return reinterpret_cast<Lanes>(kByKey ? raw_key<U>(O::kRule, bits) : bits);
  }
  template <std::int64_t kBytes = kVectorBytes>
  static auto load(const void* p) {
    const auto x = lanes_of<kBytes>(Vector<U, kBytes>::load(static_cast<const U*>(p)));
    if constexpr (kNative && kBytes >= 16) return loaded(x);
    return x;
  }
  template <class X>
  static auto before(X a, X b) {
    return kByKey || O::kLargest ? a > b : a < b;
  }
  /// The better one; of native types a, if either is a NaN. Whether it is another than a, before()
  /// tells of it and a: if the comparison of a and b were used as well, compilers would choose by
  /// its mask, which takes twice the time of a maximum, and the next one waits for it.
  template <class X>
  static X best_of(X a, X b) {
    if constexpr (kNative) return before(b, a) ? b : a;
    return kByKey || O::kLargest ? max_of(a, b) : min_of(a, b);
  }
  template <class X>
  static X canonical(X x) {
    if constexpr (kByKey) return canonical_key<U>(O::kRule, x);
    return x;
  }
  static U key(Lane x) {
    if constexpr (kByKey) {
      return static_cast<U>(static_cast<U>(canonical(x)) ^ kSignBit<U>);
    } else if constexpr (kIsBool<T>) {
      return O::key(T{static_cast<U>(x)});
    } else {
      return O::key(x);
    }
  }
};

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
