// How a gather runs, as data.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dmlcpu/operators.hpp"
#include "kernels/gather_interface.hpp"
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
  std::int64_t rows = 1;   ///< positions of `outer` per task, 1 if there are several chunks
  std::int64_t chunk = 1;  ///< tuples per task and row

  int tuple_length = 1;
  std::int64_t coordinate_stride = 1;
  std::array<GatherAxis, kMaxTupleLength> axes{};  ///< that are indexed

  Axes slices;
  Axis slice = kUnitAxis;
  bool contiguous = false;  ///< each slice
  bool at_once = false;     ///< each slice is copied as soon as its tuple is checked
  int threads = 1;

  std::int64_t chunks() const { return (tuples.size + chunk - 1) / chunk; }
  std::int64_t tasks() const { return (positions(outer) + rows - 1) / rows * chunks(); }
};

/// Plans a valid descriptor for up to `threads` threads.
GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, int threads);

/// One line per loop, for tests and for people.
std::string to_text(const GatherNdPlan& plan);

}  // namespace dmlcpu
