// top-k: validate, plan, run.
#include "ops/planned.hpp"

#include <variant>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "kernels/dispatch.hpp"
#include "ops/for_tasks.hpp"
#include "ops/last_plan.hpp"
#include "ops/problem.hpp"
#include "ops/top_k_rows.hpp"
#include "ops/validate.hpp"
#include "plan/top_k_candidates.hpp"

namespace dmlcpu {
namespace {

/// If they propagate, NaNs are above all numbers: first of the largest, last of the smallest.
int order_of(const TopKDescriptor& descriptor) {
  const bool largest = descriptor.axis_direction == AxisDirection::kDecreasing;
  return ordering(largest, largest && descriptor.nan_policy == NanPolicy::kPropagate);
}

/// A call, and its descriptor: k = 1 is run as another operator.
struct Call : TopKCall {
  const TopKDescriptor& descriptor;
};

Call call_of(const TopKDescriptor& descriptor, const void* input, void* values, void* indices) {
  const TopKKernels& of_call = *kernels().top_k;
  const std::int64_t element_size = element_bytes(descriptor.input);
  return {{{static_cast<const char*>(input),
            wants_indices(descriptor) ? static_cast<char*>(indices) : nullptr,
            wants_values(descriptor) ? static_cast<char*>(values) : nullptr, element_size,
            element_bytes(descriptor.indices)},
           of_call.element[static_cast<int>(descriptor.input.type)][order_of(descriptor)],
           of_call.width[__builtin_ctzll(element_size)]},
          descriptor};
}

void run_plan(const Call& call, const TopKPlan& plan) { run_rows(call, plan); }

/// Columns with small k. Not inlined: plans of all kinds and scratch memory would not fit a frame.
[[gnu::noinline]] void run_plan(const Call& call, const TopKColumnsPlan& plan) {
  const Tasks& tasks = plan.tasks;
  const Scratch scratch(plan.scratch_bytes());
  Columns all = plan.columns.columns;
  ArgIndices indices;
  plan.columns.fill_tables(scratch.at(0), all, indices);
  for_tasks(tasks, [&](const Task& task, int worker) {
    Columns columns = all;
    columns.data = call.at(plan.columns.input_offset + task.offsets[0]);
    columns.lanes.groups = task.groups;
    columns.lanes.count = task.results;
    call.width.columns({columns, plan.k, plan.first, plan.compares_all, &call.element,
                        call.outputs(task.offsets, plan.column, tasks.groups, tasks.results),
                        scratch.at(plan.table_bytes + worker * plan.worker_bytes)});
  });
}

/// k = 1 is an argmax or argmin, whose kernels are faster.
ArgDescriptor as_arg(const TopKDescriptor& descriptor) {
  ArgDescriptor arg;
  arg.input = descriptor.input;
  arg.axes = {descriptor.axis};
  arg.largest = descriptor.axis_direction == AxisDirection::kDecreasing;
  arg.nan_policy = arg.largest ? descriptor.nan_policy : NanPolicy::kOmit;
  arg.output = descriptor.indices;
  return arg;
}

bool is_arg(const TopKDescriptor& descriptor) {
  return descriptor.k == 1 && wants_indices(descriptor);
}
const Tensor* values_of(const TopKDescriptor& descriptor) {
  return wants_values(descriptor) ? &descriptor.values : nullptr;
}

/// Not inlined, for the same reason.
[[gnu::noinline]] void run_plan(const Call& call, const ArgPlan& plan) {
  run_planned(as_arg(call.descriptor), plan, call.input, call.indices, call.values);
}

/// Whether there is nothing to write: k is at least 1.
bool is_empty(const TopKDescriptor& descriptor) { return element_count(descriptor.input) == 0; }

using Plan = std::variant<TopKColumnsPlan, TopKPlan>;

int threads_for(const TopKProblem& problem) {
  return threads_for_bytes(tuning::top_k_work(problem.k) * problem.bytes);
}

const Plan& plan_of(const TopKProblem& problem) {
  const int threads = threads_for(problem);
  return last_or_new_plan<Plan>(problem, threads, [&] {
    return plan_top_k(problem, machine(), threads, forced_candidate());
  });
}

/// Calls body(plan) with the best plan, if there is something to write.
template <class Body>
void with_plan(const TopKDescriptor& descriptor, const Body& body) {
  if (is_empty(descriptor)) return;
  if (is_arg(descriptor)) return body(plan(as_arg(descriptor), values_of(descriptor)));
  std::visit(body, plan_of(problem_of(descriptor)));
}

}  // namespace

TopKProgram plan(const TopKDescriptor& descriptor) {
  TopKProgram program;
  with_plan(descriptor, [&](const auto& plan) { program = plan; });
  return program;
}

void run_planned(const TopKDescriptor& descriptor, const TopKProgram& program, const void* input,
                 void* values, void* indices) {
  if (is_empty(descriptor)) return;
  const Call call = call_of(descriptor, input, values, indices);
  std::visit([&call](const auto& plan) { run_plan(call, plan); }, program);
}

std::size_t detail::plan_text(const TopKDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  if (is_empty(descriptor)) return copy_text(to_text(ArgPlan()), text, size);
  if (is_arg(descriptor)) {
    return copy_text(plan_text_of(as_arg(descriptor), values_of(descriptor)), text, size);
  }
  const TopKProblem problem = problem_of(descriptor);
  const auto text_of = [](const auto& plan) { return to_text(plan); };
  return copy_text(
      std::visit(text_of, plan_of(problem)) +
          candidates_text(problem, machine(), threads_for(problem), forced_candidate()),
      text, size);
}

void run(const TopKDescriptor& descriptor) {
  validate(descriptor);
  const Call call =
      call_of(descriptor, descriptor.input.data, descriptor.values.data, descriptor.indices.data);
  with_plan(descriptor, [&call](const auto& plan) { run_plan(call, plan); });
}

}  // namespace dmlcpu
