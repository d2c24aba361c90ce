// top-k: validate, plan, run.
#include "ops/top_k.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/arg.hpp"
#include "ops/index_output.hpp"
#include "ops/ranking.hpp"
#include "ops/top_k_buckets.hpp"
#include "ops/top_k_merge.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {
namespace {

/// NaNs rank above the numbers when they propagate, which is first only for the largest.
bool nans_first(const TopKDescriptor& descriptor) {
  return descriptor.nan_policy == NanPolicy::kPropagate &&
         descriptor.axis_direction == AxisDirection::kDecreasing;
}

class TopKRun {
 public:
  TopKRun(const TopKDescriptor& descriptor, const TopKPlan& plan, const void* input, void* values,
          void* indices)
      : plan_(plan),
        groups_(plan.groups()),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        prefetches_(element_count(descriptor.input) * element_size_ >=
                    tuning::kRowPrefetchLeastBytes),
        input_(static_cast<const char*>(input)),
        values_(static_cast<char*>(values)),
        indices_(descriptor.indices.type, indices, 0) {
    const TopKKernels& table = *kernels().top_k;
    const auto type = static_cast<int>(descriptor.input.type);
    const auto order = static_cast<int>(
        ranking(descriptor.axis_direction == AxisDirection::kDecreasing, nans_first(descriptor)));
    const int width = width_index(element_size_);
    load_ = table.load[type][order];
    extremes_ = table.extremes[type][order];
    write_values_ = table.values[type][order];
    select_ = table.select[width][static_cast<int>(plan.selection.strategy)];
    sample_ = table.sample[width];
    guess_ = table.guess[width];
    buckets_ = table.buckets[width];
    pack_ = table.pack[width];
  }

