// Explicit vectors, where a compiler would not vectorise a loop by itself, or not well.
#pragma once

#include <utility>

#include "kernels/target-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// A vector of kBytes bytes, by default a register's: arithmetic, comparisons and ?: are element
/// by element.
template <class T, std::int64_t kBytes = kVectorBytes>
struct Vector {
  static constexpr std::int64_t kWidth = kBytes / kSizeOf<T>;
  using Type __attribute__((vector_size(kBytes))) = T;
  /// The same anywhere in memory.
  using Unaligned __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias)) = T;

  static Type load(const T* p) { return *reinterpret_cast<const Unaligned*>(p); }
  static void store(T* p, Type v) { *reinterpret_cast<Unaligned*>(p) = v; }
  static Type all(T x) { return Type{} + x; }
};

/// Calls body(v) for each v from 0 to kCount - 1, a Constant: what it indexes by them stays in
/// registers.
template <class Body, std::size_t... kAt>
void unroll_at(Body&& body, std::index_sequence<kAt...> /*each*/) {
  (body(Constant<kAt>()), ...);
}
template <std::size_t kCount, class Body>
void unroll(Body&& body) {
  unroll_at(body, std::make_index_sequence<kCount>());
}

/// Calls body(first) for each `step` of n elements, n >= step, with the number of its first one.
/// The last step overlaps the one before, which changes nothing where taking an element twice does.
template <class Body>
void for_steps(std::int64_t n, std::int64_t step, const Body& body) {
  for (std::int64_t i = 0; i < n; i += step) body(min_of(i, n - step));
}

/// Prefetches four vectors at kRowPrefetchBytes after those that are read now, from p on.
template <class T>
void prefetch_after_four(const T* p) {
  const char* const at = reinterpret_cast<const char*>(p) + tuning::kRowPrefetchBytes;
  for (std::int64_t b = 0; b < 4 * kVectorBytes; b += kCacheLine) prefetch(at + b);
}

/// The elements for which a comparison holds, as bits: bit i for element i.
template <int kSize, class Mask>
std::uint64_t bits_of_mask(const Mask& mask) {
  static_assert(sizeof mask == kVectorBytes);
  return high_bits<kSize>(&mask);
}

/// Whether a comparison holds for any element of a vector.
template <class Mask>
bool any(const Mask& mask) {
  static_assert(sizeof mask == kVectorBytes);
  return any_set(&mask);
}

/// Whether an element of a vector is a NaN.
template <class V>
bool any_nan(const V& v) {
  if constexpr (sizeof v == kVectorBytes) {
    return any(v != v);
  } else {
    bool found = false;
    for (std::size_t i = 0; i < sizeof v / sizeof v[0]; ++i) found |= v[i] != v[i];
    return found;
  }
}

/// Element i of the result is number index(i) of a's elements followed by b's.
template <class V, class Index, std::size_t... kAt>
V shuffle(V a, V b, Index index, std::index_sequence<kAt...> /*elements*/) {
#ifdef __clang__
  return __builtin_shufflevector(a, b, index(static_cast<int>(kAt))...);
#else
  return __builtin_shuffle(a, b, V{index(static_cast<int>(kAt))...});
#endif
}

/// All elements of a vector joined by an operation on vectors: each half with the other, then each
/// quarter, down to neighbours. kDistance is that of what is joined, in bytes.
template <class T, std::int64_t kDistance = kVectorBytes / 2, class V, class Join>
T reduce(V v, Join join) {
  constexpr int kSize = min_of<std::int64_t>(kDistance, 4);
  const auto parts =
      reinterpret_cast<typename Vector<typename IntegersOf<kSize>::Unsigned>::Type>(v);
  const auto partner = [](int i) { return i ^ static_cast<int>(kDistance / kSize); };
  v = join(v, reinterpret_cast<V>(shuffle(parts, parts, partner,
                                          std::make_index_sequence<kVectorBytes / kSize>())));
  if constexpr (kDistance > kSizeOf<T>) return reduce<T, kDistance / 2>(v, join);
  return v[0];
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
