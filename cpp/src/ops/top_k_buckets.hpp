// Sorting a long row by all threads, without a merge: threads share the row's parts until the
// elements are in buckets of descending key, and then the buckets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/tuning.hpp"
#include "kernels/top_k_interface.hpp"
#include "plan/axes.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {

class TopKBuckets {
 public:
  /// Allocates all it needs for rows of so many elements.
  TopKBuckets(const TopKBucketKernels& kernels, std::int64_t element_size, std::int64_t length,
              int threads)
      : scratch_(2 * length * top_k_item_bytes(element_size)),
        sort_counts_(static_cast<std::size_t>(threads * top_k_bucket_counts(element_size))),
        kernels_(kernels),
        element_size_(element_size),
        item_bytes_(top_k_item_bytes(element_size)),
        length_(length),
        items_(scratch_.at(0)),
        others_(scratch_.at(length * item_bytes_)),
        starts_(static_cast<std::size_t>(kTopKBuckets + 1)),
        part_starts_(static_cast<std::size_t>(kTopKBuckets * threads)),
        bits_(static_cast<std::size_t>(threads)),
        threads_(threads) {}

  /// Calls write(items, count, at) for the first k items of a row, in any order of `at`, on any
  /// thread; row_of(first, count) are the row's elements from `first` on.
  template <class RowOf, class Write>
  void sort(std::int64_t k, RowOf&& row_of, Write&& write) {
    // The keys are kept where a bucket's items are only needed later, so that they are the same
    // when they are counted as when they are distributed, whatever another thread does to the row.
    char* const keys = others_;
    parallel_for(threads_, threads_, [&](std::int64_t part, int) {
      const std::int64_t first = part_start(part);
      bits_[static_cast<std::size_t>(part)] =
          kernels_.load(row_of(first, part_start(part + 1) - first), keys + first * element_size_);
    });
    const int shift = bucket_shift();
    parallel_for(threads_, threads_, [&](std::int64_t part, int) {
      std::uint32_t* const counts = of_part(part);
      std::fill_n(counts, kTopKBuckets, 0);
      const std::int64_t first = part_start(part);
      kernels_.count(keys + first * element_size_, part_start(part + 1) - first, shift, counts);
    });
    lay_out();
    parallel_for(threads_, threads_, [&](std::int64_t part, int) {
      const std::int64_t first = part_start(part);
      kernels_.fill(keys + first * element_size_, part_start(part + 1) - first, first, shift,
                    of_part(part), items_);
    });
    const std::int64_t tasks = threads_ * tuning::kTasksPerThread;
    parallel_for(threads_, tasks, [&](std::int64_t task, int worker) {
      sort_some(first_bucket(task, tasks), first_bucket(task + 1, tasks), k,
                sort_counts_.data() + worker * top_k_bucket_counts(element_size_), write);
    });
  }

 private:
  std::int64_t part_start(std::int64_t part) const {
    return start_of_part(length_, part, threads_);
  }
  std::uint32_t* of_part(std::int64_t part) { return part_starts_.data() + part * kTopKBuckets; }
  std::int64_t start(std::int64_t bucket) const {
    return starts_[static_cast<std::size_t>(bucket)];
  }

  /// The lowest bit of those that tell the bucket: they begin with the highest that any two keys
  /// differ in.
  int bucket_shift() const {
    KeyBits row = bits_[0];
    for (const KeyBits& part : bits_) {
      row.some |= part.some;
      row.all &= part.all;
    }
    const std::uint64_t differing = row.some & ~row.all;
    int shift = 0;
    while (differing >> shift >= std::uint64_t{kTopKBuckets}) ++shift;
    return shift;
  }

  /// Turns the parts' counts into where in each bucket their items start: equal ones stay in order.
  void lay_out() {
    std::uint32_t next = 0;
    for (std::int64_t bucket = 0; bucket < kTopKBuckets; ++bucket) {
      starts_[static_cast<std::size_t>(bucket)] = next;
      for (std::int64_t part = 0; part < threads_; ++part) {
        next += std::exchange(of_part(part)[bucket], next);
      }
    }
    starts_.back() = next;
  }

  /// Tasks are cut at buckets, after about as many elements each.
  std::int64_t first_bucket(std::int64_t task, std::int64_t tasks) const {
    const auto wanted = static_cast<std::uint32_t>(start_of_part(length_, task, tasks));
    return std::lower_bound(starts_.begin(), starts_.end() - 1, wanted) - starts_.begin();
  }

  template <class Write>
  void sort_some(std::int64_t first, std::int64_t last, std::int64_t k, std::uint32_t* counts,
                 const Write& write) {
    TopKItem buffer[tuning::kTopKMergeChunk];
    std::int64_t at = start(first);
    std::int64_t filled = 0;
    for (std::int64_t bucket = first; bucket < last && start(bucket) < k; ++bucket) {
      const std::int64_t begin = start(bucket);
      const std::int64_t count = start(bucket + 1) - begin;
      const void* const sorted =
          kernels_.sort(items_ + begin * item_bytes_, others_ + begin * item_bytes_, count, counts);
      const std::int64_t wanted = std::min(count, k - begin);
      for (std::int64_t i = 0; i < wanted;) {
        const std::int64_t taken = std::min(wanted - i, tuning::kTopKMergeChunk - filled);
        kernels_.read(sorted, i, taken, buffer + filled);
        i += taken;
        filled += taken;
        if (filled < tuning::kTopKMergeChunk) continue;
        write(buffer, filled, at);
        at += filled;
        filled = 0;
      }
    }
    if (filled > 0) write(buffer, filled, at);
  }

  LargeScratch scratch_;
  std::vector<std::uint32_t> sort_counts_;  // of the threads
  const TopKBucketKernels& kernels_;
  std::int64_t element_size_;
  std::int64_t item_bytes_;
  std::int64_t length_;
  char* items_;
  char* others_;
  std::vector<std::uint32_t> starts_;       // of the buckets, and where the last one ends
  std::vector<std::uint32_t> part_starts_;  // within each bucket, one part's behind the other's
  std::vector<KeyBits> bits_;               // of the parts
  int threads_;
};

}  // namespace dmlcpu
