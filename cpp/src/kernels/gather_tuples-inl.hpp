// gather: index tuples, checked and turned into offsets.
#pragma once

#include "kernels/target-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// The offsets in bytes of `count` tuples of any layout, the first of which is `first`; returns
/// whether all are in range. No branch depends on a coordinate's sign.
template <class I>
bool any_offsets(const GatherLayout& layout, const GatherPart& part, std::int64_t first,
                 std::int64_t count, std::int64_t* __restrict offsets) {
  bool good = true;
  const I* p = reinterpret_cast<const I*>(part.indices) + first * layout.tuple_stride;
  for (std::int64_t i = 0; i < count; ++i, p += layout.tuple_stride) {
    std::int64_t offset = (first + i) * layout.batch_stride;
    for (int j = 0; j < layout.length; ++j) {
      const GatherAxis& axis = layout.axes[j];
      const std::int64_t read = loaded(std::int64_t{p[j * layout.coordinate_stride]});
      std::int64_t c = read + (axis.wrap & -static_cast<std::int64_t>(read < 0));
      if (static_cast<std::uint64_t>(c) >= static_cast<std::uint64_t>(axis.size)) {
        good = false;
        // The nearest one in range. Only signed indices, which wrap by the size, can be below it.
        c = c < 0 && axis.wrap == axis.size ? 0 : axis.size - 1;
      }
      offset += c * axis.stride;
    }
    offsets[i] = offset;
  }
  return good;
}

/// for_tuples() for contiguous tuples of kLength coordinates without a batch, from tuple i to the
/// first one that has a coordinate not in [0, size), or to `end`; returns its number.
template <class I, int kLength, std::int64_t kStride, class Body>
std::int64_t for_plain_tuples(const GatherLayout& layout, const GatherPart& part, std::int64_t i,
                              std::int64_t end, const Body body) {
  const I* const indices = reinterpret_cast<const I*>(part.indices);
  std::uint64_t sizes[kLength];
  std::int64_t strides[kLength];
  for (int j = 0; j < kLength; ++j) {
    sizes[j] = static_cast<std::uint64_t>(layout.axes[j].size);
    strides[j] = kStride > 0 && j == kLength - 1 ? kStride : layout.axes[j].stride;
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
  for (; i + kUnroll <= end; i += kUnroll) {
    const char* const next =
        reinterpret_cast<const char*>(indices + i * kLength) + tuning::kGatherTuplePrefetchBytes;
    for (std::int64_t b = 0; b < kUnroll * kTupleBytes; b += kCacheLine) {
      prefetch(next + b);
      prefetch<2>(next + b + tuning::kGatherTuplesToL2Bytes);
    }
    for (int u = 0; u < kUnroll; ++u) {
      if (!one(i + u)) return i + u;
    }
  }
  while (i < end && one(i)) ++i;
  return i;
}

/// Calls body(i, offset) for each tuple i in [begin, end) and its offset in bytes, and returns
/// whether all are in range. Of the last axis kStride is the stride, or 0 where it may be any.
///
/// Coordinates that are negative or out of range take longer, wherever they are: a block of tuples
/// from there on is left to any_offsets(). The branches on them keep compilers from vectorizing the
/// loops: gathers by vector instructions take longer than single loads on many processors.
template <class I, std::int64_t kStride, class Body>
bool for_tuples(const GatherLayout& layout, const GatherPart& part, std::int64_t begin,
                std::int64_t end, const Body body) {
  const bool contiguous = layout.tuple_stride == layout.length && layout.coordinate_stride == 1;
  const int length = contiguous && layout.batch_stride == 0 ? layout.length : 0;
  const auto plain = [&](std::int64_t i) {
    if (length == 1) return for_plain_tuples<I, 1, kStride>(layout, part, i, end, body);
    if (length == 2) return for_plain_tuples<I, 2, kStride>(layout, part, i, end, body);
    if (length == 3) return for_plain_tuples<I, 3, kStride>(layout, part, i, end, body);
    if (length == 4) return for_plain_tuples<I, 4, kStride>(layout, part, i, end, body);
    return i;
  };
  bool good = true;
  for (std::int64_t i = begin; (i = plain(i)) < end;) {
    std::int64_t offsets[tuning::kGatherTupleBlock];
    const std::int64_t count = min_of(tuning::kGatherTupleBlock, end - i);
    good &= any_offsets<I>(layout, part, i, count, offsets);
    for (std::int64_t t = 0; t < count; ++t) body(i + t, offsets[t]);
    i += count;
  }
  return good;
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
