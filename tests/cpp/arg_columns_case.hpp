// Columns with memory of their own, and an element-by-element order, for the test of the kernels of
// argmin and argmax.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dmlcpu/data_type.hpp"
#include "guarded.hpp"
#include "interface/arg.hpp"
#include "random.hpp"

namespace cases {

using dmlcpu::ArgColumns;
using dmlcpu::Columns;
using dmlcpu::DataType;
using dmlcpu::Packing;
using dmlcpu::Tiling;
using rng::any_of;
using rng::random;

// --- elements ----------------------------------------------------------------------------------

struct Type {
  DataType type;
  std::int64_t size;
  bool is_float;
  std::uint64_t infinity;  ///< its bits
};

inline Type type_of(DataType type) {
  Type t{type, static_cast<std::int64_t>(dmlcpu::info(type).size), false, 0};
  if (type == DataType::kFloat16) t.infinity = 0x7c00;
  if (type == DataType::kBFloat16) t.infinity = 0x7f80;
  if (type == DataType::kFloat32) t.infinity = 0x7f800000;
  if (type == DataType::kFloat64) t.infinity = 0x7ff0000000000000;
  t.is_float = t.infinity != 0;
  return t;
}

inline std::uint64_t sign_of(const Type& t) { return std::uint64_t{1} << (8 * t.size - 1); }

/// Where the lowest `size` bytes of a word begin.
inline char* low_bytes(std::uint64_t& word, std::int64_t size) {
  const bool first = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  return reinterpret_cast<char*>(&word) + (first ? 0 : 8 - size);
}

inline bool is_nan(const Type& t, std::uint64_t bits) {
  return t.is_float && (bits & (sign_of(t) - 1)) > t.infinity;
}

/// An integer in the order of the elements, NaNs apart; both zeros have the same.
inline std::int64_t number_of(const Type& t, std::uint64_t bits) {
  const bool negative = (bits & sign_of(t)) != 0;
  const auto magnitude = static_cast<std::int64_t>(bits & (sign_of(t) - 1));
  if (t.is_float) return negative ? -magnitude : magnitude;
  if (dmlcpu::info(t.type).kind == 'i') {
    return static_cast<std::int64_t>(negative ? bits | ~(sign_of(t) - 1) : bits);
  }
  if (t.type == DataType::kBool) return bits != 0;
  return static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63));
}

/// Whether a comes strictly before b.
inline bool beats(const Type& t, dmlcpu::Ordering ordering, std::uint64_t a, std::uint64_t b) {
  using dmlcpu::Ordering;
  const bool nan_first =
      ordering == Ordering::kLargestNanFirst || ordering == Ordering::kSmallestNanFirst;
  const bool largest =
      ordering == Ordering::kLargestNanFirst || ordering == Ordering::kLargestNanLast;
  if (is_nan(t, a) || is_nan(t, b)) {
    return is_nan(t, a) != is_nan(t, b) && is_nan(t, a) == nan_first;
  }
  return largest ? number_of(t, a) > number_of(t, b) : number_of(t, a) < number_of(t, b);
}

/// Few values and many ties; zeros, infinities and NaNs of either sign and several payloads.
inline std::vector<std::uint64_t> pool_of(const Type& t) {
  const std::uint64_t sign = sign_of(t);
  if (!t.is_float) return {0, 1, 2, sign - 1, sign, sign + 1, 2 * (sign - 1) + 1};
  const std::uint64_t infinity = t.infinity;
  const std::uint64_t one = infinity / 2 + 1;
  return {0,
          sign,
          1,
          sign + 1,
          one,
          one + 1,
          sign + one,
          sign + one + 3,
          infinity,
          sign + infinity,
          infinity + 1,
          sign + infinity + 1,
          sign - 1,
          sign + (sign - 1),
          infinity + 5};
}

// --- columns -----------------------------------------------------------------------------------

/// The order of the lanes of each result, of one kind.
struct Ranks {
  std::vector<std::uint16_t> of_lanes;
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> lanes;

  dmlcpu::LaneRanks view() const {
    if (indices.empty()) return {};
    return {static_cast<std::int64_t>(indices.size()), of_lanes.data(), indices.data(),
            lanes.data()};
  }
  std::int64_t index(std::int64_t lane) const {
    return indices.empty() ? 0 : indices[of_lanes[static_cast<std::size_t>(lane)]];
  }
};

