// argmin and argmax: validate, plan, run.
#include "ops/arg.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/for_tasks.hpp"
#include "ops/index_output.hpp"
#include "ops/ordering.hpp"
#include "ops/text.hpp"
#include "plan/arg_plan.hpp"

namespace dmlcpu {
namespace {

/// The best so far of a task's results.
struct Best {
  std::int64_t* keys;
  std::int64_t* indices;

  void merge(std::int64_t i, std::int64_t key, std::int64_t index) const {
    if (key > keys[i] || (key == keys[i] && index < indices[i])) {
      keys[i] = key;
      indices[i] = index;
    }
  }
};

int order_of(const ArgDescriptor& descriptor) {
  return static_cast<int>(
      ordering(descriptor.largest, descriptor.nan_policy == NanPolicy::kPropagate));
}

/// Inputs of at least this size are prefetched.
std::int64_t prefetch_least_bytes(ArgStrategy strategy) {
  return strategy == ArgStrategy::kRows ? tuning::kRowPrefetchLeastBytes
                                        : tuning::kColumnsPrefetchBytes;
}

/// Writes element(i) to to[i * stride], for i in [0, count), all of `size` bytes.
template <class Element>
void copy_elements(std::int64_t size, void* to, std::int64_t stride, std::int64_t count,
                   const Element& element) {
  const auto copy = [&](auto* out) {
    using U = std::remove_reference_t<decltype(*out)>;
    for (std::int64_t i = 0; i < count; ++i)
      out[i * stride] = *reinterpret_cast<const U*>(element(i));
  };
  if (size == 1) copy(static_cast<std::uint8_t*>(to));
  if (size == 2) copy(static_cast<std::uint16_t*>(to));
  if (size == 4) copy(static_cast<std::uint32_t*>(to));
  if (size == 8) copy(static_cast<std::uint64_t*>(to));
}

class ArgRun {
 public:
  ArgRun(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input, void* indices,
         void* values)
      : plan_(plan),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        prefetches_(element_count(descriptor.input) * element_size_ >=
                    prefetch_least_bytes(plan.strategy)),
        index_size_(static_cast<std::int64_t>(info(descriptor.output.type).size)),
        input_(static_cast<const char*>(input) + plan.offsets[0] * element_size_),
        indices_(static_cast<char*>(indices) + plan.offsets[1] * index_size_),
        values_(values == nullptr ? nullptr
                                  : static_cast<char*>(values) + plan.offsets[2] * element_size_),
        rows_kernel_(
            kernels().arg->rows[static_cast<int>(descriptor.input.type)][order_of(descriptor)]),
        columns_kernel_(
            kernels().arg->columns[static_cast<int>(descriptor.input.type)][order_of(descriptor)]),
        columns_(plan.strategy == ArgStrategy::kColumns ? plan.columns.columns(plan.tasks.groups)
                                                        : Columns{}),
        best_bytes_(plan.merges
                        ? round_up(plan.tasks.task_groups * plan.tasks.task_results * kIndexBytes)
                        : 0),
        kernel_bytes_(plan.strategy == ArgStrategy::kColumns
                          ? round_up(arg_columns_scratch_bytes(columns_, element_size_))
                          : 0) {}

  void run() {
    const std::int64_t parts = plan_.parts;
    const std::int64_t all_parts = plan_.tasks.count() * parts;
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, all_parts));
    const std::int64_t row_bytes = plan_.strategy == ArgStrategy::kColumns
                                       ? round_up(plan_.columns.row_count() * kIndexBytes)
                                       : 0;
    const std::int64_t bests = parts > 1 ? all_parts : threads;
    const Scratch scratch(row_bytes + bests * 2 * best_bytes_ + threads * kernel_bytes_);
    if (row_bytes > 0) {
      auto* const rows = reinterpret_cast<std::int64_t*>(scratch.at(0));
      plan_.columns.fill_rows(rows);
      columns_.rows = rows;
      columns_.block_offsets = rows + columns_.period;
    }
    const auto best_at = [&](std::int64_t number) {
      char* const memory = scratch.at(row_bytes + number * 2 * best_bytes_);
      return Best{reinterpret_cast<std::int64_t*>(memory),
                  reinterpret_cast<std::int64_t*>(memory + best_bytes_)};
    };
    const auto kernel_scratch = [&](int worker) {
      return scratch.at(row_bytes + bests * 2 * best_bytes_ + worker * kernel_bytes_);
    };
    if (parts == 1) {
      for_tasks(plan_.tasks, plan_.threads, [&](const Task& task, int worker) {
        const Best best = best_at(worker);
        run_part(task, 0, best, kernel_scratch(worker));
        if (plan_.merges) write(task, best);
      });
      return;
    }
    parallel_for(threads, all_parts, [&](std::int64_t call, int worker) {
      run_part(plan_.tasks.at(call / parts), call % parts, best_at(call), kernel_scratch(worker));
    });
    for (std::int64_t t = 0; t < all_parts / parts; ++t) {
      const Task task = plan_.tasks.at(t);
      const Best best = best_at(t * parts);
      for (std::int64_t part = 1; part < parts; ++part) {
        const Best other = best_at(t * parts + part);
        for (std::int64_t i = 0; i < task.groups * task.results; ++i) {
          best.merge(i, other.keys[i], other.indices[i]);
        }
      }
      write(task, best);
    }
  }

