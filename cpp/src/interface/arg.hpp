// The kernels of argmin and argmax: plain data in, plain data out.
//
// Like all interface headers of kernels it is compiled with every instruction set's own flags, so
// it holds nothing that becomes code by itself: no inline functions but constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

#include "core/tuning.hpp"
#include "interface/columns.hpp"

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

/// argmin or argmax of columns. Position i of lane l of a group is an element of its result number
/// l % results, with the index
///
///   index_base + i * index_step + number(l) * widened_step  [+ tail_index if i is the tail]
///
/// where number(l) is l / results, or counted from the lanes' end if `backwards`. Steps are not
/// negative; results is the number of lanes unless the columns are widened.
struct ArgColumns {
  Columns columns;
  std::int64_t index_base;
  std::int64_t results;
  void* scratch;  ///< arg_columns_scratch_bytes(), aligned to 64 bytes

  /// If null, results go to `outputs`: there are at most arg_run_positions() positions, and all
  /// lanes of a result are in one tile. Else they are merged, as by ArgKernels::rows, into
  /// `results` keys and indices of each group.
  std::int64_t* keys;
  std::int64_t* indices;
  bool starts;      ///< keys and indices hold nothing yet
  Outputs outputs;  ///< one result of each lane; its element as well, if the values are not null
  bool reversed;    ///< indices are counted from `last` downwards
  std::int64_t last;
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
constexpr std::int64_t arg_tile_bytes(const Columns& columns, std::int64_t element_size) {
  return round_up(columns.tile_groups * columns.tile_lanes * element_size) + tuning::kTileSkewBytes;
}

/// Best elements and positions of a tile; if the columns are widened, the same transposed, and the
/// lanes' numbers.
constexpr std::int64_t arg_tile_arrays(bool widened) { return widened ? 5 : 2; }

/// Bytes of a tile's indices, before they are written.
constexpr std::int64_t arg_buffer_bytes(const Columns& columns) {
  return round_up(columns.tile_groups * columns.tile_lanes * std::int64_t{sizeof(std::int64_t)});
}

/// Those arrays and indices, the packed tile, and where its rows are.
constexpr std::int64_t arg_columns_scratch_bytes(const Columns& columns, bool widened,
                                                 std::int64_t element_size) {
  const std::int64_t rows =
      columns.packing == Packing::kStrided ? columns.pass * std::int64_t{sizeof(std::int64_t)} : 0;
  return round_up(arg_tile_arrays(widened) * arg_tile_bytes(columns, element_size) +
                  arg_buffer_bytes(columns) + packed_bytes(columns, element_size) + rows);
}

}  // namespace dmlcpu
