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

/// Calls body(position, keys, count) with the keys of the row's elements, a chunk at a time in
/// ascending order.
template <class U, class Body>
void for_chunks(const TopKRow& row, Body&& body) {
  U keys[kKeyChunk<U>];
  for (std::int64_t i = 0; i < row.length; i += kKeyChunk<U>) {
    const std::int64_t count = min_of(kKeyChunk<U>, row.length - i);
    row.element->load(element_at<U>(row, row.first + i), row.stride, count, keys);
    body(row.first + i, static_cast<const U*>(keys), count);
  }
}

/// Writes n rows of results of `lanes` lanes, as write_rows() does: elements from keys[r * lanes +
/// l], positions from position(r, l). Where a key does not tell the element, look_up(r, l,
/// position) does. `buffer` has capacity for as many indices.
template <class U, class Position, class LookUp>
void write_results(const TopKElementKernels& element, U* keys, std::int64_t n, std::int64_t lanes,
                   const Outputs& outputs, std::int64_t Output::* row_stride, void* buffer,
                   const Position& position, const LookUp& look_up) {
  if (!element.decode(keys, n * lanes)) {
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t l = 0; l < lanes; ++l) keys[r * lanes + l] = look_up(r, l, position(r, l));
    }
  }
  write_rows(outputs, row_stride, keys, lanes, n, lanes, buffer,
             [&](auto* to, std::int64_t stride) {
               using Index = std::remove_reference_t<decltype(*to)>;
               for (std::int64_t r = 0; r < n; ++r) {
                 for (std::int64_t l = 0; l < lanes; ++l) {
                   to[r * stride + l] = static_cast<Index>(position(r, l));
                 }
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

/// The elements of one type and order, in place of their keys; whether all keys tell them.
template <class O>
bool decode_keys(void* keys, std::int64_t count) {
  using U = typename O::Unsigned;
  U* const elements = static_cast<U*>(keys);
  U inexact = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto key = static_cast<typename O::Key>(elements[i] ^ O::kFlip);
    inexact |= static_cast<U>(!O::bits_of(key, &elements[i]));
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
}  // namespace dmlcpu::DMLCPU_TARGET
