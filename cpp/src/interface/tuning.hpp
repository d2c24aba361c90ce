// Block sizes and limits that kernels or their interfaces read; some of them planners and ops read
// as well. docs/tuning.md has a row for each.
//
// Like all headers of this folder it is compiled with every instruction set's own flags, so it
// holds nothing that becomes code by itself: no inline functions except constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

namespace dmlcpu::tuning {

// --- rows ------------------------------------------------------------------------------------

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

/// Rows and blocks of at least this many vectors are read from a vector boundary on, except for the
/// first vector and the last. Shorter ones lose more by reading some elements twice.
inline constexpr std::int64_t kAlignFromVectors = 16;

/// Distance at which rows are prefetched, also where top-k looks for the extremes of blocks: the
/// hardware prefetch ends at every page, and starts anew where a block begins with its last vector.
/// A shorter distance hides less of the memory's latency.
inline constexpr std::int64_t kRowPrefetchBytes = 6 * 1024;

// --- columns ---------------------------------------------------------------------------------

/// Distance between the arrays of a tile beyond their sizes, which may be multiples of what one
/// way of L1 holds: whole cache lines, more of them than a step writes at once.
inline constexpr std::int64_t kTileSkewBytes = 5 * 64;

/// Rows of at least kWideRowsBytes are streams that the hardware prefetches side by side: all lanes
/// of up to kPassRows of them are taken at once, while the best of some vectors stay in registers.
/// A pass of narrower rows has at least kPassRows as well: fewer would store the best too often.
inline constexpr std::int64_t kPassRows = 8;
inline constexpr std::int64_t kWideRowsBytes = 768;

/// Cache lines that are prefetched at a time while rows are transposed, but not all of long rows:
/// squares would wait for more misses than the processor keeps open. Fewer lines are more loops.
inline constexpr std::int64_t kTransposePrefetchLines = 2;

// --- top-k of rows ---------------------------------------------------------------------------

/// Bytes of keys that are computed at a time, into a buffer on the stack: a loop over them should
/// be long, and small stacks hold two of them.
inline constexpr std::int64_t kKeyChunkBytes = 4096;

/// Sampled elements that are prefetched ahead: each is a cache miss in a long row.
inline constexpr std::int64_t kTopKSamplePrefetch = 16;

/// At least this many elements are compared with a threshold at a time: where there is no capacity
/// for as many, the threshold rises. Fewer would take less time than the call for them. Four of the
/// longest vectors of bytes have as many.
inline constexpr std::int64_t kTopKFilterLeast = 256;

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

/// From kTopKBucketsLeastItems on, the items that parts of a row collected are divided by their
/// keys into bins, and consecutive bins into buckets, which threads sort; fewer are sorted by one
/// thread. Bins are many, as most of a range of doubles' keys are those of numbers near 0.
inline constexpr std::int64_t kTopKBucketsLeastItems = 8 * 1024;
inline constexpr int kTopKBinBits = 12;

/// Items whose elements and positions are written at a time.
inline constexpr std::int64_t kTopKWriteChunk = 128;

// --- top-k of columns ------------------------------------------------------------------------

/// The most slots of a vector lane, into which elements of columns are inserted: some 6 operations
/// per slot for all lanes together. More slots are more code, and leave the registers.
inline constexpr int kTopKColumnsMaxK = 32;

/// Up to this k, columns are selected from their elements, whose keys are computed in registers:
/// few slots take less time than the memory. With more, keys are computed once, into a tile.
inline constexpr std::int64_t kTopKElementsMaxK = 8;

/// The first positions are inserted without a look whether any of a vector's `lanes` needs them:
/// mostly yes, and a mispredicted branch takes as long as inserting into ten slots.
constexpr std::int64_t top_k_sure_positions(std::int64_t slots, std::int64_t lanes) {
  return slots < 10 ? 12 * lanes : 4 * slots;
}

/// The elements of a column may all be compared with each other, n^2 / 2 comparisons for all
/// columns of a vector, if its lanes, counted as 4 bytes at most, have up to this many bytes.
/// Longer columns would leave L1.
inline constexpr std::int64_t kTopKComparisonsBytes = 512;

// --- gather ----------------------------------------------------------------------------------

/// Slices of up to this many bytes, of an input that the caches hold, are copied as soon as their
/// tuple is checked: no offsets are stored and loaded again, and no slice is prefetched.
inline constexpr std::int64_t kGatherSmallBytes = 64;

/// Tuples whose offsets are otherwise computed at a time, ahead of the copies. Their slices are
/// prefetched then; of longer chunks the memory would wait for the copies.
inline constexpr std::int64_t kGatherChunk = 128;

/// Software prefetch distance in slices, at most: a shorter one hides less latency, a longer one
/// evicts what it prefetched.
inline constexpr std::int64_t kGatherAhead = 64;

/// Software prefetch distances in the index tuples in bytes: to L1, and from there on to L2. The
/// hardware prefetch stops at pages, and does not keep up with loops that also load from all over
/// the input.
inline constexpr std::int64_t kGatherTuplePrefetchBytes = 1024;
inline constexpr std::int64_t kGatherTuplesToL2Bytes = 8 * 1024;

/// Tuples from a negative coordinate on that are done without a branch on the sign: each such block
/// costs a mispredicted branch.
inline constexpr std::int64_t kGatherTupleBlock = 64;

/// Slices longer than this, unless they are streamed, are copied by the system library's memcpy,
/// which on many processors takes instructions that do not read what is overwritten, but that take
/// long to start; the hardware prefetches what such slices have after their beginning.
inline constexpr std::int64_t kGatherLinesBytes = 4 * 1024;

/// Prefetch distance in the output in bytes, for slices from kGatherPrefetchOutputLeast up to
/// kGatherLinesBytes: prefetches delay shorter ones that a cache holds.
inline constexpr std::int64_t kGatherPrefetchOutput = 512;
inline constexpr std::int64_t kGatherPrefetchOutputLeast = 32;

}  // namespace dmlcpu::tuning
