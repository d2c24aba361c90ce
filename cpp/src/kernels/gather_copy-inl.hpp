// gather: copies of slices.
#pragma once

#include "kernels/level-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

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

/// Slices of whole 16 bytes to aligned addresses. The caches are passed by, which saves reading the
/// output's old content from memory before it is overwritten.
inline void copy_streaming(const char* data, std::int64_t element_size, char* output,
                           std::int64_t output_stride, std::int64_t bytes,
                           const std::int64_t* offsets, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const from = data + offsets[i] * element_size;
    char* const to = output + i * output_stride;
    const char* const next = data + offsets[min_of(i + 4, count - 1)] * element_size;
    for (std::int64_t b = 0; b < bytes; b += 64) prefetch(next + b);
    for (std::int64_t b = 0; b < bytes; b += 16) stream_16_bytes(to + b, from + b);
  }
  stream_fence();
}

template <class U>
void gather_copy(const GatherCopy& copy, const std::int64_t* offsets, std::int64_t count) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  if (copy.inner == 1 || (copy.input_stride == 1 && copy.slice_stride == 1)) {
    const auto* data = static_cast<const char*>(copy.data);
    auto* output = static_cast<char*>(copy.output);
    const std::int64_t bytes = copy.inner * kSize;
    const std::int64_t step = copy.output_stride * kSize;
    if (copy.stream && bytes >= 64 && bytes % 16 == 0 && step % 16 == 0 &&
        reinterpret_cast<std::uintptr_t>(output) % 16 == 0) {
      return copy_streaming(data, kSize, output, step, bytes, offsets, count);
    }
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
