// Constants of threads, calls and scratch memory, which core and ops read. Those that kernels read
// are in interface/tuning.hpp, those of the planner alone in plan/tuning.hpp, those of the
// library's own threads in core/thread_tuning.hpp; no other file has any. Each comment says what a
// value trades against what; docs/tuning.md has a row for each constant: where and when its value
// was chosen, and what was measured.
//
// `python bench/tune.py NAME VALUE... --only WORKLOADS` compares builds with other values of a
// constant; `python bench/run.py sweep` shows whether a curve has a step where a threshold lies.
#pragma once

#include <cstdint>

namespace dmlcpu::tuning {

// --- threads ---------------------------------------------------------------------------------

/// Bytes of work per thread. Smaller grains lose the time that a parallel region takes to start,
/// larger ones leave cores idle.
inline constexpr std::int64_t kGrainBytes = 256 * 1024;

/// Grains from which argmin and argmax, and top-k with k = 1, use a second thread; others do from
/// two on. Of two grains in a cache, one thread reads both before a second one is done, even if
/// that was awake; types that take longer to compare lose what the second would save.
inline constexpr std::int64_t kArgLeastGrains = 3;

/// Bytes of work that a byte of top-k counts as, k > 1: selecting takes longer than reading. More
/// bring in threads earlier, less keep the cost of waking them small.
constexpr std::int64_t top_k_work(std::int64_t k) { return k <= 32 ? 2 : 6; }

/// Looking one element up, of a tuple or of a strided array, moves a cache line.
inline constexpr std::int64_t kLookUpBytes = 64;

/// The caches hold up to this much of an input of gather: small slices of it are copied as soon as
/// their tuple is checked, without a prefetch. What they do not hold would be waited for.
inline constexpr std::int64_t kGatherNearBytes = 4 * 1024 * 1024;

/// Bytes of work that looking up a tuple counts as: a cache line of an input that the caches do not
/// hold; of others less, as the threads would be woken for a few microseconds.
constexpr std::int64_t look_up_work(std::int64_t input_bytes) {
  return input_bytes > kGatherNearBytes ? kLookUpBytes : kLookUpBytes / 4;
}

/// Tasks offered per thread. More even out cores of unequal speed, fewer save start-up per task.
inline constexpr std::int64_t kTasksPerThread = 4;

/// Items of a bucket, of the items that parts of a row collected: threads sort and write buckets,
/// each by itself in L2. Smaller buckets are more places in memory that are written.
inline constexpr std::int64_t kTopKBucketItems = 32 * 1024;

// --- calls and scratch memory ----------------------------------------------------------------

/// Python's lock is given up for calls that touch at least this many bytes, about those that more
/// than one thread may work on. Giving it up costs small calls time; keeping it lets other threads
/// wait, which must stay below the 5 ms that Python lets a thread keep it.
inline constexpr std::int64_t kReleaseLockBytes = 2 * kGrainBytes;

/// Rows of together up to this many elements are reduced without a plan, which takes longer to make
/// and to follow than so few comparisons; elements of columns are compared one by one then.
inline constexpr std::int64_t kUnplannedElements = 32;

/// Scratch memory of up to this many bytes is on the stack, which saves small calls an allocation.
/// More would take frames past the 8 KiB that stacks of any thread hold.
inline constexpr std::int64_t kScratchStackBytes = 6 * 1024;

}  // namespace dmlcpu::tuning