/// Columns with memory: elements between guards, everything else is NaN or the smallest.
struct Case {
  Type type;
  ArgColumns call{};  ///< its memory and tables are set when it runs
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> table;
  Ranks outer;
  Ranks inner;
  std::int64_t unit = 1;  ///< from one index to the next
  std::vector<char> memory;
  std::int64_t origin = 0;  ///< of the first lane's first position, in elements

  std::int64_t period(std::int64_t position) const { return position / call.columns.walk.period; }
  bool is_last(std::int64_t position) const {
    const dmlcpu::Walk& walk = call.columns.walk;
    return period(position) > 0 && period(position) == period(walk.n - 1);
  }
  std::size_t number(std::int64_t position) const {
    const dmlcpu::Walk& walk = call.columns.walk;
    const std::int64_t skip = is_last(position) ? walk.last_skip : 0;
    return static_cast<std::size_t>(position % walk.period + skip);
  }
  std::int64_t offset(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    const Columns& columns = call.columns;
    std::int64_t offset = offsets[number(position)] + group * columns.lanes.group_stride;
    if (dmlcpu::has_blocks(columns.tiling.packing)) offset /= columns.tiling.lanes;
    return origin + lane * columns.lanes.stride + offset +
           period(position) * columns.walk.period_stride +
           (is_last(position) ? columns.walk.last_offset : 0);
  }
  std::int64_t lanes_of_result() const { return call.columns.lanes.count / call.results; }
  std::int64_t index(std::int64_t position, std::int64_t lane) const {
    const dmlcpu::ArgIndices& indices = call.indices;
    const std::int64_t of_position =
        table.empty() ? position * indices.step
                      : table[number(position)] + period(position) * indices.period_step;
    return indices.base + outer.index(lane) + of_position + inner.index(lane) +
           (position >= indices.last_from ? indices.last_index : 0);
  }
  std::uint64_t bits(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    std::uint64_t bits = 0;
    std::memcpy(low_bytes(bits, type.size),
                memory.data() + offset(position, group, lane) * type.size,
                static_cast<std::size_t>(type.size));
    return bits;
  }
  void set(std::int64_t position, std::int64_t group, std::int64_t lane, std::uint64_t bits) {
    std::memcpy(memory.data() + offset(position, group, lane) * type.size,
                low_bytes(bits, type.size), static_cast<std::size_t>(type.size));
  }
};

struct Shape {
  Packing packing;
  std::int64_t n;
  std::int64_t period;
  std::int64_t groups;
  std::int64_t lanes;
};

/// Blocks of a period's positions, with all groups and a gap at their end.
inline void set_blocks(Case& c, const Shape& shape, std::int64_t gap, std::int64_t group_gap) {
  auto& [data, walk, lanes, tiling] = c.call.columns;
  tiling.groups = shape.groups;
  tiling.block = shape.period * shape.groups + group_gap;
  lanes.stride = tiling.block + gap;
  walk.period_stride = shape.lanes * lanes.stride;
  if (random(4) == 0) lanes.stride = -lanes.stride;
  const bool reads_squares =
      tiling.block * c.type.size >= dmlcpu::kSquareBytes ||
      (lanes.stride > 0 && lanes.stride * c.type.size <= dmlcpu::kSquareBytes);
  const bool may = shape.groups == 1 && group_gap == 0 && walk.n == shape.period &&
                   walk.n <= dmlcpu::arg_run_positions(c.type.size) && reads_squares;
  if (may && random(2) == 0) tiling.packing = Packing::kRegisters;
  const bool groups_outside = random(2) == 0;
  lanes.group_stride = tiling.lanes * (groups_outside ? shape.period : 1);
  for (std::int64_t i = 0; i < shape.period; ++i) {
    c.offsets.push_back(i * (groups_outside ? 1 : shape.groups) * tiling.lanes);
  }
}

/// Rows of lanes, contiguous or strided, that ascend or descend in memory.
inline void set_rows(Case& c, const Shape& shape, std::int64_t gap, std::int64_t group_gap) {
  auto& [data, walk, lanes, tiling] = c.call.columns;
  lanes.stride =
      shape.packing == Packing::kInPlace ? 1 : any_of<std::int64_t>({-1, 2, 3, -3, 4, 5, 7});
  const std::int64_t width = (shape.lanes - 1) * std::abs(lanes.stride) + 1;
  lanes.group_stride = width + gap;
  const std::int64_t row = shape.groups * lanes.group_stride + group_gap;
  const bool descends = random(3) == 0;
  for (std::int64_t i = 0; i < shape.period; ++i) {
    c.offsets.push_back(descends ? -i * row : i * row);
  }
  walk.period_stride = (descends ? -1 : 1) * shape.period * row;
}

