// The kernels' interface: plain data in, plain data out, one table per instruction set.
//
// This header is compiled with every level's own flags, so it and what it includes hold nothing
// that becomes code by itself: no inline functions but constexpr ones, no standard library types.
#pragma once

#include <cstdint>

#include "core/tuning.hpp"
#include "dmlcpu/data_type.hpp"

namespace dmlcpu {

/// Bytes rounded up to whole cache lines, at which each part of scratch memory begins.
constexpr std::int64_t round_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// How the elements of a type are ranked: whether the largest or the smallest ranks highest, and
/// whether a NaN ranks above or below all numbers. Equal elements have equal ranks.
enum class Ranking : std::uint8_t {
  kSmallestNanLast,
  kSmallestNanFirst,
  kLargestNanLast,
  kLargestNanFirst,
};
inline constexpr int kRankingCount = 4;

// --- argmin and argmax -------------------------------------------------------------------------

/// `lines` reductions over n elements each. Element i of line l is located at data[l * line_stride
/// + i * stride] and has the index index_base + i * index_step, where index_step is at least 1
/// unless n is 1.
struct ArgRows {
  const void* data;
  std::int64_t n;
  std::int64_t stride;
  std::int64_t lines;
  std::int64_t line_stride;
  std::int64_t index_base;
  std::int64_t index_step;
  bool starts;      ///< keys and indices hold nothing yet
  bool prefetches;  ///< whether the input is too large for the caches
};

/// Merges each row into its best so far: the higher key wins, of equal keys the lower index. Keys
/// are 64-bit integers in the order of the type's own keys.
using ArgRowsKernel = void (*)(const ArgRows& rows, std::int64_t* keys, std::int64_t* indices);

/// How a tile of columns is brought to vectors of lanes.
enum class Packing : std::uint8_t {
  kNone,        ///< lanes are contiguous
  kTransposed,  ///< each lane's elements are a few blocks, which are transposed
  kStrided,     ///< element by element
};

/// Columns: lanes side by side, each with the positions [first, last). Position i of lane l of
/// group g is located at data[rows[i % period] + (i / period) * period_stride + g * group_stride +
/// l * lane_stride].
///
/// If transposed, rows and group_stride are about the transposed blocks instead, whose rows are
/// tile_lanes apart: a period's elements of lane l are, for each of block_offsets, the `block`
/// elements from data[block_offset + l * lane_stride] on. There is one tile of groups.
struct Columns {
  const void* data;
  std::int64_t first;
  std::int64_t last;
  std::int64_t period;
  std::int64_t period_stride;
  const std::int64_t* rows;
  std::int64_t groups;
  std::int64_t group_stride;
  std::int64_t lanes;
  std::int64_t lane_stride;
  Packing packing;
  std::int64_t block;
  std::int64_t blocks;
  const std::int64_t* block_offsets;
  std::int64_t tile_groups;  ///< packed and reduced together
  std::int64_t tile_lanes;
  std::int64_t pass;   ///< positions read of one vector of lanes before the next
  std::int64_t ahead;  ///< elements read in place are prefetched from this distance
};

/// Bytes of packed elements of a tile.
constexpr std::int64_t packed_bytes(const Columns& columns, std::int64_t element_size) {
  if (columns.packing == Packing::kNone) return 0;
  const std::int64_t rows = columns.packing == Packing::kTransposed
                                ? columns.block * columns.blocks
                                : columns.pass * columns.tile_groups;
  return round_up(rows * columns.tile_lanes * element_size);
}

/// A column's result: its index, and the element itself if `values` is not null, of lane l of group
/// g at group_stride * g + lane_stride * l.
struct ArgOutput {
  void* indices;
  std::int64_t index_size;
  std::int64_t index_group_stride;
  std::int64_t index_lane_stride;
  void* values;
  std::int64_t value_group_stride;
  std::int64_t value_lane_stride;
};

/// argmin or argmax of columns. Position i has the index index_base + i * index_step.
struct ArgColumns {
  Columns columns;
  std::int64_t index_base;
  std::int64_t index_step;
  bool prefetches;
  void* scratch;  ///< arg_columns_scratch_bytes(), aligned to 64 bytes

