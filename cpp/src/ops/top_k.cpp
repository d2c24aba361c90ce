// top-k: validate, plan, run.
#include "ops/top_k.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/arg.hpp"
#include "ops/for_tasks.hpp"
#include "ops/index_output.hpp"
#include "ops/ordering.hpp"
#include "ops/text.hpp"
#include "ops/top_k_buckets.hpp"
#include "ops/top_k_merge.hpp"
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

/// Rows one by one.
class TopKRun {
 public:
  TopKRun(const TopKDescriptor& descriptor, const TopKPlan& plan, const void* input, void* values,
          void* indices)
      : plan_(plan),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        element_(element_kernels(descriptor)),
        width_(kernels().top_k->width[width_index(element_size_)]),
        prefetches_(element_count(descriptor.input) * element_size_ >=
                    tuning::kRowPrefetchLeastBytes),
        input_(static_cast<const char*>(input)),
        values_(static_cast<char*>(values)),
        indices_(static_cast<char*>(indices)),
        index_size_(static_cast<std::int64_t>(info(descriptor.indices.type).size)),
        kernel_bytes_(round_up(
            top_k_row_scratch(plan.selection, element_size_, plan.longest_piece()).bytes)) {}

  void run() const {
    if (plan_.buckets) return run_in_buckets();
    if (plan_.pieces > 1) return run_in_pieces();
    const std::int64_t item_bytes = round_up(plan_.k * std::int64_t{sizeof(TopKItem)});
    const std::int64_t pack_bytes =
        plan_.packed ? round_up(plan_.tasks.task_results * plan_.length * element_size_) : 0;
    const std::int64_t worker_bytes = item_bytes + kernel_bytes_ + pack_bytes;
    const Scratch scratch(worker_bytes * workers_for(plan_.tasks, plan_.threads));
    for_tasks(plan_.tasks, plan_.threads, [&](const Task& task, int worker) {
      char* const mine = scratch.at(worker * worker_bytes);
      run_task(task, reinterpret_cast<TopKItem*>(mine), mine + item_bytes,
               mine + item_bytes + kernel_bytes_);
    });
  }

 private:
  void run_task(const Task& task, TopKItem* items, char* kernel_scratch, char* packed) const {
    const char* data = input_ + task.offsets[0] * element_size_;
    const Axis& rows = plan_.tasks.results;
    std::int64_t row_stride = rows.strides[0];
    if (plan_.packed) {
      width_.pack(data, plan_.input_stride, plan_.length, row_stride, task.results, packed);
      data = packed;
      row_stride = plan_.length;
    }
    TopKRow row = row_of(data, plan_.length, plan_.k, kernel_scratch);
    for (std::int64_t r = 0; r < task.results; ++r) {
      row.data = data + r * row_stride * element_size_;
      width_.select(row, items);
      write(row, items, plan_.k, task.offsets[1] + r * rows.strides[1],
            task.offsets[2] + r * rows.strides[2]);
    }
  }

  /// One row at a time, each sorted by all threads.
  void run_in_buckets() const {
    TopKBuckets buckets(width_.buckets, element_size_, plan_.length, plan_.threads);
    for_each_row([&](const TopKRow& row, const Offsets& offsets) {
      buckets.sort(
          plan_.k,
          [&](std::int64_t first, std::int64_t count) { return part_of(row, first, count); },
          [&](const TopKItem* items, std::int64_t count, std::int64_t at) {
            write(row, items, count, offsets[1] + at * plan_.value_stride,
                  offsets[2] + at * plan_.index_stride);
          });
    });
  }

