#include "plan/arg_plan.hpp"

#include <algorithm>

#include "core/scratch.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "plan/candidates.hpp"
#include "plan/price.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

/// Splits a reduced axis into parts, if a candidate has too few tasks for the threads. Rows have a
/// part for each thread, as each part of a long row is read in one run.
void split_reduction(const ArgProblem& problem, const Candidate& candidate, int threads,
                     ArgPlan& plan) {
  const std::int64_t wanted = candidate.is_rows ? threads : threads * tuning::kTasksPerThread;
  const std::int64_t tasks = count_tasks(problem, candidate);
  const int number = axis_of_parts(problem, candidate);
  if (number < 0) return;
  Axis& axis = plan.reduced.axes[number];
  const std::int64_t parts =
      std::min(ceil_divide(wanted, tasks), axis.size / tuning::kMinPartPositions);
  if (parts < 2) return;
  plan.shared = axis;
  plan.part_size = axis.size = ceil_divide(axis.size, parts);
  // Rounded up, fewer parts may be enough.
  plan.parts = ceil_divide(plan.shared.size, plan.part_size);
}

/// Divides results among tasks.
void split_tasks(std::int64_t element_size, int threads, ArgPlan& plan) {
  Tasks& tasks = plan.tasks;
  const Tiling& tiling = plan.columns.columns.tiling;
  const bool several = plan.columns.has_several();
  plan.merges = plan.strategy == ArgStrategy::kRows || plan.parts > 1 || plan.reduced.count > 0 ||
                plan.columns.columns.walk.n > arg_run_positions(element_size);
  // Rows have the tiling that no columns set: one lane, one group.
  const std::int64_t least = std::min(tiling.lanes, tuning::kLeastTileBytes / element_size);
  // Parts of rows of lanes are tasks enough; of rows, and of blocks, there may be few.
  const bool splits_results = !several && (plan.parts == 1 || has_blocks(tiling.packing) ||
                                           plan.strategy == ArgStrategy::kRows);
  tasks.split(threads, splits_results ? least : tasks.results.size, plan.columns.least_groups,
              plan.parts);
  if (plan.merges) {
    const bool is_rows = plan.strategy == ArgStrategy::kRows;
    const std::int64_t tile = is_rows ? tuning::kTileElements : tiling.lanes;
    tasks.task_groups = std::min(tasks.task_groups, tiling.groups);
    if (!several) tasks.task_results = std::min(tasks.task_results, tile);
  }
}

/// Sets how much scratch memory there is.
void size_scratch(std::int64_t element_size, ArgPlan& plan) {
  const std::int64_t calls = plan.tasks.count() * plan.parts;
  const std::int64_t workers = std::min<std::int64_t>(plan.tasks.threads, calls);
  const std::int64_t results = plan.merges ? plan.tasks.task_groups * plan.tasks.task_results : 0;
  plan.best_bytes = round_up(2 * results * std::int64_t{sizeof(std::int64_t)});
  if (plan.strategy == ArgStrategy::kColumns) {
    plan.table_bytes = plan.columns.table_bytes();
    plan.kernel_bytes = arg_columns_scratch_bytes(plan.columns.columns.tiling,
                                                  rank_kinds(plan.columns.indices), element_size);
  }
  // Parts keep their best until they are merged.
  plan.scratch_bytes = plan.table_bytes + workers * plan.kernel_bytes +
                       (plan.parts > 1 ? calls : workers) * plan.best_bytes;
}

std::string axis_text(const char* name, const Axis& axis) {
  return text(name, " ", axis.size, " by ", axis.strides[0], ", ", axis.strides[1], "\n");
}

}  // namespace

