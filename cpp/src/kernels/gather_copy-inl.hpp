// gather: copies of slices.
#pragma once

#include "kernels/gather_tuples-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Copies kBytes if kExact; else `bytes`, up to 2 * kBytes, as the first and the last kBytes, which
/// may overlap. From kGatherPrefetchOutputLeast on the output is prefetched: stores would wait for
/// its lines rather than for slices.
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
/// prefetches one of a slice to come, as prefetch<kLocality>() does: all lines at once would be
/// more than the processor waits for at a time; each but the last one of the output too, as stores
/// are carried out in order, each waiting for its line.
template <int kLocality>
struct LineCopy {
  std::int64_t bytes;
  void operator()(char* to, const char* from, const char* next) const {
    const std::int64_t last = bytes - kCacheLine;
    for (std::int64_t b = 0; b < last; b += kCacheLine) {
      prefetch<kLocality>(next + b);
      prefetch(to + b + tuning::kGatherPrefetchOutput);
      std::memcpy(to + b, from + b, kCacheLine);
    }
    prefetch<kLocality>(next + last);
    std::memcpy(to + last, from + last, kCacheLine);
  }
};
static_assert(tuning::kGatherSmallBytes >= kCacheLine);

/// Copies one run of all slices before the next, as those of other slices may share its cache
/// lines: runs along `axis` and later ones. Prefetches, of the slice that comes layout.ahead slices
/// later, the last element, which is `last` bytes from the first, where that often is in another
/// line; the first line was prefetched with its offset, those between are by copy_one(to, from,
/// next).
template <class Copy>
void copy_runs(const Copy copy_one, const GatherLayout& layout, int axis,
               const std::int64_t* offsets, std::int64_t tuples, std::int64_t last, char* to,
               const char* data) {
  if (axis < layout.run_axes) {
    const GatherRuns& runs = layout.runs[axis];
    for (std::int64_t i = 0; i < runs.size; ++i) {
      copy_runs(copy_one, layout, axis + 1, offsets, tuples, last, to + i * runs.to_stride,
                data + i * runs.from_stride);
    }
    return;
  }
  // Stores of characters could change what is not local.
  const std::int64_t* const next_offsets = offsets + layout.ahead;
  const std::int64_t stride = layout.output_stride;
  for (std::int64_t i = 0; i < tuples; ++i, to += stride) {
    const char* const next = data + next_offsets[i];
    if (last >= kCacheLine / 4) prefetch<2>(next + last);
    copy_one(to, data + offsets[i], next);
  }
}

/// Copies the slices of part.tuples offsets. To prefetch those to come, layout.ahead more offsets
/// are read.
void copy_slices(const GatherLayout& layout, const GatherPart& part, const std::int64_t* offsets) {
  const std::int64_t bytes = part.bytes;
  const std::int64_t last = (bytes - layout.element_size) * layout.from_stride;
  const auto each = [&](const auto copy_one) {
    copy_runs(copy_one, layout, 0, offsets, part.tuples, last, part.output, part.data);
  };
  if (layout.from_stride != 1 || layout.to_stride != 1) {
    const std::int64_t size = layout.element_size;
    with_small_copy<8>(size, [&](const auto copy_element) {
      each([copy_element, count = bytes / size, from_step = layout.from_stride * size,
            to_step = layout.to_stride * size](char* to, const char* from, auto) {
        for (std::int64_t e = 0; e < count; ++e) {
          copy_element(to + e * to_step, from + e * from_step, nullptr);
        }
      });
    });
  } else if (layout.stream && (reinterpret_cast<std::uintptr_t>(part.output) | bytes) % 16 == 0) {
    // Whole 16 bytes to aligned addresses by non-temporal stores, which saves reading the output's
    // old content from memory before it is overwritten. Of the slice to come each line is
    // prefetched to L2.
    each([bytes](char* to, const char* from, const char* next) {
      for (std::int64_t b = 0; b < bytes; b += 16) {
        if (b % kCacheLine == 0) prefetch<2>(next + b);
        stream_16_bytes(to + b, from + b);
      }
    });
  } else if (bytes <= tuning::kGatherSmallBytes) {
    with_small_copy<tuning::kGatherSmallBytes / 2>(bytes, each);
  } else if (bytes <= tuning::kGatherLinesBytes) {
    layout.is_far ? each(LineCopy<2>{bytes}) : each(LineCopy<3>{bytes});
  } else {
    // As the system's library does it best.
    each([size = static_cast<std::size_t>(bytes)](char* to, const char* from, auto) {
      std::memcpy(to, from, size);
    });
  }
}

/// Slices are copied as their tuples are checked; or in chunks: the offsets of some tuples are
/// computed, and the first lines of their slices prefetched, then all slices but the last
/// layout.ahead are copied.
template <class I>
bool gather(const GatherLayout& layout, const GatherPart& part) {
  if (part.bytes == 0) return for_tuples<I, 0>(layout, part, 0, part.tuples, [](auto, auto) {});
  if (layout.at_once) {
    return with_small_copy<tuning::kGatherSmallBytes / 2>(part.bytes, [&](const auto copy_one) {
      const auto copy = [copy_one, data = part.data, to = part.output](auto i, auto offset) {
        copy_one(to + i * copy_one.bytes, data + offset, nullptr);
      };
      return for_tuples<I, decltype(copy_one)::kExactBytes>(layout, part, 0, part.tuples, copy);
    });
  }
  std::int64_t offsets[tuning::kGatherChunk + 2 * tuning::kGatherAhead];
  bool good = true;
  GatherPart copied = part;
  std::int64_t known = 0;  // offsets of tuples that are not copied yet
  for (std::int64_t begin = 0, end = 0; end < part.tuples; begin = end) {
    end = min_of(begin + tuning::kGatherChunk + layout.ahead - known, part.tuples);
    const auto store = [to = offsets + known, begin, data = part.data](auto i, auto offset) {
      to[i - begin] = offset;
      prefetch<2>(data + offset);
    };
    good &= for_tuples<I, 0>(layout, part, begin, end, store);
    known += end - begin;
    // After the last slices any will do.
    for (std::int64_t i = 0; end == part.tuples && i < layout.ahead; ++i) {
      offsets[known++] = offsets[0];
    }
    copied.tuples = known - layout.ahead;
    copy_slices(layout, copied, offsets);
    copied.output += copied.tuples * layout.output_stride;
    known = layout.ahead;
    for (std::int64_t i = 0; i < known; ++i) offsets[i] = offsets[copied.tuples + i];
  }
  if (layout.stream) stream_fence();
  return good;
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