/// Memory for all elements between guards, all of it the worst element.
inline void allocate(Case& c) {
  const auto& [data, walk, lanes, tiling] = c.call.columns;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  c.origin = 0;
  for (std::int64_t i = 0; i < walk.n; ++i) {
    for (const std::int64_t g : {std::int64_t{0}, lanes.groups - 1}) {
      for (const std::int64_t l : {std::int64_t{0}, lanes.count - 1}) {
        const std::int64_t offset = c.offset(i, g, l);
        lowest = std::min(lowest, offset);
        highest = std::max(highest, offset);
      }
    }
  }
  // Blocks are read whole.
  const std::int64_t rest =
      dmlcpu::has_blocks(tiling.packing) ? std::abs(walk.period_stride) + tiling.block : 0;
  c.origin = -lowest + kGuardBytes;
  c.memory.resize(
      static_cast<std::size_t>((highest - lowest + rest + 2 * kGuardBytes) * c.type.size));
  std::uint64_t worst = c.type.is_float ? sign_of(c.type) - 1 : sign_of(c.type);
  for (std::size_t i = 0; i < c.memory.size(); i += static_cast<std::size_t>(c.type.size)) {
    std::memcpy(c.memory.data() + i, low_bytes(worst, c.type.size),
                static_cast<std::size_t>(c.type.size));
  }
}

/// Tiles, passes and prefetches at random, and where indices begin.
inline void set_tiles(Case& c) {
  const dmlcpu::Lanes& lanes = c.call.columns.lanes;
  Tiling& tiling = c.call.columns.tiling;
  tiling.lanes = std::max<std::int64_t>(
      1, any_of({lanes.count, lanes.count, lanes.count + 3, (lanes.count + 1) / 2}));
  tiling.groups = any_of({lanes.groups, std::int64_t{1}, (lanes.groups + 1) / 2});
  tiling.pass =
      any_of({std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, c.call.columns.walk.period});
  tiling.ahead = any_of<std::int64_t>({0, 16, -16});
  c.call.indices.base = any_of<std::int64_t>({0, 7, 5000});
}

/// Columns of a shape, laid out at random; a lane for each result. Where several periods have more
/// positions than n, the last one overlaps the one before.
inline Case make_case(DataType type, const Shape& shape) {
  Case c;
  c.type = type_of(type);
  auto& [data, walk, lanes, tiling] = c.call.columns;
  tiling.packing = shape.packing;
  walk.n = shape.n;
  walk.period = shape.period;
  lanes.groups = shape.groups;
  lanes.count = shape.lanes;
  set_tiles(c);
  c.unit = c.call.indices.step = any_of<std::int64_t>({1, 1, 3, 100});
  c.call.results = shape.lanes;
  const std::int64_t gap = random(3);
  const std::int64_t group_gap = random(2);
  const auto set_layout = shape.packing == Packing::kTransposed ? set_blocks : set_rows;
  set_layout(c, shape, gap, group_gap);
  if (shape.n % shape.period != 0 && shape.n > shape.period) {
    walk.last_skip = shape.period - shape.n % shape.period;
    walk.last_offset = any_of<std::int64_t>({0, 1, -1});
  }
  allocate(c);
  return c;
}

/// Numbers the lanes of each result by their ranks: `outer` of the first kind, for each of which
/// there are `inner`; either kind ascends or descends in memory, and either changes faster.
inline void set_ranks(Case& c, std::int64_t outer, std::int64_t inner, bool descends) {
  const std::int64_t results = c.call.results;
  const bool outer_faster = random(2) == 0;
  const bool outer_descends = random(2) == 0;
  const auto set = [&](Ranks& ranks, std::int64_t count, bool is_faster, bool reversed,
                       std::int64_t step) {
    if (count == 1) return;
    const std::int64_t apart = is_faster ? 1 : outer * inner / count;
    ranks.indices.resize(static_cast<std::size_t>(count));
    ranks.lanes.resize(static_cast<std::size_t>(count));
    ranks.of_lanes.resize(static_cast<std::size_t>(outer * inner * results));
    for (std::int64_t at = 0; at < count; ++at) {
      const std::int64_t rank = reversed ? count - 1 - at : at;
      ranks.indices[static_cast<std::size_t>(rank)] = rank * step;
      ranks.lanes[static_cast<std::size_t>(rank)] = at * apart;
    }
    for (std::int64_t l = 0; l < outer * inner * results; ++l) {
      const std::int64_t at = l / results / apart % count;
      ranks.of_lanes[static_cast<std::size_t>(l)] =
          static_cast<std::uint16_t>(reversed ? count - 1 - at : at);
    }
  };
  c.call.indices.step = c.unit * inner;
  set(c.outer, outer, outer_faster, outer_descends, c.unit * inner * c.call.columns.walk.n);
  set(c.inner, inner, !outer_faster, descends, c.unit);
}