  /// One row at a time, each in pieces for all threads.
  void run_in_pieces() const {
    const std::int64_t kept = std::min(plan_.k, plan_.longest_piece());
    const std::int64_t item_bytes = round_up(kept * std::int64_t{sizeof(TopKItem)});
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, plan_.pieces));
    // Everything is allocated before the first row is written.
    const std::int64_t items_bytes = item_bytes * plan_.pieces;
    const LargeScratch scratch(items_bytes + kernel_bytes_ * threads +
                               plan_.sample.count * element_size_);
    char* const sample = scratch.at(items_bytes + kernel_bytes_ * threads);
    std::vector<TopKPiece> pieces(static_cast<std::size_t>(plan_.pieces));
    const std::int64_t writers = plan_.k < tuning::kTopKMinWrites ? 1 : threads;
    std::vector<TopKMerge> merges(static_cast<std::size_t>(writers), TopKMerge(plan_.pieces));
    const auto piece_of = [&](const TopKRow& row, std::int64_t p) {
      const std::int64_t first = plan_.piece_start(p);
      return part_of(row, first, plan_.piece_start(p + 1) - first);
    };
    const auto select_from = [&](const TopKRow& row, const std::uint64_t* threshold) {
      parallel_for(threads, plan_.pieces, [&](std::int64_t p, int worker) {
        TopKRow piece = piece_of(row, p);
        piece.threshold = threshold;
        piece.scratch = scratch.at(items_bytes + worker * kernel_bytes_);
        auto* const items = reinterpret_cast<TopKItem*>(scratch.at(p * item_bytes));
        pieces[static_cast<std::size_t>(p)] = {items, width_.select(piece, items),
                                               plan_.piece_start(p)};
      });
      std::int64_t selected = 0;
      for (const TopKPiece& piece : pieces) selected += piece.count;
      return selected >= plan_.k;
    };
    for_each_row([&](const TopKRow& row, const Offsets& offsets) {
      bool enough = false;
      if (plan_.sample.count > 0) {
        // A key that somewhat more than k elements of all pieces probably reach.
        const std::int64_t of_each = plan_.sample.count / plan_.pieces;
        parallel_for(threads, plan_.pieces, [&](std::int64_t p, int) {
          width_.sample(piece_of(row, p), of_each, sample + p * of_each * element_size_);
        });
        const std::uint64_t threshold =
            width_.threshold(sample, plan_.sample.count, plan_.sample.reaches);
        enough = select_from(row, &threshold);
      }
      if (!enough) select_from(row, nullptr);
      parallel_for(threads, writers, [&](std::int64_t writer, int) {
        const std::int64_t last = plan_.k * (writer + 1) / writers;
        std::int64_t at = plan_.k * writer / writers;
        TopKMerge& merge = merges[static_cast<std::size_t>(writer)];
        merge.start(pieces, at);
        TopKItem items[tuning::kTopKMergeChunk];
        for (; at < last; at += tuning::kTopKMergeChunk) {
          const std::int64_t count = std::min(tuning::kTopKMergeChunk, last - at);
          merge.take(items, count);
          write(row, items, count, offsets[1] + at * plan_.value_stride,
                offsets[2] + at * plan_.index_stride);
        }
      });
    });
  }

  /// Calls body(row, offsets) for every row, one after the other.
  template <class Body>
  void for_each_row(const Body& body) const {
    Axes all = plan_.tasks.kept;
    all.push(plan_.tasks.results);
    Odometer position(all);
    for (std::int64_t left = positions(all); left > 0; --left, position.next()) {
      const Offsets& offsets = position.offsets();
      body(row_of(input_ + offsets[0] * element_size_, plan_.length, plan_.k, nullptr), offsets);
    }
  }

  TopKRow part_of(const TopKRow& row, std::int64_t first, std::int64_t count) const {
    return row_of(static_cast<const char*>(row.data) + first * plan_.stride * element_size_, count,
                  std::min(plan_.k, count), nullptr);
  }

  TopKRow row_of(const char* data, std::int64_t length, std::int64_t k, char* scratch) const {
    return {data,        element_size_, plan_.stride,     length,  k,
            prefetches_, &element_,     &plan_.selection, nullptr, scratch};
  }

  /// Writes values and indices, from these offsets on.
  void write(const TopKRow& row, const TopKItem* items, std::int64_t count,
             std::int64_t value_offset, std::int64_t index_offset) const {
    width_.write_values(row, items, count, values_ + value_offset * element_size_,
                        plan_.value_stride);
    write_indices(indices_ + index_offset * index_size_, index_size_, plan_.index_stride, count,
                  [items](std::int64_t i) { return items[i].index; });
  }

  const TopKPlan& plan_;
  std::int64_t element_size_;
  const TopKElementKernels& element_;
  const TopKWidthKernels& width_;
  bool prefetches_;
  const char* input_;
  char* values_;
  char* indices_;
  std::int64_t index_size_;
  std::int64_t kernel_bytes_;
};

