// What the top-k strategies share: keys by the chunk, and selected elements that sort.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/transpose-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// An element's key and position: of two items the one that comes first is "less". No two are
/// equal, so any comparison sort is a stable one. Up to 32-bit keys both are in one integer, the
/// position inverted, so that of equal keys the earlier position is larger.
template <class U>
struct Item {
  std::uint64_t both;

  static Item make(U key, std::int64_t position) {
    return {std::uint64_t{key} << 32 | static_cast<std::uint32_t>(~position)};
  }
  U key() const { return static_cast<U>(both >> 32); }
  std::int64_t position() const { return static_cast<std::uint32_t>(~both); }
  bool operator<(const Item& other) const { return both > other.both; }
};

template <>
struct Item<std::uint64_t> {
  std::uint64_t bits;
  std::int64_t at;

  static Item make(std::uint64_t key, std::int64_t position) { return {key, position}; }
  std::uint64_t key() const { return bits; }
  std::int64_t position() const { return at; }
  bool operator<(const Item& other) const {
    return bits > other.bits || (bits == other.bits && at < other.at);
  }
};

/// Keys that are computed at a time.
template <class U>
constexpr std::int64_t kKeyChunk = tuning::kKeyChunkBytes / static_cast<std::int64_t>(sizeof(U));

/// Calls body(position, keys, count) with the keys of the row's elements in [first, last), a
/// chunk at a time in ascending order.
template <class U, class Body>
void for_chunks(const TopKRow& row, std::int64_t first, std::int64_t last, Body&& body) {
  U keys[kKeyChunk<U>];
  for (std::int64_t at = first; at < last; at += kKeyChunk<U>) {
    const std::int64_t count = min_of(kKeyChunk<U>, last - at);
    row.element->load(static_cast<const char*>(row.data) + at * row.stride * row.element_size,
                      row.stride, count, keys);
    body(at, static_cast<const U*>(keys), count);
  }
}

template <class U>
void write_items(const Item<U>* from, std::int64_t count, TopKItem* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = {from[i].key(), from[i].position()};
}

/// Writes the elements of items, in chunks: to look up every one would wait for memory each time,
/// if the row is long.
template <class U>
void write_values(const TopKRow& row, const TopKItem* items, std::int64_t count, void* values,
                  std::int64_t value_stride) {
  const U* const elements = static_cast<const U*>(row.data);
  U keys[tuning::kTopKMergeChunk];
  U decoded[tuning::kTopKMergeChunk];
  for (; count > 0; count -= tuning::kTopKMergeChunk, items += tuning::kTopKMergeChunk) {
    const std::int64_t n = min_of(count, tuning::kTopKMergeChunk);
    for (std::int64_t i = 0; i < n; ++i) keys[i] = static_cast<U>(items[i].key);
    if (!row.element->decode(keys, n, decoded)) {
      for (std::int64_t i = 0; i < n; ++i) decoded[i] = elements[items[i].index * row.stride];
    }
    U* const to = static_cast<U*>(values);
    for (std::int64_t i = 0; i < n; ++i) to[i * value_stride] = decoded[i];
    values = to + n * value_stride;
  }
}

/// Reads the rows side by side, so that every cache line read is used whole.
template <class U>
void pack_rows(const void* data, std::int64_t stride, std::int64_t length, std::int64_t row_stride,
               std::int64_t rows, void* packed) {
  const U* from = static_cast<const U*>(data);
  U* to = static_cast<U*>(packed);
  if (row_stride == 1) {
    transpose(from, stride, length, rows, to, length, 0);
    return;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t r = 0; r < rows; ++r) {
      to[r * length + i] = from[i * stride + r * row_stride];
    }
  }
}

/// The elements of one type and order, from their keys; whether all keys tell them.
template <class O>
bool decode_keys(const void* keys, std::int64_t count, void* elements) {
  using U = typename O::Unsigned;
  const U* const from = static_cast<const U*>(keys);
  U* const to = static_cast<U*>(elements);
  U inexact = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    U bits;
    inexact |= static_cast<U>(!O::bits_of(from_unsigned_key<O>(from[i]), &bits));
    to[i] = bits;
  }
  return inexact == 0;
}

/// The loader of one element type and order. Prefetches what lies after, mostly the row's next
/// elements.
template <class O>
void load_keys(const void* data, std::int64_t stride, std::int64_t count, void* keys) {
  using T = typename O::Element;
  auto* out = static_cast<typename O::Unsigned*>(keys);
  const T* p = static_cast<const T*>(data);
  if (stride == 1 || count == 1) {
    constexpr std::int64_t kStep = 4 * Vector<typename O::Unsigned>::kWidth;
    std::int64_t i = 0;
    for (; i + kStep <= count; i += kStep) {
      prefetch_after_four(p + i);
      for (std::int64_t j = i; j < i + kStep; ++j) out[j] = unsigned_key<O>(O::key(p[j]));
    }
    for (; i < count; ++i) out[i] = unsigned_key<O>(O::key(p[i]));
    return;
  }
  T packed[kKeyChunk<T>];
  for (std::int64_t first = 0; first < count; first += kKeyChunk<T>) {
    const std::int64_t end = min_of(kKeyChunk<T>, count - first);
    pack(p + first * stride, stride, end, packed);
    for (std::int64_t i = 0; i < end; ++i) out[first + i] = unsigned_key<O>(O::key(packed[i]));
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
