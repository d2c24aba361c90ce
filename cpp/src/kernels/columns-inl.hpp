// Columns, brought to vectors: many reductions or selections at once, a vector lane for each.
//
// As in BLIS, whatever the tensor's layout, a tile of it is packed into one form, on which few
// kernels work: rows of contiguous lanes. A tile whose lanes are contiguous already is read in
// place.
#pragma once

#include "kernels/transpose-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// A tile in the caller's memory. `group` and `lane` are the numbers of its first ones in the call.
template <class T>
struct Tile {
  const T* data;  ///< its first lane's first position
  std::int64_t group;
  std::int64_t groups;
  std::int64_t lane;
  std::int64_t lanes;

  /// From its first element to that of the next tile, or, if that has fewer groups, of as many
  /// groups that end with it; 0 for the last tile.
  std::int64_t to_next(const Lanes& all) const {
    if (lane + lanes < all.count) return lanes * all.stride;
    const std::int64_t further = min_of(groups, all.groups - group - groups);
    return further == 0 ? 0 : further * all.group_stride - lane * all.stride;
  }
};

/// Calls body(tile) for each tile.
template <class T, class Body>
void for_tiles(const Columns& columns, Body&& body) {
  const Lanes& lanes = columns.lanes;
  const Tiling& tiling = columns.tiling;
  for (std::int64_t g = 0; g < lanes.groups; g += tiling.groups) {
    const std::int64_t groups = min_of(tiling.groups, lanes.groups - g);
    const T* const data = static_cast<const T*>(columns.data) + g * lanes.group_stride;
    for (std::int64_t l = 0; l < lanes.count; l += tiling.lanes) {
      body(Tile<T>{data + l * lanes.stride, g, groups, l, min_of(tiling.lanes, lanes.count - l)});
    }
  }
}

/// Some positions of a tile: position i of lane l of group g is data[offsets[i] + g * group_stride
/// + l].
template <class T>
struct TileRows {
  const T* data;
  const std::int64_t* offsets;
  std::int64_t n;
  std::int64_t group_stride;
  std::int64_t ahead = 0;  ///< to what is prefetched, if not 0
};

/// Where a position is in the walk.
struct PeriodPosition {
  std::int64_t period;
  bool is_last;         ///< of several periods, which may overlap the one before
  std::int64_t number;  ///< in the table of a period's positions

  PeriodPosition(const Walk& walk, std::int64_t position)
      // A division takes long, and is needed only if there are several periods.
      : period(walk.n <= walk.period ? 0 : position / walk.period),
        is_last(period > 0 && (period + 1) * walk.period >= walk.n),
        number(position - period * walk.period + (is_last ? walk.last_skip : 0)) {}
};

/// Where an element of a tile is in the caller's memory, from the tile's first one on; `group` and
/// `lane` count from the tile's first ones.
inline std::int64_t element_offset(const Columns& columns, std::int64_t group, std::int64_t lane,
                                   std::int64_t position) {
  const Walk& walk = columns.walk;
  const PeriodPosition at(walk, position);
  std::int64_t offset = walk.offsets[at.number] + group * columns.lanes.group_stride;
  if (has_blocks(columns.tiling.packing)) offset /= columns.tiling.lanes;
  return offset + at.period * walk.period_stride + (at.is_last ? walk.last_offset : 0) +
         lane * columns.lanes.stride;
}

