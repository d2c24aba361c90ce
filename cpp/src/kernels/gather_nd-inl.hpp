// gather: offsets of a chunk of index tuples without a branch, then copies of slices.
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

/// A word whose sign bit is set if the coordinate is not in [-size, size), or [0, size) if unsigned.
template <class I>
std::int64_t range_error(I coordinate, std::int64_t size) {
  const auto c = static_cast<std::int64_t>(coordinate);
  // Unsigned ones from 2^63 on have the sign bit themselves.
  if (static_cast<I>(-1) > static_cast<I>(0)) return c | (size - 1 - c);
  // -1 is as good as 0, -2 as 1.
  return size - 1 - (c < 0 ? ~c : c);
}

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

template <class I>
bool gather_check(const GatherTuples& tuples, std::int64_t first, std::int64_t count) {
  std::int64_t errors = 0;
  for (int j = 0; j < tuples.length; ++j) {
    const std::int64_t size = tuples.sizes[j];
    for_coordinates<I>(tuples, j, first, count, [&errors, size](std::int64_t, I coordinate) {
      errors |= range_error(coordinate, size);
    });
  }
  return errors >= 0;
}

/// Slices of kBytes consecutive bytes on both sides.
template <int kBytes>
void copy_fixed(const char* data, std::int64_t element_size, char* output,
                std::int64_t output_stride, const std::int64_t* offsets, std::int64_t count) {
  constexpr std::int64_t kAhead = tuning::kGatherPrefetch;
  std::int64_t i = 0;
  for (; i + kAhead < count; ++i) {
    prefetch(data + offsets[i + kAhead] * element_size);
    std::memcpy(output + i * output_stride, data + offsets[i] * element_size, kBytes);
  }
  for (; i < count; ++i) {
    std::memcpy(output + i * output_stride, data + offsets[i] * element_size, kBytes);
  }
}

template <class U>
void gather_copy(const GatherCopy& copy, const std::int64_t* offsets, std::int64_t count) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  if (copy.inner == 1 || (copy.input_stride == 1 && copy.slice_stride == 1)) {
    const auto* data = static_cast<const char*>(copy.data);
    auto* output = static_cast<char*>(copy.output);
    const std::int64_t bytes = copy.inner * kSize;
    const std::int64_t step = copy.output_stride * kSize;
    switch (bytes) {
      case kSize:
        return copy_fixed<kSize>(data, kSize, output, step, offsets, count);
      case 2 * kSize:
        return copy_fixed<2 * kSize>(data, kSize, output, step, offsets, count);
      case 3 * kSize:
        return copy_fixed<3 * kSize>(data, kSize, output, step, offsets, count);
      case 4 * kSize:
        return copy_fixed<4 * kSize>(data, kSize, output, step, offsets, count);
      case 8 * kSize:
        return copy_fixed<8 * kSize>(data, kSize, output, step, offsets, count);
      case 16 * kSize:
        return copy_fixed<16 * kSize>(data, kSize, output, step, offsets, count);
      default:
        break;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(output + i * step, data + offsets[i] * kSize, static_cast<std::size_t>(bytes));
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const U* from = static_cast<const U*>(copy.data) + offsets[i];
    U* to = static_cast<U*>(copy.output) + i * copy.output_stride;
    for (std::int64_t e = 0; e < copy.inner; ++e) {
      to[e * copy.slice_stride] = from[e * copy.input_stride];
    }
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
