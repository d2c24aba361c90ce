// argmin and argmax of a line by itself: the extreme of a block at memory speed, then a look for
// where it stands in the one block that has it; or all in one pass.
#pragma once

#include "kernels/arg_one_pass-inl.hpp"
#include "kernels/block_rank-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Where `wanted` stands first, or last, among n consecutive elements, one of which has it. The
/// bounds hold by themselves, unless another thread changes the elements meanwhile.
template <bool kLast, class O, class T = typename O::Element>
std::int64_t find_rank(const T* p, std::int64_t n, typename O::Rank wanted) {
  std::int64_t i = kLast ? n - 1 : 0;
  const std::int64_t end = kLast ? 0 : n - 1;
  const std::int64_t step = kLast ? -1 : 1;
  while (i != end && O::rank(p[i]) != wanted) i += step;
  return i;
}

/// The same for elements that all have the same bits: compares four vectors at a time.
template <bool kLast, class U, class T>
std::int64_t find_bits(const T* p, std::int64_t n, U bits) {
  using V = Vector<U>;
  constexpr std::int64_t kWidth = V::kWidth;
  constexpr std::int64_t kGroup = 4 * kWidth;
  if (n < kWidth) {
    std::int64_t done = 0;
    for (; done < n - 1; ++done) {
      U found;
      std::memcpy(&found, p + (kLast ? n - 1 - done : done), sizeof found);
      if (found == bits) break;
    }
    return kLast ? n - 1 - done : done;
  }
  const typename V::Type wanted = V::all(bits);
  const auto equal = [&](std::int64_t i) {
    return V::load(reinterpret_cast<const U*>(p + i)) == wanted;
  };
  // Where in [first, last), at most a group, of which an element has it: without a branch that
  // depends on the elements, as no processor could foresee it. Each lane's first or last position,
  // then the lanes' lowest or highest. A vector may reach out to elements that do not have it.
  const auto narrow = [&](std::int64_t first, std::int64_t last) {
    const std::int64_t count = (last - first + kWidth - 1) / kWidth;
    const auto start = [&](std::int64_t v) {
      return kLast ? max_of<std::int64_t>(last - (v + 1) * kWidth, 0)
                   : min_of(first + v * kWidth, n - kWidth);
    };
    const std::int64_t base = start(kLast ? count - 1 : 0);
    typename V::Type positions{};
    for (std::int64_t j = 0; j < kWidth; ++j) positions[j] = static_cast<U>(j);
    // What no lane's own position is worse than.
    const std::int64_t worst = kLast ? 0 : start(count - 1) + kWidth - 1 - base;
    typename V::Type lanes = V::all(static_cast<U>(worst));
    for (std::int64_t v = count - 1; v >= 0; --v) {
      lanes = equal(start(v)) ? positions + static_cast<U>(start(v) - base) : lanes;
    }
    const U best = reduce<U>(lanes, [](auto x, auto y) { return (kLast ? x > y : x < y) ? x : y; });
    return base + static_cast<std::int64_t>(best);
  };
  std::int64_t done = 0;
  for (; done + kGroup < n; done += kGroup) {
    const std::int64_t first = kLast ? n - kGroup - done : done;
    const auto found = (equal(first) | equal(first + kWidth)) |
                       (equal(first + 2 * kWidth) | equal(first + 3 * kWidth));
    if (any(found)) return narrow(first, first + kGroup);
  }
  return kLast ? narrow(0, n - done) : narrow(done, n);
}

template <bool kLast, class O, class T = typename O::Element>
std::int64_t find(const T* p, std::int64_t n, typename O::Rank wanted) {
  typename O::Unsigned bits;
  return O::bits_of(wanted, &bits) ? find_bits<kLast>(p, n, bits)
                                   : find_rank<kLast, O>(p, n, wanted);
}

/// Elements per block of a row read where it is.
template <class T>
std::int64_t arg_block(std::int64_t length) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  std::int64_t block = tuning::kArgBlockBytes / kSize;
  while (block < tuning::kArgMaxBlockBytes / kSize && 16 * block <= length) block *= 2;
  return block;
}

template <class O>
void arg_rows(const ArgPanel& panel, std::int64_t* ranks, std::int64_t* indices) {
  using T = typename O::Element;
  using Rank = typename O::Rank;
  const std::int64_t stride = panel.length_stride;
  T packed[tuning::kArgBlockBytes / sizeof(T)];
  // A backward line is read forwards too, as memory is prefetched: the first of equal elements is
  // then the last one met.
  const bool backward = stride == -1;
  const bool in_place = stride == 1 || backward;
  const std::int64_t block_length = in_place ? arg_block<T>(panel.length) : arg_block<T>(0);
  const auto block_at = [&](const T* line, std::int64_t first, std::int64_t count) {
    if (in_place) return line + first;
    pack(line + first * stride, stride, count, packed);
    return static_cast<const T*>(packed);
  };
  const auto merge = [&](std::int64_t l, std::int64_t rank, std::int64_t at) {
    const std::int64_t index = panel.index_base + panel.index_step * at;
    if (panel.starts || rank > ranks[l] || (rank == ranks[l] && index < indices[l])) {
      ranks[l] = rank;
      indices[l] = index;
    }
  };
  const bool at_once = stride == 1 && fits_one_pass<T>(panel.length);
  for (std::int64_t l = 0; l < panel.lines; ++l) {
    const T* line = static_cast<const T*>(panel.data) + l * panel.line_stride;
    if constexpr (kHasNativeOrder<T>) {
      Rank highest;
      std::int64_t place = 0;
      if (at_once && one_pass<O>(line, panel.length, &highest, &place)) {
        merge(l, wide_rank<O>(highest), place);
        continue;
      }
    }
    if (backward) line -= panel.length - 1;
    Rank best{};
    std::int64_t best_first = -1;
    for (std::int64_t first = 0; first < panel.length; first += block_length) {
      const std::int64_t count = min_of(block_length, panel.length - first);
      const Rank r = block_rank<O>(block_at(line, first, count), count);
      if (best_first < 0 || r > best || (backward && r == best)) {
        best = r;
        best_first = first;
        if (best == O::kTop && !backward) break;
      }
    }
    const std::int64_t wide = wide_rank<O>(best);
    if (!panel.starts && wide < ranks[l]) continue;
    const std::int64_t count = min_of(block_length, panel.length - best_first);
    const T* block = block_at(line, best_first, count);
    std::int64_t at = best_first;
    if (backward) {
      at = panel.length - 1 - at - find<true, O>(block, count, best);
    } else {
      at += find<false, O>(block, count, best);
    }
    merge(l, wide, at);
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
