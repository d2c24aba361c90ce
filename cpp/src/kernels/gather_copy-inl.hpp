// gather: copies of slices.
#pragma once

#include "kernels/gather_tuples-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Copies kBytes if kExact; else `bytes`, up to 2 * kBytes, as the first and the last kBytes, which
/// may overlap. Prefetches the output where stores would wait for its lines rather than for slices.
template <std::int64_t kBytes, bool kExact>
struct SmallCopy {
  static constexpr std::int64_t kExactBytes = kExact ? kBytes : 0;
  std::conditional_t<kExact, Constant<kBytes>, std::int64_t> bytes;
  void operator()(char* to, const char* from, const char*) const {
    if (kBytes >= tuning::kGatherPrefetchOutputLeast) prefetch(to + tuning::kGatherPrefetchOutput);
    std::memcpy(to, from, kBytes);
    if (!kExact) std::memcpy(to + bytes - kBytes, from + bytes - kBytes, kBytes);
  }
};

/// Calls each() with the copy of 1 to 2 * kBytes bytes.
template <std::int64_t kBytes, class Each>
auto with_small_copy(std::int64_t bytes, const Each& each) {
  if (bytes > kBytes) return each(SmallCopy<kBytes, false>{bytes});
  if constexpr (kBytes > 1) {
    if (bytes < kBytes) return with_small_copy<kBytes / 2>(bytes, each);
  }
  return each(SmallCopy<kBytes, true>{});
}

/// Copies at least a cache line, line by line; the last one may overlap that before. Each line
/// prefetches one of a slice to come: all lines at once would be more than the processor waits for
/// at a time; and one of the output, as stores are carried out in order, each waiting for its line.
struct LineCopy {
  std::int64_t bytes;
  void operator()(char* to, const char* from, const char* next) const {
    const std::int64_t last = bytes - kCacheLine;
    for (std::int64_t b = 0; b < last; b += kCacheLine) {
      prefetch(next + b);
      prefetch(to + b + tuning::kGatherPrefetchOutput);
      std::memcpy(to + b, from + b, kCacheLine);
    }
    prefetch(next + last);
    std::memcpy(to + last, from + last, kCacheLine);
  }
};
static_assert(tuning::kGatherSmallBytes >= kCacheLine);

/// Calls body(to, from) for each position of nested loops.
template <class Body>
void for_runs(const GatherRuns* runs, int loops, char* to, const char* from, const Body& body) {
  if (loops == 0) return body(to, from);
  for (std::int64_t i = 0; i < runs->size; ++i) {
    for_runs(runs + 1, loops - 1, to + i * runs->to_stride, from + i * runs->from_stride, body);
  }
}

/// Copies a slice for each offset, one run of all slices before the next, as runs may share cache
/// lines. To prefetch the slices to come, kGatherPrefetch more offsets are read. Each copy_one(to,
/// from, next) has copies of what it reads in its loop, which stores of characters could change.
void copy_slices(const GatherLayout& layout, const GatherPart& part, const std::int64_t* offsets) {
  const std::int64_t bytes = part.bytes;
  const std::int64_t ahead =
      min_of((tuning::kGatherPrefetchBytes - 1) / bytes + 1, tuning::kGatherPrefetch);
  const auto each = [&](const auto copy_one) {
    const auto copy = [copy_one, offsets, ahead, tuples = part.tuples,
                       stride = layout.output_stride](char* to, const char* data) {
      for (std::int64_t i = 0; i < tuples; ++i, to += stride) {
        const char* const next = data + offsets[i + ahead];
        prefetch(next);
        copy_one(to, data + offsets[i], next);
      }
    };
    for_runs(layout.runs, layout.run_axes, part.output, part.data, copy);
  };
  const auto strided = [&](auto zero) {
    using U = decltype(zero);
    each([from_stride = layout.from_stride, to_stride = layout.to_stride,
          count = bytes / static_cast<std::int64_t>(sizeof(U))](char* to, const char* from,
                                                                const char*) {
      for (std::int64_t e = 0; e < count; ++e) {
        reinterpret_cast<U*>(to)[e * to_stride] = reinterpret_cast<const U*>(from)[e * from_stride];
      }
    });
  };
  if (layout.from_stride != 1 || layout.to_stride != 1) {
    if (layout.element_size == 1) return strided(std::uint8_t{0});
    if (layout.element_size == 2) return strided(std::uint16_t{0});
    if (layout.element_size == 4) return strided(std::uint32_t{0});
    strided(std::uint64_t{0});
  } else if (layout.stream && (reinterpret_cast<std::uintptr_t>(part.output) | bytes) % 16 == 0) {
    // Whole 16 bytes to aligned addresses by non-temporal stores, which saves reading the output's
    // old content from memory before it is overwritten. Lines are prefetched as by LineCopy.
    each([bytes](char* to, const char* from, const char* next) {
      for (std::int64_t b = 0; b < bytes; b += 16) {
        if (b % kCacheLine == 0) prefetch(next + b);
        stream_16_bytes(to + b, from + b);
      }
    });
    stream_fence();
  } else if (bytes <= tuning::kGatherSmallBytes) {
    with_small_copy<tuning::kGatherSmallBytes / 2>(bytes, each);
  } else if (bytes <= tuning::kGatherPrefetchBytes) {
    each(LineCopy{bytes});
  } else {
    // As the system's library does it best.
    each([bytes](char* to, const char* from, const char*) {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    });
  }
}

/// Slices are copied as their tuples are checked, or from the offsets of kGatherChunk tuples, which
/// should stay in the cache.
template <class I>
bool gather(const GatherLayout& layout, const GatherPart& part) {
  if (part.bytes == 0) {
    return for_tuples<I, 0>(layout, part, [](std::int64_t, std::int64_t) {});
  }
  if (layout.at_once) {
    return with_small_copy<tuning::kGatherSmallBytes / 2>(part.bytes, [&](const auto copy_one) {
      const auto copy = [copy_one, data = part.data, to = part.output](std::int64_t i,
                                                                       std::int64_t offset) {
        copy_one(to + i * copy_one.bytes, data + offset, nullptr);
      };
      return for_tuples<I, decltype(copy_one)::kExactBytes>(layout, part, copy);
    });
  }
  bool good = true;
  std::int64_t offsets[tuning::kGatherChunk + tuning::kGatherPrefetch];
  const auto store = [to = offsets](std::int64_t i, std::int64_t offset) { to[i] = offset; };
  GatherPart chunk = part;
  for (std::int64_t left = part.tuples; left > 0; left -= chunk.tuples) {
    chunk.tuples = min_of(tuning::kGatherChunk, left);
    good &= for_tuples<I, 0>(layout, chunk, store);
    for (std::int64_t i = 0; i < tuning::kGatherPrefetch; ++i) {
      offsets[chunk.tuples + i] = offsets[chunk.tuples - 1];
    }
    copy_slices(layout, chunk, offsets);
    chunk.indices += chunk.tuples * layout.tuple_stride * static_cast<std::int64_t>(sizeof(I));
    chunk.data += chunk.tuples * layout.batch_stride;
    chunk.output += chunk.tuples * layout.output_stride;
  }
  return good;
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
