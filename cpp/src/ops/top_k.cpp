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
#include "ops/ordering.hpp"
#include "ops/text.hpp"
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
class TopKRows {
 public:
  TopKRows(const TopKDescriptor& descriptor, const TopKPlan& plan, const void* input, void* values,
           void* indices)
      : plan_(plan),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        element_(element_kernels(descriptor)),
        width_(kernels().top_k->width[width_index(element_size_)]),
        rows_(plan.length <= kTopKPackedPositions ? width_.rows : width_.longer_rows),
        prefetches_(element_count(descriptor.input) * element_size_ >=
                    tuning::kRowPrefetchLeastBytes),
        input_(static_cast<const char*>(input)),
        values_(static_cast<char*>(values)),
        indices_(static_cast<char*>(indices)),
        index_size_(static_cast<std::int64_t>(info(descriptor.indices.type).size)),
        item_bytes_(top_k_item_bytes(element_size_, plan.length)),
        kernel_bytes_(round_up(
            top_k_row_scratch(plan.selection, element_size_, item_bytes_, plan.longest_piece())
                .bytes)) {}

  void run() const {
    if (plan_.pieces > 1) return run_in_pieces();
    const std::int64_t pack_bytes =
        plan_.packed ? round_up(plan_.tasks.task_results * plan_.length * element_size_) : 0;
    const std::int64_t worker_bytes = kernel_bytes_ + pack_bytes;
    const Scratch scratch(worker_bytes * workers_for(plan_.tasks, plan_.threads));
    for_tasks(plan_.tasks, plan_.threads, [&](const Task& task, int worker) {
      char* const mine = scratch.at(worker * worker_bytes);
      run_task(task, mine, mine + kernel_bytes_);
    });
  }

 private:
  void run_task(const Task& task, char* kernel_scratch, char* packed) const {
    const char* data = input_ + task.offsets[0] * element_size_;
    const Axis& rows = plan_.tasks.results;
    std::int64_t row_stride = rows.strides[0];
    if (plan_.packed) {
      width_.pack(data, plan_.input_stride, plan_.length, row_stride, task.results, packed);
      data = packed;
      row_stride = plan_.length;
    }
    TopKRow row = row_of(data, kernel_scratch);
    for (std::int64_t r = 0; r < task.results; ++r) {
      row.data = data + r * row_stride * element_size_;
      write(row, {rows_.select(row), {}, 0, plan_.k}, task.offsets[1] + r * rows.strides[1],
            task.offsets[2] + r * rows.strides[2]);
    }
  }

  /// One row at a time, each in pieces for all threads; what they select is merged in pairs.
  void run_in_pieces() const {
    // Everything is allocated before the first row is written.
    const std::int64_t pieces_bytes = plan_.pieces * kernel_bytes_;
    const std::int64_t kept_bytes = std::min(plan_.k, plan_.longest_piece()) * item_bytes_;
    const std::int64_t merged_bytes = plan_.pieces > 2 ? round_up(plan_.pieces * kept_bytes) : 0;
    const LargeScratch scratch(pieces_bytes + 2 * merged_bytes);
    std::vector<TopKItems> runs(static_cast<std::size_t>(plan_.pieces));
    Axes rows = plan_.tasks.kept;
    rows.push(plan_.tasks.results);
    Odometer position(rows);
    for (std::int64_t left = positions(rows); left > 0; --left, position.next()) {
      const Offsets& offsets = position.offsets();
      const TopKRow row = row_of(input_ + offsets[0] * element_size_, scratch.at(0));
      const bool samples = plan_.selection.strategy == TopKStrategy::kSample;
      std::uint64_t threshold = samples ? rows_.threshold(row) : 0;
      if (!select_from_pieces(row, samples ? &threshold : nullptr, runs)) {
        threshold = 0;
        select_from_pieces(row, &threshold, runs);
      }
      std::int64_t width = 1;
      for (bool odd = false; 2 * width < plan_.pieces; width *= 2, odd = !odd) {
        merge_pairs(runs, width, scratch.at(pieces_bytes + (odd ? merged_bytes : 0)), kept_bytes);
      }
      const TopKMerge all = pair(runs, 0, width);
      parallel_for(sharers(), sharers(), [&](std::int64_t sharer, int) {
        const TopKMerge part = share_of(all, sharer, sharers());
        write(row, part, offsets[1] + part.first * plan_.value_stride,
              offsets[2] + part.first * plan_.index_stride);
      });
    }
  }

