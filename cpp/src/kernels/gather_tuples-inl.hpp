// gather: index tuples checked, and turned into offsets, without a branch.
#pragma once

#include <type_traits>

#include "kernels/level-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// The coordinate, negative ones wrapped, clamped to [0, size), size at least 1. Where tuples were
/// checked before, the clamp still keeps a tuple that another thread changes meanwhile inside the
/// input.
template <class I, class Size>
Size clamp(I coordinate, Size size) {
  if (static_cast<I>(-1) > static_cast<I>(0)) {
    using Word = std::make_unsigned_t<Size>;
    return static_cast<Size>(min_of<Word>(coordinate, static_cast<Word>(size - 1)));
  }
  const auto c = static_cast<Size>(coordinate);
  return min_of(max_of<Size>(c + (c < 0 ? size : 0), 0), size - 1);
}

template <class Word>
bool has_sign(Word word) {
  return (word >> (8 * sizeof(Word) - 1)) != 0;
}

/// A word whose sign bit is set if the coordinate is not in [-size, size), or [0, size) if
/// unsigned. The size must leave the sign bit clear. Words are unsigned: no difference overflows.
template <class Word, class I>
Word range_error(I coordinate, Word size) {
  const auto c = static_cast<Word>(coordinate);
  if (static_cast<I>(-1) > static_cast<I>(0)) return c | (size - 1 - c);
  // -1 is as good as 0, -2 as 1: all bits are inverted by the sign. A choice would not vectorise.
  return size - 1 - (c ^ (Word{0} - (c >> (8 * sizeof(Word) - 1))));
}

/// How many packed tuples are worked on together, and how often an axis' property is repeated.
constexpr std::int64_t kTupleBlock = tuning::kGatherTupleBlock;

/// Calls body(i, coordinate) for coordinate j of `count` tuples from `first` on. The strides of
/// packed tuples are constants, so that the loop vectorises.
template <class I, class Body>
void for_coordinates(const GatherTuples& tuples, int j, std::int64_t first, std::int64_t count,
                     Body&& body) {
  const std::int64_t stride = tuples.tuple_stride;
  const I* p =
      static_cast<const I*>(tuples.indices) + first * stride + j * tuples.coordinate_stride;
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i, p[i]);
  } else if (stride == 2) {
    for (std::int64_t i = 0; i < count; ++i) body(i, p[2 * i]);
  } else if (stride == 3) {
    for (std::int64_t i = 0; i < count; ++i) body(i, p[3 * i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) body(i, p[i * stride]);
  }
}

template <class I>
bool gather_offsets(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                    std::int64_t* __restrict offsets) {
  const std::int64_t batch_stride = tuples.batch_stride;
  for (std::int64_t i = 0; i < count; ++i) offsets[i] = (first + i) * batch_stride;
  std::uint64_t errors = 0;
  for (int j = 0; j < tuples.length; ++j) {
    const std::int64_t size = tuples.sizes[j];
    const std::int64_t stride = tuples.strides[j];
    for_coordinates<I>(
        tuples, j, first, count, [&errors, offsets, size, stride](std::int64_t i, I coordinate) {
          offsets[i] += clamp(coordinate, size) * stride;
          errors |= range_error<std::uint64_t>(coordinate, static_cast<std::uint64_t>(size));
        });
  }
  return !has_sign(errors);
}

/// Asks for the coordinates a chunk behind these: they come from memory while these are worked on.
template <class I>
void prefetch_next_chunk(const GatherTuples& tuples, const I* coordinates, std::int64_t count) {
  const auto* const next =
      reinterpret_cast<const char*>(coordinates + tuning::kGatherChunk * tuples.length);
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(I));
  for (std::int64_t b = 0; b < bytes; b += kCacheLine) prefetch_level_2(next + b);
}

/// For `count` packed tuples from `first` on, a block of tuples at a time: calls body(e,
/// coordinate) for each of the block's coordinates, e counting them as they lie in memory, then
/// after(tuple, tuples), where `tuple` counts from `first` on.
template <class I, class Body, class After>
void for_packed(const GatherTuples& tuples, std::int64_t first, std::int64_t count, Body&& body,
                After&& after) {
  const I* const p = static_cast<const I*>(tuples.indices) + first * tuples.length;
  for (std::int64_t i = 0; i < count; i += kTupleBlock) {
    const std::int64_t in_block = min_of(kTupleBlock, count - i);
    const std::int64_t coordinates = in_block * tuples.length;
    const I* const block = p + i * tuples.length;
    prefetch_next_chunk(tuples, block, coordinates);
    for (std::int64_t e = 0; e < coordinates; ++e) body(e, block[e]);
    after(i, in_block);
  }
}

