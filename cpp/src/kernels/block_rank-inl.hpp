// The highest rank of consecutive elements, at memory speed.
//
// Both ways keep four vectors' worth of independent maxima, so that their latencies overlap.
#pragma once

#include "kernels/order-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Elements in four vectors.
template <class T>
constexpr std::int64_t kLanes = 4 * kVectorBytes / static_cast<std::int64_t>(sizeof(T));

/// Elements of one vector of this level: arithmetic and comparisons are element by element.
template <class T>
struct Vector {
  using Type __attribute__((vector_size(kVectorBytes))) = T;
  /// The same anywhere in memory.
  using Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias)) = T;

  static Type load(const T* p) { return *reinterpret_cast<const Unaligned*>(p); }
};

/// Of n >= kLanes elements, by their ranks.
template <class O, class T = typename O::Element>
typename O::Rank highest_by_rank(const T* p, std::int64_t n) {
  constexpr std::int64_t kWidth = kLanes<T>;
  typename O::Rank lanes[kWidth];
  for (std::int64_t j = 0; j < kWidth; ++j) lanes[j] = O::loose_rank(p[j]);
  for (std::int64_t i = kWidth; i + kWidth <= n; i += kWidth) {
    for (std::int64_t j = 0; j < kWidth; ++j) lanes[j] = max_of(lanes[j], O::loose_rank(p[i + j]));
  }
  // The last vectors overlap those before: seeing an element twice changes no maximum.
  const T* last = p + n - kWidth;
  for (std::int64_t j = 0; j < kWidth; ++j) lanes[j] = max_of(lanes[j], O::loose_rank(last[j]));
  typename O::Rank best = lanes[0];
  for (std::int64_t j = 1; j < kWidth; ++j) best = max_of(best, lanes[j]);
  return O::settle(best);
}

/// Of n >= kLanes float or double elements, by the processor's own comparisons, which cost less
/// than ranks but pass over NaNs. False if there may have been one: the elements' sum is NaN if any
/// of them is. (It also is for +infinity plus -infinity; ranks then find the same answer.)
template <class O, class T = typename O::Element>
bool highest_by_value(const T* p, std::int64_t n, typename O::Rank* highest) {
  using V = typename Vector<T>::Type;
  constexpr std::int64_t kStep = kVectorBytes / static_cast<std::int64_t>(sizeof(T));
  const auto better = [](V a, V b) { return (O::kLargest ? b > a : b < a) ? b : a; };
  V a0 = Vector<T>::load(p);
  V a1 = Vector<T>::load(p + kStep);
  V a2 = Vector<T>::load(p + 2 * kStep);
  V a3 = Vector<T>::load(p + 3 * kStep);
  V s0 = a0;
  V s1 = a1;
  V s2 = a2;
  V s3 = a3;
  const auto take = [&](const T* q) {
    const V x0 = Vector<T>::load(q);
    const V x1 = Vector<T>::load(q + kStep);
    const V x2 = Vector<T>::load(q + 2 * kStep);
    const V x3 = Vector<T>::load(q + 3 * kStep);
    a0 = better(a0, x0);
    a1 = better(a1, x1);
    a2 = better(a2, x2);
    a3 = better(a3, x3);
    s0 += x0;
    s1 += x1;
    s2 += x2;
    s3 += x3;
  };
  for (std::int64_t i = kLanes<T>; i + kLanes<T> <= n; i += kLanes<T>) take(p + i);
  take(p + n - kLanes<T>);
  const V best = better(better(a0, a1), better(a2, a3));
  const V sum = (s0 + s1) + (s2 + s3);
  T value = best[0];
  T total = sum[0];
  for (std::int64_t j = 1; j < kStep; ++j) {
    value = (O::kLargest ? best[j] > value : best[j] < value) ? best[j] : value;
    total += sum[j];
  }
  *highest = O::rank(value);
  return total == total;
}

/// The highest rank among n >= 1 consecutive elements.
template <class O, class T = typename O::Element>
typename O::Rank block_rank(const T* p, std::int64_t n) {
  if (n < kLanes<T>) {
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
