// How an argmin or argmax runs, as data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "interface/arg.hpp"
#include "plan/columns_plan.hpp"
#include "plan/machine.hpp"
#include "plan/problem.hpp"

namespace dmlcpu {

enum class ArgStrategy : std::uint8_t {
  kFill,     ///< each result is of one element: nothing is compared
  kRows,     ///< each row by itself
  kColumns,  ///< a vector lane for each result, or several
};

/// Nested loops around kernel calls:
///
///   for each task                          (in parallel)
///     for each part of the reduction       (in parallel, then merged)
///       for each position of `reduced`
///         kernel(the task's groups and results, all positions of their rows or columns)
///
/// Strides of the tasks' axes are {input, indices, values}, of reduced ones {input, index step, 0}.
struct ArgPlan {
  ArgStrategy strategy = ArgStrategy::kFill;
  bool merges = false;    ///< whether results are merged before they are written
  bool reversed = false;  ///< and count, value_stride: as those of ArgProblem
  std::int64_t count = 1;
  std::int64_t value_stride = 0;
  std::int64_t parts = 1;
  std::int64_t part_size = 1;  ///< of the axis that parts share; the last part overlaps others
  Tasks tasks;
  Axis shared = kUnitAxis;  ///< among the parts
  Axes reduced;
  Axis n = kUnitAxis;        ///< kRows: the axis that the kernel walks
  bool from_memory = false;  ///< kRows
  bool prefetches = false;   ///< kRows
  ColumnsPlan columns;       ///< kColumns

  /// Scratch memory in bytes: the tables of columns, then each worker's for the kernel, and from
  /// its end on what tasks keep of their results until these are merged or written.
  std::int64_t table_bytes = 0;
  std::int64_t kernel_bytes = 0;
  std::int64_t best_bytes = 0;     ///< of each task, half of them keys, if they are kept
  std::int64_t scratch_bytes = 0;  ///< all of it

  std::int64_t part_start(std::int64_t part) const {
    return std::min(part * part_size, shared.size - part_size);
  }
};

/// Plans a problem that has something to write, for up to `threads` threads, by the candidate that
/// choose() returns.
ArgPlan plan_arg(const ArgProblem& problem, const Machine& machine, int threads, int number = -1);

/// Rows that one thread reduces without a plan, which would take longer to make than to follow.
struct ArgUnplannedRows {
  ArgRows rows = {nullptr, 1, 0, 1, 0, 0, 1, true, false, false};  ///< `data` is set when they run
  Offsets offsets{};  ///< of the first elements of the input and the output
  std::int64_t output_stride = 0;
};

/// Whether a problem is one row, or few elements, of at most one kept and one reduced axis. Not for
/// more threads than one.
bool find_rows(const ArgProblem& problem, const Machine& machine, int threads,
               ArgUnplannedRows& unplanned);

/// The plan as text, for tests and for people.
std::string to_text(const ArgPlan& plan);
std::string to_text(const ArgUnplannedRows& unplanned);

}  // namespace dmlcpu
