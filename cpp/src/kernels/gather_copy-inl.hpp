// gather: copies of slices.
#pragma once

#include "kernels/gather_tuples-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Copies a slice for each offset by copy_one(to, from), and prefetches the slices to come; and the
/// output's lines, where slices are so long that stores wait for them rather than for the slices.
template <class CopyOne>
void copy_each(const GatherCopy& copy, const std::int64_t* offsets, std::int64_t count,
               CopyOne copy_one) {
  constexpr std::int64_t kAhead = tuning::kGatherPrefetch;
  const char* const data = copy.data;
  char* to = copy.output;
  std::int64_t i = 0;
  for (; i + kAhead < count; ++i, to += copy.output_stride) {
    prefetch(data + offsets[i + kAhead]);
    if constexpr (CopyOne::kLeastBytes >= tuning::kGatherPrefetchOutputLeast) {
      prefetch(to + tuning::kGatherPrefetchOutput);
    }
    copy_one(to, data + offsets[i]);
  }
  for (; i < count; ++i, to += copy.output_stride) copy_one(to, data + offsets[i]);
}

/// Copies kBytes.
template <std::int64_t kBytes>
struct CopyFixed {
  static constexpr std::int64_t kLeastBytes = kBytes;
  static constexpr std::int64_t kExactBytes = kBytes;
  void operator()(char* to, const char* from) const { std::memcpy(to, from, kBytes); }
};

/// Copies kHalf to 2 * kHalf bytes: the first and the last kHalf, which may overlap.
template <std::int64_t kHalf>
struct CopyEnds {
  static constexpr std::int64_t kLeastBytes = kHalf;
  static constexpr std::int64_t kExactBytes = 0;
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

/// Calls each() with the copy of slices of 1 to kGatherAtOnceBytes bytes.
template <class Each>
auto with_small_copy(std::int64_t bytes, Each each) {
  static_assert(tuning::kGatherAtOnceBytes == 32);
  if (bytes == 1) return each(CopyFixed<1>());
  if (bytes == 2) return each(CopyFixed<2>());
  if (bytes == 4) return each(CopyFixed<4>());
  if (bytes == 8) return each(CopyFixed<8>());
  if (bytes == 16) return each(CopyFixed<16>());
  if (bytes < 4) return each(CopyEnds<2>{bytes});
  if (bytes < 8) return each(CopyEnds<4>{bytes});
  if (bytes < 16) return each(CopyEnds<8>{bytes});
  return each(CopyEnds<16>{bytes});
}

/// Slices of whole 16 bytes to aligned addresses, by non-temporal stores, which save reading the
/// output's old content from memory before it is overwritten.
inline void copy_streaming(const GatherCopy& copy, const std::int64_t* offsets,
                           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const from = copy.data + offsets[i];
    char* const to = copy.output + i * copy.output_stride;
    const char* const next =
        copy.data + offsets[min_of(i + tuning::kGatherStreamPrefetch, count - 1)];
    for (std::int64_t b = 0; b < copy.bytes; b += kCacheLine) prefetch(next + b);
    for (std::int64_t b = 0; b < copy.bytes; b += 16) stream_16_bytes(to + b, from + b);
  }
  stream_fence();
}

/// Slices of more than a cache line. Each line that is copied prefetches the same line of a slice
/// to come: all lines at once would be more than the processor waits for at a time. And it
/// prefetches a line of the output: stores are carried out in order, each waiting for its line.
inline void copy_lines(const GatherCopy& copy, const std::int64_t* offsets, std::int64_t count) {
  const std::int64_t bytes = copy.bytes;
  const std::int64_t ahead =
      min_of((tuning::kGatherPrefetchBytes - 1) / bytes + 1, tuning::kGatherPrefetch);
  const std::int64_t rest = bytes % kCacheLine;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const from = copy.data + offsets[i];
    const char* const next = copy.data + offsets[min_of(i + ahead, count - 1)];
    char* const to = copy.output + i * copy.output_stride;
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

void gather_copy(const GatherCopy& copy, const std::int64_t* offsets, std::int64_t count) {
  const std::int64_t bytes = copy.bytes;
  if (copy.stream && bytes >= tuning::kGatherStreamLeastBytes && bytes % 16 == 0 &&
      copy.output_stride % 16 == 0 && reinterpret_cast<std::uintptr_t>(copy.output) % 16 == 0) {
    return copy_streaming(copy, offsets, count);
  }
  const auto each = [&](auto copy_one) { copy_each(copy, offsets, count, copy_one); };
  if (bytes <= tuning::kGatherAtOnceBytes) return with_small_copy(bytes, each);
  if (bytes <= kCacheLine) return each(CopyEnds<32>{bytes});
  if (bytes <= tuning::kGatherLinesBytes) return copy_lines(copy, offsets, count);
  each(CopyAny{bytes});
}

template <class U>
void gather_copy_strided(const GatherCopy& copy, const std::int64_t* offsets, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const U* from = reinterpret_cast<const U*>(copy.data + offsets[i]);
    U* to = reinterpret_cast<U*>(copy.output + i * copy.output_stride);
    for (std::int64_t e = 0; e < copy.bytes / static_cast<std::int64_t>(sizeof(U)); ++e) {
      to[e * copy.to_stride] = from[e * copy.from_stride];
    }
  }
}

template <class I>
bool gather_at_once(const GatherTuples& tuples, std::int64_t count, const GatherCopy& copy) {
  return with_small_copy(copy.bytes, [&](auto copy_one) {
    constexpr std::int64_t kExact = decltype(copy_one)::kExactBytes;
    return for_tuples<I, kExact>(tuples, 0, count,
                                 [copy_one, data = copy.data, to = copy.output, bytes = copy.bytes](
                                     std::int64_t i, std::int64_t offset) {
                                   copy_one(to + i * (kExact > 0 ? kExact : bytes), data + offset);
                                 });
  });
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