  void run() const {
    if (plan_.buckets) {
      run_in_buckets();
      return;
    }
    if (plan_.pieces > 1) {
      run_in_pieces();
      return;
    }
    const std::int64_t item_bytes = round_up(plan_.k * std::int64_t{sizeof(TopKItem)});
    const std::int64_t kernel_bytes = round_up(plan_.selection.scratch_bytes);
    const std::int64_t pack_bytes =
        plan_.packed ? round_up(plan_.group * plan_.length * element_size_) : 0;
    const std::int64_t worker_bytes = item_bytes + kernel_bytes + pack_bytes;
    const std::int64_t cells = positions(plan_.outer) * groups_;
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, cells));
    const Scratch scratch(worker_bytes * threads);
    parallel_for(threads, cells, [&](std::int64_t cell, int worker) {
      char* const mine = scratch.at(worker * worker_bytes);
      run_group(cell, reinterpret_cast<TopKItem*>(mine), mine + item_bytes,
                mine + item_bytes + kernel_bytes);
    });
  }

 private:
  void run_group(std::int64_t cell, TopKItem* items, char* kernel_scratch, char* packed) const {
    const std::int64_t first = groups_ == 1 ? 0 : cell % groups_ * plan_.group;
    const std::int64_t lines = std::min(plan_.group, plan_.lines.size - first);
    Offsets offsets = Odometer(plan_.outer, groups_ == 1 ? cell : cell / groups_).offsets();
    for (int s = 0; s < 3; ++s) offsets[s] += first * plan_.lines.strides[s];
    const char* data = input_ + offsets[0] * element_size_;
    std::int64_t line_stride = plan_.lines.strides[0];
    if (plan_.packed) {
      pack_(data, plan_.input_stride, plan_.length, line_stride, lines, packed);
      data = packed;
      line_stride = plan_.length;
    }
    TopKRow row = row_of(data, plan_.length, plan_.k, kernel_scratch);
    for (std::int64_t l = 0; l < lines; ++l) {
      const char* const line = data + l * line_stride * element_size_;
      row.data = line;
      select_(row, items);
      write({items, plan_.k, 1, line, plan_.stride, 0}, offsets[1] + l * plan_.lines.strides[1],
            offsets[2] + l * plan_.lines.strides[2]);
    }
  }

  /// One line at a time, each sorted by all threads.
  void run_in_buckets() const {
    TopKBuckets buckets(buckets_, element_size_, plan_.length, plan_.threads);
    for_each_line([&](const char* data, const Offsets& offsets) {
      buckets.sort(
          plan_.k,
          [&](std::int64_t first, std::int64_t count) {
            return row_of(data + first * plan_.stride * element_size_, count, count, nullptr);
          },
          [&](const TopKItem* items, std::int64_t count, std::int64_t at) {
            write({items, count, 1, data, plan_.stride, 0}, offsets[1] + at * plan_.value_stride,
                  offsets[2] + at * plan_.index_stride);
          });
    });
  }

  /// One line at a time, each cut into pieces for all threads.
  void run_in_pieces() const {
    const std::int64_t kept = std::min(plan_.k, plan_.longest_piece());
    const std::int64_t item_bytes = round_up(kept * std::int64_t{sizeof(TopKItem)});
    const std::int64_t kernel_bytes = round_up(plan_.selection.scratch_bytes);
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, plan_.pieces));
    // Everything is allocated before the first line is written.
    const std::int64_t items_bytes = item_bytes * plan_.pieces;
    const LargeScratch scratch(items_bytes + kernel_bytes * threads +
                               plan_.sample.count * element_size_);
    std::vector<TopKPiece> pieces(static_cast<std::size_t>(plan_.pieces));
    const std::int64_t writers = plan_.k < tuning::kTopKMinWrites ? 1 : threads;
    std::vector<TopKMerge> merges(static_cast<std::size_t>(writers), TopKMerge(plan_.pieces));
    const auto select_from = [&](const char* data, const std::uint64_t* guess) {
      parallel_for(threads, plan_.pieces, [&](std::int64_t p, int worker) {
        TopKRow row = piece_of(data, p, scratch.at(items_bytes + worker * kernel_bytes));
        row.guess = guess;
        auto* const items = reinterpret_cast<TopKItem*>(scratch.at(p * item_bytes));
        pieces[static_cast<std::size_t>(p)] = {items, select_(row, items), plan_.piece_start(p)};
      });
      std::int64_t selected = 0;
      for (const TopKPiece& piece : pieces) selected += piece.count;
      return selected >= plan_.k;
    };
    for_each_line([&](const char* data, const Offsets& offsets) {
      bool enough = false;
      if (plan_.sample.count > 0) {
        const std::uint64_t guess =
            guess_from_pieces(data, threads, scratch.at(items_bytes + kernel_bytes * threads));
        enough = select_from(data, &guess);
      }
      if (!enough) select_from(data, nullptr);
      parallel_for(threads, writers, [&](std::int64_t writer, int) {
        const std::int64_t last = plan_.k * (writer + 1) / writers;
        std::int64_t at = plan_.k * writer / writers;
        TopKMerge& merge = merges[static_cast<std::size_t>(writer)];
        merge.start(pieces, at);
        TopKItem items[tuning::kTopKMergeChunk];
        for (; at < last; at += tuning::kTopKMergeChunk) {
          const std::int64_t count = std::min(tuning::kTopKMergeChunk, last - at);
          merge.take(items, count);
          write({items, count, 1, data, plan_.stride, 0}, offsets[1] + at * plan_.value_stride,
                offsets[2] + at * plan_.index_stride);
        }
      });
    });
  }

  /// Calls body(data, offsets) for every line, one after the other.
  template <class Body>
  void for_each_line(const Body& body) const {
    Axes all = plan_.outer;
    all.push(plan_.lines);
    Odometer position(all);
    for (std::int64_t line = positions(all); line > 0; --line, position.next()) {
      const Offsets& offsets = position.offsets();
      body(input_ + offsets[0] * element_size_, offsets);
    }
  }

  /// A rank that somewhat more than k elements of the line at `data` probably reach.
  std::uint64_t guess_from_pieces(const char* data, int threads, char* sample) const {
    const std::int64_t of_each = plan_.sample.count / plan_.pieces;
    parallel_for(threads, plan_.pieces, [&](std::int64_t p, int) {
      TopKRow row = piece_of(data, p, nullptr);
      row.sample = of_each;
      sample_(row, sample + p * of_each * element_size_);
    });
    return guess_(sample, plan_.sample.count, plan_.sample.reaches);
  }

  TopKRow piece_of(const char* data, std::int64_t piece, char* kernel_scratch) const {
    const std::int64_t first = plan_.piece_start(piece);
    const std::int64_t length = plan_.piece_start(piece + 1) - first;
    return row_of(data + first * plan_.stride * element_size_, length, std::min(plan_.k, length),
                  kernel_scratch);
  }

  TopKRow row_of(const char* data, std::int64_t length, std::int64_t k,
                 char* kernel_scratch) const {
    TopKRow row{};
    row.data = data;
    row.element_size = element_size_;
    row.stride = plan_.stride;
    row.length = length;
    row.k = k;
    row.block = plan_.selection.block;
    row.sort_all = plan_.selection.sort_all;
    row.room = plan_.selection.room;
    row.sample = plan_.selection.sample.count;
    row.sample_reaches = plan_.selection.sample.reaches;
    row.prefetches = prefetches_;
    row.load = load_;
    row.extremes = extremes_;
    row.scratch = kernel_scratch;
    return row;
  }

  /// Writes values and indices, from these offsets on.
  void write(const TopKSelected& selected, std::int64_t value_offset,
             std::int64_t index_offset) const {
    write_values_(selected, values_ + value_offset * element_size_, plan_.value_stride,
                  plan_.lines.strides[1]);
    const TopKItem* const items = selected.items;
    const std::int64_t line_stride = plan_.lines.strides[2];
    const auto write_line = [&](std::int64_t first, std::int64_t count, std::int64_t offset) {
      indices_.write_each(offset, plan_.index_stride, count,
                          [items, first](std::int64_t i) { return items[first + i].index; });
    };
    if (plan_.index_stride == 1 && (selected.lines == 1 || line_stride == selected.count)) {
      write_line(0, selected.lines * selected.count, index_offset);
      return;
    }
    for (std::int64_t l = 0; l < selected.lines; ++l) {
      write_line(l * selected.count, selected.count, index_offset + l * line_stride);
    }
  }

  const TopKPlan& plan_;
  std::int64_t groups_;
  std::int64_t element_size_;
  bool prefetches_;
  const char* input_;
  char* values_;
  IndexOutput indices_;
  RankLoader load_;
  BlockExtremes extremes_;
  TopKValueWriter write_values_;
  TopKKernel select_;
  TopKSampler sample_;
  TopKGuess guess_;
  TopKBucketKernels buckets_;
  LinePacker pack_;
};

