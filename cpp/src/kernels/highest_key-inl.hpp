// The highest key of consecutive elements, and where one is, at memory speed: four vectors at a
// time, so that their latencies overlap.
#pragma once

#include "kernels/compare-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Elements in four vectors.
template <class T>
constexpr std::int64_t kLanes = 4 * kVectorBytes / kSizeOf<T>;

/// Compares the elements of a row, and knows whether its comparisons told the best.
template <class O, bool kIsNative>
struct RowCompare : Compare<O, kIsNative> {
  using Base = Compare<O, kIsNative>;
  using T = typename O::Element;
  using V = typename Vector<typename Base::Lane>::Type;
  V sum{};

  /// x as best_of()'s first operand, which keeps a NaN: with NaNs last, the worst number instead.
  static V without_nan(V x) {
    if constexpr (kIsNative && !O::kNanFirst) {
      return Base::best_of(Vector<T>::all(worst_value<O>()), x);
    }
    return x;
  }
  /// The best of four vectors of consecutive elements; those that would begin after `last` begin
  /// there, even if that is before p.
  V best_of_four(const T* p, std::int64_t last, bool prefetches) {
    V x[4];
    if (prefetches) prefetch_after_four(p);
    for (int v = 0; v < 4; ++v) x[v] = Base::load(p + min_of(v * (kLanes<T> / 4), last));
    if constexpr (kIsNative && O::kNanFirst) sum += (x[0] + x[1]) + (x[2] + x[3]);
    return Base::best_of(Base::best_of(without_nan(x[0]), x[1]),
                         Base::best_of(without_nan(x[2]), x[3]));
  }
  /// Of native types with NaNs first, false if there may have been one: the elements' sum is NaN if
  /// any of them is. (It also is for +infinity plus -infinity; keys then find the same answer.)
  /// With NaNs last, false if there may have been nothing else but the worst number.
  bool tells(typename Base::Lane best) const {
    if constexpr (kIsNative) return O::kNanFirst ? !any(sum != sum) : best != worst_value<O>();
    return true;
  }
};

/// Some of consecutive elements.
struct Span {
  std::int64_t first;
  std::int64_t count;
};

/// Finds the highest key of n elements, at least a vector; false if comparisons cannot tell. If
/// kLocates, `span` becomes the four vectors where it is first, but stays for a NaN's: of each four
/// only the best is compared with the best so far, and the number of the four is kept. Vectors at
/// both ends overlap others, which changes nothing.
template <bool kLocates, bool kNative, class O, class T = typename O::Element>
bool search_vectors(const T* p, std::int64_t n, bool prefetches, typename O::Unsigned* key,
                    Span* span) {
  using C = RowCompare<O, kNative>;
  using V = typename C::V;
  using U = typename O::Unsigned;
  constexpr std::int64_t kWidth = Vector<U>::kWidth;
  const auto best_of = [](auto a, auto b) { return C::best_of(a, b); };
  C compare;
  V best = compare.best_of_four(p, n - kWidth, prefetches);
  typename Vector<U>::Type number{};
  typename Vector<U>::Type numbers{};
  const auto take = [&](V x) {
    const V better = best_of(best, x);
    if constexpr (kLocates) {
      number += 1;
      numbers = C::before(better, best) ? number : numbers;
    }
    best = better;
  };
  // Long rows are read on from a multiple of a vector's size. From there on no vector straddles two
  // cache lines, which would take two reads; that gains most where the data is in L2.
  const bool aligns = n >= tuning::kAlignFromVectors * kWidth;
  const std::uintptr_t past = aligns ? reinterpret_cast<std::uintptr_t>(p) % kVectorBytes : 0;
  const auto beyond = static_cast<std::int64_t>(past / sizeof(T));
  std::int64_t i = kLanes<T> - beyond;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    take(compare.best_of_four(p + i, kLanes<T>, prefetches));
  }
  if (i < n) take(compare.best_of_four(p + i, n - kWidth - i, false));
  const auto highest = reduce<typename C::Lane>(best, best_of);
  if (!compare.tells(highest)) return false;
  *key = C::key(highest);
  // Keys of NaNs differ before they are made one.
  if (O::kIsFloat && *key == O::kRule.nan_key) return true;
  if constexpr (kLocates) {
    const auto has_it = best == Vector<typename C::Lane>::all(highest);
    const std::uint64_t lanes = bits_of_mask<sizeof(U)>(has_it);
    // Mostly one lane has it: a load takes less time than a reduction.
    const auto at = static_cast<std::int64_t>(
        (lanes & (lanes - 1)) == 0
            ? numbers[__builtin_ctzll(lanes)]
            : reduce<U>(has_it ? numbers : Vector<U>::all(static_cast<U>(-1)),
                        [](auto a, auto b) { return min_of(a, b); }));
    span->count = min_of(n, kLanes<T>);
    span->first = min_of(max_of<std::int64_t>(at * kLanes<T> - beyond, 0), n - span->count);
  }
  return true;
}

