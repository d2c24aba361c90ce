// The highest key of consecutive elements, at memory speed.
//
// Four vectors' worth of independent maxima, so that their latencies overlap.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_LEVEL {
namespace {

/// Elements in four vectors.
template <class T>
constexpr std::int64_t kLanes = 4 * kVectorBytes / static_cast<std::int64_t>(sizeof(T));

/// Reduces n elements, at least a vector, into a state: take(state, p) takes a vector's worth from
/// p on, join(a, b) two states. The state of the last vector is where each of four begins, with
/// more elements that of the first as well; seeing an element more than once must do no harm.
template <class T, class State, class Take, class Join>
State reduce_lanes(const T* p, std::int64_t n, bool prefetches, State state, Take take, Join join) {
  constexpr std::int64_t kStep = kLanes<T> / 4;
  std::int64_t i = 0;
  if (n >= tuning::kAlignFromVectors * kStep) {
    take(state, p);
    i = to_boundary(p);
  }
  if (n >= kLanes<T>) {
    State s1 = state;
    State s2 = state;
    State s3 = state;
    for (; i + kLanes<T> <= n; i += kLanes<T>) {
      if (prefetches) prefetch_after_four(p + i);
      take(state, p + i);
      take(s1, p + i + kStep);
      take(s2, p + i + 2 * kStep);
      take(s3, p + i + 3 * kStep);
    }
    state = join(join(state, s1), join(s2, s3));
  }
  for (; i + kStep <= n; i += kStep) take(state, p + i);
  return state;
}

/// Of n elements, at least a vector, by their keys.
template <class O, class T = typename O::Element>
typename O::Key highest_by_key(const T* p, std::int64_t n, bool prefetches) {
  using Key = typename O::Key;
  using Bits = Vector<typename O::Unsigned>;
  using V = typename Vector<Key>::Type;
  using Signed = typename Vector<typename IntegersOf<sizeof(T)>::Signed>::Type;
  const auto load = [](const T* q) {
    return O::template raw_keys<V, Signed>(
        Bits::load(reinterpret_cast<const typename O::Unsigned*>(q)));
  };
  const auto higher = [](auto a, auto b) { return a > b ? a : b; };
  const auto take = [&](V& best, const T* q) { best = higher(best, load(q)); };
  const V best = reduce_lanes(p, n, prefetches, load(p + n - Bits::kWidth), take, higher);
  return O::canonical_key(reduce<Key>(best, higher));
}

/// Of n float or double elements, at least a vector, by the processor's own comparisons, which cost
/// less than keys but pass over NaNs. With NaNs first, false if there may have been one: the
/// elements' sum is NaN if any of them is. (It also is for +infinity plus -infinity; keys then
/// find the same answer.) With NaNs last, false if there may have been nothing else but the worst
/// number.
template <class O, class T = typename O::Element>
bool highest_by_value(const T* p, std::int64_t n, bool prefetches, typename O::Key* highest) {
  using V = typename Vector<T>::Type;
  struct State {
    V best;
    V sum;
  };
  // Of a number and a NaN the first.
  const auto better = [](auto a, auto b) { return (O::kLargest ? b > a : b < a) ? b : a; };
  const auto take = [&](State& state, const T* q) {
    const V x = Vector<T>::load(q);
    state.best = better(state.best, x);
    if constexpr (O::kNanFirst) state.sum += x;
  };
  const auto join = [&](const State& a, const State& b) {
    return State{better(a.best, b.best), a.sum + b.sum};
  };
  const V lowest = Vector<T>::all(worst_value<O>());
  const V last = Vector<T>::load(p + n - Vector<T>::kWidth);
  const State start = {O::kNanFirst ? last : better(lowest, last), O::kNanFirst ? last : V{}};
  const State state = reduce_lanes(p, n, prefetches, start, take, join);
  const T best = reduce<T>(state.best, better);
  *highest = O::key(best);
  if constexpr (O::kNanFirst) {
    const T total = reduce<T>(state.sum, [](auto a, auto b) { return a + b; });
    return total == total;
  } else {
    return best != worst_value<O>();
  }
}

/// The highest key among n >= 1 consecutive elements; may prefetch those after them.
template <class O, class T = typename O::Element>
typename O::Key highest_key(const T* p, std::int64_t n, bool prefetches) {
  if (n * static_cast<std::int64_t>(sizeof(T)) < kVectorBytes) {
    typename O::Key best = O::key(p[0]);
    for (std::int64_t i = 1; i < n; ++i) best = max_of(best, O::key(p[i]));
    return best;
  }
  if constexpr (kHasNativeOrder<T>) {
    typename O::Key best;
    if (highest_by_value<O>(p, n, prefetches, &best)) return best;
  }
  return highest_by_key<O>(p, n, prefetches);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_LEVEL
