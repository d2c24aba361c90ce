// Every threshold and block size, with its trade-off. Kernels, planners and the thread shim read
// them here and nowhere else. docs/tuning.md has a row for each: where and when its value was
// chosen, and what was measured.
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

/// Tasks offered per thread. More even out cores of unequal speed, fewer save start-up per task.
inline constexpr std::int64_t kTasksPerThread = 4;

/// Python's lock is given up for calls that touch at least this many bytes, about those that more
/// than one thread may work on. Giving it up costs small calls time; keeping it lets other threads
/// wait, which must stay below the 5 ms that Python lets a thread keep it.
inline constexpr std::int64_t kReleaseLockBytes = 2 * kGrainBytes;

/// Rows of together up to this many elements are reduced without a plan, which takes longer to make
/// and to follow than so few comparisons; elements of columns are compared one by one then.
inline constexpr std::int64_t kUnplannedElements = 32;

/// Where nothing is compared, an innermost axis of at least this size is walked in the inner loop.
/// A shorter one takes longer to begin than to walk; the longest axis is walked instead, which
/// touches each cache line once for each position of the innermost axis.
inline constexpr std::int64_t kFillInnerSize = 8;

// --- scratch memory --------------------------------------------------------------------------

/// Scratch memory of up to this many bytes is on the stack, which saves small calls an allocation.
/// More would take frames past the 8 KiB that stacks of any thread hold.
inline constexpr std::int64_t kScratchStackBytes = 6 * 1024;

// --- argmin and argmax -----------------------------------------------------------------------

/// Bytes of a row in two passes (of bytes, a single one, or backward) whose extreme is found before
/// it is compared with the best so far. Smaller blocks are read again sooner to locate the element,
/// larger ones reduce the vector lanes less often: so double the block up to kArgMaxBlockBytes,
/// which L1 holds, while the row still has kArgBlocks of them; strided rows stay at the first size.
/// Bytes often stop at the first block with the highest value there is, which large blocks delay.
inline constexpr std::int64_t kArgBlockBytes = 4096;
inline constexpr std::int64_t kArgMaxBlockBytes = 32 * 1024;
inline constexpr std::int64_t kArgBlocks = 16;

/// Bytes of a contiguous row that are searched in one pass, which locates the element in four
/// vectors: one comparison more for each four, but no second pass over a block, whose end is
/// mispredicted. Smaller blocks end sooner where the highest value there is comes early; a lane of
/// 16 bits has to count all fours of vectors in one. A single row, or rows below the second figure,
/// are faster in two passes, except from memory, which would wait for the end of each.
inline constexpr std::int64_t kArgOnePassBytes = 64 * 1024;
inline constexpr std::int64_t kArgOnePassLeastBytes = 1024;

/// Rows and blocks of at least this many vectors are read from a vector boundary on, but for the
/// first vector and the last. Shorter ones lose more by reading some elements twice.
inline constexpr std::int64_t kAlignFromVectors = 16;

/// Rows of inputs of at least kRowPrefetchLeastBytes are prefetched from kRowPrefetchBytes ahead,
/// also where top-k looks for the extremes of blocks: the hardware prefetch ends at every page, and
/// starts anew where a block begins with its last vector. A shorter distance hides less of the
/// memory's latency; rows that L2 holds pay for prefetches that they do not need. On AMD's
/// processors argmin and argmax take longer with prefetches, and have none.
inline constexpr std::int64_t kRowPrefetchBytes = 6 * 1024;
inline constexpr std::int64_t kRowPrefetchLeastBytes = 2 * 1024 * 1024;

/// Rows of fewer bytes than this, and no more positions than a run, are transposed: a lane for each
/// row. Others are searched one by one, which costs reductions, but less for each element.
inline constexpr std::int64_t kRowBytes = 512;

/// Rows that fill fewer lanes than this, in bytes, are as well, but for short ones of several axes.
inline constexpr std::int64_t kLeastLaneBytes = 64;

// --- columns ---------------------------------------------------------------------------------

/// Contiguous kept elements of at least this size are lanes where they are. Narrower ones would
/// leave most of a vector empty, and are packed beside those of other rows.
inline constexpr std::int64_t kLaneBytes = 32;

/// Where too few columns fill no vectors, positions are made lanes until there are lanes of this
/// size. More would be merged at the end, one by one; fewer wait for each other's latency.
inline constexpr std::int64_t kWidenedBytes = 256;

