// argmin and argmax of a line by itself: the extreme of a block at memory speed, then a look for
// where it stands in the one block that has it.
#pragma once

#include "kernels/block_rank-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Where `wanted` stands first among n consecutive elements, one of which has it. Whole groups are
/// searched without an early exit, which vectorises.
template <class O, class T = typename O::Element>
std::int64_t find_first(const T* p, std::int64_t n, typename O::Rank wanted) {
  constexpr std::int64_t kGroup = kLanes<T>;
  std::int64_t i = 0;
  for (; i + kGroup <= n; i += kGroup) {
    typename O::Unsigned found = 0;
    for (std::int64_t j = 0; j < kGroup; ++j) {
      found |= static_cast<typename O::Unsigned>(O::rank(p[i + j]) == wanted);
    }
    if (found != 0) break;
  }
  // The bound holds by itself, unless another thread changes the elements meanwhile.
  while (i < n - 1 && O::rank(p[i]) != wanted) ++i;
  return min_of(i, n - 1);
}

/// The same, the last one.
template <class O, class T = typename O::Element>
std::int64_t find_last(const T* p, std::int64_t n, typename O::Rank wanted) {
  constexpr std::int64_t kGroup = kLanes<T>;
  std::int64_t end = n;
  for (; end >= kGroup; end -= kGroup) {
    typename O::Unsigned found = 0;
    for (std::int64_t j = 1; j <= kGroup; ++j) {
      found |= static_cast<typename O::Unsigned>(O::rank(p[end - j]) == wanted);
    }
    if (found != 0) break;
  }
  while (end > 1 && O::rank(p[end - 1]) != wanted) --end;
  return max_of<std::int64_t>(end - 1, 0);
}

template <class O>
void arg_rows(const ArgPanel& panel, std::int64_t* ranks, std::int64_t* indices) {
  using T = typename O::Element;
  using Rank = typename O::Rank;
  constexpr std::int64_t kBlock = tuning::kArgBlockBytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t stride = panel.length_stride;
  T packed[kBlock];
  // A backward line is read forwards too, as memory is prefetched: the first of equal elements is
  // then the last one met.
  const bool backward = stride == -1;
  const auto block_at = [&](const T* line, std::int64_t first, std::int64_t count) {
    if (stride == 1 || backward) return line + first;
    pack(line + first * stride, stride, count, packed);
    return static_cast<const T*>(packed);
  };
  for (std::int64_t l = 0; l < panel.lines; ++l) {
    const T* line = static_cast<const T*>(panel.data) + l * panel.line_stride;
    if (backward) line -= panel.length - 1;
    Rank best{};
    std::int64_t best_first = -1;
    for (std::int64_t first = 0; first < panel.length; first += kBlock) {
      const std::int64_t count = min_of(kBlock, panel.length - first);
      const Rank r = block_rank<O>(block_at(line, first, count), count);
      if (best_first < 0 || r > best || (backward && r == best)) {
        best = r;
        best_first = first;
        if (best == O::kTop && !backward) break;
      }
    }
    const std::int64_t wide = wide_rank<O>(best);
    if (wide < ranks[l]) continue;
    const std::int64_t count = min_of(kBlock, panel.length - best_first);
    const T* block = block_at(line, best_first, count);
    std::int64_t at = best_first;
    if (backward) {
      at = panel.length - 1 - at - find_last<O>(block, count, best);
    } else {
      at += find_first<O>(block, count, best);
    }
    const std::int64_t index = panel.index_base + panel.index_step * at;
    if (wide > ranks[l] || index < indices[l]) {
      ranks[l] = wide;
      indices[l] = index;
    }
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