/// Makes several lanes of each result, in any order; the indices of outer ones are farther apart
/// than all positions, those of inner ones nearer than two positions.
inline void give_lanes(Case& c, std::int64_t outer, std::int64_t inner) {
  ArgColumns& call = c.call;
  Tiling& tiling = call.columns.tiling;
  call.results = call.columns.lanes.count / (outer * inner);
  if (tiling.packing == Packing::kRegisters) tiling.packing = Packing::kTransposed;
  // A tile has all lanes of a result.
  if (!dmlcpu::has_blocks(tiling.packing)) tiling.lanes = call.columns.lanes.count;
  set_ranks(c, outer, inner, random(2) == 0);
}

/// A reduced axis of which some positions are lanes, of each of some results.
struct CutShape {
  std::int64_t size;  ///< of the axis
  std::int64_t count;
  std::int64_t results;
  std::int64_t groups;
  std::int64_t stride;  ///< of the axis; the results are side by side
  std::int64_t period;  ///< the most steps that a table holds
};

/// Columns as the planner cuts an axis: the last step, or the last period, takes some elements
/// again; contiguous lanes are in the order of memory, also if the axis is reversed.
inline Case make_cut(DataType type, const CutShape& shape) {
  Case c;
  c.type = type_of(type);
  ArgColumns& call = c.call;
  auto& [data, walk, lanes, tiling] = call.columns;
  const std::int64_t steps = (shape.size + shape.count - 1) / shape.count;
  const std::int64_t periods = (steps + shape.period - 1) / shape.period;
  walk.period = (steps + periods - 1) / periods;
  const std::int64_t used = (steps + walk.period - 1) / walk.period;
  const std::int64_t overlap = used * walk.period * shape.count - shape.size;
  const std::int64_t skipped = used > 1 ? overlap / shape.count : 0;
  const bool contiguous = std::abs(shape.stride) == shape.results;
  tiling.packing = contiguous ? Packing::kInPlace : Packing::kStrided;
  lanes.count = shape.count * shape.results;
  lanes.stride = contiguous ? 1 : shape.stride;
  walk.n = used * walk.period - skipped;
  walk.period_stride = walk.period * shape.count * shape.stride;
  walk.last_skip = skipped;
  walk.last_offset = used > 1 ? -overlap * shape.stride : 0;
  c.unit = any_of<std::int64_t>({1, 1, 3});
  call.results = shape.results;
  set_ranks(c, 1, shape.count, contiguous && shape.stride < 0);
  for (std::int64_t i = 0; i < walk.period; ++i) {
    c.offsets.push_back(i * shape.count * shape.stride);
    c.table.push_back(i * call.indices.step);
  }
  call.indices.period_step = walk.period * call.indices.step;
  call.indices.last_from = used > 1 ? (used - 1) * walk.period : walk.n - 1;
  call.indices.last_index = -overlap * c.unit;
  if (used == 1) c.offsets.back() -= overlap * shape.stride;
  if (random(2) == 0) {
    c.table.clear();
    call.indices.last_index += skipped * call.indices.step;
  } else if (used == 1) {
    c.table.back() -= overlap * c.unit;
    call.indices.last_index = 0;
  }
  lanes.groups = shape.groups;
  lanes.group_stride = shape.size * std::abs(shape.stride) + random(3);
  set_tiles(c);
  tiling.lanes = lanes.count;
  allocate(c);
  return c;
}

/// Sets each element to value(index, group, result), where indices count from 0 in steps of 1.
template <class Value>
void fill(Case& c, Value&& value) {
  const ArgColumns& call = c.call;
  for (std::int64_t i = 0; i < call.columns.walk.n; ++i) {
    for (std::int64_t g = 0; g < call.columns.lanes.groups; ++g) {
      for (std::int64_t l = 0; l < call.columns.lanes.count; ++l) {
        c.set(i, g, l, value((c.index(i, l) - call.indices.base) / c.unit, g, l % call.results));
      }
    }
  }
}

}  // namespace cases