/// An axis' property for each coordinate of a block of packed tuples, of which there are `count`.
template <class T>
void repeat_for_block(const GatherTuples& tuples, std::int64_t count, const std::int64_t* of_axis,
                      T* repeated) {
  for (std::int64_t i = 0; i < min_of(count, kTupleBlock); ++i) {
    for (int j = 0; j < tuples.length; ++j) {
      repeated[i * tuples.length + j] = static_cast<T>(of_axis[j]);
    }
  }
}

template <class I>
bool gather_check(const GatherTuples& tuples, std::int64_t first, std::int64_t count) {
  std::uint64_t errors = 0;
  if (tuples.packed && tuples.length > 1) {
    std::uint64_t sizes[kMaxTupleLength * kTupleBlock];
    repeat_for_block(tuples, count, tuples.sizes, sizes);
    for_packed<I>(
        tuples, first, count,
        [&](std::int64_t e, I coordinate) { errors |= range_error(coordinate, sizes[e]); },
        [](std::int64_t, std::int64_t) {});
    return !has_sign(errors);
  }
  for (int j = 0; j < tuples.length; ++j) {
    const auto size = static_cast<std::uint64_t>(tuples.sizes[j]);
    for_coordinates<I>(tuples, j, first, count, [&errors, size](std::int64_t, I coordinate) {
      errors |= range_error(coordinate, size);
    });
  }
  return !has_sign(errors);
}

/// gather_offsets() of packed tuples, where 32 bits hold every size and the offset of every tuple
/// in range: several times fewer operations. If it does not clip, what a tuple out of range gives,
/// be it by another thread's change, still lies between the lowest and the highest offset.
template <class I, bool kClips>
bool gather_narrow_offsets(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                           std::int64_t* __restrict offsets) {
  using Word = std::make_unsigned_t<I>;
  const auto lowest = static_cast<std::uint32_t>(tuples.lowest);
  const auto range = static_cast<std::uint32_t>(tuples.range);
  const auto product = [](I coordinate, std::uint32_t size, std::uint32_t stride) {
    if constexpr (kClips) {
      using Size = std::make_signed_t<I>;
      return static_cast<std::uint32_t>(clamp(coordinate, static_cast<Size>(size))) * stride;
    } else {
      auto c = static_cast<std::uint32_t>(coordinate);
      if (static_cast<I>(-1) < static_cast<I>(0)) c += has_sign(c) ? size : 0;
      return c * stride;
    }
  };
  const auto offset = [&](std::uint32_t products) {
    const std::uint32_t above_lowest = products - lowest;
    return tuples.lowest + std::int64_t{above_lowest <= range ? above_lowest : 0};
  };
  Word errors = 0;
  if (tuples.length == 1) {
    const I* const p = static_cast<const I*>(tuples.indices) + first;
    const auto size = static_cast<std::uint32_t>(tuples.sizes[0]);
    const auto stride = static_cast<std::uint32_t>(tuples.strides[0]);
    prefetch_next_chunk(tuples, p, count);
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (!kClips) errors |= range_error<Word>(p[i], size);
      offsets[i] = offset(product(p[i], size, stride));
    }
  } else {
    std::uint32_t sizes[kMaxTupleLength * kTupleBlock];
    std::uint32_t strides[kMaxTupleLength * kTupleBlock];
    std::uint32_t products[kMaxTupleLength * kTupleBlock];
    repeat_for_block(tuples, count, tuples.sizes, sizes);
    repeat_for_block(tuples, count, tuples.strides, strides);
    const auto sum = [&](std::int64_t tuple, std::int64_t in_block, int length) {
      for (std::int64_t i = 0; i < in_block; ++i) {
        std::uint32_t total = 0;
        for (int j = 0; j < length; ++j) total += products[i * length + j];
        offsets[tuple + i] = offset(total);
      }
    };
    for_packed<I>(
        tuples, first, count,
        [&](std::int64_t e, I coordinate) {
          if constexpr (!kClips) errors |= range_error<Word>(coordinate, sizes[e]);
          products[e] = product(coordinate, sizes[e], strides[e]);
        },
        [&](std::int64_t tuple, std::int64_t in_block) {
          // Constant lengths unroll the sum.
          if (tuples.length == 2) {
            sum(tuple, in_block, 2);
          } else if (tuples.length == 3) {
            sum(tuple, in_block, 3);
          } else {
            sum(tuple, in_block, tuples.length);
          }
        });
  }
  if (tuples.batch_stride != 0) {
    for (std::int64_t i = 0; i < count; ++i) offsets[i] += (first + i) * tuples.batch_stride;
  }
  return !has_sign(errors);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