/// Columns with small k.
class TopKColumnsRun {
 public:
  TopKColumnsRun(const TopKDescriptor& descriptor, const TopKColumnsPlan& plan, const void* input,
                 void* values, void* indices)
      : plan_(plan), element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)) {
    const TopKKernels& table = *kernels().top_k;
    const auto type = static_cast<int>(descriptor.input.type);
    const auto order = static_cast<int>(
        ranking(descriptor.axis_direction == AxisDirection::kDecreasing, nans_first(descriptor)));
    kernel_ = table.columns[width_index(element_size_)];
    const ColumnsPlan& columns = plan.columns;
    const auto output = [&](void* data, DataType output_type, std::int64_t k_stride, int s) {
      const auto size = static_cast<std::int64_t>(info(output_type).size);
      return TopKOutput{static_cast<char*>(data) + plan.offsets[s] * size, k_stride,
                        columns.groups.strides[s], columns.results.strides[s]};
    };
    all_.columns = columns.columns();
    all_.columns.data =
        static_cast<const char*>(input) + (plan.offsets[0] + columns.input_offset) * element_size_;
    all_.k = plan.k;
    all_.prefetches =
        element_count(descriptor.input) * element_size_ >= tuning::kColumnsPrefetchBytes;
    all_.load = table.load[type][order];
    all_.decode = table.decode[type][order];
    all_.values = output(values, descriptor.values.type, plan.value_stride, 1);
    all_.indices = output(indices, descriptor.indices.type, plan.index_stride, 2);
    all_.index_size = static_cast<std::int64_t>(info(descriptor.indices.type).size);
  }

  void run() {
    const ColumnsPlan& columns = plan_.columns;
    const std::int64_t of_lanes = ceil_divide(columns.lanes, plan_.task_lanes);
    const std::int64_t of_groups = ceil_divide(columns.groups.size, plan_.task_groups);
    const std::int64_t tasks = positions(plan_.kept) * of_groups * of_lanes;
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, tasks));
    const std::int64_t row_bytes =
        round_up(columns.row_count() * std::int64_t{sizeof(std::int64_t)});
    const std::int64_t worker_bytes =
        top_k_columns_scratch(all_.columns, element_size_, plan_.k).bytes;
    const Scratch scratch(row_bytes + threads * worker_bytes);
    auto* const rows = reinterpret_cast<std::int64_t*>(scratch.at(0));
    columns.fill_rows(rows);
    all_.columns.rows = rows;
    all_.columns.block_offsets = rows + all_.columns.period;
    parallel_for(threads, tasks, [&](std::int64_t task, int worker) {
      const std::int64_t lane = task % of_lanes * plan_.task_lanes;
      task /= of_lanes;
      const std::int64_t group = task % of_groups * plan_.task_groups;
      Offsets offsets = Odometer(plan_.kept, task / of_groups).offsets();
      for (int s = 0; s < 3; ++s) {
        offsets[s] += group * columns.groups.strides[s] + lane * columns.results.strides[s];
      }
      TopKColumns a = all_;
      a.columns.data = static_cast<const char*>(a.columns.data) + offsets[0] * element_size_;
      a.columns.groups = std::min(plan_.task_groups, columns.groups.size - group);
      a.columns.lanes = std::min(plan_.task_lanes, columns.lanes - lane);
      a.values.data = static_cast<char*>(a.values.data) + offsets[1] * element_size_;
      a.indices.data = static_cast<char*>(a.indices.data) + offsets[2] * a.index_size;
      a.scratch = scratch.at(row_bytes + worker * worker_bytes);
      kernel_(a);
    });
  }

 private:
  const TopKColumnsPlan& plan_;
  std::int64_t element_size_;
  TopKColumns all_{};
  TopKColumnsKernel kernel_;
};

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

}  // namespace