ArgPlan plan_arg(const ArgProblem& problem, const Machine& machine, int threads, int number) {
  ArgPlan plan;
  const std::int64_t element_size = problem.element_size;
  plan.reversed = problem.reversed;
  plan.count = problem.count;
  plan.value_stride = problem.value_stride;
  plan.reduced = problem.reduced;
  plan.tasks.kept = problem.kept;
  plan.tasks.offsets = problem.offsets;
  Axes& kept = plan.tasks.kept;
  if (plan.reduced.count == 0) {
    // The axes are in the order of the output, if the input is not read.
    for (int d = 0; d < kept.count && !problem.has_values; ++d) {
      kept.axes[d].strides[0] = kept.axes[d].strides[1];
    }
    ascend(kept, plan.tasks.offsets);
    simplify(kept);
    const bool inner = kept.last().size >= tuning::kFillInnerSize;
    plan.tasks.results = inner ? kept.pop() : kept.take(longest(kept, false));
    plan.tasks.groups = kept.take(longest(kept, false));
  } else {
    const Candidate candidate = choose(problem, machine, number, threads);
    if (threads > 1) split_reduction(problem, candidate, threads, plan);
    if (candidate.is_rows) {
      plan.strategy = ArgStrategy::kRows;
      plan.n = plan.reduced.pop();
      plan.tasks.results = kept.pop();
      plan.from_memory = machine.rows_are_far(problem.bytes);
      plan.prefetches = plan.from_memory && machine.prefetches_rows;
    } else {
      plan.strategy = ArgStrategy::kColumns;
      plan.columns = plan_columns(element_size, machine.columns_are_far(problem.bytes),
                                  candidate.lanes, true, plan.tasks, plan.reduced);
      plan.columns.has_values = problem.has_values;
    }
  }
  split_tasks(element_size, threads, plan);
  size_scratch(element_size, plan);
  return plan;
}

bool find_rows(const ArgProblem& problem, const Machine& machine, int threads,
               ArgUnplannedRows& unplanned) {
  if (threads > 1 || problem.kept.count > 1 || problem.reduced.count > 1) return false;
  const Axis& kept = problem.kept.last();
  const Axis& reduced = problem.reduced.last();
  if (kept.size > 1 && kept.size * reduced.size > tuning::kUnplannedElements) return false;
  ArgRows& rows = unplanned.rows;
  unplanned.offsets = problem.offsets;
  unplanned.output_stride = kept.strides[1];
  rows.n = reduced.size;
  rows.stride = reduced.strides[0];
  rows.rows = kept.size;
  rows.row_stride = kept.strides[0];
  rows.index_base = problem.reversed ? problem.count - 1 : 0;
  rows.index_step = problem.reversed ? -reduced.strides[1] : reduced.strides[1];
  rows.from_memory = machine.rows_are_far(rows.n * problem.element_size);
  rows.prefetches = rows.from_memory && machine.prefetches_rows;
  return true;
}

std::string to_text(const ArgUnplannedRows& unplanned) {
  const ArgRows& rows = unplanned.rows;
  return text("rows without a plan\nn ", rows.n, " by ", rows.stride, "\nrows ", rows.rows, " by ",
              rows.row_stride, ", ", unplanned.output_stride, "\nthreads 1\n", scratch_text(0));
}

std::string to_text(const ArgPlan& plan) {
  std::string all = plan.strategy == ArgStrategy::kColumns
                        ? to_text(plan.columns, plan.tasks)
                        : text(plan.strategy == ArgStrategy::kRows ? "rows\n" : "fill\n",
                               axis_text("n", plan.n), axis_text("rows", plan.tasks.results));
  const Axes& kept = plan.tasks.kept;
  for (int d = 0; d < kept.count; ++d) all += axis_text("kept", kept.axes[d]);
  for (int d = 0; d < plan.reduced.count; ++d) all += axis_text("reduced", plan.reduced.axes[d]);
  return all + text("tasks ", plan.tasks.count(), ", parts ", plan.parts,
                    plan.parts > 1 ? text(" of ", plan.part_size, " of ", plan.shared.size) : "",
                    plan.merges ? ", merged" : "", ", threads ", plan.tasks.threads, "\n",
                    scratch_text(plan.scratch_bytes));
}

}  // namespace dmlcpu
