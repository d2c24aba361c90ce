// How a gather runs, as data.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dmlcpu/operators.hpp"
#include "kernels/gather_interface.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

///   for each task                                       (in parallel)
///     for each of its rows
///       for each chunk of its tuples
///         compute the tuples' offsets
///         for each position of `slices`
///           copy a run of `slice` for each tuple
///
/// Groups of the tasks are rows, results are tuples; their strides are {indices, input's batch,
/// output}, of `slices` and `slice` {input, output, 0}.
struct GatherNdPlan {
  Tasks tasks;

  int tuple_length = 1;
  std::int64_t coordinate_stride = 1;
  std::array<GatherAxis, kMaxTupleLength> axes{};  ///< that are indexed

  Axes slices;
  Axis slice = kUnitAxis;
  bool contiguous = false;  ///< each slice
  bool at_once = false;     ///< each slice is copied as soon as its tuple is checked
  int threads = 1;
};

/// Plans a valid descriptor for up to `threads` threads.
GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, int threads);

/// One line per loop, for tests and for people.
std::string to_text(const GatherNdPlan& plan);

}  // namespace dmlcpu
