// The kernels of top-k: plain data in, plain data out.
//
// Like all headers of this folder it is compiled with every instruction set's own flags, so it
// holds nothing that becomes code by itself: no inline functions except constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

#include "interface/columns.hpp"
#include "interface/tuning.hpp"

namespace dmlcpu {

/// Bytes of the shortest vector of any instruction set.
inline constexpr std::int64_t kLeastVectorBytes = 16;

/// Whether a sort compares each of `count` items with all, where a vector has `width` keys.
constexpr bool top_k_compares_items(std::int64_t width, std::int64_t count) {
  return count <= tuning::kTopKPairwiseLength && count <= tuning::kTopKPairwiseVectors * width;
}

/// Counters for a sort of up to `count` items: one for each histogram and digit; 0 if each of the
/// items is compared with all, whatever the instruction set.
constexpr std::int64_t top_k_sort_counts(std::int64_t element_size, std::int64_t count) {
  return top_k_compares_items(kLeastVectorBytes / element_size, count)
             ? 0
             : tuning::kTopKHistograms << tuning::kTopKDigitBits;
}

/// What depends on an element type and its order.
struct TopKElementKernels {
  KeyRule rule;
  /// Writes the highest key of each `block` elements, the last block may have fewer. `scratch`
  /// holds a block.
  void (*extremes)(const void* data, std::int64_t stride, std::int64_t length, std::int64_t block,
                   bool prefetches, void* scratch, void* extremes);
};

/// How the k highest of a row are found. All but the first find a threshold with at least k
/// elements at or above it, and collect those.
enum class TopKStrategy : std::uint8_t {
  kSort,     ///< sort all
  kStripes,  ///< from the extremes of stripes, whose elements are at one distance
  kBlocks,   ///< from the extremes of blocks; only blocks not below it are read again
  kSample,   ///< from a sample; too high: again without a threshold; far too low: it rises
};

struct TopKSelection {
  TopKStrategy strategy = TopKStrategy::kSort;
  std::int64_t capacity = 0;  ///< of the items that are collected
  /// Keys of stripes, blocks or the sample, from which a threshold is found.
  std::int64_t keys = 0;
  std::int64_t block = 0;  ///< kStripes, kBlocks: elements of each
  std::int64_t held = 0;   ///< elements whose keys are held as well: all of stripes, of one block
  /// kSample: the threshold is the `sample_k`-th highest of the sampled keys.
  std::int64_t sample_k = 0;
};

/// The most elements of a row, or a part of one, from which items are collected: positions fit 32
/// bits inside the kernels.
inline constexpr std::int64_t kTopKMaxPart = std::int64_t{1} << 31;

/// A row, or a part of one: the elements at data[position * stride], for `length` positions from
/// `first` on.
struct TopKRow {
  const void* data;
  std::int64_t stride;
  std::int64_t first;
  std::int64_t length;  ///< to collect at most kTopKMaxPart
  std::int64_t k;
  bool prefetches;
  const TopKElementKernels* element;
  const TopKSelection* selection;
  /// kSample: the threshold of a longer row of which this is a part; null if this is the row. Only
  /// what is at or above it is selected, even if that is less than k. Every key is at least 0.
  const std::uint64_t* threshold;
  void* scratch;  ///< for keys, top_k_row_scratch() says how large, aligned to 64 bytes
  void* items;    ///< capacity for what is collected, and one more
};

inline constexpr std::int64_t kTopKBinCount = std::int64_t{1} << tuning::kTopKBinBits;
inline constexpr std::int64_t kTopKMostBuckets = 256;
static_assert(kTopKMostBuckets * (1 + tuning::kTopKHistograms) <= kTopKBinCount);
/// Items have numbers that descend in their order: the key, and, as far as 64 bits hold it, the
/// position. Bins of these by their distance from the highest, 2^shift numbers each, the first bin
/// the highest; and the bucket of each bin. Consecutive bins are a bucket.
struct TopKBins {
  std::uint64_t highest = 0;
  int shift = 0;
  std::uint8_t buckets[kTopKBinCount] = {};
};

struct TopKRange {
  std::uint64_t lowest;
  std::uint64_t highest;
};

/// Positions that an item holds in 8 bytes together with any key of up to 4.
inline constexpr std::int64_t kTopKShortRow = std::int64_t{1} << 32;

/// What depends on the width of keys, and on the size of items. Items are the kernels' own: a key
/// and a position of the row each.
struct TopKRowKernels {
  /// Collects at least the k elements of highest key, equal keys in ascending order of position;
  /// returns how many.
  std::int64_t (*collect)(const TopKRow& row);
  /// A key with probably somewhat more than k elements of the row at or above it, for its parts.
  std::uint64_t (*threshold)(const TopKRow& row);
  /// Sorts items, equal keys of which are given in ascending order of position, by descending key,
  /// and returns where they ended: `items`, or `others`, which has capacity for as many. `counts`
  /// has top_k_sort_counts(); they are fewer than 2^32.
  const void* (*sort)(void* items, void* others, std::int64_t count, std::uint32_t* counts);
  /// Finds the item that would be the k-th if all were sorted; `keys` has capacity for the key of
  /// each, rounded up to whole vectors.
  const void* (*select)(const void* items, std::int64_t count, std::int64_t k, void* keys);
  /// The lowest and the highest number.
  TopKRange (*range)(const void* items, std::int64_t count);
  /// Counts the items of each bin.
  void (*count)(const void* items, std::int64_t count, const TopKBins& bins, std::int64_t* counts);
  /// Copies each item to the next place of its bucket. `places` has kTopKBinCount: of the buckets,
  /// then scratch memory.
  void (*distribute)(const void* items, std::int64_t count, const TopKBins& bins,
                     std::int64_t* places, void* to);
  /// Writes elements and positions of items, item i to lane i. Where a key does not tell the
  /// element it is looked up in the row, which is the whole one.
  void (*write)(const TopKRow& row, const void* items, std::int64_t count, const Outputs& outputs);
};

/// Where the parts of a row's scratch memory begin, in bytes. In this order: for each part of the
/// row the keys of its selection, then the held keys; the items of all parts; as many others, to
/// which they are moved when they are sorted or divided, or if one is selected the keys of all;
/// each worker's counters; for each part the places of its items, if they may be divided; packed
/// rows.
struct TopKRowScratch {
  std::int64_t key_bytes;  ///< of each part
  std::int64_t items;
  std::int64_t item_bytes;
  std::int64_t part_bytes;  ///< of a part's items
  std::int64_t others;
  std::int64_t counts;
  std::int64_t count_bytes;  ///< of each worker
  std::int64_t places;
  std::int64_t packed;
  std::int64_t bytes;
};
constexpr TopKRowScratch top_k_row_scratch(const TopKSelection& selection,
                                           std::int64_t element_size, std::int64_t length,
                                           std::int64_t parts = 1, std::int64_t workers = 1,
                                           std::int64_t packed_bytes = 0, bool selects = false) {
  const std::int64_t sort_counts =
      selects ? 0 : top_k_sort_counts(element_size, parts * selection.capacity);
  const std::int64_t place_bytes = kTopKBinCount * std::int64_t{sizeof(std::int64_t)};
  TopKRowScratch sizes{};
  sizes.key_bytes =
      round_up(selection.keys * element_size) + round_up(selection.held * element_size);
  sizes.items = parts * sizes.key_bytes;
  const bool fits = element_size < 4 || (element_size == 4 && length <= kTopKShortRow);
  sizes.item_bytes = fits ? 8 : 16;
  // The filter writes one item more than it keeps.
  sizes.part_bytes = round_up((selection.capacity + 1) * sizes.item_bytes);
  sizes.others = sizes.items + parts * sizes.part_bytes;
  const std::int64_t key_bytes = round_up(parts * selection.capacity * element_size);
  sizes.counts = sizes.others + (selects ? key_bytes : parts * sizes.part_bytes);
  sizes.count_bytes = sort_counts * std::int64_t{sizeof(std::uint32_t)};
  sizes.places = sizes.counts + workers * sizes.count_bytes;
  const bool divides =
      parts > 1 && !selects && parts * selection.capacity >= tuning::kTopKBucketsLeastItems;
  sizes.packed = sizes.places + (divides ? parts * place_bytes : 0);
  sizes.bytes = sizes.packed + round_up(packed_bytes);
  return sizes;
}

/// The k elements of highest key of each column, equal keys in ascending order of position. All
/// positions are walked, from the first on. A tile has one group unless it is transposed, or one
/// pass takes it and its groups and rows follow each other without a gap. If `compares_all`, all
/// are compared with each other, at most kTopKComparisonsBytes / 2; else better ones are inserted
/// into slots: 2 <= k <= kTopKColumnsMaxK, and the first pass and period are of at least
/// top_k_slots() positions, or of all.
struct TopKColumns {
  Columns columns;
  std::int64_t k;
  std::int64_t first;  ///< of the k that are written: 0, or k - 1 for the k-th alone
  bool compares_all;
  const TopKElementKernels* element;
  Outputs outputs;
  void* scratch;  ///< top_k_columns_scratch(), aligned to 64 bytes
};

/// An upper bound of the slots of a lane; if all elements are compared, their number.
constexpr std::int64_t top_k_slots(const Columns& columns, std::int64_t k, bool compares_all) {
  return compares_all ? columns.walk.n : 2 * k;
}

/// Bytes of a lane, which holds a key or a position.
constexpr std::int64_t top_k_lane_bytes(std::int64_t element_size) {
  return element_size < 2 ? 2 : element_size;
}

/// Whether slots are selected from the elements of rows, not from their keys: few slots, which take
/// less time than the memory.
constexpr bool top_k_takes_elements(const Columns& columns, std::int64_t element_size,
                                    std::int64_t k, bool compares_all) {
  return !compares_all && k <= tuning::kTopKElementsMaxK && !has_blocks(columns.tiling.packing) &&
         columns.tiling.groups == 1 && columns.tiling.lanes * element_size >= kCacheLine;
}

/// Where the parts of the scratch memory begin, after what packs a tile, and where it ends: the
/// keys of a pass, or of a last tile that has less than a vector of lanes, slots, elements and
/// indices that are written together, or offsets of all positions. Transposed elements become keys
/// where they are. A vector that is read past the last row is in the slots.
struct TopKColumnsScratch {
  std::int64_t keys;
  std::int64_t states;
  std::int64_t values;
  std::int64_t indices;
  std::int64_t bytes;
};
constexpr TopKColumnsScratch top_k_columns_scratch(const Columns& columns,
                                                   std::int64_t element_size, std::int64_t k,
                                                   bool compares_all) {
  const Tiling& tiling = columns.tiling;
  const std::int64_t lane_bytes = top_k_lane_bytes(element_size);
  // Lanes that fill whole vectors of any instruction set.
  const std::int64_t padded = round_up(tiling.lanes * lane_bytes) / lane_bytes;
  const std::int64_t lanes = tiling.groups * padded;
  const std::int64_t packed = packed_bytes(tiling, element_size);
  const bool elements = top_k_takes_elements(columns, element_size, k, compares_all);
  TopKColumnsScratch parts{};
  const bool transposed = has_blocks(tiling.packing);
  const std::int64_t pass_bytes = round_up(tiling.pass * std::int64_t{sizeof(std::int64_t)});
  const std::int64_t row_bytes = elements ? kCacheLine : lanes * element_size;
  parts.keys = transposed ? 0 : packed + pass_bytes;
  parts.states = transposed ? packed : parts.keys + round_up(tiling.pass * row_bytes);
  parts.values =
      parts.states + round_up(lanes * 2 * top_k_slots(columns, k, compares_all) * lane_bytes);
  // Offsets of positions, where all elements are compared.
  const std::int64_t rows = k > tiling.groups ? k : tiling.groups;
  const std::int64_t together = compares_all ? columns.walk.n : rows * padded;
  parts.indices = parts.values + (compares_all ? 0 : round_up(together * element_size));
  parts.bytes = parts.indices + round_up(together * std::int64_t{sizeof(std::int64_t)});
  return parts;
}

/// What depends on the width of keys alone.
struct TopKWidthKernels {
  TopKRowKernels rows;         ///< of up to kTopKShortRow: items of 8 bytes, if keys fit
  TopKRowKernels longer_rows;  ///< of more than kTopKShortRow
  /// Copies rows of `length` elements, stride apart, to consecutive elements, one row after the
  /// other; the rows start row_stride apart.
  void (*pack)(const void* data, std::int64_t stride, std::int64_t length, std::int64_t row_stride,
               std::int64_t rows, void* packed);
  void (*columns)(const TopKColumns& columns);
};

}  // namespace dmlcpu
