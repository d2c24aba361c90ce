// The kernels of gather: plain data in, plain data out.
//
// Like all headers of this folder it is compiled with every instruction set's own flags, so it
// holds nothing that becomes code by itself: no inline functions except constexpr ones, no standard
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

/// A loop over a slice's runs; strides in bytes.
struct GatherRuns {
  std::int64_t size;
  std::int64_t from_stride;
  std::int64_t to_stride;
};

/// Where index tuples and the slices they address are. Coordinate j of tuple i is
/// indices[i * tuple_stride + j * coordinate_stride] and addresses axes[j], from byte
/// i * batch_stride of the input on; its slice goes to byte i * output_stride of the output.
struct GatherLayout {
  std::int64_t tuple_stride = 0;
  std::int64_t coordinate_stride = 1;
  std::int64_t batch_stride = 0;
  std::int64_t output_stride = 0;
  GatherAxis axes[kMaxTupleLength];
  int length = 1;       ///< of tuples, at most kMaxTupleLength
  bool is_far = false;  ///< tuples touch more of the input than kGatherNearBytes
  /// Slices are not far, of up to kGatherSmallBytes, next to each other in the output and along the
  /// last axis: each is copied as soon as its tuple is checked.
  bool at_once = false;
  std::int64_t ahead = 1;  ///< how many slices ahead others are prefetched, at most kGatherAhead
  bool stream = false;     ///< runs of whole 16 bytes are written by non-temporal stores
  /// A slice's runs, outermost loop first, and the strides of their elements.
  int run_axes = 0;
  GatherRuns runs[kMaxTupleLength];
  std::int64_t element_size = 1;
  std::int64_t from_stride = 1;
  std::int64_t to_stride = 1;
};

/// Some tuples of such a layout, and the bytes of each run that are copied; 0 only checks tuples.
struct GatherPart {
  const char* indices;
  const char* data;
  char* output;
  std::int64_t tuples;
  std::int64_t bytes;
};

/// Copies the tuples' slices, and returns whether all coordinates are in range. Those that are not
/// count as the nearest ones in range: whatever the indices are, or concurrently become, nothing
/// outside the input is read.
using GatherKernel = bool (*)(const GatherLayout& layout, const GatherPart& part);

}  // namespace dmlcpu