/// Columns with small k.
void run_plan(const TopKDescriptor& descriptor, const TopKColumnsPlan& plan, const void* input,
              void* values, void* indices) {
  const Tasks& tasks = plan.tasks;
  const auto element_size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  const auto index_size = static_cast<std::int64_t>(info(descriptor.indices.type).size);
  const TopKColumnsKernel kernel = kernels().top_k->width[width_index(element_size)].columns;
  TopKColumns all{};
  all.columns = plan.columns.columns(tasks.groups);
  all.k = plan.k;
  all.prefetches = element_count(descriptor.input) * element_size >= tuning::kColumnsPrefetchBytes;
  all.element = &element_kernels(descriptor);
  all.index_size = index_size;
  const std::int64_t row_bytes =
      round_up(plan.columns.row_count() * std::int64_t{sizeof(std::int64_t)});
  const std::int64_t worker_bytes = top_k_columns_scratch(all.columns, element_size, plan.k).bytes;
  const Scratch scratch(row_bytes + workers_for(tasks, plan.threads) * worker_bytes);
  auto* const rows = reinterpret_cast<std::int64_t*>(scratch.at(0));
  plan.columns.fill_rows(rows);
  all.columns.rows = rows;
  all.columns.block_offsets = rows + all.columns.period;
  for_tasks(tasks, plan.threads, [&](const Task& task, int worker) {
    const auto output = [&](void* data, std::int64_t size, std::int64_t k_stride, int s) {
      return TopKOutput{static_cast<char*>(data) + (plan.offsets[s] + task.offsets[s]) * size,
                        k_stride, tasks.groups.strides[s], tasks.results.strides[s]};
    };
    TopKColumns a = all;
    a.columns.data = static_cast<const char*>(input) +
                     (plan.offsets[0] + plan.columns.input_offset + task.offsets[0]) * element_size;
    a.columns.groups = task.groups;
    a.columns.lanes = task.results;
    a.values = output(values, element_size, plan.value_stride, 1);
    a.indices = output(indices, index_size, plan.index_stride, 2);
    a.scratch = scratch.at(row_bytes + worker * worker_bytes);
    kernel(a);
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

void run_plan(const TopKDescriptor& descriptor, const ArgPlan& plan, const void* input,
              void* values, void* indices) {
  run_planned(as_arg(descriptor), plan, input, indices, values);
}
void run_plan(const TopKDescriptor& descriptor, const TopKPlan& plan, const void* input,
              void* values, void* indices) {
  TopKRun(descriptor, plan, input, values, indices).run();
}

/// Calls body(plan) with the best plan, if there is something to write.
template <class Body>
void with_plan(const TopKDescriptor& descriptor, const Body& body) {
  if (element_count(descriptor.values) == 0) return;
  if (descriptor.k == 1) return body(plan(as_arg(descriptor), &descriptor.values));
  const std::int64_t bytes =
      element_count(descriptor.input) * static_cast<std::int64_t>(info(descriptor.input.type).size);
  const int threads = threads_for_bytes(bytes);
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
  std::visit([&](const auto& plan) { run_plan(descriptor, plan, input, values, indices); },
             program);
}

std::size_t detail::plan_text(const TopKDescriptor& descriptor, char* text, std::size_t size) {
  validate(descriptor);
  const TopKProgram program = plan(descriptor);
  return copy_text(std::visit([](const auto& plan) { return to_text(plan); }, program), text, size);
}

void run(const TopKDescriptor& descriptor) {
  validate(descriptor);
  // A program would copy the plan.
  with_plan(descriptor, [&](const auto& plan) {
    run_plan(descriptor, plan, descriptor.input.data, descriptor.values.data,
             descriptor.indices.data);
  });
}

}  // namespace dmlcpu