  /// If null, results go to `output`, and positions are at most arg_run_positions(). Else they are
  /// merged, as by an ArgRowsKernel, into `results` keys and indices of each group: lane l into
  /// number l % results, its indices higher by l / results * widened_step.
  std::int64_t* keys;
  std::int64_t* indices;
  bool starts;  ///< keys and indices hold nothing yet
  std::int64_t results;
  std::int64_t widened_step;
  ArgOutput output;
};
using ArgColumnsKernel = void (*)(const ArgColumns& columns);

/// Positions are counted in an integer as wide as the element, so that elements and positions fill
/// vectors alike; this many, before the counter wraps.
constexpr std::int64_t arg_run_positions(std::int64_t element_size) {
  return element_size < 4 ? std::int64_t{1} << (8 * element_size) : std::int64_t{1} << 30;
}

/// Bytes of one array of a tile's best elements, or of their positions; some more, so that the
/// arrays do not lie in the same sets of L1.
constexpr std::int64_t arg_tile_bytes(const Columns& columns, std::int64_t element_size) {
  return round_up(columns.tile_groups * columns.tile_lanes * element_size) + tuning::kTileSkewBytes;
}

/// Best elements, positions, the packed tile, and where its rows are.
constexpr std::int64_t arg_columns_scratch_bytes(const Columns& columns,
                                                 std::int64_t element_size) {
  const std::int64_t rows =
      columns.packing == Packing::kStrided ? columns.pass * std::int64_t{sizeof(std::int64_t)} : 0;
  return 2 * arg_tile_bytes(columns, element_size) + packed_bytes(columns, element_size) +
         round_up(rows);
}

// --- top-k -------------------------------------------------------------------------------------

/// A selected element: its rank as an unsigned integer in the order of the type's own ranks, and
/// its position in the row.
struct TopKItem {
  std::uint64_t rank;
  std::int64_t index;
};

/// How many digits of `bits` bits hold `all_bits`.
constexpr int digit_count(int all_bits, int bits) { return (all_bits + bits - 1) / bits; }

/// Counters for the histograms of a threshold search: two, used alternately.
inline constexpr std::int64_t kTopKHistogramCounts = 2 << tuning::kTopKHistogramBits;

/// Counters for a radix sort by all bits of a rank: one for each value of each digit.
constexpr std::int64_t top_k_sort_counts(std::int64_t element_size) {
  const int bits = tuning::kTopKSortDigitBits;
  return std::int64_t{digit_count(static_cast<int>(8 * element_size), bits)} << bits;
}

/// Whether `count` items are sorted by digits, else by comparison.
constexpr bool top_k_sorts_by_digits(std::int64_t element_size, std::int64_t count) {
  return count >= tuning::kTopKRadixSortPerByte * element_size;
}

/// The same counters for a bucket's items, by the bits that its number does not tell, in long
/// digits.
constexpr std::int64_t top_k_bucket_counts(std::int64_t element_size) {
  const int bits = static_cast<int>(8 * element_size) - tuning::kTopKBucketBits;
  return bits <= 0 ? 0
                   : std::int64_t{digit_count(bits, tuning::kTopKLongDigitBits)}
                         << tuning::kTopKLongDigitBits;
}

/// Writes the ranks of data[0], data[stride], ... as unsigned integers of the element's width.
using RankLoader = void (*)(const void* data, std::int64_t stride, std::int64_t count, void* ranks);

/// Writes the highest rank of each `block` elements, the last block may have fewer, in the same
/// form. `packed` holds a block.
using BlockExtremes = void (*)(const void* data, std::int64_t stride, std::int64_t length,
                               std::int64_t block, bool prefetches, void* packed, void* extremes);

/// Selects the k elements of highest rank from data[0], data[stride], ..., data[(length - 1) *
/// stride], equal ranks in ascending order of position, and writes them in that order.
struct TopKRow {
  const void* data;
  std::int64_t element_size;
  std::int64_t stride;
  std::int64_t length;  ///< at most tuning::kTopKMaxPiece
  std::int64_t k;
  std::int64_t block;   ///< kBlocks: elements per block, at most kTopKMaxBlock, at least k blocks
  bool sort_all;        ///< kRadix: sort all elements, without a threshold first
  std::int64_t room;    ///< kRadix: elements that there is room to sort
  std::int64_t sample;  ///< kRadix: elements to guess a threshold from, 0 for none
  std::int64_t sample_reaches;  ///< kRadix: how many of the sample the guess is to be reached by
  /// kRadix: instead, a guess for a longer row of which this is a piece; null for none. Only what
  /// reaches it is selected then, even if that is less than k.
  const std::uint64_t* guess;
  bool prefetches;  ///< whether to ask for elements before they are needed
  RankLoader load;
  BlockExtremes extremes;
  void* scratch;  ///< as much as the strategy's header says, aligned to 64 bytes
};
/// Returns how many it wrote: k, unless there is a guess.
using TopKKernel = std::int64_t (*)(const TopKRow& row, TopKItem* items);

/// Writes the ranks of row.sample elements, spread over the row without a period.
using TopKSampler = void (*)(const TopKRow& row, void* ranks);

/// A rank that at least k of n ranks reach, 1 <= k <= n.
using TopKGuess = std::uint64_t (*)(const void* ranks, std::int64_t n, std::int64_t k);

/// The bits that are set in some of a row's ranks, and in all.
struct RankBits {
  std::uint64_t some;
  std::uint64_t all;
};

/// Sorting a long row. Ranks that differ in no bit above go to buckets by the kTopKBucketBits from
/// `shift` on, the highest to the first.
inline constexpr std::int64_t kTopKBuckets = 1 << tuning::kTopKBucketBits;
struct TopKBucketKernels {
  /// Writes the row's ranks.
  RankBits (*load)(const TopKRow& row, void* ranks);
  /// Adds the number of ranks in each bucket to counts[bucket].
  void (*count)(const void* ranks, std::int64_t count, int shift, std::uint32_t* counts);
  /// Writes items of these ranks and of positions from `first` on, in the kernels' own form, to
  /// items[starts[bucket]], which it moves on.
  void (*fill)(const void* ranks, std::int64_t count, std::int64_t first, int shift,
               std::uint32_t* starts, void* items);
  /// Sorts a bucket, with as many others to move its items to, and top_k_bucket_counts(); returns
  /// where they ended.
  const void* (*sort)(void* items, void* other, std::int64_t count, std::uint32_t* counts);
  void (*read)(const void* items, std::int64_t first, std::int64_t count, TopKItem* to);
};

/// Writes the elements of these keys, `count` of the element's width; whether all keys tell them:
/// those of zeros and NaNs do not.
using KeyDecoder = bool (*)(const void* keys, std::int64_t count, void* elements);

/// Where element j of lane l of group g goes: data[j * k_stride + g * group_stride + l *
/// lane_stride].
struct TopKOutput {
  void* data;
  std::int64_t k_stride;
  std::int64_t group_stride;
  std::int64_t lane_stride;
};

/// The k elements of highest key of each column, equal keys in ascending order of position; 2 <= k
/// <= kTopKColumnsMaxK. All positions are walked, from the first on.
struct TopKColumns {
  Columns columns;
  std::int64_t k;
  bool prefetches;
  RankLoader load;
  KeyDecoder decode;
  TopKOutput values;
  TopKOutput indices;
  std::int64_t index_size;
  void* scratch;  ///< top_k_columns_scratch(), aligned to 64 bytes
};
using TopKColumnsKernel = void (*)(const TopKColumns& columns);

/// Bytes of a lane, which holds a key or a position, and how many positions it can count.
constexpr std::int64_t top_k_lane_bytes(std::int64_t element_size) {
  return element_size < 2 ? 2 : element_size;
}
constexpr std::int64_t top_k_column_positions(std::int64_t element_size) {
  return std::int64_t{1} << (element_size <= 2 ? 16 : 31);
}

/// Lanes that fill whole vectors of any instruction set.
constexpr std::int64_t top_k_padded_lanes(std::int64_t element_size, std::int64_t lanes) {
  return round_up(lanes * top_k_lane_bytes(element_size)) / top_k_lane_bytes(element_size);
}

/// Where the parts of the scratch memory begin, after what packs a tile, and where it ends: the
/// keys of a pass, its rows, slots, results of a group as keys and as elements.
struct TopKColumnsScratch {
  std::int64_t keys;
  std::int64_t key_rows;
  std::int64_t states;
  std::int64_t results;
  std::int64_t bytes;
};
constexpr TopKColumnsScratch top_k_columns_scratch(const Columns& columns,
                                                   std::int64_t element_size, std::int64_t k) {
  const std::int64_t padded = top_k_padded_lanes(element_size, columns.tile_lanes);
  const std::int64_t pass_bytes = round_up(columns.pass * std::int64_t{sizeof(std::int64_t)});
  const std::int64_t key_bytes =
      columns.packing == Packing::kTransposed
          ? packed_bytes(columns, element_size)
          : round_up(columns.pass * columns.tile_groups * padded * element_size);
  // Up to twice as many slots as are wanted.
  const std::int64_t state_bytes =
      columns.tile_groups * padded * 4 * k * top_k_lane_bytes(element_size);
  TopKColumnsScratch parts{};
  parts.keys = packed_bytes(columns, element_size) + pass_bytes;
  parts.key_rows = parts.keys + key_bytes;
  parts.states = parts.key_rows + pass_bytes;
  parts.results = parts.states + round_up(state_bytes);
  parts.bytes = parts.results + round_up(2 * k * padded * element_size);
  return parts;
}

/// The selected elements of some lines: `count` items of each, one line behind the other, positions
/// within their line.
struct TopKSelected {
  const TopKItem* items;
  std::int64_t count;
  std::int64_t lines;
  const void* data;          ///< the first line's first element
  std::int64_t stride;       ///< along a line
  std::int64_t line_stride;  ///< from line to line
};

/// Writes their values, element i of line l to values[l * value_line_stride + i * value_stride].
using TopKValueWriter = void (*)(const TopKSelected& selected, void* values,
                                 std::int64_t value_stride, std::int64_t value_line_stride);

/// kDirect: whether a threshold is found first.
constexpr bool top_k_direct_by_threshold(std::int64_t length, std::int64_t k) {
  return length >= tuning::kTopKThresholdLength && 2 * k <= length;
}

/// kDirect: how many items are sorted, 0 if some are partitioned off first.
constexpr std::int64_t top_k_direct_sorted(std::int64_t length, std::int64_t k) {
  if (top_k_direct_by_threshold(length, k)) return k;
  return 4 * k > length ? length : 0;
}

enum class TopKStrategy : std::uint8_t {
  kDirect,  ///< rank every element, select by comparison
  kBlocks,  ///< threshold from the extremes of blocks, then look into the blocks that reach it
  kRadix,   ///< threshold from a sample, or from histograms of digits; sort what reaches it
};

/// Copies lines of `length` elements, stride apart, to consecutive elements, one line behind the
/// other; the lines start line_stride apart.
using LinePacker = void (*)(const void* data, std::int64_t stride, std::int64_t length,
                            std::int64_t line_stride, std::int64_t lines, void* packed);
inline constexpr int kTopKStrategyCount = 3;

/// The unsigned types that hold ranks: 1, 2, 4 or 8 bytes, at index 0 to 3.
inline constexpr int kWidthCount = 4;

// --- gather ------------------------------------------------------------------------------------

/// An indexed axis. Indices are read as signed integers: `wrap` is what is added to negative ones,
/// the size if they are meant so, else 2^bits modulo 2^64.
struct GatherAxis {
  std::int64_t size;
  std::int64_t stride;  ///< of the input, in bytes
  std::int64_t wrap;
};
inline constexpr int kMaxTupleLength = 8;

/// Index tuples: coordinate j of tuple i is indices[i * tuple_stride + j * coordinate_stride] and
/// addresses axes[j], from byte i * batch_stride on.
struct GatherTuples {
  const void* indices;
  std::int64_t tuple_stride;
  std::int64_t coordinate_stride;
  std::int64_t batch_stride;
  const GatherAxis* axes;
  int length;      ///< at most kMaxTupleLength
  bool is_signed;  ///< the indices' type
  bool clips;      ///< coordinates out of range to the nearest in range
};

/// Whether all coordinates of `count` tuples from `first` on are in range.
using GatherCheck = bool (*)(const GatherTuples& tuples, std::int64_t first, std::int64_t count);

/// Also writes the tuples' offsets in bytes, up to the first tuple out of range that is not
/// clipped.
using GatherOffsets = bool (*)(const GatherTuples& tuples, std::int64_t first, std::int64_t count,
                               std::int64_t* offsets);

/// Slices of `bytes` bytes in all, output_stride bytes apart in the output. The elements of a slice
/// are from_stride and to_stride elements apart, which only the kernel of strided slices reads.
struct GatherCopy {
  const char* data;
  char* output;
  std::int64_t output_stride;
  std::int64_t bytes;
  std::int64_t from_stride;
  std::int64_t to_stride;
  bool stream;  ///< the output is too large to be found in a cache afterwards
};

/// Copies a slice from data + offsets[i] to output + i * output_stride, for each i in [0, count).
using GatherCopyKernel = void (*)(const GatherCopy& copy, const std::int64_t* offsets,
                                  std::int64_t count);

/// Checks and copies `count` tuples one by one, up to the first one out of range that is not
/// clipped; whether there was none. Only without a batch, of contiguous slices of up to
/// kGatherAtOnceBytes, which are next to each other in the output and along the last axis.
using GatherAtOnce = bool (*)(const GatherTuples& tuples, std::int64_t count,
                              const GatherCopy& copy);

// --- tables ------------------------------------------------------------------------------------

/// The kernels of one instruction set. Rows are element types (top-k: rank widths; gather: indices
/// of 4 and 8 bytes, and elements of 1, 2, 4 and 8), columns strategies.
struct ArgKernels {
  ArgRowsKernel rows[kDataTypeCount][kRankingCount];
  ArgColumnsKernel columns[kDataTypeCount][kRankingCount];
};
struct TopKKernels {
  RankLoader load[kDataTypeCount][kRankingCount];
  BlockExtremes extremes[kDataTypeCount][kRankingCount];
  TopKValueWriter values[kDataTypeCount][kRankingCount];
  TopKKernel select[kWidthCount][kTopKStrategyCount];
  TopKSampler sample[kWidthCount];
  TopKGuess guess[kWidthCount];
  TopKBucketKernels buckets[kWidthCount];
  KeyDecoder decode[kDataTypeCount][kRankingCount];
  TopKColumnsKernel columns[kWidthCount];
  LinePacker pack[kWidthCount];
};
struct GatherKernels {
  GatherCheck check[2];
  GatherOffsets offsets[2];
  GatherAtOnce at_once[2];
  GatherCopyKernel copy;
  GatherCopyKernel copy_strided[kWidthCount];
};
struct KernelTable {
  const char* name;
  const ArgKernels* arg;
  const TopKKernels* top_k;
  const GatherKernels* gather;
};

// Each level's object files define these in the level's own namespace.
#define DMLCPU_DECLARE_LEVEL(level)          \
  namespace level {                          \
  extern const ArgKernels arg_kernels;       \
  extern const TopKKernels top_k_kernels;    \
  extern const GatherKernels gather_kernels; \
  }

}  // namespace dmlcpu
