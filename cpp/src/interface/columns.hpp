// Columns, which argmin, argmax and top-k walk: plain data in, plain data out.
//
// Like all interface headers of kernels it is compiled with every instruction set's own flags, so
// it holds nothing that becomes code by itself: no inline functions but constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

#include "interface/shared.hpp"

namespace dmlcpu {

/// Bytes of a row of the squares that are transposed in registers.
inline constexpr std::int64_t kSquareBytes = 16;

/// How a tile of columns is brought to vectors of lanes.
enum class Packing : std::uint8_t {
  kNone,        ///< lanes are contiguous
  kTransposed,  ///< each lane's elements are a block, which is transposed
  kStrided,     ///< element by element
};

/// Columns: lanes side by side, each with n positions. Position i of lane l of group g is located
/// at data[rows[i % period] + (i / period) * period_stride + g * group_stride + l * lane_stride].
/// If `tail` is not -1 it is the last position, which is located at data[tail_offset + g *
/// group_stride + l * lane_stride]; `rows` has that offset too if it is in the first period.
/// ArgColumns says what `index_step`, `tail_index`, `widened_step` and `backwards` mean for
/// indices; the indices of top-k are positions.
///
/// If transposed, rows and group_stride are offsets in the transposed block instead, whose rows are
/// tile_lanes apart. The elements of lane l in one period, of all groups, are among the `block`
/// elements from data[(i / period) * period_stride + l * lane_stride] on. There is one tile of
/// groups; or if tile_groups is 1, each has its own blocks, and group_stride is that of the data.
struct Columns {
  const void* data;
  std::int64_t n;
  std::int64_t period;
  std::int64_t period_stride;
  const std::int64_t* rows;
  std::int64_t tail = -1;
  std::int64_t tail_offset;
  std::int64_t index_step = 1;
  std::int64_t tail_index;
  std::int64_t widened_step;
  bool backwards;
  std::int64_t groups;
  std::int64_t group_stride;
  std::int64_t lanes;
  std::int64_t lane_stride;
  Packing packing;
  std::int64_t block;
  /// For argmin and argmax: that a block is the elements of a lane in order, at least kSquareBytes
  /// or at most as much apart, of one run and one result each, so that it may be compared in
  /// registers instead.
  bool in_registers;
  std::int64_t tile_groups;  ///< packed and reduced together
  std::int64_t tile_lanes;
  std::int64_t pass;  ///< positions read of one vector of lanes before the next
  /// The distance of prefetches, or 0: of elements read in place, to L2; of blocks, in lanes.
  std::int64_t ahead;
};

/// Where result j of lane l of group g goes: data[j * k_stride + g * group_stride + l *
/// lane_stride]. Nowhere if `data` is null.
struct Output {
  void* data;
  std::int64_t k_stride;
  std::int64_t group_stride;
  std::int64_t lane_stride;
};
struct Outputs {
  Output values;
  Output indices;
  std::int64_t index_size;
};

/// Bytes of packed elements of a tile.
constexpr std::int64_t packed_bytes(const Columns& columns, std::int64_t element_size) {
  if (columns.packing == Packing::kNone) return 0;
  const std::int64_t rows =
      columns.packing == Packing::kTransposed ? columns.block : columns.pass * columns.tile_groups;
  return round_up(rows * columns.tile_lanes * element_size);
}

}  // namespace dmlcpu
