// The kernels of argmin and argmax: plain data in, plain data out.
//
// Like all headers of this folder it is compiled with every instruction set's own flags, so it
// holds nothing that becomes code by itself: no inline functions except constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

#include "interface/columns.hpp"
#include "interface/tuning.hpp"

namespace dmlcpu {

/// Reductions of rows of n elements. Element i of row r is located at data[r * row_stride + i *
/// stride] and has the index index_base + i * index_step, where index_step is at least 1 unless n
/// is 1 or `starts`.
struct ArgRows {
  const void* data;
  std::int64_t n;
  std::int64_t stride;
  std::int64_t rows;
  std::int64_t row_stride;
  std::int64_t index_base;
  std::int64_t index_step;
  bool starts;       ///< keys and indices hold nothing yet
  bool from_memory;  ///< whether the input is too large for the caches
  bool prefetches;   ///< whether to prefetch rows
};

/// The order of a result's lanes by index, as ranks of one kind: outer or inner. Lanes are numbered
/// in the order of memory. indices[rank] is what a rank adds to the index of an element. If values
/// are wanted, the lane of an outer and an inner rank is number outer.lanes[outer rank] +
/// inner.lanes[inner rank]. If all lanes have the same rank, count is 1 and the pointers are null.
struct LaneRanks {
  std::int64_t count = 1;
  const std::uint16_t* of_lanes = nullptr;  ///< of each lane of a group
  const std::int64_t* indices = nullptr;
  const std::int64_t* lanes = nullptr;
};

/// The index of the element at position i of lane l:
///
///   base + outer.indices[outer.of_lanes[l]] + index of i + inner.indices[inner.of_lanes[l]]
///
/// where the index of position i is i * step; or, if there is a table, table[r] + q * period_step
/// for number r of period q. Positions from last_from on overlap earlier ones: last_index, which is
/// not positive, is added to their index. Outer ranks, then positions, then inner ranks decide
/// between indices. No step is negative.
struct ArgIndices {
  std::int64_t base = 0;
  std::int64_t step = 1;
  const std::int64_t* table = nullptr;
  std::int64_t period_step = 0;
  std::int64_t last_from = 0;
  std::int64_t last_index = 0;
  LaneRanks outer;
  LaneRanks inner;
  bool reversed = false;  ///< indices that are written are counted from `last` downwards
  std::int64_t last = 0;
};

/// How many kinds of ranks there are.
constexpr int rank_kinds(const ArgIndices& indices) {
  return (indices.outer.count > 1 ? 1 : 0) + (indices.inner.count > 1 ? 1 : 0);
}

/// argmin or argmax of columns. Lane l of a group is number l / results of its result l % results.
/// If results have several lanes, a tile has all of them.
struct ArgColumns {
  Columns columns;
  ArgIndices indices;
  std::int64_t results;
  void* scratch;  ///< arg_columns_scratch_bytes(), aligned to 64 bytes

  /// If null, results go to `outputs`, and there are at most arg_run_positions() positions. Else
  /// they are merged, as by ArgKernels::rows, into `results` keys and indices of each group.
  std::int64_t* best_keys;
  std::int64_t* best_indices;
  bool starts;      ///< best_keys and best_indices hold nothing yet
  Outputs outputs;  ///< one result of each lane; its element as well, if the values are not null
};

/// What depends on an element type and its order.
struct ArgKernels {
  /// Merges each row into its best so far: the higher key wins, of equal keys the lower index. Keys
  /// are 64-bit integers in the order of the type's own keys.
  void (*rows)(const ArgRows& rows, std::int64_t* keys, std::int64_t* indices);
  void (*columns)(const ArgColumns& columns);
};

/// The most positions of a run. They are counted in an integer as wide as the element, so that
/// elements and positions fill vectors alike, and it must not wrap.
constexpr std::int64_t arg_run_positions(std::int64_t element_size) {
  return element_size < 4 ? std::int64_t{1} << (8 * element_size) : std::int64_t{1} << 30;
}

/// Bytes of one array of a tile's best elements, or of their positions; some more, so that the
/// arrays do not lie in the same sets of L1.
constexpr std::int64_t arg_tile_bytes(const Tiling& tiling, std::int64_t element_size) {
  return round_up(tiling.groups * tiling.lanes * element_size) + tuning::kTileSkewBytes;
}

/// Best elements and positions of a tile; where results have several lanes, the same transposed,
/// and ranks of `kinds` kinds.
constexpr std::int64_t arg_tile_arrays(int kinds) { return kinds == 0 ? 2 : 4 + kinds; }

/// Bytes of a tile's indices, before they are written.
constexpr std::int64_t arg_buffer_bytes(const Tiling& tiling) {
  return round_up(tiling.groups * tiling.lanes * std::int64_t{sizeof(std::int64_t)});
}

/// Those arrays and indices, the packed tile, and where its rows are.
constexpr std::int64_t arg_columns_scratch_bytes(const Tiling& tiling, int kinds,
                                                 std::int64_t element_size) {
  const std::int64_t rows =
      tiling.packing == Packing::kStrided ? tiling.pass * std::int64_t{sizeof(std::int64_t)} : 0;
  return round_up(arg_tile_arrays(kinds) * arg_tile_bytes(tiling, element_size) +
                  arg_buffer_bytes(tiling) + packed_bytes(tiling, element_size) + rows);
}

}  // namespace dmlcpu