/// The position of the first, or last, of n elements that matches; one of them does. In bounds even
/// under concurrent modification.
template <bool kLast, class U, class Match>
std::int64_t find_match(const U* p, std::int64_t n, Match match) {
  using V = Vector<U>;
  constexpr std::int64_t kWidth = V::kWidth;
  const auto search = [&](auto vectors) {
    constexpr std::int64_t kGroup = vectors * kWidth;
    constexpr std::int64_t kWord = min_of<std::int64_t>(kGroup, 64);
    for (std::int64_t done = 0; done < n; done += kGroup) {
      // The last group overlaps the one before, of which no element matches.
      const std::int64_t first =
          kLast ? max_of<std::int64_t>(n - kGroup - done, 0) : min_of(done, n - kGroup);
      const auto matches = [&](std::int64_t v) { return match(V::load(p + first + v * kWidth)); };
      auto found = matches(0);
      for (std::int64_t v = 1; v < vectors; ++v) found |= matches(v);
      if (!any(found)) continue;
      // Words of a bit for each element: no branch where one holds the group.
      for (std::int64_t w = 0; w < kGroup; w += kWord) {
        const std::int64_t at = kLast ? kGroup - kWord - w : w;
        std::uint64_t bits = 0;
        for (std::int64_t v = 0; v < kWord / kWidth; ++v) {
          bits |= bits_of_mask<sizeof(U)>(matches(at / kWidth + v)) << (v * kWidth);
        }
        if (bits == 0) continue;
        return first + at + (kLast ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
      }
    }
    return std::int64_t{0};
  };
  if (n >= 4 * kWidth) return search(Constant<4>());
  if (n >= kWidth) return search(Constant<1>());
  std::int64_t done = 0;
  const auto at = [&] { return kLast ? n - 1 - done : done; };
  while (done < n - 1 && !match(Vector<U, sizeof(U)>::load(p + at())[0])) ++done;
  return at();
}

/// Where `wanted` is first, or last, among n consecutive elements, one of which has that key.
template <bool kLast, class O, class T = typename O::Element>
std::int64_t find(const T* p, std::int64_t n, typename O::Unsigned wanted) {
  using U = typename O::Unsigned;
  const U* const elements = reinterpret_cast<const U*>(p);
  U bits;
  if (bits_of(O::kRule, wanted, &bits)) {
    return find_match<kLast>(elements, n, [bits](auto x) { return x == bits; });
  }
  // True booleans and NaNs, of which there are many, and zeros, of which there are two, by their
  // magnitudes.
  const bool is_nan = wanted == O::kRule.nan_key;
  const U first = is_nan ? O::kInfinity + 1 : kIsBool<T>;
  const U others = is_nan ? O::kNans - 1 : kIsBool<T> ? O::kMagnitude - 1 : 0;
  return find_match<kLast>(elements, n, [first, others](auto x) {
    return static_cast<decltype(x)>((x & O::kMagnitude) - first) <= others;
  });
}

/// The highest key among n >= 1 consecutive elements; may prefetch those after them. If kLocates,
/// `span`, which is all of them, may become a part of them where it is first.
template <class O, bool kLocates = false, class T = typename O::Element>
typename O::Unsigned highest_key(const T* p, std::int64_t n, bool prefetches,
                                 Span* span = nullptr) {
  typename O::Unsigned key;
  if constexpr (kIsBool<T> && !kLocates) {
    // The highest byte is true if any is, so that this is uint8's. A type of its own, as compilers
    // inline what is called once.
    struct Bytes : OrderOf<std::uint8_t, O::kLargest, false> {};
    key = highest_key<Bytes>(reinterpret_cast<const std::uint8_t*>(p), n, prefetches);
    bits_of(Bytes::kRule, key, &key);
    return key_of<typename O::Unsigned>(O::kRule, key);
  }
  if (n * kSizeOf<T> < kVectorBytes) {
    key = O::key(p[0]);
    for (std::int64_t i = 1; i < n; ++i) key = max_of(key, O::key(p[i]));
    return key;
  }
  constexpr bool kNative = Compare<O>::kNative;
  if (search_vectors<kLocates, kNative, O>(p, n, prefetches, &key, span)) return key;
  // float and double seldom: NaNs first, infinities of both signs, or only the worst number.
  if constexpr (kNative && O::kNanFirst) {
    const std::int64_t at = find<false, O>(p, n, O::kRule.nan_key);
    if (p[at] != p[at]) {
      if (kLocates) *span = {at, 1};
      return O::kRule.nan_key;
    }
  }
  if constexpr (kNative) search_vectors<false, false, O>(p, n, prefetches, &key, span);
  return key;
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
