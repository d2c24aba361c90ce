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

/// The higher or lower elements. By themselves, not as selections by a mask that is used again, so
/// that compilers know them as maxima and minima.
template <class V>
V higher(V a, V b) {
  return a > b ? a : b;
}

template <class V>
V lower(V a, V b) {
  return a < b ? a : b;
}

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
  return bits_of_mask<1>(mask) != 0;
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

/// Joins elements of a vector of 16 bytes that are kDistance bytes apart, then half of that.
template <class T, int kDistance = 8, class Part, class Join>
Part join_neighbours(Part part, Join join) {
  const auto v =
      reinterpret_cast<typename Vector<typename IntegersOf<kDistance>::Unsigned, 16>::Type>(part);
  const auto swapped =
      shuffle(v, v, [](int i) { return i ^ 1; }, std::make_index_sequence<16 / kDistance>());
  part = join(part, reinterpret_cast<Part>(swapped));
  if constexpr (kDistance > kSizeOf<T>) return join_neighbours<T, kDistance / 2>(part, join);
  return part;
}

/// All elements of a vector joined by an operation on vectors.
template <class T, class Join>
T reduce(typename Vector<T>::Type v, Join join) {
  using Part = typename Vector<T, 16>::Type;
  constexpr int kParts = kVectorBytes / 16;
  Part parts[kParts];
  std::memcpy(parts, &v, sizeof parts);
  for (int half = kParts / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) parts[i] = join(parts[i], parts[i + half]);
  }
  return join_neighbours<T>(parts[0], join)[0];
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
