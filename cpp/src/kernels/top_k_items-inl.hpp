// What the top-k strategies share: keys by the chunk, selected elements that sort, results.
#pragma once

#include "kernels/columns-inl.hpp"
#include "kernels/order-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// An element's key, and below it in one integer its position, inverted, so that of equal keys the
/// earlier position is larger: of two items the one that comes first is "less". No two are equal,
/// so any comparison sort is a stable one. Words have 8 or 16 bytes.
using Word16 __attribute__((mode(TI))) = unsigned;
template <class U, class Word>
struct Item {
  using Key = U;
  static constexpr int kPositionBits = 8 * static_cast<int>(sizeof(Word) - sizeof(U));
  static constexpr Word kPositions = (Word{1} << kPositionBits) - 1;
  Word both;

  static Item make(U key, std::int64_t position) {
    return {Word{key} << kPositionBits | (~static_cast<Word>(position) & kPositions)};
  }
  U key() const { return static_cast<U>(both >> kPositionBits); }
  /// As TopKBins counts them.
  std::uint64_t number() const {
    return static_cast<std::uint64_t>(both >> (8 * sizeof(Word) - 64));
  }
  std::uint64_t bin(const TopKBins& bins) const { return (bins.highest - number()) >> bins.shift; }
  std::int64_t position() const { return static_cast<std::int64_t>(~both & kPositions); }
  bool operator<(const Item& other) const { return both > other.both; }
};

/// Keys that are computed at a time.
template <class U>
constexpr std::int64_t kKeyChunk = tuning::kKeyChunkBytes / static_cast<std::int64_t>(sizeof(U));

template <class U>
const U* element_at(const TopKRow& row, std::int64_t position) {
  return static_cast<const U*>(row.data) + position * row.stride;
}

/// Writes the keys of elements that are `stride` apart. Prefetches what lies after, mostly the
/// row's next elements.
template <class U>
DMLCPU_NOINLINE void load_keys(const KeyRule& rule, const U* data, std::int64_t stride,
                               std::int64_t count, U* keys) {
  using V = Vector<U>;
  if (stride != 1) pack(std::exchange(data, keys), stride, count, keys);
  const auto load = [&](auto is_integer) {
    KeyRule known = rule;
    known.is_integer = is_integer;
    std::int64_t i = 0;
    for (; i + 4 * V::kWidth <= count; i += 4 * V::kWidth) {
      prefetch_after_four(data + i);
      for (std::int64_t j = i; j < i + 4 * V::kWidth; j += V::kWidth) {
        V::store(keys + j, key_of<U>(known, V::load(data + j)));
      }
    }
    for (; i < count; ++i) keys[i] = key_of<U>(known, data[i]);
  };
  rule.is_integer ? load(std::true_type()) : load(std::false_type());
}

/// Calls body(position, keys, count) with the keys of the row's elements, a chunk at a time in
/// ascending order.
template <class U, class Body>
void for_chunks(const TopKRow& row, Body&& body) {
  U keys[kKeyChunk<U>];
  for (std::int64_t i = 0; i < row.length; i += kKeyChunk<U>) {
    const std::int64_t count = min_of(kKeyChunk<U>, row.length - i);
    load_keys(row.element->rule, element_at<U>(row, row.first + i), row.stride, count, keys);
    body(row.first + i, static_cast<const U*>(keys), count);
  }
}

/// Turns keys to elements; whether all of them tell theirs. The rule is a copy, which compilers
/// know that no store changes.
template <class U>
DMLCPU_NOINLINE bool decode_keys(KeyRule rule, U* keys, std::int64_t count) {
  U unsure = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    unsure |= static_cast<U>(!bits_of(rule, U{keys[i]}, &keys[i]));
  }
  return unsure == 0;
}

/// Writes rows of results of `lanes` lanes, as write_rows() does, with capacity for as many in
/// `values` and `indices`: elements of key(r, l), positions position(r, l). Where a key does not
/// tell the element, look_up(r, l, position) does.
template <class U, class Key, class Position, class LookUp>
void write_results(const KeyRule& rule, std::int64_t rows, std::int64_t lanes,
                   const Outputs& outputs, std::int64_t Output::* row_stride, U* values,
                   void* indices, const Key& key, const Position& position, const LookUp& look_up) {
  const auto fill_values = [&, key](U* to, std::int64_t stride) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t l = 0; l < lanes; ++l) to[r * stride + l] = key(r, l);
    }
    // Rows without gaps at once.
    const std::int64_t step = stride == lanes ? rows : 1;
    for (std::int64_t first = 0; first < rows; first += step) {
      if (decode_keys(rule, to + first * stride, step * lanes)) continue;
      for (std::int64_t r = first; r < first + step; ++r) {
        for (std::int64_t l = 0; l < lanes; ++l) {
          to[r * stride + l] = look_up(r, l, position(r, l));
        }
      }
    }
  };
  if (outputs.values.data != nullptr) {
    write_rows<U>(outputs.values, row_stride, rows, lanes, values, fill_values);
  }
  if (outputs.indices.data == nullptr) return;
  write_indices<std::uint32_t, std::uint64_t>(
      outputs, row_stride, rows, lanes, indices, [&](auto* to, std::int64_t stride) {
        using Index = std::remove_reference_t<decltype(*to)>;
        for (std::int64_t r = 0; r < rows; ++r, to += stride) {
          for (std::int64_t l = 0; l < lanes; ++l) to[l] = static_cast<Index>(position(r, l));
        }
      });
}

/// Reads the rows side by side, so that every cache line read is used whole.
template <class U>
void pack_rows(const void* data, std::int64_t stride, std::int64_t length, std::int64_t row_stride,
               std::int64_t rows, void* packed) {
  const U* from = static_cast<const U*>(data);
  U* to = static_cast<U*>(packed);
  if (row_stride == 1) return transpose(from, stride, length, rows, to, length, 0);
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t r = 0; r < rows; ++r) {
      to[r * length + i] = from[i * stride + r * row_stride];
    }
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
