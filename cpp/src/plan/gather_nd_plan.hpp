// How a gather runs, as data.
#pragma once

#include <cstdint>
#include <string>

#include "dmlcpu/operators.hpp"
#include "interface/gather.hpp"
#include "plan/machine.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

///   for each task                                       (in parallel)
///     for each of its rows
///       for each of its tuples
///         copy the runs of a slice
///
/// Groups of the tasks are rows, results are tuples; their strides are {indices, input, output}.
/// Few tuples are divided further: axes of their slices become axes of the tasks, along which the
/// tuple stays the same; at last results are the elements of a run.
struct GatherNdPlan {
  Tasks tasks;
  GatherLayout layout;
  std::int64_t bytes = 0;     ///< of a run
  bool divides_runs = false;  ///< results are elements of a run, of one tuple
};

/// Plans a valid descriptor for up to `threads` threads.
GatherNdPlan plan_gather_nd(const GatherNdDescriptor& descriptor, const Machine& machine,
                            int threads);

/// The plan as text, for tests and for people.
std::string to_text(const GatherNdPlan& plan);

}  // namespace dmlcpu
