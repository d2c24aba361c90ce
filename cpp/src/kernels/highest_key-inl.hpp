// The highest key of consecutive elements, and where one is, at memory speed: four vectors at a
// time, so that their latencies overlap.
#pragma once

#include "kernels/compare-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Elements in four vectors.
template <class T>
constexpr std::int64_t kLanes = 4 * kVectorBytes / static_cast<std::int64_t>(sizeof(T));

/// Compares the elements of a row, and knows whether its comparisons told the best.
template <class O, bool kIsNative>
struct RowCompare : Compare<O, kIsNative> {
  using Base = Compare<O, kIsNative>;
  using T = typename O::Element;
  using V = typename Vector<typename Base::Lane>::Type;
  V sum{};

  static V load(const T* p) {
    if constexpr (kIsNative) return loaded(Base::load(p));
    return Base::load(p);
  }
  /// x as best_of()'s first operand, which keeps a NaN: with NaNs last, the worst number instead.
  static V without_nan(V x) {
    if constexpr (kIsNative && !O::kNanFirst) {
      return Base::best_of(Vector<T>::all(worst_value<O>()), x);
    }
    return x;
  }
  template <class... Vectors>
  void see(Vectors... vectors) {
    if constexpr (kIsNative && O::kNanFirst) sum += (vectors + ...);
  }
  /// Of native types with NaNs first, false if there may have been one: the elements' sum is NaN if
  /// any of them is. (It also is for +infinity plus -infinity; keys then find the same answer.)
  /// With NaNs last, false if there may have been nothing else but the worst number.
  bool tells(typename Base::Lane best) const {
    if constexpr (kIsNative) {
      return O::kNanFirst ? !any(sum != sum) : best != worst_value<O>();
    } else {
      return true;
    }
  }
};

/// Some of consecutive elements.
struct Span {
  std::int64_t first;
  std::int64_t count;
};

/// The best of the elements from i to n, fewer than four vectors of them; n is at least a vector.
/// The last vector is read first: it overlaps others, which changes nothing.
template <class C, class T>
typename C::V best_of_rest(const T* p, std::int64_t i, std::int64_t n, C& compare) {
  constexpr std::int64_t kWidth = kLanes<T> / 4;
  typename C::V x = C::load(p + n - kWidth);
  compare.see(x);
  typename C::V best = C::without_nan(x);
  for (; i + kWidth <= n; i += kWidth) {
    x = C::load(p + i);
    compare.see(x);
    best = C::best_of(best, x);
  }
  return best;
}

/// Four vectors of consecutive elements.
template <class C, class T>
struct FourVectors {
  typename C::V x[4];

  FourVectors(const T* p, C& compare) {
    for (int v = 0; v < 4; ++v) x[v] = C::load(p + v * (kLanes<T> / 4));
    compare.see(x[0], x[1], x[2], x[3]);
  }
  typename C::V best() const {
    return C::best_of(C::best_of(C::without_nan(x[0]), x[1]),
                      C::best_of(C::without_nan(x[2]), x[3]));
  }
};

/// The lowest of the numbers for which a comparison holds. Mostly that is one: a load takes less
/// time than a reduction.
template <class U, class Mask>
std::int64_t lowest_where(const Mask& holds, typename Vector<U>::Type numbers) {
  const std::uint64_t lanes = bits_of_mask<sizeof(U)>(holds);
  if ((lanes & (lanes - 1)) == 0) {
    return static_cast<std::int64_t>(numbers[__builtin_ctzll(lanes)]);
  }
  return static_cast<std::int64_t>(reduce<U>(holds ? numbers : Vector<U>::all(static_cast<U>(-1)),
                                             [](auto a, auto b) { return lower(a, b); }));
}

