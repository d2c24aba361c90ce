// argmin and argmax: validate, plan, run.
#include "ops/planned.hpp"

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "kernels/dispatch.hpp"
#include "ops/for_tasks.hpp"
#include "ops/last_plan.hpp"
#include "ops/problem.hpp"
#include "ops/validate.hpp"
#include "plan/candidates.hpp"

namespace dmlcpu {
namespace {

/// The best so far of a task's results.
struct Best {
  std::int64_t* keys;
  std::int64_t* indices;

  Best at(std::int64_t number) const { return {keys + number, indices + number}; }
  void merge(const Best& other, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (other.keys[i] > keys[i] || (other.keys[i] == keys[i] && other.indices[i] < indices[i])) {
        keys[i] = other.keys[i];
        indices[i] = other.indices[i];
      }
    }
  }
};

const ArgKernels& kernels_of(const ArgDescriptor& descriptor) {
  const int order = ordering(descriptor.largest, descriptor.nan_policy == NanPolicy::kPropagate);
  return kernels().arg[static_cast<int>(descriptor.input.type)][order];
}

/// Writes element(i, to), converted to the unsigned integer type that `to` points to, to element
/// i * stride of an output with elements of `size` bytes, for i in [0, count). Values are copied as
/// bits. Validation found that indices fit, so that signed and unsigned ones have the same bits.
template <class Element>
void write_elements(void* output, std::int64_t size, std::int64_t stride, std::int64_t count,
                    const Element& element) {
  const auto write = [&](auto* to) {
    using U = std::remove_pointer_t<decltype(to)>;
    const auto by = [&](auto apart) {
      for (std::int64_t i = 0; i < count; ++i) to[i * apart] = static_cast<U>(element(i, to));
    };
    // Compilers make vector code of strides that they know.
    stride == 1 ? by(std::integral_constant<std::int64_t, 1>()) : by(stride);
  };
  if (size == 1) write(static_cast<std::uint8_t*>(output));
  if (size == 2) write(static_cast<std::uint16_t*>(output));
  if (size == 4) write(static_cast<std::uint32_t*>(output));
  if (size == 8) write(static_cast<std::uint64_t*>(output));
}

/// A plan that is run on memory.
struct ArgRun : Memory {
  const ArgDescriptor& descriptor;
  const ArgPlan& plan;
  const ArgKernels& kernel = kernels_of(descriptor);
  Columns columns = plan.columns.columns;
  ArgIndices column_indices = plan.columns.indices;
  int cut = plan.columns.cut.find(plan.reduced);

  /// Not inlined: a plan and scratch memory would not fit a frame.
  [[gnu::noinline]] void run() {
    const std::int64_t parts = plan.parts;
    const std::int64_t calls = plan.tasks.count() * parts;
    const Scratch scratch(plan.scratch_bytes);
    char* const of_kernels = scratch.at(plan.table_bytes);
    if (plan.strategy == ArgStrategy::kColumns) {
      plan.columns.fill_tables(scratch.at(0), columns, column_indices);
    }
    const auto best_at = [&](std::int64_t number) {
      if (!plan.merges) return Best{};  // the kernel writes results
      char* const best = scratch.at(plan.scratch_bytes - (number + 1) * plan.best_bytes);
      return Best{reinterpret_cast<std::int64_t*>(best),
                  reinterpret_cast<std::int64_t*>(best + plan.best_bytes / 2)};
    };
    for_calls(calls, plan.tasks.threads, [&](std::int64_t call, int worker) {
      const Task task = plan.tasks.at(call / parts);
      const Best best = best_at(parts > 1 ? call : worker);
      run_part(task, call % parts, best, of_kernels + worker * plan.kernel_bytes);
      if (parts == 1 && plan.merges) write(task, best);
    });
    for (std::int64_t call = 0; plan.merges && parts > 1 && call < calls; call += parts) {
      const Task task = plan.tasks.at(call / parts);
      const Best best = best_at(call);
      for (std::int64_t part = 1; part < parts; ++part) {
        best.merge(best_at(call + part), task.groups * task.results);
      }
      write(task, best);
    }
  }

  /// Merges a part of the reduction into `best`, or writes the results if nothing is merged.
  void run_part(const Task& task, std::int64_t part, const Best& best, char* scratch) const {
    if (plan.strategy == ArgStrategy::kFill) return write(task, [](auto...) { return 0; });
    const std::int64_t start = plan.part_start(part);
    Odometer reduced(plan.reduced);
    for (std::int64_t i = 0; i < iteration_count(plan.reduced); ++i, reduced.next()) {
      const std::int64_t back = plan.columns.cut.overlap_at(cut, reduced);
      const auto first = [&](int s) {
        return start * plan.shared.strides[s] + reduced.offsets()[s] -
               back * plan.columns.cut.strides[s];
      };
      const char* const data = at(task.offsets[0] + first(0));
      if (plan.strategy == ArgStrategy::kRows) {
        const Axis& n = plan.n;
        kernel.rows({data, n.size, n.strides[0], task.results, plan.tasks.results.strides[0],
                     first(1), n.strides[1], i == 0, plan.from_memory, plan.prefetches},
                    best.keys, best.indices);
        continue;
      }
      ArgColumns call = {
          columns,      column_indices,
          task.results, scratch,
          best.keys,    best.indices,
          i == 0,       outputs(task.offsets, kUnitAxis, plan.tasks.groups, plan.tasks.results)};
      call.columns.data = data + plan.columns.input_offset * element_size;
      call.columns.lanes.groups = task.groups;
      call.columns.lanes.count = plan.columns.per_result * task.results;
      call.indices.base = first(1);
      call.indices.reversed = plan.reversed && !plan.merges;
      call.indices.last = plan.count - 1;
      kernel.columns(call);
    }
  }

