// How a gather runs, as data.
#pragma once

#include <cstdint>
#include <string>

#include "dmlcpu/operators.hpp"
#include "plan/axes.hpp"

namespace dmlcpu {

///   for each position of `outer`                        (in parallel)
///     for each chunk of `tuples`                        (in parallel)
///       compute the tuples' offsets
///       for each position of `slices`
///         copy a run of `slice` for each tuple
///
/// Strides of `outer` and `tuples` are {indices, input's batch, output}, of `slices` and `slice`
/// {input, output, 0}.
struct GatherNdPlan {
  Axes outer;
  Axis tuples = kUnitAxis;
  std::int64_t chunk = 1;  ///< tuples per task

  int tuple_length = 1;
  std::int64_t coordinate_stride = 1;
  Extents sizes{};    ///< of the indexed axes
  Extents strides{};  ///< of the input along them

  bool packed = false;      ///< tuples, and their coordinates, lie next to each other
  bool narrow = false;      ///< 32 bits hold all coordinates and offsets in range
  std::int64_t lowest = 0;  ///< offset of any tuple in range, without its batch
  std::int64_t range = 0;   ///< from the lowest to the highest

  Axes slices;
  Axis slice = kUnitAxis;
  int threads = 1;

  std::int64_t chunks() const { return (tuples.size + chunk - 1) / chunk; }
  std::int64_t cells() const { return positions(outer) * chunks(); }
};

/// Plans a valid descriptor for up to `threads` threads.
GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, int threads);

/// One line per loop, for tests and for people.
std::string to_text(const GatherNdPlan& plan);

}  // namespace dmlcpu
