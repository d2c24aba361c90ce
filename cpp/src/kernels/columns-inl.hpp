// Columns, brought to vectors: many reductions or selections at once, a vector lane for each.
//
// As in BLIS, whatever the tensor's layout, a tile of it is packed into one form, on which few
// kernels work: rows of contiguous lanes. A tile whose lanes are contiguous already is read in
// place.
#pragma once

#include "kernels/transpose-inl.hpp"

namespace dmlcpu::DMLCPU_LEVEL {
namespace {

/// A tile in the caller's memory.
template <class T>
struct Tile {
  const T* data;  ///< its first lane's first position
  std::int64_t group;
  std::int64_t groups;
  std::int64_t lane;
  std::int64_t lanes;
};

/// Calls body(tile) for each tile.
template <class T, class Body>
void for_tiles(const Columns& columns, Body&& body) {
  // Transposed groups are one tile, whose group_stride is about its rows.
  for (std::int64_t g = 0; g < columns.groups; g += columns.tile_groups) {
    const std::int64_t groups = min_of(columns.tile_groups, columns.groups - g);
    const T* const data = static_cast<const T*>(columns.data) + g * columns.group_stride;
    for (std::int64_t l = 0; l < columns.lanes; l += columns.tile_lanes) {
      body(Tile<T>{data + l * columns.lane_stride, g, groups, l,
                   min_of(columns.tile_lanes, columns.lanes - l)});
    }
  }
}

/// Some positions of a tile: position i of lane l of group g is data[rows[i] + g * group_stride +
/// l].
template <class T>
struct TileRows {
  const T* data;
  const std::int64_t* rows;
  std::int64_t n;
  std::int64_t groups;
  std::int64_t group_stride;
  std::int64_t lanes;
};

/// Calls body(rows, position) for the positions of a tile, in ascending order and up to `pass` at a
/// time, which is a period of transposed blocks. `scratch` holds packed_bytes(); if strided, then
/// `pass` offsets.
template <class T, class Body>
void for_rows(const Columns& columns, const Tile<T>& tile, bool prefetches, char* scratch,
              Body&& body) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  T* const packed = reinterpret_cast<T*>(scratch);
  auto* const packed_rows = reinterpret_cast<std::int64_t*>(scratch + packed_bytes(columns, kSize));
  const bool tail_apart = columns.tail >= columns.period;
  const std::int64_t walked = tail_apart ? columns.tail : columns.n;
  for (std::int64_t i = 0; i < columns.n;) {
    // No division where there is one period.
    const std::int64_t period = walked <= columns.period ? 0 : i / columns.period;
    const std::int64_t row = i - period * columns.period;
    const T* const from = tile.data + period * columns.period_stride;
    TileRows<T> rows = {from,
                        columns.rows + row,
                        min_of(min_of(columns.period - row, walked - i), columns.pass),
                        tile.groups,
                        columns.group_stride,
                        tile.lanes};
    if (tail_apart && i == walked) {
      rows.data = tile.data;
      rows.rows = &columns.tail_offset;
      rows.n = 1;
    }
    if (columns.packing == Packing::kTransposed) {
      const std::int64_t ahead =
          prefetches
              ? max_of<std::int64_t>(1, tuning::kTransposePrefetchBytes / kSize / columns.block)
              : 0;
      for (std::int64_t b = 0; b < columns.blocks; ++b) {
        transpose(from + columns.block_offsets[b], columns.lane_stride, tile.lanes, columns.block,
                  packed + b * columns.block * columns.tile_lanes, columns.tile_lanes, ahead);
      }
      rows.data = packed;
    } else if (columns.packing == Packing::kStrided) {
      for (std::int64_t r = 0; r < rows.n; ++r) {
        packed_rows[r] = r * tile.groups * tile.lanes;
        for (std::int64_t g = 0; g < tile.groups; ++g) {
          pack(rows.data + rows.rows[r] + g * columns.group_stride, columns.lane_stride, tile.lanes,
               packed + packed_rows[r] + g * tile.lanes);
        }
      }
      rows.data = packed;
      rows.rows = packed_rows;
      rows.group_stride = tile.lanes;
    }
    const std::int64_t position = i;
    i += rows.n;
    body(rows, position);
  }
}

/// Where an element of a tile is in the caller's memory, from the tile's first one on.
inline std::int64_t element_offset(const Columns& columns, std::int64_t group, std::int64_t lane,
                                   std::int64_t position) {
  if (position == columns.tail) {
    return columns.tail_offset + group * columns.group_stride + lane * columns.lane_stride;
  }
  const std::int64_t period = position / columns.period;
  std::int64_t offset =
      columns.rows[position - period * columns.period] + group * columns.group_stride;
  if (columns.packing == Packing::kTransposed) {
    const std::int64_t row = offset / columns.tile_lanes;
    offset = columns.block_offsets[row / columns.block] + row % columns.block;
  }
  return offset + period * columns.period_stride + lane * columns.lane_stride;
}

/// Writes one element for each lane of kGroups groups that are neighbours in the output.
template <std::int64_t kGroups, class To, class Value>
void write_neighbours(To* to, std::int64_t lane_stride, std::int64_t lanes, const Value& value) {
  for (std::int64_t l = 0; l < lanes; ++l) {
    for (std::int64_t g = 0; g < kGroups; ++g) to[g + l * lane_stride] = value(g, l);
  }
}

/// Writes one element for each lane of each group. Neighbouring elements of the output are written
/// together.
template <class To, class Value>
void write_tile(To* to, std::int64_t group_stride, std::int64_t lane_stride, std::int64_t groups,
                std::int64_t lanes, const Value& value) {
  if (lane_stride == 1 || groups == 1) {
    for (std::int64_t g = 0; g < groups; ++g) {
      To* const row = to + g * group_stride;
      if (lane_stride == 1) {
        for (std::int64_t l = 0; l < lanes; ++l) row[l] = value(g, l);
      } else {
        for (std::int64_t l = 0; l < lanes; ++l) row[l * lane_stride] = value(g, l);
      }
    }
    return;
  }
  if (group_stride == 1 && groups == 2) return write_neighbours<2>(to, lane_stride, lanes, value);
  if (group_stride == 1 && groups == 3) return write_neighbours<3>(to, lane_stride, lanes, value);
  if (group_stride == 1 && groups == 4) return write_neighbours<4>(to, lane_stride, lanes, value);
  for (std::int64_t l = 0; l < lanes; ++l) {
    for (std::int64_t g = 0; g < groups; ++g) {
      to[g * group_stride + l * lane_stride] = value(g, l);
    }
  }
}

/// Calls body(to) with an output of indices of 4 or 8 bytes, whose signs do not matter.
template <class Body>
void with_indices(void* to, std::int64_t index_size, const Body& body) {
  if (index_size == 4) {
    body(static_cast<std::uint32_t*>(to));
  } else {
    body(static_cast<std::uint64_t*>(to));
  }
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_LEVEL