/// Finds the highest key of n elements, at least a vector; false if comparisons cannot tell. If
/// kLocates, `span` becomes the four vectors where it is first, unless it is a NaN's: of each four
/// only the best is compared with the best so far, and the number of the four is kept. Vectors at
/// both ends overlap others, which changes nothing.
template <bool kLocates, bool kNative, class O, class T = typename O::Element>
bool search_vectors(const T* p, std::int64_t n, bool prefetches, typename O::Key* key, Span* span) {
  using C = RowCompare<O, kNative>;
  using V = typename C::V;
  using U = typename O::Unsigned;
  constexpr std::int64_t kWidth = Vector<U>::kWidth;
  const auto best_of = [](auto a, auto b) { return C::best_of(a, b); };
  C compare;
  V best[kLocates ? 1 : 4];
  typename Vector<U>::Type number{};
  typename Vector<U>::Type numbers{};
  const auto take = [&](V x) {
    const V better = best_of(best[0], x);
    if constexpr (kLocates) {
      number += 1;
      numbers = C::before(better, best[0]) ? number : numbers;
    }
    best[0] = better;
  };
  const auto four_at = [&](std::int64_t at) {
    if (prefetches) prefetch_after_four(p + at);
    return FourVectors<C, T>(p + at, compare);
  };
  const bool aligns = n >= tuning::kAlignFromVectors * kWidth;
  std::int64_t i = 0;
  if (n >= kLanes<T> && !aligns) {
    const auto four = four_at(0);
    if constexpr (kLocates) best[0] = four.best();
    if constexpr (!kLocates) unroll<4>([&](auto v) { best[v] = C::without_nan(four.x[v]); });
    i = kLanes<T>;
  } else {
    const V x = C::load(p);
    compare.see(x);
    for (V& b : best) b = C::without_nan(x);
    if (aligns) i = to_boundary(p);
  }
  const std::int64_t start = i;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    const auto four = four_at(i);
    if constexpr (kLocates) take(four.best());
    if constexpr (!kLocates) unroll<4>([&](auto v) { best[v] = best_of(best[v], four.x[v]); });
  }
  if constexpr (!kLocates) best[0] = best_of(best_of(best[0], best[1]), best_of(best[2], best[3]));
  if (i < n) take(best_of_rest(p, i, n, compare));
  const auto highest = reduce<typename C::Lane>(best[0], best_of);
  if (!compare.tells(highest)) return false;
  *key = C::key(highest);
  if constexpr (kInfinityBits<T> != 0) {
    // Keys of NaNs differ before they are made one.
    if (*key == O::nan_key()) return true;
  }
  if constexpr (kLocates) {
    const auto has_it = best[0] == Vector<typename C::Lane>::all(highest);
    const std::int64_t at = lowest_where<U>(has_it, numbers);
    span->count = min_of(n, kLanes<T>);
    span->first = min_of(max_of<std::int64_t>(start + (at - 1) * kLanes<T>, 0), n - span->count);
  }
  return true;
}

/// The highest key among n >= 1 consecutive elements, and if kLocates a span of them where it is
/// first; may prefetch those after them.
template <class O, bool kLocates = false, class T = typename O::Element>
typename O::Key highest_key(const T* p, std::int64_t n, bool prefetches, Span* span = nullptr) {
  typename O::Key key;
  if (kLocates) *span = {0, n};
  if (n * static_cast<std::int64_t>(sizeof(T)) < kVectorBytes) {
    key = O::key(p[0]);
    for (std::int64_t i = 1; i < n; ++i) key = max_of(key, O::key(p[i]));
    return key;
  }
  constexpr bool kNative = kHasNativeOrder<T>;
  if (search_vectors<kLocates, kNative, O>(p, n, prefetches, &key, span)) return key;
  // float and double seldom: NaNs first, infinities of both signs, or only the worst number.
  search_vectors<kLocates && !kNative, false, O>(p, n, prefetches, &key, span);
  return key;
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
  for (; done < n - 1; ++done) {
    U bits;
    std::memcpy(&bits, p + (kLast ? n - 1 - done : done), sizeof bits);
    if (match(bits)) break;
  }
  return kLast ? n - 1 - done : done;
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