/// Calls body(rows, position) for the positions of a tile, in ascending order, up to `pass` at a
/// time; of a block that is a period. `scratch` has capacity for packed_bytes(), and for `pass`
/// offsets after them if strided.
template <class T, class Body>
void for_rows(const Columns& columns, const Tile<T>& tile, char* scratch, Body&& body) {
  const Walk& walk = columns.walk;
  const Tiling& tiling = columns.tiling;
  const std::int64_t lane_stride = columns.lanes.stride;
  const std::int64_t group_stride = columns.lanes.group_stride;
  T* const packed = reinterpret_cast<T*>(scratch);
  auto* const packed_offsets =
      reinterpret_cast<std::int64_t*>(scratch + packed_bytes(tiling, kSizeOf<T>));
  // Groups without gaps between them are packed as one.
  const bool dense = group_stride == tile.lanes * lane_stride;
  const std::int64_t groups = dense ? 1 : tile.groups;
  const std::int64_t lanes = dense ? tile.groups * tile.lanes : tile.lanes;
  const std::int64_t to_next = tile.to_next(columns.lanes);
  const T* period = tile.data;
  for (std::int64_t begin = 0; begin < walk.n; begin += walk.period, period += walk.period_stride) {
    const std::int64_t end = min_of(begin + walk.period, walk.n);
    const bool is_last = begin > 0 && end == walk.n;
    const T* const data = period + (is_last ? walk.last_offset : 0);
    const std::int64_t* const offsets = walk.offsets + (is_last ? walk.last_skip : 0);
    for (std::int64_t i = begin; i < end; i += tiling.pass) {
      TileRows<T> rows = {data, offsets + (i - begin), min_of(end - i, tiling.pass), group_stride};
      if (has_blocks(tiling.packing)) {
        transpose(data, lane_stride, tile.lanes, tiling.block, packed, tiling.lanes, tiling.ahead);
        rows.data = packed;
      } else if (tiling.packing == Packing::kInPlace) {
        rows.ahead = tiling.ahead;
        // Each pass prefetches the rows of the next one: as many rows, the last of which may end
        // the tile. The last pass prefetches the next tile's. Memory after the tensor may not be
        // mapped, and each prefetch of it would take long.
        if (tiling.ahead != 0 && tiling.pass < walk.period) {
          const std::int64_t next = min_of(i + rows.n, walk.n - rows.n);
          const std::int64_t to =
              next > i ? element_offset(columns, 0, 0, next) : to_next + walk.offsets[0];
          rows.ahead = next > i || to_next != 0 ? tile.data + to - data - rows.offsets[0] : 0;
        }
      } else {
        for (std::int64_t r = 0; r < rows.n; ++r) {
          packed_offsets[r] = r * tile.groups * tile.lanes;
          for (std::int64_t g = 0; g < groups; ++g) {
            pack(data + rows.offsets[r] + g * group_stride, lane_stride, lanes,
                 packed + packed_offsets[r] + g * lanes);
          }
        }
        rows = {packed, packed_offsets, rows.n, tile.lanes};
      }
      body(rows, i);
    }
  }
}

/// Whether an element of some rows is a boolean that is neither 0 nor 1, which its key does not
/// tell. Elements of other widths are none.
template <class U>
DMLCPU_NOINLINE bool any_odd(const TileRows<U>& rows, std::int64_t groups, std::int64_t lanes) {
  if constexpr (sizeof(U) > 1) return false;
  using V = Vector<U>;
  if (rows.group_stride == lanes) lanes *= std::exchange(groups, 1);
  typename V::Type bits[4] = {};
  for (std::int64_t r = 0; r < rows.n; ++r) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const U* const row = rows.data + rows.offsets[r] + g * rows.group_stride;
      std::int64_t i = 0;
      for (; i + 4 * V::kWidth <= lanes; i += 4 * V::kWidth) {
        unroll<4>([&](auto v) { bits[v] |= V::load(row + i + v * V::kWidth); });
      }
      if (lanes >= V::kWidth) {
        for (; i < lanes; i += V::kWidth) bits[0] |= V::load(row + min_of(i, lanes - V::kWidth));
      }
      for (; i < lanes; ++i) bits[0] |= row[i];
    }
  }
  return any(((bits[0] | bits[1]) | (bits[2] | bits[3])) > 1);
}
template <class U>
bool any_odd(const U* data, std::int64_t n, std::int64_t rows = 1, std::int64_t stride = 0) {
  const std::int64_t first = 0;
  return any_odd(TileRows<U>{data, &first, 1, stride}, rows, n);
}

