// top-k: validate, plan, run.
#include "ops/top_k.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/arg.hpp"
#include "ops/for_tasks.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {
namespace {

/// NaNs come before the numbers when they propagate, which is first only for the largest.
bool nans_first(const TopKDescriptor& descriptor) {
  return descriptor.nan_policy == NanPolicy::kPropagate &&
         descriptor.axis_direction == AxisDirection::kDecreasing;
}

const TopKElementKernels& element_kernels(const TopKDescriptor& descriptor) {
  const Ordering order =
      ordering(descriptor.axis_direction == AxisDirection::kDecreasing, nans_first(descriptor));
  return kernels().top_k->element[static_cast<int>(descriptor.input.type)][static_cast<int>(order)];
}

/// A call's memory, and what works on it.
struct Call {
  Call(const TopKDescriptor& of, const void* from, void* to_values, void* to_indices)
      : descriptor(of),
        input(static_cast<const char*>(from)),
        values(static_cast<char*>(to_values)),
        indices(static_cast<char*>(to_indices)),
        element_size(element_bytes(of.input)),
        index_size(element_bytes(of.indices)),
        input_bytes(byte_count(of.input)),
        width(kernels().top_k->width[width_index(element_size)]) {}

  /// From these elements of values and indices on; strides are those of the axes.
  TopKOutputs outputs(const Offsets& offsets, const Axis& k, const Axis& groups,
                      const Axis& lanes) const {
    return {{values + offsets[1] * element_size, k.strides[1], groups.strides[1], lanes.strides[1]},
            {indices + offsets[2] * index_size, k.strides[2], groups.strides[2], lanes.strides[2]},
            index_size};
  }

  const TopKDescriptor& descriptor;
  const char* input;
  char* values;
  char* indices;
  std::int64_t element_size;
  std::int64_t index_size;
  std::int64_t input_bytes;
  const TopKWidthKernels& width;
};

/// Rows one by one.
class TopKRows {
 public:
  TopKRows(const Call& call, const TopKPlan& plan)
      : call_(call),
        plan_(plan),
        element_(element_kernels(call.descriptor)),
        kernels_(plan.row.size <= kTopKShortRow ? call.width.rows : call.width.longer_rows),
        kernel_bytes_(
            top_k_row_scratch(plan.selection, call.element_size, kernels_.item_bytes).bytes) {}

  std::int64_t scratch_bytes() const {
    return plan_.parts > 1 ? parts_scratch().bytes
                           : worker_bytes() * workers_for(plan_.tasks, plan_.threads);
  }

  void run() const {
    if (plan_.parts > 1) return run_in_parts();
    const std::int64_t worker_bytes = this->worker_bytes();
    const Scratch scratch(scratch_bytes());
    const Axis& rows = plan_.tasks.results;
    for_tasks(plan_.tasks, plan_.threads, [&](const Task& task, int worker) {
      TopKRow row = row_of(task.offsets, scratch.at(worker * worker_bytes));
      std::int64_t row_stride = rows.strides[0];
      if (plan_.packed) {
        char* const packed = scratch.at(worker * worker_bytes + kernel_bytes_);
        call_.width.pack(row.data, plan_.row.strides[0], plan_.row.size, row_stride, task.results,
                         packed);
        row.data = packed;
        row_stride = plan_.row.size;
      }
      Offsets offsets = task.offsets;
      for (std::int64_t r = 0; r < task.results; ++r) {
        write(row, kernels_.select(row), offsets);
        row.data = static_cast<const char*>(row.data) + row_stride * call_.element_size;
        for (int s = 1; s < 3; ++s) offsets[s] += rows.strides[s];
      }
    });
  }

 private:
  /// Of rows that are not in parts: the kernel's, then the packed rows of a task.
  std::int64_t worker_bytes() const {
    const std::int64_t rows = plan_.packed ? plan_.tasks.task_results : 0;
    return kernel_bytes_ + round_up(rows * plan_.row.size * call_.element_size);
  }

  /// Where the scratch memory of rows in parts begins, in bytes: each part's for the kernel first,
  /// then what was merged, twice, then each thread's chunk of what is merged at last.
  struct PartsScratch {
    std::int64_t merged;
    std::int64_t merged_bytes;
    std::int64_t kept_bytes;  ///< of one part
    std::int64_t chunks;
    std::int64_t chunk_bytes;
    std::int64_t bytes;  ///< all of it
  };
  PartsScratch parts_scratch() const {
    PartsScratch sizes{};
    sizes.merged = plan_.parts * kernel_bytes_;
    sizes.kept_bytes = std::min(plan_.k, plan_.longest_part()) * kernels_.item_bytes;
    sizes.merged_bytes = plan_.parts > 2 ? round_up(plan_.parts * sizes.kept_bytes) : 0;
    sizes.chunks = sizes.merged + 2 * sizes.merged_bytes;
    sizes.chunk_bytes = tuning::kTopKMergeChunk * kernels_.item_bytes;
    sizes.bytes = sizes.chunks + plan_.threads * sizes.chunk_bytes;
    return sizes;
  }

