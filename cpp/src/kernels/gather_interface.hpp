// The kernels of gather: plain data in, plain data out.
//
// Like all interface headers of kernels it is compiled with every instruction set's own flags, so
// it holds nothing that becomes code by itself: no inline functions but constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

namespace dmlcpu {

/// An indexed axis. Indices are read as signed integers: `wrap` is what is added to negative ones,
/// the size if they are meant so, else 2^bits modulo 2^64.
struct GatherAxis {
  std::int64_t size;
  std::int64_t stride;  ///< of the input, in bytes
  std::int64_t wrap;
};
inline constexpr int kMaxTupleLength = 8;

/// Index tuples: coordinate j of tuple i is indices[i * tuple_stride + j * coordinate_stride] and
/// addresses axes[j], from byte i * batch_stride on.
struct GatherTuples {
  const void* indices;
  std::int64_t tuple_stride;
  std::int64_t coordinate_stride;
  std::int64_t batch_stride;
  const GatherAxis* axes;
  int length;      ///< at most kMaxTupleLength
  bool is_signed;  ///< the indices' type
  bool clips;      ///< coordinates out of range to the nearest in range
};

/// Whether all coordinates of `count` tuples from `first` on are in range.
using GatherCheck = bool (*)(const GatherTuples& tuples, std::int64_t first, std::int64_t count);

/// Also writes the tuples' offsets in bytes, up to the first tuple out of range that is not
/// clipped.
using GatherOffsets = bool (*)(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                               std::int64_t* offsets);

/// Slices of `bytes` bytes in all, output_stride bytes apart in the output. The elements of a slice
/// are from_stride and to_stride elements apart, which only the kernel of strided slices reads.
struct GatherCopy {
  const char* data;
  char* output;
  std::int64_t output_stride;
  std::int64_t bytes;
  std::int64_t from_stride;
  std::int64_t to_stride;
  bool stream;  ///< the output is too large to be found in a cache afterwards
};

/// Copies a slice from data + offsets[i] to output + i * output_stride, for each i in [0, count).
using GatherCopyKernel = void (*)(const GatherCopy& copy, const std::int64_t* offsets,
                                  std::int64_t count);

/// Checks and copies `count` tuples one by one, up to the first one out of range that is not
/// clipped; whether there was none. Only without a batch, of contiguous slices of up to
/// kGatherAtOnceBytes, which are next to each other in the output and along the last axis.
using GatherAtOnce = bool (*)(const GatherTuples& tuples, std::int64_t count,
                              const GatherCopy& copy);

}  // namespace dmlcpu