  /// Writes the results of a task, whose indices are found(group, result).
  template <class Found>
  void write(const Task& task, const Found& found) const {
    const Axis& results = plan.tasks.results;
    const std::int64_t last = plan.count - 1;
    const bool reversed = plan.reversed;
    for (std::int64_t g = 0; g < task.groups; ++g) {
      const auto place = [&](int s) { return task.offsets[s] + g * plan.tasks.groups.strides[s]; };
      char* const index = indices + place(1) * index_size;
      if (last == 0 && std::abs(results.strides[1]) == 1) {
        char* const lowest =
            results.strides[1] > 0 ? index : index - (task.results - 1) * index_size;
        std::memset(lowest, 0, static_cast<std::size_t>(task.results * index_size));
      } else {
        write_elements(index, index_size, results.strides[1], task.results,
                       [&found, g, last, reversed](std::int64_t i, auto* /*to*/) {
                         return reversed ? last - found(g, i) : found(g, i);
                       });
      }
      if (values == nullptr) continue;
      // From the input: keys do not tell zeros, or NaNs, apart.
      const char* const from = at(place(0));
      char* const to = values + place(2) * element_size;
      if (last == 0 && results.strides[0] == 1 && results.strides[2] == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(task.results * element_size));
        continue;
      }
      write_elements(to, element_size, results.strides[2], task.results,
                     [&](std::int64_t i, auto* out) {
                       using U = std::remove_pointer_t<decltype(out)>;
                       const std::int64_t offset = found(g, i) * plan.value_stride;
                       return reinterpret_cast<const U*>(from)[i * results.strides[0] + offset];
                     });
    }
  }
  void write(const Task& task, const Best& best) const {
    write(task, [&](std::int64_t g, std::int64_t i) { return best.indices[g * task.results + i]; });
  }
};

int threads_for(const ArgProblem& problem) {
  return threads_for_bytes(problem.bytes, tuning::kArgLeastGrains);
}

const ArgPlan& plan_of(const ArgProblem& problem) {
  const int threads = threads_for(problem);
  return last_or_new_plan<ArgPlan>(problem, threads, [&] {
    return problem.results == 0 ? ArgPlan()
                                : plan_arg(problem, machine(), threads, forced_candidate());
  });
}

/// Whether the problem is of rows that need no plan.
bool needs_no_plan(const ArgProblem& problem, ArgUnplannedRows& rows) {
  return forced_candidate() < 0 && find_rows(problem, machine(), threads_for(problem), rows);
}

/// Runs rows without a plan.
void run_rows(const ArgDescriptor& descriptor, const ArgUnplannedRows& unplanned) {
  ArgRows rows = unplanned.rows;
  const std::int64_t index_size = element_bytes(descriptor.output);
  rows.data = static_cast<const char*>(descriptor.input.data) +
              unplanned.offsets[0] * element_bytes(descriptor.input);
  std::int64_t keys[tuning::kUnplannedElements];
  std::int64_t indices[tuning::kUnplannedElements];
  kernels_of(descriptor).rows(rows, keys, indices);
  write_elements(static_cast<char*>(descriptor.output.data) + unplanned.offsets[1] * index_size,
                 index_size, unplanned.output_stride, rows.rows,
                 [&](std::int64_t r, auto* /*to*/) { return indices[r]; });
}

}  // namespace

const ArgPlan& plan(const ArgDescriptor& descriptor, const Tensor* values) {
  return plan_of(problem_of(descriptor, values));
}

std::string plan_text_of(const ArgDescriptor& descriptor, const Tensor* values) {
  const ArgProblem problem = problem_of(descriptor, values);
  return to_text(plan_of(problem)) +
         candidates_text(problem, machine(), threads_for(problem), forced_candidate());
}

void run_planned(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input,
                 void* output, void* values) {
  if (element_count(descriptor.output) == 0) return;
  const Memory memory = {static_cast<const char*>(input), static_cast<char*>(output),
                         static_cast<char*>(values), element_bytes(descriptor.input),
                         element_bytes(descriptor.output)};
  ArgRun{memory, descriptor, plan}.run();
}

std::size_t detail::plan_text(const ArgDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  const ArgProblem problem = problem_of(descriptor);
  ArgUnplannedRows rows;
  if (needs_no_plan(problem, rows)) return copy_text(to_text(rows), text, size);
  return copy_text(plan_text_of(descriptor, nullptr), text, size);
}

void run(const ArgDescriptor& descriptor) {
  validate(descriptor);
  const ArgProblem problem = problem_of(descriptor);
  ArgUnplannedRows rows;
  if (needs_no_plan(problem, rows)) return run_rows(descriptor, rows);
  run_planned(descriptor, plan_of(problem), descriptor.input.data, descriptor.output.data);
}

}  // namespace dmlcpu