TopKProgram plan(const TopKDescriptor& descriptor) {
  if (element_count(descriptor.values) == 0) return {};
  if (descriptor.k == 1) return plan(as_arg(descriptor), &descriptor.values);
  const std::int64_t bytes =
      element_count(descriptor.input) * static_cast<std::int64_t>(info(descriptor.input.type).size);
  const int threads = threads_for_bytes(bytes);
  if (auto columns = plan_top_k_columns(descriptor, threads)) return *columns;
  return plan_top_k(descriptor, threads);
}

void run_planned(const TopKDescriptor& descriptor, const TopKProgram& program, const void* input,
                 void* values, void* indices) {
  if (element_count(descriptor.values) == 0) return;
  if (const auto* single = std::get_if<ArgPlan>(&program)) {
    run_planned(as_arg(descriptor), *single, input, indices, values);
  } else if (const auto* columns = std::get_if<TopKColumnsPlan>(&program)) {
    TopKColumnsRun(descriptor, *columns, input, values, indices).run();
  } else {
    TopKRun(descriptor, std::get<TopKPlan>(program), input, values, indices).run();
  }
}

void run(const TopKDescriptor& descriptor) {
  validate(descriptor);
  run_planned(descriptor, plan(descriptor), descriptor.input.data, descriptor.values.data,
              descriptor.indices.data);
}

}  // namespace dmlcpu