  /// One row at a time, each in parts for all threads; what they select is merged in pairs.
  void run_in_parts() const {
    // Everything is allocated before the first row is written.
    const PartsScratch sizes = parts_scratch();
    const LargeScratch scratch(sizes.bytes);
    // Of each part, and as many empty ones, with which the last ones are merged.
    std::vector<TopKItems> runs(static_cast<std::size_t>(2 * plan_.parts));
    Axes rows = plan_.tasks.kept;
    rows.push(plan_.tasks.results);
    Odometer position(rows);
    for (std::int64_t left = iteration_count(rows); left > 0; --left, position.next()) {
      const TopKRow row = row_of(position.offsets(), scratch.at(0));
      std::uint64_t threshold = 0;
      if (plan_.selection.strategy == TopKStrategy::kSample) threshold = kernels_.threshold(row);
      if (!select_from_parts(row, threshold, runs)) select_from_parts(row, 0, runs);
      bool odd = false;
      for (std::int64_t apart = 1; apart < plan_.parts; apart *= 2, odd = !odd) {
        char* const to = scratch.at(sizes.merged + (odd ? sizes.merged_bytes : 0));
        for_merges(runs, apart, [&](const TopKMerge& merge, std::int64_t part, int worker) {
          const bool writes = 2 * apart >= plan_.parts;
          char* const items =
              writes ? scratch.at(sizes.chunks + worker * sizes.chunk_bytes)
                     : to + part * sizes.kept_bytes + merge.first * kernels_.item_bytes;
          kernels_.merge(merge, items);
          if (!writes) return;
          Offsets offsets = position.offsets();
          for (int s = 1; s < 3; ++s) offsets[s] += merge.first * plan_.row.strides[s];
          write(row, {items, merge.last - merge.first}, offsets);
        });
        for (std::int64_t p = 0; p < plan_.parts; p += 2 * apart) {
          runs[static_cast<std::size_t>(p)] = {to + p * sizes.kept_bytes,
                                               pair(runs, p, apart).last};
        }
      }
    }
  }

  /// Whether as many as are wanted were selected, of those at or above a threshold.
  bool select_from_parts(const TopKRow& row, std::uint64_t threshold,
                         std::vector<TopKItems>& runs) const {
    parallel_for(plan_.threads, plan_.parts, [&](std::int64_t p, int) {
      TopKRow part = row;
      part.first = plan_.part_start(p);
      part.length = plan_.part_start(p + 1) - part.first;
      part.k = std::min(plan_.k, part.length);
      part.threshold = &threshold;
      part.scratch = static_cast<char*>(row.scratch) + p * kernel_bytes_;
      runs[static_cast<std::size_t>(p)] = kernels_.select(part);
    });
    std::int64_t selected = 0;
    for (const TopKItems& run : runs) selected += run.count;
    return selected >= plan_.k;
  }

  /// Calls body(merge, part, worker) for the runs of parts that are so far apart, in pairs of
  /// which threads share each, if it is large; a chunk at a time.
  template <class Body>
  void for_merges(const std::vector<TopKItems>& runs, std::int64_t apart, const Body& body) const {
    const int threads = plan_.k < tuning::kTopKMinWrites ? 1 : plan_.threads;
    const std::int64_t pairs = ceil_divide(plan_.parts, 2 * apart);
    const std::int64_t shares = ceil_divide(threads, pairs);
    parallel_for(threads, pairs * shares, [&](std::int64_t task, int worker) {
      const std::int64_t part = task / shares * 2 * apart;
      TopKMerge merge = pair(runs, part, apart);
      const std::int64_t last = start_of_part(merge.last, task % shares + 1, shares);
      merge.first = start_of_part(merge.last, task % shares, shares);
      for (; merge.first < last; merge.first = merge.last) {
        merge.last = std::min(merge.first + tuning::kTopKMergeChunk, last);
        body(merge, part, worker);
      }
    });
  }

  TopKMerge pair(const std::vector<TopKItems>& runs, std::int64_t p, std::int64_t apart) const {
    const TopKItems& a = runs[static_cast<std::size_t>(p)];
    const TopKItems& b = runs[static_cast<std::size_t>(p + apart)];
    return {a, b, 0, std::min(plan_.k, a.count + b.count)};
  }

  TopKRow row_of(const Offsets& offsets, char* scratch) const {
    const bool prefetches = call_.input_bytes >= tuning::kRowPrefetchLeastBytes;
    const char* const data = call_.input + offsets[0] * call_.element_size;
    return {data,      plan_.stride,     0,       plan_.row.size, plan_.k, prefetches,
            &element_, &plan_.selection, nullptr, scratch};
  }

  void write(const TopKRow& row, const TopKItems& items, const Offsets& offsets) const {
    kernels_.write(row, items, call_.outputs(offsets, kUnitAxis, kUnitAxis, plan_.row));
  }