/// Bytes of the elements of a tile of widened columns: L1 holds five arrays of as many while lanes
/// are merged.
inline constexpr std::int64_t kWidenedTileBytes = 4 * 1024;

/// Columns that fill vectors, but less than kWidenedBytes, are widened if their positions have at
/// least kWidenedLeastBytes, an element of each: a lane takes as long to merge as a position. If
/// others are far apart, from kWidenedApartPositions for each lane on, or too many for a block.
inline constexpr std::int64_t kWidenedLeastBytes = 384;
inline constexpr std::int64_t kWidenedApartPositions = 12;

/// All positions of a reduced axis become lanes only up to these, as many as any integer numbers.
inline constexpr std::int64_t kWholeAxisLanes = 256;

/// Whole reduced axes become lanes only if the others have kWholeAxisPositions. Joining a lane
/// after the kernel takes as long as reading kJoinedBytes, or as packing a quarter of that.
inline constexpr std::int64_t kWholeAxisPositions = 4;
inline constexpr std::int64_t kJoinedBytes = 128;

/// Groups without gaps between them are a row of lanes only if all its positions together have at
/// least kBesideBytes: with fewer, calls take longer than with other lanes. The row has a whole
/// reduced axis inside only if the others have kBesidePositions: fewer are transposed sooner.
inline constexpr std::int64_t kBesidePositions = 8;
inline constexpr std::int64_t kBesideBytes = 1024;

/// Elements of a block that is transposed, at most, and so the distance of vectors that are read
/// one after the other: blocks of this size, a vector of each row, fit L2.
inline constexpr std::int64_t kBlockElements = 1024;

/// Blocks are transposed into a buffer of this size, if it holds a vector of each: seven eighths of
/// an L1 of 32 KiB, so that at any distance of the rows none of the cache's sets is overfull.
inline constexpr std::int64_t kTransposeBytes = 28 * 1024;

/// argmin and argmax compare short rows of at least this size in registers, in squares of 16 bytes
/// of as many rows as those have elements. Of shorter ones most of each square is unused.
inline constexpr std::int64_t kSquareRowLeastBytes = 6;

/// Offsets of positions that are kept in a table: several axes are walked in one loop. 8 KiB of L1.
inline constexpr std::int64_t kWalkRows = 1024;

/// Elements and bytes of a tile's best elements. Narrow tiles stay in L1 together with their
/// positions; wide ones read long runs of each row, which is what memory prefetches.
inline constexpr std::int64_t kTileElements = 4096;
inline constexpr std::int64_t kTileBytes = 32 * 1024;

/// Distance between the arrays of a tile beyond their sizes, which may be multiples of what one
/// way of L1 holds: whole cache lines, more of them than a step writes at once.
inline constexpr std::int64_t kTileSkewBytes = 5 * 64;

/// Bytes of the groups of a tile, at most, unless they are one row: L2 holds them.
inline constexpr std::int64_t kGroupsBytes = 128 * 1024;

/// The best of some vectors stay in registers over a pass of rows: kPassBytes of a larger tile,
/// which L1 holds for the next vectors, but at least kPassRows: less would be stored too often.
inline constexpr std::int64_t kPassBytes = 16 * 1024;
inline constexpr std::int64_t kPassRows = 8;

/// Rows of at least this width are streams that the hardware prefetches side by side: all lanes of
/// up to kPassRows of them are taken at once.
inline constexpr std::int64_t kWideRowsBytes = 768;

/// Columns of inputs of at least this size, more than caches hold, are prefetched to L2: the rows
/// of the next pass; of a single pass what is kColumnsPrefetchAhead bytes on in its rows, as the
/// hardware prefetch stops at the end of a page.
inline constexpr std::int64_t kColumnsPrefetchBytes = 8 * 1024 * 1024;
inline constexpr std::int64_t kColumnsPrefetchAhead = 1024;

/// Threads share columns by splitting their positions, if each part has at least this many: merging
/// the parts costs about as much as some positions.
inline constexpr std::int64_t kMinPartPositions = 64;

/// Tiles of different tasks are at least this wide, not to waste cache lines and vectors.
inline constexpr std::int64_t kLeastTileBytes = 512;

/// Bytes of the cache lines that a row of a strided tile touches: the next rows, which often are in
/// the same lines, find them in L1.
inline constexpr std::int64_t kStridedTileBytes = 16 * 1024;

