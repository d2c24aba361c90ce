// How a top-k runs, as data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "interface/top_k.hpp"
#include "plan/columns_plan.hpp"
#include "plan/machine.hpp"
#include "plan/problem.hpp"

namespace dmlcpu {

/// Whether a strategy can find the k highest of rows, or parts, of up to `length` elements, 1 <= k
/// <= length; `most` if that is more than half of the row.
bool is_feasible(TopKStrategy strategy, std::int64_t length, std::int64_t k, bool most);

/// The details of a strategy. kSample needs at least tuning::kTopKSampleLeastLength elements.
TopKSelection plan_selection(TopKStrategy strategy, std::int64_t length, std::int64_t k);

/// Rows one by one:
///
///   for each task                             (in parallel, unless rows have parts)
///     for each row
///       threshold, if its parts share that of a sample
///       for each of `parts`                   (in parallel)
///         collect from row.size / parts elements
///       for each bucket of what was collected (in parallel; one bucket, if items are few)
///         sort, write values and indices
///
/// Strides of the tasks' axes are {input, indices, values}; each of their results is a row.
struct TopKPlan {
  Tasks tasks;
  Axis row = kUnitAxis;  ///< the searched axis; k positions of it, or one, are in the outputs
  std::int64_t k = 1;
  bool selects = false;  ///< the k-th alone is wanted
  bool prefetches = false;
  bool packed = false;  ///< a task's rows are first copied to scratch memory, one after the other
  std::int64_t parts = 1;
  TopKSelection selection;   ///< for one part, but a sample is the row's
  TopKRowScratch scratch{};  ///< of each worker
  int threads = 1;           ///< of a row's parts, else of the tasks

  std::int64_t scratch_bytes() const { return tasks.workers() * scratch.bytes; }
  std::int64_t longest_part() const { return ceil_divide(row.size, parts); }
};

/// Columns with small k, or few elements, each in a vector lane:
///
///   for each task          (in parallel)
///     kernel(columns)
///
/// Strides of the tasks' axes are {input, indices, values}.
struct TopKColumnsPlan {
  Tasks tasks;
  ColumnsPlan columns;
  Axis column = kUnitAxis;  ///< the searched axis; k positions of it are in the outputs
  std::int64_t k = 1;
  std::int64_t first = 0;        ///< of the k that are written
  bool compares_all = false;     ///< with each other; else inserts better ones into slots
  std::int64_t table_bytes = 0;  ///< of scratch memory; then each worker's
  std::int64_t worker_bytes = 0;

  std::int64_t scratch_bytes() const { return table_bytes + tasks.workers() * worker_bytes; }
};

/// The number of parts of a row for `threads` threads.
std::int64_t count_parts(const TopKProblem& problem, int threads);

/// Plans a problem that has something to write, for up to `threads` threads, by the candidate that
/// choose() returns.
std::variant<TopKColumnsPlan, TopKPlan> plan_top_k(const TopKProblem& problem,
                                                   const Machine& machine, int threads,
                                                   int number = -1);

/// The plan as text, for tests and for people.
std::string to_text(const TopKPlan& plan);
std::string to_text(const TopKColumnsPlan& plan);

}  // namespace dmlcpu
