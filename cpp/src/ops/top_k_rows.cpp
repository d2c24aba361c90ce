// A row's pipeline is a threshold, a filter that collects at least the k elements of highest key as
// items, and a sort of these (interface/top_k.hpp). A row in parts is a parallel selection and
// sample sort:
//
//   part:      0        1        2        3        threshold filter of each part
//   items:   |  .  . | .      | ..   . |     . |   collected in ascending order of position
//              count by key in bins, merge consecutive bins into buckets, distribute
//   bucket:  |0  |1         |2    |3           |   keys descend from bucket to bucket
//              sort each bucket, write results [first, last) from it
#include "ops/top_k_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/tuning.hpp"
#include "interface/tuning.hpp"

namespace dmlcpu {
namespace {

/// A plan of rows that is run on memory.
struct TopKRows : TopKCall {
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
  // As large as divide() may need, which allocates nothing.
  std::vector<Bucket> buckets = std::vector<Bucket>(plan.parts > 1 ? kTopKMostBuckets : 0);

  /// Not inlined: a plan and scratch memory would not fit a frame.
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
    // The analyzer assumes concurrent modification of the row.
    return static_cast<char*>(row.scratch) + offset;  // NOLINT(*-core.NullPointerArithm)
  }

  /// Sorts the items of a bucket and writes those of the row's first k; or, if the k-th alone is
  /// wanted, selects it from all items and writes it. `items` and `others` have capacity for the
  /// bucket, or `others` for its keys.
  void finish(const TopKRow& row, void* items, void* others, const Bucket& bucket, int worker,
              Offsets offsets) const {
    auto* const counts =
        reinterpret_cast<std::uint32_t*>(memory(row, sizes.counts + worker * sizes.count_bytes));
    const std::int64_t count = bucket.last - bucket.first;
    if (plan.selects) {
      const void* const item = of_items.select(items, count, plan.k, others);
      return of_items.write(row, item, 1, outputs(offsets, kUnitAxis, kUnitAxis, plan.row));
    }
    const std::int64_t results = std::min(count, plan.k - bucket.first);
    const void* const sorted = of_items.sort(items, others, count, counts);
    for (int s = 1; s < 3; ++s) offsets[s] += bucket.first * plan.row.strides[s];
    of_items.write(row, sorted, results, outputs(offsets, kUnitAxis, kUnitAxis, plan.row));
  }

  /// Runs a row in parts for all threads. Few items are sorted by one thread: dividing them takes
  /// two parallel regions, and sorting the buckets another.
  void run_in_parts(const TopKRow& row, const Offsets& offsets) {
    std::uint64_t threshold = 0;
    if (plan.selection.strategy == TopKStrategy::kSample) threshold = of_items.threshold(row);
    std::int64_t count = collect(row, threshold);
    if (count < plan.k) count = collect(row, 0);
    if (count < tuning::kTopKBucketsLeastItems || plan.selects) {
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

  /// Collects from each part at least the k of highest key, or all if they are fewer, of its
  /// elements at or above the threshold, which only kSample reads; returns the number of items.
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
  /// ascending order of position, in one bucket or several. Not inlined: TopKBins and
  /// scratch memory would not fit a frame.
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
    // higher number than its bins. end_bucket() replaces each of these by the place of the part's
    // next item in the bucket. A bin of many items is a bucket by itself: mostly its items have one
    // key, and are in order already. Two neighbours have at least `least` items together, which
    // bounds the number of buckets.
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

}  // namespace

void run_rows(const TopKCall& call, const TopKPlan& plan) { TopKRows{call, plan}.run(); }

}  // namespace dmlcpu
