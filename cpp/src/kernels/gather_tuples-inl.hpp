// gather: index tuples, checked and turned into offsets.
#pragma once

#include "kernels/level-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// The offsets in bytes of `count` tuples from `first` on, of any layout; up to the first tuple out
/// of range, unless these are clipped. Returns whether there was none.
template <class I>
bool any_offsets(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                 std::int64_t* __restrict offsets) {
  const I* p = static_cast<const I*>(tuples.indices) + first * tuples.tuple_stride;
  for (std::int64_t i = 0; i < count; ++i, p += tuples.tuple_stride) {
    std::int64_t offset = (first + i) * tuples.batch_stride;
    for (int j = 0; j < tuples.length; ++j) {
      const GatherAxis& axis = tuples.axes[j];
      const std::int64_t read = loaded(std::int64_t{p[j * tuples.coordinate_stride]});
      std::int64_t c = read + (axis.wrap & -static_cast<std::int64_t>(read < 0));
      if (static_cast<std::uint64_t>(c) >= static_cast<std::uint64_t>(axis.size)) {
        if (!tuples.clips) return false;
        c = c < 0 && tuples.is_signed ? 0 : axis.size - 1;
      }
      offset += c * axis.stride;
    }
    offsets[i] = offset;
  }
  return true;
}

/// for_tuples() for contiguous tuples of kLength coordinates without a batch, from tuple first + i
/// to the first one that has a coordinate not in [0, size); returns its number, counted as i is.
/// The last axis' stride is kStride bytes, or any if that is 0.
template <class I, int kLength, std::int64_t kStride, class Body>
std::int64_t for_plain_tuples(const GatherTuples& tuples, std::int64_t first, std::int64_t i,
                              std::int64_t count, const Body& body) {
  const I* const indices = static_cast<const I*>(tuples.indices) + first * kLength;
  std::uint64_t sizes[kLength];
  std::int64_t strides[kLength];
  for (int j = 0; j < kLength; ++j) {
    sizes[j] = static_cast<std::uint64_t>(tuples.axes[j].size);
    strides[j] = kStride > 0 && j == kLength - 1 ? kStride : tuples.axes[j].stride;
  }
  const auto one = [&](std::int64_t tuple) {
    const I* const p = indices + tuple * kLength;
    std::int64_t offset = 0;
    for (int j = 0; j < kLength; ++j) {
      const std::int64_t c = loaded(std::int64_t{p[j]});
      if (static_cast<std::uint64_t>(c) >= sizes[j]) return false;
      offset += c * strides[j];
    }
    body(tuple, offset);
    return true;
  };
  constexpr int kUnroll = 4;
  constexpr auto kTupleBytes = static_cast<std::int64_t>(kLength * sizeof(I));
  for (; i + kUnroll <= count; i += kUnroll) {
    const char* const next =
        reinterpret_cast<const char*>(indices + i * kLength) + tuning::kGatherTuplePrefetchBytes;
    for (std::int64_t b = 0; b < kUnroll * kTupleBytes; b += kCacheLine) prefetch(next + b);
    for (int u = 0; u < kUnroll; ++u) {
      if (!one(i + u)) return i + u;
    }
  }
  while (i < count && one(i)) ++i;
  return i;
}

/// Calls body(i, offset) for tuple first + i and its offset in bytes, i from 0 to count - 1. Ends
/// at the first tuple out of range, unless these are clipped, and returns whether there was none.
/// Every offset is that of an element, even of tuples that change after they were checked.
/// Negative coordinates take longer, wherever they are: a block of tuples around them is done
/// without a branch on the sign. The branches on coordinates out of range keep compilers from
/// vectorizing the loops: gathers by vector instructions take longer than single loads on many
/// processors.
template <class I, std::int64_t kStride, class Body>
bool for_tuples(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                const Body& body) {
  const bool contiguous = tuples.tuple_stride == tuples.length && tuples.coordinate_stride == 1;
  const int length = contiguous && tuples.batch_stride == 0 ? tuples.length : 0;
  const auto plain = [&](std::int64_t i) {
    if (length == 1) return for_plain_tuples<I, 1, kStride>(tuples, first, i, count, body);
    if (length == 2) return for_plain_tuples<I, 2, kStride>(tuples, first, i, count, body);
    if (length == 3) return for_plain_tuples<I, 3, kStride>(tuples, first, i, count, body);
    if (length == 4) return for_plain_tuples<I, 4, kStride>(tuples, first, i, count, body);
    return i;
  };
  std::int64_t i = 0;
  while (true) {
    i = plain(i);
    if (i >= count) return true;
    std::int64_t offsets[tuning::kGatherTupleBlock];
    const std::int64_t in_block = min_of(tuning::kGatherTupleBlock, count - i);
    if (!any_offsets<I>(tuples, first + i, in_block, offsets)) return false;
    for (std::int64_t t = 0; t < in_block; ++t) body(i + t, offsets[t]);
    i += in_block;
  }
}

template <class I>
bool gather_check(const GatherTuples& tuples, std::int64_t first, std::int64_t count) {
  return for_tuples<I, 0>(tuples, first, count, [](std::int64_t, std::int64_t) {});
}

template <class I>
bool gather_offsets(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                    std::int64_t* __restrict offsets) {
  return for_tuples<I, 0>(tuples, first, count,
                          [=](std::int64_t i, std::int64_t offset) { offsets[i] = offset; });
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
