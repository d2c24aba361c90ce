// gather: index tuples checked, and turned into offsets, without a branch.
#pragma once

#include "kernels/level-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// The coordinate, negative ones wrapped, clamped to [0, size), size at least 1. Where tuples were
/// checked before, the clamp still keeps a tuple that another thread changes meanwhile inside the
/// input.
template <class I>
std::int64_t clamp(I coordinate, std::int64_t size) {
  if (static_cast<I>(-1) > static_cast<I>(0)) {
    return static_cast<std::int64_t>(
        min_of<std::uint64_t>(coordinate, static_cast<std::uint64_t>(size - 1)));
  }
  const auto c = static_cast<std::int64_t>(coordinate);
  return min_of(max_of<std::int64_t>(c + (c < 0 ? size : 0), 0), size - 1);
}

/// A word whose sign bit is set if the coordinate is not in [-size, size), or [0, size) if
/// unsigned.
template <class I>
std::int64_t range_error(I coordinate, std::int64_t size) {
  const auto c = static_cast<std::int64_t>(coordinate);
  // Unsigned ones from 2^63 on have the sign bit themselves.
  if (static_cast<I>(-1) > static_cast<I>(0)) return c | (size - 1 - c);
  // -1 is as good as 0, -2 as 1.
  return size - 1 - (c < 0 ? ~c : c);
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
void gather_offsets(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                    std::int64_t* __restrict offsets) {
  const std::int64_t batch_stride = tuples.batch_stride;
  for (std::int64_t i = 0; i < count; ++i) offsets[i] = (first + i) * batch_stride;
  for (int j = 0; j < tuples.length; ++j) {
    const std::int64_t size = tuples.sizes[j];
    const std::int64_t stride = tuples.strides[j];
    for_coordinates<I>(tuples, j, first, count, [=](std::int64_t i, I coordinate) {
      offsets[i] += clamp(coordinate, size) * stride;
    });
  }
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
  std::int64_t errors = 0;
  if (tuples.packed && tuples.length > 1) {
    std::int64_t sizes[kMaxTupleLength * kTupleBlock];
    repeat_for_block(tuples, count, tuples.sizes, sizes);
    for_packed<I>(
        tuples, first, count,
        [&](std::int64_t e, I coordinate) { errors |= range_error(coordinate, sizes[e]); },
        [](std::int64_t, std::int64_t) {});
    return errors >= 0;
  }
  for (int j = 0; j < tuples.length; ++j) {
    const std::int64_t size = tuples.sizes[j];
    for_coordinates<I>(tuples, j, first, count, [&errors, size](std::int64_t, I coordinate) {
      errors |= range_error(coordinate, size);
    });
  }
  return errors >= 0;
}

/// gather_offsets() of packed tuples found to be in range, where 32 bits hold every coordinate and
/// offset: several times fewer operations. An offset that another thread's change led out of the
/// input becomes the lowest.
template <class I>
void gather_narrow_offsets(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                           std::int64_t* __restrict offsets) {
  const auto lowest = static_cast<std::uint32_t>(tuples.lowest);
  const auto range = static_cast<std::uint32_t>(tuples.range);
  const auto product = [](I coordinate, std::uint32_t size, std::uint32_t stride) {
    auto c = static_cast<std::uint32_t>(coordinate);
    const bool negative = static_cast<std::int32_t>(c) < 0;
    if (static_cast<I>(-1) < static_cast<I>(0)) c += negative ? size : 0;
    return c * stride;
  };
  const auto offset = [&](std::int64_t tuple, std::uint32_t products) {
    const std::uint32_t above_lowest = products - lowest;
    return tuples.lowest + (first + tuple) * tuples.batch_stride +
           std::int64_t{above_lowest <= range ? above_lowest : 0};
  };
  if (tuples.length == 1) {
    const I* const p = static_cast<const I*>(tuples.indices) + first;
    const auto size = static_cast<std::uint32_t>(tuples.sizes[0]);
    const auto stride = static_cast<std::uint32_t>(tuples.strides[0]);
    prefetch_next_chunk(tuples, p, count);
    for (std::int64_t i = 0; i < count; ++i) offsets[i] = offset(i, product(p[i], size, stride));
    return;
  }
  std::uint32_t sizes[kMaxTupleLength * kTupleBlock];
  std::uint32_t strides[kMaxTupleLength * kTupleBlock];
  std::uint32_t products[kMaxTupleLength * kTupleBlock];
  repeat_for_block(tuples, count, tuples.sizes, sizes);
  repeat_for_block(tuples, count, tuples.strides, strides);
  const auto sum = [&](std::int64_t tuple, std::int64_t in_block, int length) {
    for (std::int64_t i = 0; i < in_block; ++i) {
      std::uint32_t total = 0;
      for (int j = 0; j < length; ++j) total += products[i * length + j];
      offsets[tuple + i] = offset(tuple + i, total);
    }
  };
  for_packed<I>(
      tuples, first, count,
      [&](std::int64_t e, I coordinate) {
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

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