  /// Whether as many as are wanted were selected.
  bool select_from_pieces(const TopKRow& row, const std::uint64_t* threshold,
                          std::vector<TopKItems>& runs) const {
    parallel_for(plan_.threads, plan_.pieces, [&](std::int64_t p, int) {
      TopKRow piece = row;
      piece.first = plan_.piece_start(p);
      piece.length = plan_.piece_start(p + 1) - piece.first;
      piece.k = std::min(plan_.k, piece.length);
      piece.threshold = threshold;
      piece.scratch = static_cast<char*>(row.scratch) + p * kernel_bytes_;
      runs[static_cast<std::size_t>(p)] = rows_.select(piece);
    });
    std::int64_t selected = 0;
    for (const TopKItems& run : runs) selected += run.count;
    return selected >= plan_.k;
  }

  /// Merges runs `width` pieces apart, that of piece p to `to` + p * kept_bytes.
  void merge_pairs(std::vector<TopKItems>& runs, std::int64_t width, char* to,
                   std::int64_t kept_bytes) const {
    const std::int64_t pairs = ceil_divide(plan_.pieces, 2 * width);
    const std::int64_t shares = ceil_divide(sharers(), pairs);
    parallel_for(sharers(), pairs * shares, [&](std::int64_t task, int) {
      const std::int64_t p = task / shares * 2 * width;
      const TopKMerge part = share_of(pair(runs, p, width), task % shares, shares);
      rows_.merge(part, to + p * kept_bytes + part.first * item_bytes_);
    });
    for (std::int64_t p = 0; p < plan_.pieces; p += 2 * width) {
      runs[static_cast<std::size_t>(p)] = {to + p * kept_bytes, pair(runs, p, width).last};
    }
  }

  TopKMerge pair(const std::vector<TopKItems>& runs, std::int64_t p, std::int64_t width) const {
    const TopKItems& a = runs[static_cast<std::size_t>(p)];
    const bool alone = p + width >= plan_.pieces;
    const TopKItems b = alone ? TopKItems{} : runs[static_cast<std::size_t>(p + width)];
    return {a, b, 0, std::min(plan_.k, a.count + b.count)};
  }
  static TopKMerge share_of(const TopKMerge& all, std::int64_t share, std::int64_t shares) {
    return {all.a, all.b, start_of_part(all.last, share, shares),
            start_of_part(all.last, share + 1, shares)};
  }
  /// Threads that share what is merged.
  int sharers() const { return plan_.k < tuning::kTopKMinWrites ? 1 : plan_.threads; }

  TopKRow row_of(const char* data, char* scratch) const {
    return {data,      plan_.stride,     0,       plan_.length, plan_.k, prefetches_,
            &element_, &plan_.selection, nullptr, scratch};
  }

  /// Writes values and indices, from these offsets on.
  void write(const TopKRow& row, const TopKMerge& items, std::int64_t value_offset,
             std::int64_t index_offset) const {
    rows_.write(row, items,
                {{values_ + value_offset * element_size_, 0, 0, plan_.value_stride},
                 {indices_ + index_offset * index_size_, 0, 0, plan_.index_stride},
                 index_size_});
  }

  const TopKPlan& plan_;
  std::int64_t element_size_;
  const TopKElementKernels& element_;
  const TopKWidthKernels& width_;
  const TopKRowKernels& rows_;
  bool prefetches_;
  const char* input_;
  char* values_;
  char* indices_;
  std::int64_t index_size_;
  std::int64_t item_bytes_;
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
  all.outputs.index_size = index_size;
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
    a.outputs.values = output(values, element_size, plan.value_stride, 1);
    a.outputs.indices = output(indices, index_size, plan.index_stride, 2);
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
  TopKRows(descriptor, plan, input, values, indices).run();
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