/// The rule that turns keys to elements: of booleans that are 0 and 1 that of integers.
template <class U>
KeyRule rule_of_values(KeyRule rule, bool odd) {
  rule.is_integer |= sizeof(U) == 1 && !odd;
  return rule;
}

/// Copies an element for each lane of each group, from[g * from_stride + l], to to[g * group_stride
/// + l * lane_stride]. If one of the output's strides is 1, neighbours are written together.
template <class U>
DMLCPU_NOINLINE void write_tile(const U* from, std::int64_t from_stride, std::int64_t groups,
                                std::int64_t lanes, U* to, std::int64_t group_stride,
                                std::int64_t lane_stride) {
  const auto write = [&](auto count, auto stride, auto apart) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      for (std::int64_t g = 0; g < count; ++g) {
        to[g * stride + l * apart] = from[g * from_stride + l];
      }
    }
  };
  // Compilers make vector code of strides that they know.
  const bool interleaved = group_stride == 1 && lane_stride == groups;
  if (groups == 1 && lane_stride != 1) return write(Constant<1>(), group_stride, lane_stride);
  if (interleaved && groups == 2) return write(Constant<2>(), Constant<1>(), Constant<2>());
  if (interleaved && groups == 3) return write(Constant<3>(), Constant<1>(), Constant<3>());
  if (group_stride == 1 && groups * kSizeOf<U> >= 16) {
    return transpose(from, from_stride, groups, lanes, to, lane_stride, 0);
  }
  if (lane_stride != 1) return write(groups, group_stride, lane_stride);
  if (from_stride == lanes && group_stride == lanes) lanes *= std::exchange(groups, 1);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t l = 0; l < lanes; ++l) to[g * group_stride + l] = from[g * from_stride + l];
  }
}

/// The outputs from that slot, group and lane on.
template <class U>
Outputs outputs_at(Outputs outputs, std::int64_t slot, std::int64_t group, std::int64_t lane) {
  const auto advance = [&](Output& output, std::int64_t size) {
    const std::int64_t offset =
        slot * output.k_stride + group * output.group_stride + lane * output.lane_stride;
    if (output.data != nullptr) output.data = static_cast<char*>(output.data) + offset * size;
  };
  advance(outputs.values, kSizeOf<U>);
  advance(outputs.indices, outputs.index_size);
  return outputs;
}

/// Writes rows of lanes of type T, `row_stride` apart. fill(to, to_stride) writes them to
/// to[r * to_stride + l], which is the output itself if its lanes are next to each other or there
/// is one, else in `buffer`.
template <class T, class Fill>
void write_rows(const Output& out, std::int64_t Output::* row_stride, std::int64_t rows,
                std::int64_t lanes, void* buffer, const Fill& fill) {
  T* const data = static_cast<T*>(out.data);
  if (out.lane_stride == 1 || lanes == 1) return fill(data, out.*row_stride);
  T* const filled = static_cast<T*>(buffer);
  fill(filled, lanes);
  write_tile(filled, lanes, rows, lanes, data, out.*row_stride, out.lane_stride);
}

/// The same of indices of one of the types, found by its size: signs do not matter. Called through
/// a pointer, so that what it is inlined into does not hold a copy for each type.
template <class... Indices, class Fill>
void write_indices(const Outputs& outputs, std::int64_t Output::* row_stride, std::int64_t rows,
                   std::int64_t lanes, void* buffer, const Fill& fill) {
  decltype(&write_rows<std::uint64_t, Fill>) write = nullptr;
  ((outputs.index_size == kSizeOf<Indices> ? void(write = write_rows<Indices, Fill>) : void()),
   ...);
  write(outputs.indices, row_stride, rows, lanes, buffer, fill);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