/// Lanes up to this far apart, of positions or groups beside each other as well, are packed row by
/// row, by loops over strides that the compiler knows: faster than to transpose, but more code.
inline constexpr std::int64_t kPackedStride = 3;

/// Distance at which rows are prefetched while they are transposed: memory stays busy while columns
/// are reduced. At least kTransposePrefetchLines cache lines at a time, but not all of long rows:
/// squares would wait for more misses than the processor keeps open.
inline constexpr std::int64_t kTransposePrefetchBytes = 8 * 1024;
inline constexpr std::int64_t kTransposePrefetchLines = 2;

// --- top-k -----------------------------------------------------------------------------------

/// Bytes of keys that are computed at a time, into a buffer on the stack: a loop over them should
/// be long, and small stacks hold two of them.
inline constexpr std::int64_t kKeyChunkBytes = 4096;

/// Rows of up to kTopKSampledLength elements have this many stripes per wanted element: with more a
/// threshold is closer, but takes longer to find. Those whose blocks would have at least
/// kTopKLongBlockBytes are faster by blocks, which need no keys of most elements.
inline constexpr std::int64_t kTopKStripesPerResult = 4;
inline constexpr std::int64_t kTopKLongBlockBytes = 256;

/// The block-extremes strategy pays about this many times more for a block (finding the k-th
/// highest extreme) than for an element of the k blocks that it looks into, so the cheapest block
/// length is near sqrt(ratio * length / k); and not below the minimum.
inline constexpr std::int64_t kTopKBlockCostRatio = 10;
inline constexpr std::int64_t kTopKMinBlock = 32;

/// Collected elements, for each wanted one, from which on blocks are looked into in the order of
/// their extremes: finding the next such block takes longer than taking the next of the row.
inline constexpr std::int64_t kTopKCollectedPerResult = 4;

/// Longer blocks would save little of the time to find the k-th highest extreme, and not fit L1.
inline constexpr std::int64_t kTopKMaxBlock = 1024;

/// It needs at least this many blocks per wanted element, or too many blocks beat the threshold;
/// and k at most this, which bounds its scratch memory.
inline constexpr std::int64_t kTopKBlocksPerResult = 2;
inline constexpr std::int64_t kTopKBlocksMaxK = 4096;

/// Elements sampled from a row for a threshold. That of a larger sample is closer, so that fewer
/// elements are collected and sorted in vain. Shorter rows than the first figure, whose keys L2
/// holds, get a threshold from stripes or blocks.
inline constexpr std::int64_t kTopKSampledLength = 16 * 1024;
constexpr std::int64_t top_k_sample(std::int64_t length) {
  if (length < kTopKSampledLength) return 0;
  return length / 64 < 32 * 1024 ? length / 64 : 32 * 1024;
}

/// Sampled elements that are prefetched ahead: each is a cache miss in a long row.
inline constexpr std::int64_t kTopKSamplePrefetch = 16;

/// Capacity for elements at or above a sampled threshold: twice as many as it is meant to collect,
/// and the elements equal to the threshold; and for those of 24 sampled ones, as with small k a few
/// of them decide. One row in some 1e5 has more, and raises its threshold.
constexpr std::int64_t top_k_sample_capacity(std::int64_t length, std::int64_t k) {
  const std::int64_t sample = top_k_sample(length);
  const std::int64_t capacity = 3 * k + (sample == 0 ? 0 : 24 * (length / sample));
  return capacity < length ? capacity : length + 1;
}

/// At least this many elements are compared with a threshold at a time: where there is no capacity
/// for as many, the threshold rises. Fewer would take less time than the call for them. Four of the
/// longest vectors of bytes have as many.
inline constexpr std::int64_t kTopKLeastCompared = 256;

/// Shorter rows than this are sorted.
inline constexpr std::int64_t kTopKThresholdLength = 64;

/// Up to this many items, and vectors of their keys, are sorted by comparing each with all; more by
/// an LSD radix sort, each of whose passes goes over all counters.
inline constexpr std::int64_t kTopKPairwiseLength = 256;
inline constexpr std::int64_t kTopKPairwiseVectors = 20;

/// Bits of a digit at most: fewer passes against more counters.
inline constexpr int kTopKDigitBits = 9;

