// The highest rank of consecutive elements, at memory speed.
//
// Both ways keep four vectors' worth of independent maxima, so that their latencies overlap.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Elements in four vectors.
template <class T>
constexpr std::int64_t kLanes = 4 * kVectorBytes / static_cast<std::int64_t>(sizeof(T));

/// Of n elements, at least a vector, by their ranks.
template <class O, class T = typename O::Element>
typename O::Rank highest_by_rank(const T* p, std::int64_t n) {
  using Rank = typename O::Rank;
  using Bits = Vector<typename O::Unsigned>;
  using V = typename Vector<Rank>::Type;
  using Signed = typename Vector<typename IntegersOf<sizeof(T)>::Signed>::Type;
  constexpr std::int64_t kStep = Bits::kWidth;
  const auto load = [](const T* q) {
    return O::template loose_ranks<V, Signed>(
        Bits::load(reinterpret_cast<const typename O::Unsigned*>(q)));
  };
  const auto higher = [](auto a, auto b) { return a > b ? a : b; };
  // The last vector overlaps those before: seeing an element twice changes no maximum.
  V best = load(p + n - kStep);
  std::int64_t i = 0;
  if (n >= kLanes<T>) {
    V a0 = best;
    V a1 = best;
    V a2 = best;
    V a3 = best;
    for (; i + kLanes<T> <= n; i += kLanes<T>) {
      a0 = higher(a0, load(p + i));
      a1 = higher(a1, load(p + i + kStep));
      a2 = higher(a2, load(p + i + 2 * kStep));
      a3 = higher(a3, load(p + i + 3 * kStep));
    }
    best = higher(higher(a0, a1), higher(a2, a3));
  }
  for (; i + kStep <= n; i += kStep) best = higher(best, load(p + i));
  return O::settle(reduce<Rank>(best, higher));
}

/// Of n float or double elements, at least a vector, by the processor's own comparisons, which cost
/// less than ranks but pass over NaNs. False if there may have been one: the elements' sum is NaN
/// if any of them is. (It also is for +infinity plus -infinity; ranks then find the same answer.)
template <class O, class T = typename O::Element>
bool highest_by_value(const T* p, std::int64_t n, typename O::Rank* highest) {
  using V = typename Vector<T>::Type;
  constexpr std::int64_t kStep = Vector<T>::kWidth;
  const auto better = [](auto a, auto b) { return (O::kLargest ? b > a : b < a) ? b : a; };
  V best = Vector<T>::load(p + n - kStep);
  V sum = best;
  std::int64_t i = 0;
  if (n >= kLanes<T>) {
    V a0 = best;
    V a1 = best;
    V a2 = best;
    V a3 = best;
    V s1{};
    V s2{};
    V s3{};
    for (; i + kLanes<T> <= n; i += kLanes<T>) {
      const V x0 = Vector<T>::load(p + i);
      const V x1 = Vector<T>::load(p + i + kStep);
      const V x2 = Vector<T>::load(p + i + 2 * kStep);
      const V x3 = Vector<T>::load(p + i + 3 * kStep);
      a0 = better(a0, x0);
      a1 = better(a1, x1);
      a2 = better(a2, x2);
      a3 = better(a3, x3);
      sum += x0;
      s1 += x1;
      s2 += x2;
      s3 += x3;
    }
    best = better(better(a0, a1), better(a2, a3));
    sum += s1 + (s2 + s3);
  }
  for (; i + kStep <= n; i += kStep) {
    const V x = Vector<T>::load(p + i);
    best = better(best, x);
    sum += x;
  }
  *highest = O::rank(reduce<T>(best, better));
  const T total = reduce<T>(sum, [](auto a, auto b) { return a + b; });
  return total == total;
}

/// The highest rank among n >= 1 consecutive elements.
template <class O, class T = typename O::Element>
typename O::Rank block_rank(const T* p, std::int64_t n) {
  if (n * static_cast<std::int64_t>(sizeof(T)) < kVectorBytes) {
    typename O::Rank best = O::loose_rank(p[0]);
    for (std::int64_t i = 1; i < n; ++i) best = max_of(best, O::loose_rank(p[i]));
    return O::settle(best);
  }
  if constexpr (kHasNativeOrder<T>) {
    typename O::Rank best;
    if (highest_by_value<O>(p, n, &best)) return best;
  }
  return highest_by_rank<O>(p, n);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
