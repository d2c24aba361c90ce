// argmin and argmax of a row by itself: the extreme of a block at memory speed, then a look for
// where it is in the one block that has it; or all in one pass.
#pragma once

#include "kernels/arg_one_pass-inl.hpp"
#include "kernels/highest_key-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// What tells the elements of one key by their bits, which are the same.
template <class U>
struct HasBits {
  U wanted;
  template <class Bits>
  auto operator()(Bits bits) const {
    return bits == wanted;
  }
};

/// The same for zeros, of which there are two, and NaNs, of which there are many: the bits without
/// the sign lie in [first, first + others].
template <class U>
struct HasMagnitude {
  U mask;
  U first;
  U others;
  template <class Bits>
  auto operator()(Bits bits) const {
    return static_cast<Bits>((bits & mask) - first) <= others;
  }
};

/// The position of the first, or last, of n elements that matches; one of them does. Four vectors
/// at a time. In bounds even under concurrent modification.
template <bool kLast, class U, class Match>
std::int64_t find_match(const U* p, std::int64_t n, Match match) {
  using V = Vector<U>;
  constexpr std::int64_t kWidth = V::kWidth;
  constexpr std::int64_t kGroup = 4 * kWidth;
  if (n < kWidth) {
    std::int64_t done = 0;
    for (; done < n - 1; ++done) {
      U bits;
      std::memcpy(&bits, p + (kLast ? n - 1 - done : done), sizeof bits);
      if (match(bits)) break;
    }
    return kLast ? n - 1 - done : done;
  }
  const auto matches = [&](std::int64_t i) { return match(V::load(p + i)); };
  // Where in [first, last), at most a group, of which an element matches: without a branch that
  // depends on the elements, which would be mispredicted. Each lane's first or last position,
  // then the lanes' lowest or highest. A vector may reach out to elements that do not match.
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
      lanes = matches(start(v)) ? positions + static_cast<U>(start(v) - base) : lanes;
    }
    const U best = reduce<U>(lanes, [](auto x, auto y) { return (kLast ? x > y : x < y) ? x : y; });
    return base + static_cast<std::int64_t>(best);
  };
  std::int64_t done = 0;
  for (; done + kGroup < n; done += kGroup) {
    const std::int64_t first = kLast ? n - kGroup - done : done;
    const auto found = (matches(first) | matches(first + kWidth)) |
                       (matches(first + 2 * kWidth) | matches(first + 3 * kWidth));
    if (any(found)) return narrow(first, first + kGroup);
  }
  return kLast ? narrow(0, n - done) : narrow(done, n);
}

/// Where `wanted` is first, or last, among n consecutive elements, one of which has that key.
template <bool kLast, class O, class T = typename O::Element>
std::int64_t find(const T* p, std::int64_t n, typename O::Key wanted) {
  using U = typename O::Unsigned;
  const U* const elements = reinterpret_cast<const U*>(p);
  U bits;
  [[maybe_unused]] const bool exact = O::bits_of(wanted, &bits);
  if constexpr (kInfinityBits<T> != 0) {
    if (!exact) {
      constexpr HasMagnitude<U> kZero = {O::kMax, 0, 0};
      constexpr HasMagnitude<U> kNan = {O::kMax, O::kInfinity + 1, O::kNans - 1};
      return find_match<kLast>(elements, n, wanted == O::nan_key() ? kNan : kZero);
    }
  }
  return find_match<kLast>(elements, n, HasBits<U>{bits});
}

/// Elements per block of a row read where it is.
template <class T>
std::int64_t arg_block(std::int64_t length, bool from_memory) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t blocks =
      kHasNativeOrder<T> && !from_memory ? tuning::kArgCachedBlocks : tuning::kArgBlocks;
  std::int64_t block = tuning::kArgBlockBytes / kSize;
  while (block < tuning::kArgMaxBlockBytes / kSize && blocks * block <= length) block *= 2;
  return block;
}

template <class O>
void arg_rows(const ArgRows& rows, std::int64_t* keys, std::int64_t* indices) {
  using T = typename O::Element;
  using Key = typename O::Key;
  const std::int64_t stride = rows.stride;
  alignas(kVectorBytes) T packed[tuning::kArgBlockBytes / sizeof(T)];
  // A backward row is read forwards too, as memory is prefetched: the first of equal elements is
  // then the last one met.
  const bool backward = stride == -1;
  const bool in_place = stride == 1 || backward;
  const bool prefetches = rows.prefetches && in_place;
  const std::int64_t block_length =
      in_place ? arg_block<T>(rows.n, rows.prefetches) : tuning::kArgBlockBytes / sizeof(T);
  const auto block_at = [&](const T* row, std::int64_t first, std::int64_t count) {
    if (in_place) return row + first;
    pack(row + first * stride, stride, count, packed);
    return static_cast<const T*>(packed);
  };
  const auto merge = [&](std::int64_t r, std::int64_t key, std::int64_t at) {
    const std::int64_t index = rows.index_base + rows.index_step * at;
    if (rows.starts || key > keys[r] || (key == keys[r] && index < indices[r])) {
      keys[r] = key;
      indices[r] = index;
    }
  };
  const bool at_once = stride == 1 && fits_one_pass<T>(rows.n);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const T* row = static_cast<const T*>(rows.data) + r * rows.row_stride;
    if constexpr (kHasNativeOrder<T>) {
      Key highest;
      std::int64_t place = 0;
      if (at_once && one_pass<O>(row, rows.n, rows.prefetches, &highest, &place)) {
        merge(r, wide_key(unsigned_key<O>(highest)), place);
        continue;
      }
    }
    if (backward) row -= rows.n - 1;
    Key best{};
    std::int64_t best_first = -1;
    for (std::int64_t first = 0; first < rows.n; first += block_length) {
      const std::int64_t count = min_of(block_length, rows.n - first);
      const Key key = highest_key<O>(block_at(row, first, count), count, prefetches);
      if (best_first < 0 || key > best || (backward && key == best)) {
        best = key;
        best_first = first;
        if (best == O::kTop && !backward) break;
      }
    }
    const std::int64_t wide = wide_key(unsigned_key<O>(best));
    if (!rows.starts && wide < keys[r]) continue;
    const std::int64_t count = min_of(block_length, rows.n - best_first);
    const T* block = block_at(row, best_first, count);
    std::int64_t at = best_first;
    if (backward) {
      at = rows.n - 1 - at - find<true, O>(block, count, best);
    } else {
      at += find<false, O>(block, count, best);
    }
    merge(r, wide, at);
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