/// The radix sort takes the highest log2(n) + kTopKSpareBits bits of a key's distance from the
/// lowest one: fewer passes than all bits take. Items equal in these bits are sorted again, groups
/// of fewer than kTopKInsertionLength by insertion.
inline constexpr int kTopKSpareBits = 10;
inline constexpr std::int64_t kTopKInsertionLength = 64;

/// Histograms of a pass, each of an equal share of the items; the shares are walked side by side.
inline constexpr std::int64_t kTopKHistograms = 4;

/// Columns are selected from side by side, in a vector lane each, if a call has at least this many.
/// Inserting costs some 6 operations per slot for all lanes together, and the more slots there are
/// the more elements are inserted: with k above kTopKLongColumnsK only while n * k^2 times the
/// bytes of a lane (4 for wider ones) is at most kTopKSlotsWork. Else rows one by one are faster.
inline constexpr std::int64_t kTopKMinLanes = 8;
inline constexpr int kTopKColumnsMaxK = 32;
inline constexpr std::int64_t kTopKLongColumnsK = 8;
inline constexpr std::int64_t kTopKSlotsWork = 384 * 1024;

/// All elements of a column are compared with each other, n^2 / 2 comparisons for all lanes
/// together, if they are more than kTopKLeastCounted and at most kTopKCountedBytes of lanes (4
/// bytes for wider ones), and n <= k * kTopKCountedPerResult. Elements of 8 bytes, which take
/// longer to insert: n <= k * kTopKWideCountedPerResult. Others with k <= kTopKLongColumnsK: n = k.
inline constexpr std::int64_t kTopKCountedBytes = 512;
inline constexpr std::int64_t kTopKLeastCounted = 5;
inline constexpr std::int64_t kTopKCountedPerResult = 2;
inline constexpr std::int64_t kTopKWideCountedPerResult = 4;

/// Contiguous elements whose lanes fill less than this share of their cache lines, in percent, are
/// groups, beside the lanes of a longer axis: their last vector would be mostly empty.
inline constexpr std::int64_t kTopKLaneFill = 66;

/// The most elements of columns that are selected from side by side: any number with
/// kTopKLongColumnsLanes; with fewer lanes, of `lane_bytes` bytes each (4 for wider ones), as many
/// as the square of all their bytes. A vector that is part empty takes as long as a full one, and
/// the longer a row is the less it takes by itself, per element.
inline constexpr std::int64_t kTopKLongColumnsLanes = 32;
constexpr std::int64_t top_k_longest_column(std::int64_t lanes, std::int64_t lane_bytes) {
  const std::int64_t filled = lanes * lane_bytes;
  return lanes < kTopKLongColumnsLanes ? filled * filled : INT64_MAX;
}

/// Rows are faster one after the other than inserted side by side if their elements, times k +
/// kTopKRowSlots, times a lane's bytes (at most 4), are more than this; of groups more than twice.
inline constexpr std::int64_t kTopKShortRowWork = 24 * 1024;
inline constexpr std::int64_t kTopKRowSlots = 8;

/// The first elements are inserted without a look whether any of a vector's lanes needs them:
/// mostly yes, and a mispredicted branch takes as long as inserting into kTopKFewSlots slots. With
/// fewer they are kTopKSureVectors for each lane of a vector, with more kTopKSurePerSlot for each.
inline constexpr int kTopKFewSlots = 10;
inline constexpr std::int64_t kTopKSureVectors = 12;
inline constexpr std::int64_t kTopKSurePerSlot = 4;

/// L1 holds the keys of a tile of columns, its slots, the lines of one vector in a pass's rows.
inline constexpr std::int64_t kTopKTileBytes = 16 * 1024;
inline constexpr std::int64_t kTopKSlotBytes = 16 * 1024;
inline constexpr std::int64_t kTopKPassRows = 128;

/// Rows per task at most. Rows of a strided axis are copied one after the other into scratch, as
/// many as fit there, so that every cache line is used, and read once for several passes.
inline constexpr std::int64_t kTopKGroupRows = 32;
inline constexpr std::int64_t kTopKPackBytes = 1024 * 1024;

/// Looking one element up, of a tuple or of a strided array, moves a cache line.
inline constexpr std::int64_t kLookUpBytes = 64;

/// Rows fewer than threads are split into parts of at least this many bytes: each part may have k
/// elements to collect, and what was collected is sorted. With small k that hardly takes longer
/// than reading the row: a second thread, which may have to be woken, pays only for long rows.
constexpr std::int64_t top_k_min_part_bytes(std::int64_t k) {
  return (k <= kTopKBlocksMaxK ? 640 : 128) * 1024;
}