  const Call& call_;
  const TopKPlan& plan_;
  const TopKElementKernels& element_;
  const TopKRowKernels& kernels_;
  std::int64_t kernel_bytes_;
};

void run_plan(const Call& call, const TopKPlan& plan) { TopKRows(call, plan).run(); }
std::int64_t scratch_bytes(const Call& call, const TopKPlan& plan) {
  return TopKRows(call, plan).scratch_bytes();
}

/// Of columns: Columns::rows, then each worker's.
std::int64_t column_rows_bytes(const TopKColumnsPlan& plan) {
  return round_up(plan.columns.columns.period * std::int64_t{sizeof(std::int64_t)});
}
std::int64_t column_worker_bytes(const Call& call, const TopKColumnsPlan& plan) {
  return top_k_columns_scratch(plan.columns.columns, call.element_size, plan.k).bytes;
}
std::int64_t scratch_bytes(const Call& call, const TopKColumnsPlan& plan) {
  return column_rows_bytes(plan) +
         workers_for(plan.tasks, plan.threads) * column_worker_bytes(call, plan);
}

/// Columns with small k.
void run_plan(const Call& call, const TopKColumnsPlan& plan) {
  const Tasks& tasks = plan.tasks;
  TopKColumns all{};
  all.columns = plan.columns.columns;
  all.k = plan.k;
  all.prefetches = call.input_bytes >= tuning::kColumnsPrefetchBytes;
  all.element = &element_kernels(call.descriptor);
  const std::int64_t row_bytes = column_rows_bytes(plan);
  const std::int64_t worker_bytes = column_worker_bytes(call, plan);
  const Scratch scratch(scratch_bytes(call, plan));
  auto* const rows = reinterpret_cast<std::int64_t*>(scratch.at(0));
  plan.columns.fill_rows(rows);
  all.columns.rows = rows;
  for_tasks(tasks, plan.threads, [&](const Task& task, int worker) {
    Offsets offsets = task.offsets;
    for (int s = 0; s < 3; ++s) offsets[s] += plan.offsets[s];
    TopKColumns a = all;
    a.columns.data = call.input + (plan.columns.input_offset + offsets[0]) * call.element_size;
    a.columns.groups = task.groups;
    a.columns.lanes = task.results;
    a.outputs = call.outputs(offsets, plan.column, tasks.groups, tasks.results);
    a.scratch = scratch.at(row_bytes + worker * worker_bytes);
    call.width.columns(a);
  });
}

/// k = 1 is an argmax or argmin, whose kernels are faster.
ArgDescriptor as_arg(const TopKDescriptor& descriptor) {
  ArgDescriptor arg;
  arg.input = descriptor.input;
  arg.axes = {descriptor.axis};
  arg.largest = descriptor.axis_direction == AxisDirection::kDecreasing;
  arg.nan_policy = nans_first(descriptor) ? NanPolicy::kPropagate : NanPolicy::kOmit;
  arg.output = descriptor.indices;
  return arg;
}

std::string text_of(const Call& call, const ArgPlan& plan) {
  return plan_text(plan, call.element_size);
}
template <class Plan>
std::string text_of(const Call& call, const Plan& plan) {
  return to_text(plan) + scratch_text(scratch_bytes(call, plan));
}

void run_plan(const Call& call, const ArgPlan& plan) {
  run_planned(as_arg(call.descriptor), plan, call.input, call.indices, call.values);
}

/// Calls body(plan) with the best plan, if there is something to write.
template <class Body>
void with_plan(const TopKDescriptor& descriptor, const Body& body) {
  if (element_count(descriptor.values) == 0) return;
  if (descriptor.k == 1) return body(plan(as_arg(descriptor), &descriptor.values));
  const int threads =
      threads_for_bytes(tuning::top_k_work(descriptor.k) * byte_count(descriptor.input));
  if (const auto columns = plan_top_k_columns(descriptor, threads)) return body(*columns);
  body(plan_top_k(descriptor, threads));
}

}  // namespace

TopKProgram plan(const TopKDescriptor& descriptor) {
  TopKProgram program;
  with_plan(descriptor, [&](const auto& plan) { program = plan; });
  return program;
}

void run_planned(const TopKDescriptor& descriptor, const TopKProgram& program, const void* input,
                 void* values, void* indices) {
  if (element_count(descriptor.values) == 0) return;
  const Call call(descriptor, input, values, indices);
  std::visit([&call](const auto& plan) { run_plan(call, plan); }, program);
}

std::size_t detail::plan_text(const TopKDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  const Call call(descriptor, nullptr, nullptr, nullptr);
  const TopKProgram program = plan(descriptor);
  return copy_text(std::visit([&](const auto& plan) { return text_of(call, plan); }, program), text,
                   size);
}

void run(const TopKDescriptor& descriptor) {
  validate(descriptor);
  const Call call(descriptor, descriptor.input.data, descriptor.values.data,
                  descriptor.indices.data);
  // A program would copy the plan.
  with_plan(descriptor, [&call](const auto& plan) { run_plan(call, plan); });
}

}  // namespace dmlcpu