 private:
  using Range = std::pair<std::int64_t, std::int64_t>;
  static constexpr std::int64_t kIndexBytes = sizeof(std::int64_t);

  /// Merges a part of the reduction into `best`, or writes all of it.
  void run_part(const Task& task, std::int64_t part, const Best& best, char* scratch) const {
    if (plan_.strategy == ArgStrategy::kFill) return fill(task);
    const auto share = [&](Split split, std::int64_t total) {
      return plan_.split != split ? Range(0, total)
                                  : Range(start_of_part(total, part, plan_.parts),
                                          start_of_part(total, part + 1, plan_.parts));
    };
    const auto [first, last] = share(Split::kReduced, positions(plan_.reduced));
    const bool is_rows = plan_.strategy == ArgStrategy::kRows;
    const auto part_of_n = share(Split::kPositions, is_rows ? plan_.n.size : plan_.columns.walk.n);
    Odometer reduced(plan_.reduced, first);
    for (std::int64_t i = first; i < last; ++i, reduced.next()) {
      const std::int64_t offset = task.offsets[0] + reduced.offsets()[0];
      const std::int64_t index = reduced.offsets()[1];
      if (is_rows) {
        run_rows(task, at(offset), index, part_of_n, i == first, best);
      } else {
        run_columns(task, offset, index, part_of_n, share(Split::kLanes, plan_.columns.per_result),
                    plan_.split == Split::kReduced || part == plan_.parts - 1, i == first, best,
                    scratch);
      }
    }
  }

  void run_rows(const Task& task, const char* data, std::int64_t index, const Range& n, bool starts,
                const Best& best) const {
    ArgRows rows{};
    rows.data = data + n.first * plan_.n.strides[0] * element_size_;
    rows.n = n.second - n.first;
    rows.stride = plan_.n.strides[0];
    rows.rows = task.results;
    rows.row_stride = plan_.tasks.results.strides[0];
    rows.index_base = index + n.first * plan_.n.strides[1];
    rows.index_step = plan_.n.strides[1];
    rows.starts = starts;
    rows.prefetches = prefetches_;
    rows_kernel_(rows, best.keys, best.indices);
  }

  /// If `takes_left`, the left positions too: one part of a split walk takes them.
  void run_columns(const Task& task, std::int64_t offset, std::int64_t index, const Range& n,
                   const Range& widened, bool takes_left, bool starts, const Best& best,
                   char* scratch) const {
    const ColumnsPlan& plan = plan_.columns;
    const Axis& groups = plan_.tasks.groups;
    const Axis& results = plan_.tasks.results;
    ArgColumns a{};
    a.columns = columns_;
    a.columns.data =
        at(offset + plan.input_offset + widened.first * task.results * plan.lane_stride);
    a.columns.first = n.first;
    a.columns.last = n.second;
    a.columns.groups = task.groups;
    a.columns.lanes = (widened.second - widened.first) * task.results;
    a.index_base = index + plan.index_base + widened.first * plan.widened_step;
    a.index_step = plan.walk.index_step;
    a.prefetches = prefetches_;
    a.scratch = scratch;
    a.results = task.results;
    a.widened_step = plan.widened_step;
    a.starts = starts;
    if (plan_.merges) {
      a.keys = best.keys;
      a.indices = best.indices;
    } else {
      if (plan_.from_end) {
        a.index_base = plan_.reduced_count - 1 - a.index_base;
        a.index_step = -a.index_step;
      }
      a.output = {indices_ + task.offsets[1] * index_size_,
                  index_size_,
                  groups.strides[1],
                  results.strides[1],
                  values_ == nullptr ? nullptr : values_ + task.offsets[2] * element_size_,
                  groups.strides[2],
                  results.strides[2]};
    }
    if (a.columns.last > a.columns.first) columns_kernel_(a);
    if (!plan.left || !takes_left) return;
    a.columns.data = at(offset + plan.input_offset + plan.left_offset);
    a.columns.first = 0;
    a.columns.last = 1;
    a.columns.lanes = plan.lanes;
    a.index_base = index + plan.index_base + plan.left_index;
    a.starts = false;
    columns_kernel_(a);
  }