/// From this many on, the items that parts of a row collected are divided by their keys into bins,
/// and consecutive bins into buckets, which threads sort and write, each by itself in L2. Fewer are
/// sorted by one thread. Bins are many, as most of a range of doubles' keys are those of numbers
/// near 0; buckets are few, as each is a place in memory that is written.
inline constexpr std::int64_t kTopKDividedItems = 8 * 1024;
inline constexpr std::int64_t kTopKBucketItems = 32 * 1024;
inline constexpr int kTopKBinBits = 12;

/// Items whose elements and positions are written at a time.
inline constexpr std::int64_t kTopKWriteChunk = 128;

/// Row parts have at most this many elements, so that positions fit 32 bits inside the kernels.
inline constexpr std::int64_t kTopKMaxPart = std::int64_t{1} << 31;

// --- gather ----------------------------------------------------------------------------------

/// Where tuples touch up to kGatherNearBytes of an input, which the caches hold, slices of up to
/// kGatherSmallBytes are copied as soon as their tuple is checked: no offsets are stored and loaded
/// again, and no slice is prefetched.
inline constexpr std::int64_t kGatherSmallBytes = 64;
inline constexpr std::int64_t kGatherNearBytes = 4 * 1024 * 1024;

/// Bytes of work that looking up a tuple counts as: a cache line of an input that the caches do not
/// hold; of others less, as the threads would be woken for a few microseconds.
constexpr std::int64_t look_up_work(std::int64_t input_bytes) {
  return input_bytes > kGatherNearBytes ? kLookUpBytes : kLookUpBytes / 4;
}

/// Tuples whose offsets are otherwise computed at a time, ahead of the copies. Their slices are
/// prefetched then; of longer chunks the memory would wait for the copies.
inline constexpr std::int64_t kGatherChunk = 128;

/// Software prefetch distance in slices; of long ones fewer, as many as hold kGatherAheadBytes, or
/// of what the caches hold kGatherNearAheadBytes.
inline constexpr std::int64_t kGatherAhead = 64;
inline constexpr std::int64_t kGatherAheadBytes = 32 * 1024;
inline constexpr std::int64_t kGatherNearAheadBytes = 4 * 1024;

/// Software prefetch distances in the index tuples in bytes: to L1, and from there on to L2. The
/// hardware prefetch stops at pages, and does not keep up with loops that also load from all over
/// the input.
inline constexpr std::int64_t kGatherTuplePrefetchBytes = 1024;
inline constexpr std::int64_t kGatherTuplesToL2Bytes = 8 * 1024;

/// Tuples from a negative coordinate on that are done without a branch on the sign: each such block
/// costs a mispredicted branch.
inline constexpr std::int64_t kGatherTupleBlock = 64;

/// Outputs of at least kGatherStreamBytes are written by non-temporal stores: they would push
/// everything else out of the caches, and the processor would first read what is overwritten. Not
/// those that may fit a cache together with what is read, up to kGatherCachedBytes; of one thread
/// up to kGatherCachedAloneBytes, as its slices wait for what it reads to overwrite. And none on
/// Intel's processors, where such stores take longer.
inline constexpr std::int64_t kGatherStreamBytes = 8 * 1024 * 1024;
inline constexpr std::int64_t kGatherCachedBytes = 32 * 1024 * 1024;
inline constexpr std::int64_t kGatherCachedAloneBytes = 16 * 1024 * 1024;

/// Slices longer than this, unless they are streamed, are copied by the system library's memcpy,
/// which on many processors takes instructions that do not read what is overwritten, but that take
/// long to start; the hardware prefetches what such slices have after their beginning.
inline constexpr std::int64_t kGatherLinesBytes = 4 * 1024;

/// Slices shorter than this would leave cache lines to be written in parts, each of them to memory.
inline constexpr std::int64_t kGatherStreamLeastBytes = 64;

/// Prefetch distance in the output in bytes, for slices from kGatherPrefetchOutputLeast up to
/// kGatherLinesBytes: prefetches delay shorter ones that a cache holds.
inline constexpr std::int64_t kGatherPrefetchOutput = 512;
inline constexpr std::int64_t kGatherPrefetchOutputLeast = 32;

}  // namespace dmlcpu::tuning
