// top-k: validate, plan, run.
#include "ops/planned.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/shapes.hpp"
#include "core/text.hpp"
#include "core/tuning.hpp"
#include "kernels/dispatch.hpp"
#include "ops/for_tasks.hpp"
#include "ops/problem.hpp"
#include "ops/validate.hpp"

namespace dmlcpu {
namespace {

/// If they propagate, NaNs are above all numbers: first of the largest, last of the smallest.
int order_of(const TopKDescriptor& descriptor) {
  const bool largest = descriptor.axis_direction == AxisDirection::kDecreasing;
  return ordering(largest, largest && descriptor.nan_policy == NanPolicy::kPropagate);
}

/// A call's memory, and what works on it.
struct Call : Memory {
  const TopKDescriptor& descriptor;
  const TopKElementKernels& element =
      kernels().top_k->element[static_cast<int>(descriptor.input.type)][order_of(descriptor)];
  const TopKWidthKernels& width = kernels().top_k->width[__builtin_ctzll(element_size)];
};

Call call_of(const TopKDescriptor& descriptor, const void* input, void* values, void* indices) {
  return {{static_cast<const char*>(input),
           wants_indices(descriptor) ? static_cast<char*>(indices) : nullptr,
           wants_values(descriptor) ? static_cast<char*>(values) : nullptr,
           element_bytes(descriptor.input), element_bytes(descriptor.indices)},
          descriptor};
}

/// Rows one by one.
struct TopKRows : Call {
  /// What a part of a row collected.
  struct Collected {
    void* items;
    std::int64_t count;
    TopKRange range;
  };
  /// Results [first, last) of the row's sorted items.
  struct Bucket {
    std::int64_t first;
    std::int64_t last;
  };

  const TopKPlan& plan;
  const TopKRowKernels& of_items = plan.row.size <= kTopKShortRow ? width.rows : width.longer_rows;
  const TopKRowScratch& sizes = plan.scratch;
  std::vector<Collected> parts =
      std::vector<Collected>(static_cast<std::size_t>(plan.parts > 1 ? plan.parts : 0));
  // Of the largest size, so that divide() allocates nothing.
  std::vector<Bucket> buckets = std::vector<Bucket>(plan.parts > 1 ? kTopKMostBuckets : 0);

  [[gnu::noinline]] void run() {
    // Everything is allocated before the first row is written.
    const Scratch scratch(plan.scratch_bytes());
    const Axis& rows = plan.tasks.results;
    for_tasks(plan.tasks, [&](const Task& task, int worker) {
      char* const own = scratch.at(worker * sizes.bytes);
      TopKRow row = {at(task.offsets[0]),
                     plan.row.strides[0],
                     0,
                     plan.row.size,
                     plan.k,
                     plan.prefetches,
                     &element,
                     &plan.selection,
                     nullptr,
                     own,
                     own + sizes.items};
      std::int64_t row_stride = rows.strides[0];
      if (plan.packed) {
        char* const packed = memory(row, sizes.packed);
        width.pack(row.data, plan.row.strides[0], plan.row.size, row_stride, task.results, packed);
        row.data = packed;
        row.stride = 1;
        row_stride = plan.row.size;
      }
      Offsets offsets = task.offsets;
      for (std::int64_t r = 0; r < task.results; ++r) {
        plan.parts > 1 ? run_in_parts(row, offsets)
                       : finish(row, row.items, memory(row, sizes.others),
                                {0, of_items.collect(row)}, 0, offsets);
        row.data = static_cast<const char*>(row.data) + row_stride * element_size;
        for (int s = 1; s < 3; ++s) offsets[s] += rows.strides[s];
      }
    });
  }

  static char* memory(const TopKRow& row, std::int64_t offset) {
    // The analyzer assumes that another thread may change the row.
    return static_cast<char*>(row.scratch) + offset;  // NOLINT(*-core.NullPointerArithm)
  }

  /// Sorts the items of a bucket, or selects one of all, and writes those that are wanted.
  void finish(const TopKRow& row, void* items, void* others, const Bucket& bucket, int worker,
              Offsets offsets) const {
    auto* const counts =
        reinterpret_cast<std::uint32_t*>(memory(row, sizes.counts + worker * sizes.count_bytes));
    const std::int64_t count = bucket.last - bucket.first;
    if (plan.selects) {
      const void* const item = of_items.select(items, count, plan.k, others);
      return of_items.write(row, item, 1, outputs(offsets, kUnitAxis, kUnitAxis, plan.row));
    }
    const std::int64_t wanted = std::min(count, plan.k - bucket.first);
    const void* const sorted = of_items.sort(items, others, count, counts);
    for (int s = 1; s < 3; ++s) offsets[s] += bucket.first * plan.row.strides[s];
    of_items.write(row, sorted, wanted, outputs(offsets, kUnitAxis, kUnitAxis, plan.row));
  }

  /// A row in parts for all threads.
  void run_in_parts(const TopKRow& row, const Offsets& offsets) {
    std::uint64_t threshold = 0;
    if (plan.selection.strategy == TopKStrategy::kSample) threshold = of_items.threshold(row);
    std::int64_t count = collect(row, threshold);
    if (count < plan.k) count = collect(row, 0);
    if (count < tuning::kTopKDividedItems || plan.selects) {
      auto* end = static_cast<char*>(row.items);
      for (const Collected& part : parts) {
        const std::int64_t bytes = part.count * sizes.item_bytes;
        std::memmove(end, part.items, static_cast<std::size_t>(bytes));
        end += bytes;
      }
      return finish(row, row.items, memory(row, sizes.others), {0, count}, 0, offsets);
    }
    divide(row, count);
    const auto bucket_count = static_cast<std::int64_t>(buckets.size());
    parallel_for(plan.threads, bucket_count, [&](std::int64_t b, int worker) {
      const Bucket& bucket = buckets[static_cast<std::size_t>(b)];
      if (bucket.first >= plan.k) return;
      const std::int64_t first = bucket.first * sizes.item_bytes;
      finish(row, memory(row, sizes.others + first), memory(row, sizes.items + first), bucket,
             worker, offsets);
    });
  }

