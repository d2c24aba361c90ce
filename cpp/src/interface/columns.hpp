// Columns, which argmin, argmax and top-k walk: plain data in, plain data out.
//
// Like all headers of this folder it is compiled with every instruction set's own flags, so it
// holds nothing that becomes code by itself: no inline functions except constexpr ones, no standard
// library types.
#pragma once

#include <cstdint>

#include "interface/shared.hpp"

namespace dmlcpu {

/// Bytes of a row of the squares that are transposed in registers.
inline constexpr std::int64_t kSquareBytes = 16;

/// How a tile of columns is brought to vectors of lanes.
enum class Packing : std::uint8_t {
  kInPlace,     ///< lanes are contiguous
  kStrided,     ///< copied element by element
  kTransposed,  ///< the elements of each lane are a block, which is transposed
  /// For argmin and argmax: transposed and compared in registers where a tile has a vector of
  /// lanes. A block is the elements of a lane in order, at least kSquareBytes or at most as much
  /// apart, of one run and one result each; one group is a tile.
  kRegisters,
};

constexpr bool has_blocks(Packing packing) { return packing >= Packing::kTransposed; }

/// The n positions of each column. Position i, number r = i % period of period q = i / period, is
/// offsets[r] + q * period_stride elements after the column's first one. The last of several
/// periods may overlap the one before: its elements are `last_offset` elements from there, and its
/// first position has the number `last_skip`.
struct Walk {
  std::int64_t n = 1;
  std::int64_t period = 1;
  std::int64_t period_stride = 0;
  std::int64_t last_offset = 0;
  std::int64_t last_skip = 0;
  const std::int64_t* offsets = nullptr;
};

/// Lane l of group g begins g * group_stride + l * stride elements after the data's begin.
struct Lanes {
  std::int64_t groups = 1;
  std::int64_t group_stride = 0;
  std::int64_t count = 1;
  std::int64_t stride = 0;
};

/// How the lanes are divided into tiles, and these are read.
struct Tiling {
  Packing packing = Packing::kInPlace;
  std::int64_t groups = 1;  ///< of a tile, which is packed and reduced as one
  std::int64_t lanes = 1;
  std::int64_t pass = 1;   ///< positions that are read of one vector of lanes before the next
  std::int64_t block = 0;  ///< elements of a block
  /// The distance of prefetches, or 0: of elements read in place, to L2; of blocks, in lanes.
  std::int64_t ahead = 0;
};

/// Columns: lanes side by side, each with all positions of the walk.
///
/// With blocks, `offsets` and group_stride are those in the transposed block instead, whose rows
/// are tiling.lanes apart. The elements of lane l in period q, of all groups, are among the `block`
/// elements from data[q * period_stride + l * stride] on. There is one tile of groups; or if
/// tiling.groups is 1, each has its own blocks, and group_stride is that of the data.
struct Columns {
  const void* data = nullptr;
  Walk walk;
  Lanes lanes;
  Tiling tiling;
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
constexpr std::int64_t packed_bytes(const Tiling& tiling, std::int64_t element_size) {
  if (tiling.packing == Packing::kInPlace) return 0;
  const std::int64_t rows = has_blocks(tiling.packing) ? tiling.block : tiling.pass * tiling.groups;
  return round_up(rows * tiling.lanes * element_size);
}

}  // namespace dmlcpu
