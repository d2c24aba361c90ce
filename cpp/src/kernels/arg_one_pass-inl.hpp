// argmin and argmax of a row in one pass: each lane keeps its best and the group of vectors it came
// with, and no branch depends on the elements (but NaN), so that the processor is in the next row
// before it is done with this one.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Whether one_pass() takes rows of n elements. Other types gain little or nothing by it: integers
/// have no NaN to look for, narrow types have more lanes to reduce, twice.
template <class T>
constexpr bool fits_one_pass(std::int64_t n) {
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  return kHasNativeOrder<T> && bytes >= kVectorBytes && bytes <= tuning::kOnePassBytes;
}

/// The highest key among n consecutive floats or doubles, and where it is first. False if NaNs
/// may decide: with NaNs first if the elements' sum is NaN, as the processor's own comparisons pass
/// over NaNs; with NaNs last if there may have been nothing else. May prefetch what lies after.
///
/// Four vectors are a group, of which only the best is compared with the best so far, and only the
/// group's number kept; which element it was is looked up in the one group that won.
template <class O, class T = typename O::Element>
bool one_pass(const T* p, std::int64_t n, bool prefetches, typename O::Key* key, std::int64_t* at) {
  using V = typename Vector<T>::Type;
  using Count = typename O::Unsigned;
  using U = Vector<Count>;
  constexpr std::int64_t kWidth = U::kWidth;
  constexpr std::int64_t kGroup = 4 * kWidth;
  const auto beats = [](auto a, auto b) { return O::kLargest ? a > b : a < b; };
  const auto best_of = [beats](auto a, auto b) { return beats(b, a) ? b : a; };
  const auto lowest_of = [](auto a, auto b) { return b < a ? b : a; };
  const auto load = [](const T* q) { return loaded(Vector<T>::load(q)); };
  // All but the first group start at a vector boundary, so the first overlaps the second. The last
  // is moved back into the row, and in a row of less than a group its vectors are: seeing an
  // element twice does no harm, as the first group that has it decides.
  const std::int64_t boundary = n >= tuning::kAlignFromVectors * kWidth ? to_boundary(p) : 0;
  const std::int64_t second = boundary == 0 ? kGroup : kGroup - kWidth + boundary;
  const auto start = [n, second](std::int64_t group, int j) {
    const std::int64_t last = max_of<std::int64_t>(n - kGroup, 0);
    const std::int64_t own = max_of<std::int64_t>((group - 1) * kGroup + second, 0);
    return min_of(min_of(own, last) + j * kWidth, n - kWidth);
  };
  V sum{};
  const V worst = Vector<T>::all(worst_value<O>());
  const auto best_of_four = [&](V x0, V x1, V x2, V x3) {
    if constexpr (O::kNanFirst) {
      sum += (x0 + x1) + (x2 + x3);
      return best_of(best_of(x0, x1), best_of(x2, x3));
    } else {
      // Of a number and a NaN the first is taken.
      return best_of(best_of(best_of(worst, x0), x1), best_of(best_of(worst, x2), x3));
    }
  };
  const auto best_at = [&](std::int64_t group) {
    return best_of_four(load(p + start(group, 0)), load(p + start(group, 1)),
                        load(p + start(group, 2)), load(p + start(group, 3)));
  };

  V best = best_at(0);
  typename U::Type groups{};
  typename U::Type group{};
  const auto take = [&](V x) {
    group += 1;
    groups = beats(x, best) ? group : groups;
    best = best_of(best, x);
  };
  std::int64_t first = second;
  for (; first + kGroup <= n; first += kGroup) {
    const T* const q = p + first;
    if (prefetches) prefetch_after_four(q);
    take(best_of_four(load(q), load(q + kWidth), load(q + 2 * kWidth), load(q + 3 * kWidth)));
  }
  if (first < n) take(best_at((first - second) / kGroup + 1));
  if (O::kNanFirst && any(sum != sum)) return false;

  const auto highest = reduce<T>(best, best_of);
  if (!O::kNanFirst && highest == worst_value<O>()) return false;
  const V all = Vector<T>::all(highest);
  const auto none = U::all(static_cast<Count>(-1));
  const std::int64_t won =
      n <= kGroup
          ? 0
          : static_cast<std::int64_t>(reduce<Count>(best == all ? groups : none, lowest_of));
  typename U::Type lane{};
  for (std::int64_t i = 0; i < kWidth; ++i) lane[i] = static_cast<Count>(i);
  const std::int64_t base = start(won, 0);
  // Under concurrent modification what is not found is at the end.
  typename U::Type places = U::all(static_cast<Count>(start(won, 3) + kWidth - 1 - base));
  for (int j = 3; j >= 0; --j) {
    const std::int64_t from = start(won, j);
    places = load(p + from) == all ? lane + static_cast<Count>(from - base) : places;
  }
  *at = base + static_cast<std::int64_t>(reduce<Count>(places, lowest_of));
  *key = O::key(highest);
  return true;
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
