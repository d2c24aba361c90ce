// Sizes and limits that the planner alone reads: what plans there are, and their tiles. Which plan
// is taken is decided by prices, plan/machine.cpp. docs/tuning.md has a row for each.
#pragma once

#include <cstdint>

namespace dmlcpu::tuning {

// --- prices ----------------------------------------------------------------------------------

/// Runs of memory, read in turns, that the hardware prefetches: of more each run pays a jump.
inline constexpr std::int64_t kStreams = 32;

// --- argmin and argmax -----------------------------------------------------------------------

/// Where nothing is compared, an innermost axis of at least this size is walked in the inner loop.
/// A shorter one takes longer to begin than to walk; the longest axis is walked instead, which
/// touches each cache line once for each position of the innermost axis.
inline constexpr std::int64_t kFillInnerSize = 8;

/// Threads share a reduction by splitting its positions, if each part has at least this many:
/// merging the parts costs about as much as some positions.
inline constexpr std::int64_t kMinPartPositions = 64;

// --- lanes and walks of columns --------------------------------------------------------------

/// Bytes of lanes of results that have several, which hide each other's latency; half as many is a
/// plan as well. More would be merged at the end, one by one.
inline constexpr std::int64_t kLanesBytes = 256;

/// Bytes of the elements of a tile whose results have several lanes: L1 holds five arrays of as
/// many while lanes are merged. So a result has at most as many lanes as fit.
inline constexpr std::int64_t kLanesTileBytes = 4 * 1024;

/// Blocks are transposed for results with several lanes only if a call walks at least this many
/// positions, as lanes are merged after each call; or all that there are.
inline constexpr std::int64_t kBlockLeastPositions = 4;

/// Lanes up to this far apart, of positions or groups beside each other as well, are packed row by
/// row, by loops over strides that the compiler knows: faster than to transpose, but more code.
inline constexpr std::int64_t kPackedStride = 3;

/// Offsets of positions that are kept in a table: several axes are walked in one loop. 8 KiB of L1.
inline constexpr std::int64_t kWalkRows = 1024;

/// Elements of a block that is transposed, at most, and so the distance of vectors that are read
/// one after the other: blocks of this size, a vector of each row, fit L2.
inline constexpr std::int64_t kBlockElements = 1024;

/// Blocks are transposed into a buffer of this size, if it holds a vector of each: seven eighths of
/// an L1 of 32 KiB, so that at any distance of the rows none of the cache's sets is overfull.
inline constexpr std::int64_t kTransposeBytes = 28 * 1024;

/// argmin and argmax compare short rows of at least this size in registers, in squares of 16 bytes
/// of as many rows as those have elements. Of shorter ones most of each square is unused.
inline constexpr std::int64_t kSquareRowLeastBytes = 6;

// --- tiles of columns ------------------------------------------------------------------------

/// Half of an L1 of 32 KiB, for what is read again soon beside other memory: the rows of a pass,
/// while the best of some vectors stay in registers; the cache lines that a row of strided lanes
/// touches, which the next rows are often in; the keys of a tile of top-k, and its slots. Less
/// makes tiles narrower and passes shorter.
inline constexpr std::int64_t kHalfL1Bytes = 16 * 1024;

/// Elements of a tile. Narrow tiles stay in L1 together with their positions; wide ones read long
/// runs of each row, which is what memory prefetches.
inline constexpr std::int64_t kTileElements = 4096;

/// Bytes of the groups of a tile, at most, unless they are one row: L2 holds them.
inline constexpr std::int64_t kGroupsBytes = 128 * 1024;

/// Tiles of different tasks are at least this wide, not to waste cache lines and vectors.
inline constexpr std::int64_t kLeastTileBytes = 512;

/// How far ahead the columns of a single pass are prefetched to L2.
inline constexpr std::int64_t kColumnsPrefetchAhead = 1024;

/// Distance at which rows are prefetched while they are transposed: memory stays busy while columns
/// are reduced.
inline constexpr std::int64_t kTransposePrefetchBytes = 8 * 1024;

// --- top-k -----------------------------------------------------------------------------------

/// Stripes per wanted element: with more a threshold is closer, but takes longer to find.
inline constexpr std::int64_t kTopKStripesPerResult = 4;

/// A block costs about kTopKBlockCostRatio times more (finding the k-th highest extreme) than an
/// element of the k blocks that are looked into, so the cheapest block length is near
/// sqrt(ratio * length / k). Longer blocks than kTopKMaxBlock would save little of the time to find
/// the k-th highest extreme, and not fit L1.
inline constexpr std::int64_t kTopKBlockCostRatio = 10;
inline constexpr std::int64_t kTopKMinBlock = 32;
inline constexpr std::int64_t kTopKMaxBlock = 1024;

/// Blocks are a plan if there are at least this many per wanted element, or too many blocks beat
/// the threshold; and if k is at most the second figure, which bounds their scratch memory.
inline constexpr std::int64_t kTopKBlocksPerResult = 2;
inline constexpr std::int64_t kTopKBlocksMaxK = 4096;

/// Collected items, for each wanted one, from which on blocks are looked into in the order of
/// their extremes: finding the next such block takes longer than taking the next of the row.
inline constexpr std::int64_t kTopKItemsPerResult = 4;

/// Elements sampled from a row for a threshold. That of a larger sample is closer, so that fewer
/// elements are collected and sorted in vain. Shorter rows than the first figure, whose keys L2
/// holds, get a threshold from stripes or blocks.
inline constexpr std::int64_t kTopKSampleLeastLength = 16 * 1024;
constexpr std::int64_t top_k_sample(std::int64_t length) {
  if (length < kTopKSampleLeastLength) return 0;
  return length / 64 < 32 * 1024 ? length / 64 : 32 * 1024;
}

/// Capacity for elements at or above a sampled threshold: twice as many as it is meant to collect,
/// and the elements equal to the threshold; and for those of 24 sampled ones, as with small k a few
/// of them decide. One row in some 1e5 has more, and raises its threshold.
constexpr std::int64_t top_k_sample_capacity(std::int64_t length, std::int64_t k) {
  const std::int64_t sample = top_k_sample(length);
  const std::int64_t capacity = 3 * k + (sample == 0 ? 0 : 24 * (length / sample));
  return capacity < length ? capacity : length + 1;
}

/// Rows of a pass from whose elements columns are selected: L1 holds the cache lines of one vector
/// in all of them. More rows store the slots less often.
inline constexpr std::int64_t kTopKPassRows = 128;

/// Rows per task at most. Rows of a strided axis are copied one after the other into scratch, as
/// many as fit there, so that every cache line is used, and read once for several passes.
inline constexpr std::int64_t kTopKGroupRows = 32;
inline constexpr std::int64_t kTopKPackBytes = 1024 * 1024;

/// Rows fewer than threads are split into parts of at least this many bytes: each part may have k
/// elements to collect, and what was collected is sorted. With small k that hardly takes longer
/// than reading the row: a second thread, which may have to be woken, pays only for long rows.
constexpr std::int64_t top_k_min_part_bytes(std::int64_t k) {
  return (k <= kTopKBlocksMaxK ? 640 : 128) * 1024;
}

// --- distances of gather ---------------------------------------------------------------------

/// Bytes of the slices that are prefetched ahead, fewer than kGatherAhead of long ones; the second
/// figure of inputs that the caches hold.
inline constexpr std::int64_t kGatherAheadBytes = 32 * 1024;
inline constexpr std::int64_t kGatherNearAheadBytes = 4 * 1024;

}  // namespace dmlcpu::tuning
