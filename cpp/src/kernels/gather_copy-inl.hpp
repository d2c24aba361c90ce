// gather: copies of slices.
#pragma once

#include "kernels/level-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Copies a slice for each offset by copy_one(to, from), and asks for the slices to come; and for
/// the output's lines, where slices are so long that stores wait for them rather than for the
/// slices.
template <class CopyOne>
void copy_each(const char* data, std::int64_t element_size, char* output,
               std::int64_t output_stride, const std::int64_t* offsets, std::int64_t count,
               CopyOne copy_one) {
  constexpr std::int64_t kAhead = tuning::kGatherPrefetch;
  std::int64_t i = 0;
  for (; i + kAhead < count; ++i) {
    prefetch(data + offsets[i + kAhead] * element_size);
    if constexpr (CopyOne::kLeastBytes >= tuning::kGatherPrefetchOutputLeast) {
      prefetch(output + i * output_stride + tuning::kGatherPrefetchOutput);
    }
    copy_one(output + i * output_stride, data + offsets[i] * element_size);
  }
  for (; i < count; ++i) copy_one(output + i * output_stride, data + offsets[i] * element_size);
}

/// Copies kBytes.
template <std::int64_t kBytes>
struct CopyFixed {
  static constexpr std::int64_t kLeastBytes = kBytes;
  void operator()(char* to, const char* from) const { std::memcpy(to, from, kBytes); }
};

/// Copies kHalf to 2 * kHalf bytes: the first and the last kHalf, which may overlap.
template <std::int64_t kHalf>
struct CopyEnds {
  static constexpr std::int64_t kLeastBytes = kHalf;
  std::int64_t bytes;
  void operator()(char* to, const char* from) const {
    std::memcpy(to, from, kHalf);
    std::memcpy(to + bytes - kHalf, from + bytes - kHalf, kHalf);
  }
};

/// Copies any number of bytes.
struct CopyAny {
  static constexpr std::int64_t kLeastBytes = 0;
  std::int64_t bytes;
  void operator()(char* to, const char* from) const {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
};

/// Slices of whole 16 bytes to aligned addresses. The caches are passed by, which saves reading the
/// output's old content from memory before it is overwritten.
inline void copy_streaming(const char* data, std::int64_t element_size, char* output,
                           std::int64_t output_stride, std::int64_t bytes,
                           const std::int64_t* offsets, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const from = data + offsets[i] * element_size;
    char* const to = output + i * output_stride;
    const char* const next =
        data + offsets[min_of(i + tuning::kGatherStreamPrefetch, count - 1)] * element_size;
    for (std::int64_t b = 0; b < bytes; b += kCacheLine) prefetch(next + b);
    for (std::int64_t b = 0; b < bytes; b += 16) stream_16_bytes(to + b, from + b);
  }
  stream_fence();
}

/// Slices of more than a cache line. Each line that is copied asks for the same line of a slice to
/// come: asked for all at once, there would be more than the processor waits for at a time. And it
/// asks for a line of the output: stores are carried out in order, each waiting for its line.
inline void copy_lines(const char* data, std::int64_t element_size, char* output,
                       std::int64_t output_stride, std::int64_t bytes, const std::int64_t* offsets,
                       std::int64_t count) {
  const std::int64_t ahead =
      min_of((tuning::kGatherPrefetchBytes - 1) / bytes + 1, tuning::kGatherPrefetch);
  const std::int64_t rest = bytes % kCacheLine;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const from = data + offsets[i] * element_size;
    const char* const next = data + offsets[min_of(i + ahead, count - 1)] * element_size;
    char* const to = output + i * output_stride;
    for (std::int64_t b = 0; b + kCacheLine <= bytes; b += kCacheLine) {
      prefetch(next + b);
      prefetch(to + b + tuning::kGatherPrefetchOutput);
      std::memcpy(to + b, from + b, kCacheLine);
    }
    if (rest == 0) continue;
    // The slice's last bytes, some of which are in the line before.
    prefetch(next + bytes - 1);
    std::memcpy(to + bytes - kCacheLine, from + bytes - kCacheLine, kCacheLine);
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
    if (copy.stream && bytes >= tuning::kGatherStreamLeastBytes && bytes % 16 == 0 &&
        step % 16 == 0 && reinterpret_cast<std::uintptr_t>(output) % 16 == 0) {
      return copy_streaming(data, kSize, output, step, bytes, offsets, count);
    }
    const auto each = [&](auto copy_one) {
      copy_each(data, kSize, output, step, offsets, count, copy_one);
    };
    if (bytes == kSize) return each(CopyFixed<kSize>());
    if (bytes == 2 * kSize) return each(CopyFixed<2 * kSize>());
    if (bytes == 3 * kSize) return each(CopyFixed<3 * kSize>());
    if (bytes == 4 * kSize) return each(CopyFixed<4 * kSize>());
    if (bytes == 8) return each(CopyFixed<8>());
    if (bytes == 16) return each(CopyFixed<16>());
    if (bytes == 32) return each(CopyFixed<32>());
    if (bytes == 64) return each(CopyFixed<64>());
    if (bytes < 8) return each(CopyEnds<4>{bytes});
    if (bytes < 16) return each(CopyEnds<8>{bytes});
    if (bytes < 32) return each(CopyEnds<16>{bytes});
    if (bytes < 64) return each(CopyEnds<32>{bytes});
    if (bytes <= tuning::kGatherLinesBytes) {
      return copy_lines(data, kSize, output, step, bytes, offsets, count);
    }
    return each(CopyAny{bytes});
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