  /// Collects from each part what is at or above the threshold; returns how many.
  std::int64_t collect(const TopKRow& row, std::uint64_t threshold) {
    parallel_for(plan.threads, plan.parts, [&](std::int64_t p, int) {
      TopKRow part = row;
      part.first = start_of_part(plan.row.size, p, plan.parts);
      part.length = start_of_part(plan.row.size, p + 1, plan.parts) - part.first;
      part.k = std::min(plan.k, part.length);
      part.threshold = &threshold;
      part.scratch = memory(row, p * sizes.key_bytes);
      part.items = memory(row, sizes.items + p * sizes.part_bytes);
      const std::int64_t count = of_items.collect(part);
      parts[static_cast<std::size_t>(p)] = {part.items, count, of_items.range(part.items, count)};
    });
    std::int64_t count = 0;
    for (const Collected& part : parts) count += part.count;
    return count;
  }

  /// Divides the `count` items of the parts into buckets of descending keys. Equal keys are in
  /// ascending order of position, in one bucket or several. Not inlined, for its large frame.
  [[gnu::noinline]] void divide(const TopKRow& row, std::int64_t count) {
    TopKRange range = parts[0].range;
    for (const Collected& part : parts) {
      range = {std::min(range.lowest, part.range.lowest),
               std::max(range.highest, part.range.highest)};
    }
    TopKBins bins = {range.highest};
    while ((range.highest - range.lowest) >> bins.shift >= kTopKBinCount) ++bins.shift;
    const auto places = [&](std::int64_t p) {
      return reinterpret_cast<std::int64_t*>(memory(row, sizes.places)) + p * kTopKBinCount;
    };
    parallel_for(plan.threads, plan.parts, [&](std::int64_t p, int) {
      const Collected& part = parts[static_cast<std::size_t>(p)];
      of_items.count(part.items, part.count, bins, places(p));
    });
    // Each part's counts of bins are summed up to counts of buckets, in place, as no bucket has a
    // higher number than its bins. Then the place of its next item replaces each of these. A bin of
    // many items is a bucket by itself: mostly they have one key, and are sorted already. Two
    // neighbours have at least `least` items together.
    const std::int64_t least = std::max(
        std::min(tuning::kTopKBucketItems, count / (plan.threads * tuning::kTasksPerThread)),
        ceil_divide(2 * count, kTopKMostBuckets - 2));
    buckets.clear();
    Bucket bucket = {0, 0};
    const auto end_bucket = [&] {
      const std::size_t number = buckets.size();
      buckets.push_back(bucket);
      for (std::int64_t p = 0; p < plan.parts; ++p) {
        bucket.first += std::exchange(places(p)[number], bucket.first);
      }
    };
    for (std::int64_t bin = 0; bin < kTopKBinCount; ++bin) {
      std::int64_t in_bin = 0;
      for (std::int64_t p = 0; p < plan.parts; ++p) in_bin += places(p)[bin];
      const std::int64_t in_bucket = bucket.last - bucket.first;
      if (in_bucket > 0 && std::max(in_bucket, in_bin) >= least) end_bucket();
      const std::size_t number = buckets.size();
      bins.buckets[bin] = static_cast<std::uint8_t>(number);
      for (std::int64_t p = 0; p < plan.parts; ++p) {
        places(p)[number] += std::exchange(places(p)[bin], 0);
      }
      bucket.last += in_bin;
    }
    end_bucket();
    parallel_for(plan.threads, plan.parts, [&](std::int64_t p, int) {
      const Collected& part = parts[static_cast<std::size_t>(p)];
      of_items.distribute(part.items, part.count, bins, places(p), memory(row, sizes.others));
    });
  }
};

void run_plan(const Call& call, const TopKPlan& plan) { TopKRows{call, plan}.run(); }

/// Columns with small k.
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

/// Like the others not inlined: plans of all kinds and scratch memory would not fit a frame.
[[gnu::noinline]] void run_plan(const Call& call, const ArgPlan& plan) {
  run_planned(as_arg(call.descriptor), plan, call.input, call.indices, call.values);
}

/// Whether there is nothing to write: k is at least 1.
bool is_empty(const TopKDescriptor& descriptor) { return element_count(descriptor.input) == 0; }

/// Calls body(plan) with the best plan, if there is something to write.
template <class Body>
void with_plan(const TopKDescriptor& descriptor, const Body& body) {
  if (is_empty(descriptor)) return;
  if (descriptor.k == 1 && wants_indices(descriptor)) {
    return body(plan(as_arg(descriptor), wants_values(descriptor) ? &descriptor.values : nullptr));
  }
  const TopKProblem problem = problem_of(descriptor);
  const int threads = threads_for_bytes(tuning::top_k_work(problem.k) * problem.bytes);
  if (problem.k > 1) {
    if (const auto columns = plan_top_k_columns(problem, threads)) return body(*columns);
  }
  body(plan_top_k(problem, threads));
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
  const auto text_of = [](const auto& plan) { return to_text(plan); };
  return copy_text(std::visit(text_of, plan(descriptor)), text, size);
}

void run(const TopKDescriptor& descriptor) {
  validate(descriptor);
  const Call call =
      call_of(descriptor, descriptor.input.data, descriptor.values.data, descriptor.indices.data);
  // A program would copy the plan.
  with_plan(descriptor, [&call](const auto& plan) { run_plan(call, plan); });
}

}  // namespace dmlcpu
