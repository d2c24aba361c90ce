// Columns with memory of their own, and an element-by-element order, for the test of the kernels of
// argmin and argmax.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dmlcpu/data_type.hpp"
#include "interface/arg.hpp"
#include "random.hpp"

namespace cases {

using dmlcpu::ArgColumns;
using dmlcpu::Columns;
using dmlcpu::DataType;
using dmlcpu::Packing;
using rng::any_of;
using rng::random;

constexpr char kGuard = 0x5a;
constexpr std::int64_t kGuardBytes = 192;

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

/// Columns with memory: elements between guards, everything else is NaN or the smallest.
struct Case {
  Type type;
  ArgColumns call{};  ///< but for memory; indices as ArgColumns says
  std::vector<std::int64_t> rows;
  std::vector<char> memory;
  std::int64_t origin = 0;  ///< of the first lane's first position, in elements

  std::int64_t offset(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    const Columns& columns = call.columns;
    const std::int64_t beside = origin + lane * columns.lane_stride;
    if (position == columns.tail) {
      return beside + columns.tail_offset + group * columns.group_stride;
    }
    const std::int64_t row = rows[static_cast<std::size_t>(position % columns.period)];
    std::int64_t offset = row + group * columns.group_stride;
    if (columns.packing == Packing::kTransposed) offset /= columns.tile_lanes;
    return beside + offset + position / columns.period * columns.period_stride;
  }
  std::int64_t count() const { return call.columns.lanes / call.results; }
  std::int64_t index(std::int64_t position, std::int64_t lane) const {
    const std::int64_t number = lane / call.results;
    return call.index_base + position * call.columns.index_step +
           (call.columns.backwards ? count() - 1 - number : number) * call.columns.widened_step +
           (position == call.columns.tail ? call.columns.tail_index : 0);
  }
  std::uint64_t bits(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + offset(position, group, lane) * type.size,
                static_cast<std::size_t>(type.size));
    return bits;
  }
  void set(std::int64_t position, std::int64_t group, std::int64_t lane, std::uint64_t bits) {
    std::memcpy(memory.data() + offset(position, group, lane) * type.size, &bits,
                static_cast<std::size_t>(type.size));
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
inline void set_transposed(Case& c, const Shape& shape, std::int64_t gap, std::int64_t group_gap) {
  Columns& columns = c.call.columns;
  columns.tile_groups = shape.groups;
  columns.block = shape.period * shape.groups + group_gap;
  columns.lane_stride = columns.block + gap;
  columns.period_stride = shape.lanes * columns.lane_stride;
  if (random(4) == 0) columns.lane_stride = -columns.lane_stride;
  const bool reads_squares =
      columns.block * c.type.size >= dmlcpu::kSquareBytes ||
      (columns.lane_stride > 0 && columns.lane_stride * c.type.size <= dmlcpu::kSquareBytes);
  columns.in_registers = shape.groups == 1 && group_gap == 0 && columns.n == shape.period &&
                         columns.n <= dmlcpu::arg_run_positions(c.type.size) && reads_squares &&
                         random(2) == 0;
  const bool groups_outside = random(2) == 0;
  columns.group_stride = columns.tile_lanes * (groups_outside ? shape.period : 1);
  for (std::int64_t i = 0; i < shape.period; ++i) {
    c.rows.push_back(i * (groups_outside ? 1 : shape.groups) * columns.tile_lanes);
  }
}

/// Rows of lanes, contiguous or strided, that ascend or descend in memory.
inline void set_rows(Case& c, const Shape& shape, std::int64_t gap, std::int64_t group_gap) {
  Columns& columns = c.call.columns;
  columns.lane_stride =
      shape.packing == Packing::kNone ? 1 : any_of<std::int64_t>({-1, 2, 3, -3, 4, 5, 7});
  const std::int64_t width = (shape.lanes - 1) * std::abs(columns.lane_stride) + 1;
  columns.group_stride = width + gap;
  const std::int64_t row = shape.groups * columns.group_stride + group_gap;
  const bool descends = random(3) == 0;
  for (std::int64_t i = 0; i < shape.period; ++i) c.rows.push_back(descends ? -i * row : i * row);
  columns.period_stride = (descends ? -1 : 1) * shape.period * row;
}

/// Memory for all elements between guards, all of it the worst element.
inline void allocate(Case& c) {
  const Columns& columns = c.call.columns;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  c.origin = 0;
  for (std::int64_t i = 0; i < columns.n; ++i) {
    for (const std::int64_t g : {std::int64_t{0}, columns.groups - 1}) {
      for (const std::int64_t l : {std::int64_t{0}, columns.lanes - 1}) {
        const std::int64_t offset = c.offset(i, g, l);
        lowest = std::min(lowest, offset);
        highest = std::max(highest, offset);
      }
    }
  }
  // Transposed blocks are read whole.
  const std::int64_t rest =
      columns.packing == Packing::kTransposed ? std::abs(columns.period_stride) + columns.block : 0;
  c.origin = -lowest + kGuardBytes;
  c.memory.resize(
      static_cast<std::size_t>((highest - lowest + rest + 2 * kGuardBytes) * c.type.size));
  const std::uint64_t worst = c.type.is_float ? sign_of(c.type) - 1 : sign_of(c.type);
  for (std::size_t i = 0; i < c.memory.size(); i += static_cast<std::size_t>(c.type.size)) {
    std::memcpy(c.memory.data() + i, &worst, static_cast<std::size_t>(c.type.size));
  }
}

/// Tiles, passes and prefetches at random, and a step of the indices.
inline void set_tiles(Case& c) {
  Columns& columns = c.call.columns;
  const std::int64_t lanes = columns.lanes;
  columns.tile_lanes =
      std::max<std::int64_t>(1, any_of({lanes, lanes, lanes + 3, (lanes + 1) / 2}));
  columns.tile_groups = any_of({columns.groups, std::int64_t{1}, (columns.groups + 1) / 2});
  columns.pass = any_of({std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, columns.period});
  columns.ahead = any_of<std::int64_t>({0, 16, -16});
  c.call.index_base = any_of<std::int64_t>({0, 7, 5000});
}

/// Columns of a shape, laid out at random; a lane for each result.
inline Case make_case(DataType type, const Shape& shape) {
  Case c;
  c.type = type_of(type);
  Columns& columns = c.call.columns;
  columns.packing = shape.packing;
  columns.n = shape.n;
  columns.period = shape.period;
  columns.tail = -1;
  columns.groups = shape.groups;
  columns.lanes = shape.lanes;
  set_tiles(c);
  c.call.columns.index_step = any_of<std::int64_t>({1, 1, 3, 100});
  c.call.results = shape.lanes;
  const std::int64_t gap = random(3);
  const std::int64_t group_gap = random(2);
  const auto set_layout = shape.packing == Packing::kTransposed ? set_transposed : set_rows;
  set_layout(c, shape, gap, group_gap);
  allocate(c);
  return c;
}

/// Makes several lanes, which are a whole axis, of each result: all of its indices are lower, or
/// higher, than those of the axis that is walked.
inline void widen(Case& c, std::int64_t results, bool inside) {
  ArgColumns& call = c.call;
  call.results = results;
  call.columns.in_registers = false;
  const std::int64_t step = call.columns.index_step;
  call.columns.widened_step = inside ? step : step * call.columns.n;
  call.columns.index_step = inside ? step * c.count() : step;
  // A tile has all lanes of a result, or there is one result.
  if (results > 1 && call.columns.packing != Packing::kTransposed) {
    call.columns.tile_lanes = call.columns.lanes;
  }
}

/// A reduced axis of which some positions are lanes, of each of some results.
struct WidenedShape {
  std::int64_t size;  ///< of the axis
  std::int64_t count;
  std::int64_t results;
  std::int64_t groups;
  std::int64_t stride;  ///< of the axis; the results are side by side
  std::int64_t period;  ///< the most that a table holds, of positions that fill the lanes
};

/// Columns as the planner widens them: the walk's tail, if positions do not fill the lanes, takes
/// some elements twice; contiguous lanes are in the order of memory, also if the axis is reversed.
inline Case make_widened(DataType type, const WidenedShape& shape) {
  Case c;
  c.type = type_of(type);
  ArgColumns& call = c.call;
  Columns& columns = call.columns;
  const std::int64_t walked = shape.size / shape.count;
  const std::int64_t left = shape.size % shape.count;
  const bool contiguous = std::abs(shape.stride) == shape.results;
  columns.packing = contiguous ? Packing::kNone : Packing::kStrided;
  columns.lanes = shape.count * shape.results;
  columns.lane_stride = contiguous ? 1 : shape.stride;
  columns.n = walked + (left > 0 ? 1 : 0);
  columns.tail = left > 0 ? walked : -1;
  columns.tail_offset = (shape.size - shape.count) * shape.stride;
  columns.period = std::min(walked, shape.period);
  columns.period_stride = columns.period * shape.count * shape.stride;
  for (std::int64_t i = 0; i < columns.period; ++i)
    c.rows.push_back(i * shape.count * shape.stride);
  if (columns.period == walked && left > 0) {
    c.rows.push_back(columns.tail_offset);
    columns.period = columns.n;
  }
  columns.groups = shape.groups;
  columns.group_stride = shape.size * std::abs(shape.stride) + random(3);
  set_tiles(c);
  const std::int64_t step = any_of<std::int64_t>({1, 1, 3});
  call.results = shape.results;
  call.columns.widened_step = step;
  call.columns.index_step = step * shape.count;
  call.columns.backwards = contiguous && shape.stride < 0;
  call.columns.tail_index = left > 0 ? (left - shape.count) * step : 0;
  if (shape.results > 1) columns.tile_lanes = columns.lanes;
  if (shape.count > 256) columns.tile_lanes = 256;  // numbers of lanes fit a byte
  allocate(c);
  return c;
}

/// Sets each element to value(index, group, result), where indices count from 0 in steps of 1.
template <class Value>
void fill(Case& c, Value&& value) {
  const ArgColumns& call = c.call;
  const std::int64_t step =
      std::min(call.columns.index_step,
               call.columns.widened_step > 0 ? call.columns.widened_step : call.columns.index_step);
  for (std::int64_t i = 0; i < call.columns.n; ++i) {
    for (std::int64_t g = 0; g < call.columns.groups; ++g) {
      for (std::int64_t l = 0; l < call.columns.lanes; ++l) {
        c.set(i, g, l, value((c.index(i, l) - call.index_base) / step, g, l % call.results));
      }
    }
  }
}

/// Bytes between guards, aligned to 64 bytes.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes)
      : bytes_(bytes), memory_(static_cast<std::size_t>(bytes + 3 * kGuardBytes), kGuard) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
    first_ = memory_.data() + kGuardBytes + (64 - address % 64) % 64;
  }
  char* data() { return first_; }
  bool is_intact() const {
    const auto is_guard = [](char byte) { return byte == kGuard; };
    return std::all_of(memory_.data(), static_cast<const char*>(first_), is_guard) &&
           std::all_of(static_cast<const char*>(first_) + bytes_, memory_.data() + memory_.size(),
                       is_guard);
  }

 private:
  std::int64_t bytes_;
  std::vector<char> memory_;
  char* first_;
};

}  // namespace cases
