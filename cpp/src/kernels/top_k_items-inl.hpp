// What the top-k strategies share: ranks by the chunk, and selected elements that sort.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/transpose-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// An element's rank and position in one key: of two items the one with the larger key comes
/// first. Positions are inverted, so that of equal ranks the earlier position is larger; with them
/// no two keys are equal, and any comparison sort is a stable one.
template <class U>
struct Item {
  std::uint64_t key;

  static Item make(U rank, std::int64_t position) {
    return {std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(~position)};
  }
  U rank() const { return static_cast<U>(key >> 32); }
  std::int64_t position() const { return static_cast<std::uint32_t>(~key); }
  bool operator<(const Item& other) const { return key > other.key; }
};

template <>
struct Item<std::uint64_t> {
  std::uint64_t key;
  std::int64_t at;

  static Item make(std::uint64_t rank, std::int64_t position) { return {rank, position}; }
  std::uint64_t rank() const { return key; }
  std::int64_t position() const { return at; }
  bool operator<(const Item& other) const {
    return key > other.key || (key == other.key && at < other.at);
  }
};

/// Ranks that are computed at a time.
template <class U>
constexpr std::int64_t kRankChunk = tuning::kRankChunkBytes / static_cast<std::int64_t>(sizeof(U));

/// Calls body(position, ranks, count) with the ranks of the row's elements in [first, last), a
/// chunk at a time in ascending order.
template <class U, class Body>
void for_chunks(const TopKRow& row, std::int64_t first, std::int64_t last, Body&& body) {
  U ranks[kRankChunk<U>];
  for (std::int64_t at = first; at < last; at += kRankChunk<U>) {
    const std::int64_t count = min_of(kRankChunk<U>, last - at);
    row.load(static_cast<const char*>(row.data) + at * row.stride * row.element_size, row.stride,
             count, ranks);
    body(at, static_cast<const U*>(ranks), count);
  }
}

template <class U>
void write_items(const Item<U>* from, std::int64_t count, TopKItem* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = {from[i].rank(), from[i].position()};
}

/// Makes `count` items at least `wanted`. There are fewer only if another thread changed the row
/// between two passes over it; then the answer is of no use, but the positions must be the row's.
template <class U>
void fill_up(Item<U>* items, std::int64_t count, std::int64_t wanted) {
  for (; count < wanted; ++count) items[count] = Item<U>::make(0, 0);
}

/// Reads the lines side by side, so that every cache line read is used whole.
template <class U>
void pack_lines(const void* data, std::int64_t stride, std::int64_t length,
                std::int64_t line_stride, std::int64_t lines, void* packed) {
  const U* from = static_cast<const U*>(data);
  U* to = static_cast<U*>(packed);
  if (line_stride == 1) {
    transpose(from, stride, length, lines, to, length, 0);
    return;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t l = 0; l < lines; ++l) {
      to[l * length + i] = from[i * stride + l * line_stride];
    }
  }
}

/// The elements of one type and ranking, from their ranks, and from the line where a rank does not
/// tell them: looking up every one would wait for memory each time, if the line is long.
template <class O>
void write_values(const TopKSelected& selected, void* values, std::int64_t value_stride,
                  std::int64_t value_line_stride) {
  using U = typename O::Unsigned;
  U* const to = static_cast<U*>(values);
  const TopKItem* const items = selected.items;
  const std::int64_t count = selected.count;
  const std::int64_t all = selected.lines * count;
  const auto bits_of = [items](std::int64_t i, U* bits) {
    return O::bits_of(from_unsigned_rank<O>(static_cast<U>(items[i].rank)), bits);
  };
  const auto look_up = [&selected](std::int64_t line, const TopKItem& item) {
    return static_cast<const U*>(
        selected.data)[line * selected.line_stride + item.index * selected.stride];
  };
  if (value_stride == 1 && (selected.lines == 1 || value_line_stride == count)) {
    for (std::int64_t first = 0; first < all; first += tuning::kTopKMergeChunk) {
      const std::int64_t end = min_of(first + tuning::kTopKMergeChunk, all);
      // Without a branch: few chunks have elements to look up.
      U inexact = 0;
      for (std::int64_t i = first; i < end; ++i) {
        U bits;
        inexact |= static_cast<U>(!bits_of(i, &bits));
        to[i] = bits;
      }
      if (inexact == 0) continue;
      for (std::int64_t i = first; i < end; ++i) {
        U bits;
        if (!bits_of(i, &bits)) to[i] = look_up(i / count, items[i]);
      }
    }
    return;
  }
  for (std::int64_t l = 0; l < selected.lines; ++l) {
    for (std::int64_t i = 0; i < count; ++i) {
      U bits;
      if (!bits_of(l * count + i, &bits)) bits = look_up(l, items[l * count + i]);
      to[l * value_line_stride + i * value_stride] = bits;
    }
  }
}

/// The elements of one type and ranking, from their keys; whether all keys tell them.
template <class O>
bool decode_keys(const void* keys, std::int64_t count, void* elements) {
  using U = typename O::Unsigned;
  const U* const from = static_cast<const U*>(keys);
  U* const to = static_cast<U*>(elements);
  U inexact = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    U bits;
    inexact |= static_cast<U>(!O::bits_of(from_unsigned_rank<O>(from[i]), &bits));
    to[i] = bits;
  }
  return inexact == 0;
}

/// The loader of one element type and ranking. Asks for what lies behind, mostly the row's next
/// elements.
template <class O>
void load_ranks(const void* data, std::int64_t stride, std::int64_t count, void* ranks) {
  using T = typename O::Element;
  auto* out = static_cast<typename O::Unsigned*>(ranks);
  const T* p = static_cast<const T*>(data);
  if (stride == 1 || count == 1) {
    constexpr std::int64_t kStep = 4 * Vector<typename O::Unsigned>::kWidth;
    std::int64_t i = 0;
    for (; i + kStep <= count; i += kStep) {
      prefetch_behind(p + i);
      for (std::int64_t j = i; j < i + kStep; ++j) out[j] = unsigned_rank<O>(O::rank(p[j]));
    }
    for (; i < count; ++i) out[i] = unsigned_rank<O>(O::rank(p[i]));
    return;
  }
  T packed[kRankChunk<T>];
  for (std::int64_t first = 0; first < count; first += kRankChunk<T>) {
    const std::int64_t end = min_of(kRankChunk<T>, count - first);
    pack(p + first * stride, stride, end, packed);
    for (std::int64_t i = 0; i < end; ++i) out[first + i] = unsigned_rank<O>(O::rank(packed[i]));
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