  /// Writes the results of a task, each of which is of one element: nothing is compared.
  void fill(const Task& task) const {
    const Axis& results = plan_.tasks.results;
    const std::int64_t index = plan_.from_end ? plan_.reduced_count - 1 : 0;
    for (std::int64_t g = 0; g < task.groups; ++g) {
      const auto place = [&](int s) { return task.offsets[s] + g * plan_.tasks.groups.strides[s]; };
      write_indices(indices_ + place(1) * index_size_, index_size_, results.strides[1],
                    task.results, [index](std::int64_t) { return index; });
      if (values_ == nullptr) continue;
      const char* const from = at(place(0));
      char* const to = values_ + place(2) * element_size_;
      const std::int64_t step = results.strides[0] * element_size_;
      if (step == element_size_ && results.strides[2] == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(task.results * element_size_));
      } else {
        copy_elements(element_size_, to, results.strides[2], task.results,
                      [from, step](std::int64_t i) { return from + i * step; });
      }
    }
  }

  /// Writes the results of a task, whose indices are found(group, result).
  template <class Found>
  void write(const Task& task, const Found& found) const {
    const Axis& results = plan_.tasks.results;
    for (std::int64_t g = 0; g < task.groups; ++g) {
      const auto place = [&](int s) { return task.offsets[s] + g * plan_.tasks.groups.strides[s]; };
      const std::int64_t last = plan_.reduced_count - 1;
      write_indices(
          indices_ + place(1) * index_size_, index_size_, results.strides[1], task.results,
          [&](std::int64_t i) { return plan_.from_end ? last - found(g, i) : found(g, i); });
      if (values_ == nullptr) continue;
      // Read again: what a key does not tell, as of zeros and NaNs, is in the input.
      const char* const from = at(place(0));
      copy_elements(element_size_, values_ + place(2) * element_size_, results.strides[2],
                    task.results, [&](std::int64_t i) {
                      return from + (i * results.strides[0] + found(g, i) * plan_.value_stride) *
                                        element_size_;
                    });
    }
  }
  void write(const Task& task, const Best& best) const {
    write(task, [&](std::int64_t g, std::int64_t i) { return best.indices[g * task.results + i]; });
  }

  const char* at(std::int64_t offset) const { return input_ + offset * element_size_; }

  const ArgPlan& plan_;
  std::int64_t element_size_;
  bool prefetches_;
  std::int64_t index_size_;
  const char* input_;
  char* indices_;
  char* values_;
  ArgRowsKernel rows_kernel_;
  ArgColumnsKernel columns_kernel_;
  Columns columns_;
  std::int64_t best_bytes_;
  std::int64_t kernel_bytes_;
};

int threads_for_arg(const ArgDescriptor& descriptor) {
  const std::int64_t bytes =
      element_count(descriptor.input) * static_cast<std::int64_t>(info(descriptor.input.type).size);
  return threads_for_bytes(bytes, tuning::kArgLeastGrains);
}

/// Runs rows without a plan.
void run_rows(const ArgDescriptor& descriptor, const ArgUnplannedRows& unplanned) {
  const auto size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  ArgRows rows = unplanned.rows;
  rows.data = static_cast<const char*>(descriptor.input.data) + unplanned.offset * size;
  std::int64_t keys[tuning::kUnplannedElements];
  std::int64_t indices[tuning::kUnplannedElements];
  kernels().arg->rows[static_cast<int>(descriptor.input.type)][order_of(descriptor)](rows, keys,
                                                                                     indices);
  write_indices(
      descriptor.output.data, static_cast<std::int64_t>(info(descriptor.output.type).size),
      unplanned.output_stride, rows.rows,
      [&](std::int64_t r) { return unplanned.from_end ? rows.n - 1 - indices[r] : indices[r]; });
}

}  // namespace

ArgPlan plan(const ArgDescriptor& descriptor, const Tensor* values) {
  if (element_count(descriptor.output) == 0) return {};
  return plan_arg(descriptor, values, threads_for_arg(descriptor));
}

void run_planned(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input,
                 void* output, void* values) {
  if (element_count(descriptor.output) == 0) return;
  ArgRun(descriptor, plan, input, output, values).run();
}

std::size_t detail::plan_text(const ArgDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  const auto rows = unplanned_rows(descriptor, threads_for_arg(descriptor));
  return copy_text(rows ? to_text(*rows) : to_text(plan(descriptor)), text, size);
}

void run(const ArgDescriptor& descriptor) {
  validate(descriptor);
  if (const auto rows = unplanned_rows(descriptor, threads_for_arg(descriptor))) {
    return run_rows(descriptor, *rows);
  }
  run_planned(descriptor, plan(descriptor), descriptor.input.data, descriptor.output.data);
}

}  // namespace dmlcpu
