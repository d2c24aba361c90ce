// argmin and argmax of columns, register-blocked: the best of some vectors of lanes and its
// position stay in registers over the positions of a pass.
#pragma once

#include <type_traits>

#include "kernels/columns-inl.hpp"
#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_LEVEL {
namespace {

/// What a lane holds: an element, if the processor compares the type, or its key.
template <class O>
struct ArgLane {
  using T = typename O::Element;
  using Position = typename O::Unsigned;
  static constexpr bool kNative = kHasNativeOrder<T>;
  static constexpr bool kByKey = kInfinityBits<T> != 0 && !kNative;
  using Best = std::conditional_t<kByKey, typename O::Key, T>;

  template <class V, std::int64_t kBytes>
  static V load(const T* p) {
    if constexpr (kByKey) {
      using Signed = typename Vector<typename O::Key, kBytes>::Type;
      const auto keys = O::template raw_keys<V, Signed>(
          Vector<Position, kBytes>::load(reinterpret_cast<const Position*>(p)));
      const V nan = Vector<typename O::Key, kBytes>::all(O::nan_key());
      return (O::kNanFirst ? keys < nan : keys > nan) ? keys : nan;
    } else if constexpr (kBytes < 16) {
      return Vector<T, kBytes>::load(p);
    } else {
      return loaded(Vector<T, kBytes>::load(p));
    }
  }
  /// Whether x comes before b. For numbers alone if not kCareful: NaNs never do, and stay.
  template <bool kCareful, class V>
  static auto better(V x, V b) {
    const auto wins = kByKey || O::kLargest ? x > b : x < b;
    if constexpr (kCareful && kNative) {
      return O::kNanFirst ? wins | ((x != x) & (b == b)) : wins | ((b != b) & (x == x));
    } else {
      return wins;
    }
  }
  /// The key of what the lane holds, which is given by its bits.
  static typename O::Key key(Position best) {
    if constexpr (kByKey) {
      return static_cast<typename O::Key>(best);
    } else {
      T x;
      std::memcpy(&x, &best, sizeof x);
      return O::key(x);
    }
  }
};

/// The bits of the best of each lane of a tile so far, and its position.
template <class U>
struct BestOfTile {
  U* best;
  U* positions;

  BestOfTile at(std::int64_t lane) const { return {best + lane, positions + lane}; }
};

/// Takes n positions of kVectors vectors of lanes, which are `apart` elements from each other, the
/// first position number `position`. False, and nothing taken, if NaNs may decide: where they come
/// first if the elements' sum is NaN (which also comes of infinities of both signs), else if the
/// first of a lane is one.
template <class O, std::int64_t kBytes, int kVectors, bool kCareful, class U = typename O::Unsigned>
bool take_vectors(const U* data, std::int64_t apart, const std::int64_t* rows, std::int64_t n,
                  std::int64_t position, bool starts, std::int64_t ahead,
                  const BestOfTile<U>& state, std::int64_t state_apart) {
  using Lane = ArgLane<O>;
  using T = typename O::Element;
  using V = Vector<typename Lane::Best, kBytes>;
  using P = Vector<typename Lane::Position, kBytes>;
  constexpr bool kSums = Lane::kNative && O::kNanFirst && !kCareful;
  auto* const bests = reinterpret_cast<typename Lane::Best*>(state.best);
  const auto load = [](const U* p) {
    return Lane::template load<typename V::Type, kBytes>(reinterpret_cast<const T*>(p));
  };
  typename V::Type best[kVectors];
  typename P::Type positions[kVectors];
  [[maybe_unused]] typename V::Type sum{};
  if (starts) {
    for (int v = 0; v < kVectors; ++v) {
      best[v] = load(data + rows[0] + v * apart);
      positions[v] = P::all(static_cast<typename Lane::Position>(position));
      if constexpr (kSums) sum += best[v];
    }
  } else {
    for (int v = 0; v < kVectors; ++v) {
      best[v] = V::load(bests + v * state_apart);
      positions[v] = P::load(state.positions + v * state_apart);
    }
  }
  const std::int64_t first = starts ? 1 : 0;
  typename P::Type at = P::all(static_cast<typename Lane::Position>(position + first));
  for (std::int64_t i = first; i < n; ++i) {
    const U* const row = data + rows[i];
    if (ahead != 0) {
      for (int v = 0; v < kVectors; ++v) prefetch(row + v * apart + ahead);
    }
    [[maybe_unused]] typename V::Type part{};
    for (int v = 0; v < kVectors; ++v) {
      const typename V::Type x = load(row + v * apart);
      const auto better = Lane::template better<kCareful>(x, best[v]);
      best[v] = better ? x : best[v];
      positions[v] = better ? at : positions[v];
      // One addition only waits for the row before.
      if constexpr (kSums) part = v == 0 ? x : part + x;
    }
    if constexpr (kSums) sum += part;
    at += 1;
  }
  if constexpr (kSums) {
    if (any(sum != sum)) return false;
  } else if constexpr (Lane::kNative && !kCareful) {
    for (int v = 0; v < kVectors; ++v) {
      if (any(best[v] != best[v])) return false;
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    V::store(bests + v * state_apart, best[v]);
    P::store(state.positions + v * state_apart, positions[v]);
  }
  return true;
}

/// The same of one vector with NaNs, which are few: not inlined, as all widths share it.
template <class O, std::int64_t kBytes, class U = typename O::Unsigned>
DMLCPU_NOINLINE void take_carefully(const U* data, const TileRows<U>& rows, std::int64_t position,
                                    bool starts, const BestOfTile<U>& state) {
  take_vectors<O, kBytes, 1, true>(data, 0, rows.rows, rows.n, position, starts, 0, state, 0);
}

/// The same of all lanes of a tile, four vectors at a time where there are as many, side by side or
/// of four groups: each waits for its own comparison. The last ones overlap those before: taking
/// elements twice changes nothing, unless the lanes are at their start, and then they start again.
template <class O, class U = typename O::Unsigned>
void take_rows(const TileRows<U>& rows, std::int64_t position, bool starts, std::int64_t ahead,
               const BestOfTile<U>& state) {
  const auto take = [&](auto bytes, auto vectors, std::int64_t group, std::int64_t lane,
                        std::int64_t apart, std::int64_t state_apart, std::int64_t distance) {
    const U* const data = rows.data + group * rows.group_stride + lane;
    const BestOfTile<U> lanes = state.at(group * rows.lanes + lane);
    if (take_vectors<O, bytes, vectors, false>(data, apart, rows.rows, rows.n, position, starts,
                                               distance, lanes, state_apart)) {
      return;
    }
    if constexpr (ArgLane<O>::kNative) {
      for (int v = 0; v < vectors; ++v) {
        take_carefully<O, bytes>(data + v * apart, rows, position, starts,
                                 lanes.at(v * state_apart));
      }
    }
  };
  const auto take_all = [&](auto bytes) {
    constexpr std::int64_t kLanes = bytes / static_cast<std::int64_t>(sizeof(U));
    constexpr std::int64_t kVectors = kLanes == 1 ? 1 : 4;
    const bool of_groups = rows.lanes < kVectors * kLanes && rows.groups >= kVectors;
    const std::int64_t group_step = of_groups ? kVectors : 1;
    const std::int64_t lane_step = of_groups ? kLanes : kVectors * kLanes;
    const std::int64_t last = rows.lanes - kLanes;
    const std::int64_t end = of_groups ? rows.lanes : last - (kVectors - 1) * kLanes + 1;
    // Of groups, the same of the next ones are prefetched.
    const std::int64_t distance = of_groups && ahead != 0 ? kVectors * rows.group_stride : ahead;
    for (std::int64_t g = 0; g < rows.groups; g += group_step) {
      const std::int64_t group = min_of(g, rows.groups - group_step);
      std::int64_t lane = 0;
      for (; lane < end; lane += lane_step) {
        take(bytes, Constant<kVectors>(), group, min_of(lane, last),
             of_groups ? rows.group_stride : kLanes, of_groups ? rows.lanes : kLanes, distance);
      }
      for (; lane < rows.lanes && kVectors > 1; lane += kLanes) {
        take(bytes, Constant<1>(), group, min_of(lane, last), 0, 0, ahead);
      }
    }
  };
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  const std::int64_t row_bytes = rows.lanes * kSize;
  if (row_bytes >= kVectorBytes) return take_all(Constant<kVectorBytes>());
  if (kVectorBytes > 16 && row_bytes >= 16) return take_all(Constant<16>());
  take_all(Constant<kSize>());
}

/// Of `count` lanes of each of `results` results, all lanes of a number next to each other, leaves
/// the best of each result in the first lanes, pair by pair: the one of the higher key, then of the
/// lower index, which either the position or the number decides first.
template <class U>
void join_lanes(std::int64_t count, std::int64_t results, bool number_first,
                const BestOfTile<U>& lanes, U* numbers) {
  U* const keys = lanes.best;
  U* const major = number_first ? numbers : lanes.positions;
  U* const minor = number_first ? lanes.positions : numbers;
  while (count > 1) {
    const std::int64_t half = (count + 1) / 2;
    const std::int64_t distance = half * results;
    const std::int64_t pairs = (count - half) * results;
    std::int64_t i = 0;
    const auto merge = [&](auto bytes) {
      using V = Vector<U, bytes>;
      for (; i + V::kWidth <= pairs; i += V::kWidth) {
        const auto at = [&](const U* p) { return V::load(p + i); };
        const auto other = [&](const U* p) { return V::load(p + i + distance); };
        const auto before =
            (other(major) < at(major)) | ((other(major) == at(major)) & (other(minor) < at(minor)));
        const auto better = (other(keys) > at(keys)) | ((other(keys) == at(keys)) & before);
        V::store(keys + i, better ? other(keys) : at(keys));
        V::store(major + i, better ? other(major) : at(major));
        V::store(minor + i, better ? other(minor) : at(minor));
      }
    };
    merge(Constant<kVectorBytes>());
    if constexpr (kVectorBytes > 16) merge(Constant<16>());
    merge(Constant<sizeof(U)>());
    count = half;
  }
}

/// The results of a run of a tile's positions: result r of group g is number g * stride + r.
template <class U>
struct RunResults {
  const U* best;       ///< elements, or keys if they are merged
  const U* positions;  ///< counted from the run's first
  const U* numbers;    ///< of the lanes; null unless the columns are widened
  std::int64_t stride;
  std::int64_t results;
};

/// Writes `sign` times the index of each result of a run whose first position is number `run`, and
/// `offset` more, to to[g * stride + r].
template <class Index, class U>
DMLCPU_NOINLINE void write_run(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& found,
                               std::int64_t run, std::int64_t offset, std::int64_t sign, Index* to,
                               std::int64_t stride) {
  const auto of = [offset, sign](std::int64_t x) { return static_cast<Index>(offset + sign * x); };
  const std::int64_t before = a.backwards ? a.columns.lanes - tile.lane - tile.lanes : tile.lane;
  const std::int64_t number = before / a.results;
  const auto base = of(a.index_base + run * a.index_step + number * a.widened_step);
  const auto step = static_cast<Index>(sign * a.index_step);
  const auto widened = static_cast<Index>(sign * a.widened_step);
  const auto tail_index = static_cast<Index>(sign * a.tail_index);
  const std::int64_t tail = a.columns.tail - run;
  // Results one by one are side by side.
  const bool single = found.results == 1 && found.stride == 1 && stride == 1;
  const std::int64_t results = single ? tile.groups : found.results;
  for (std::int64_t g = 0; g < (single ? 1 : tile.groups); ++g, to += stride) {
    const U* const positions = found.positions + g * found.stride;
    for (std::int64_t r = 0; r < results; ++r) {
      to[r] = static_cast<Index>(base + step * static_cast<Index>(positions[r]));
    }
    if (found.numbers == nullptr) continue;
    const U* const numbers = found.numbers + g * found.stride;
    for (std::int64_t r = 0; r < results; ++r) {
      const bool in_tail = static_cast<std::int64_t>(positions[r]) == tail;
      to[r] = static_cast<Index>(to[r] + widened * static_cast<Index>(numbers[r]) +
                                 (in_tail ? tail_index : Index{0}));
    }
  }
}

/// Merges the lanes of each result of a tile, whose best are keys. Shared by all orders of a width.
template <class U>
DMLCPU_NOINLINE RunResults<U> join_widened(const ArgColumns& a, const Tile<U>& tile,
                                           BestOfTile<U> state, std::int64_t array) {
  const std::int64_t count = tile.lanes / a.results;
  U* const numbers = state.best + 4 * array;
  const auto join = [&](const BestOfTile<U>& lanes, std::int64_t results, U* numbers_of) {
    for (std::int64_t n = 0; n < count; ++n) {
      const auto number = static_cast<U>(a.backwards ? count - 1 - n : n);
      for (std::int64_t r = 0; r < results; ++r) numbers_of[n * results + r] = number;
    }
    join_lanes(count, results, a.widened_step > a.index_step, lanes, numbers_of);
  };
  if (a.results == 1 && tile.groups > 1) {
    // Groups side by side, so that they fill vectors.
    const BestOfTile<U> transposed = {state.best + 2 * array, state.best + 3 * array};
    transpose(state.best, count, tile.groups, count, transposed.best, tile.groups, 0);
    transpose(state.positions, count, tile.groups, count, transposed.positions, tile.groups, 0);
    join(transposed, tile.groups, numbers);
    return {transposed.best, transposed.positions, numbers, 1, 1};
  }
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    join(state.at(g * tile.lanes), a.results, numbers + g * tile.lanes);
  }
  return {state.best, state.positions, numbers, tile.lanes, a.results};
}

/// Merges the results of a run, whose best are keys, into the best so far.
template <class U>
DMLCPU_NOINLINE void merge_run(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& found,
                               std::int64_t run, void* buffer) {
  const std::int64_t first = found.numbers == nullptr ? tile.lane : 0;
  const bool starts = a.starts && run == 0 && tile.lane == first;
  auto* index = static_cast<std::uint64_t*>(buffer);
  write_run(a, tile, found, run, 0, 1, index, found.results);
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    std::int64_t* const keys = a.keys + (tile.group + g) * a.results + first;
    std::int64_t* const indices = a.indices + (tile.group + g) * a.results + first;
    for (std::int64_t r = 0; r < found.results; ++r) {
      const std::int64_t key = wide_key(found.best[g * found.stride + r]);
      const auto at = static_cast<std::int64_t>(*index++);
      const bool better = starts || key > keys[r] || (key == keys[r] && at < indices[r]);
      keys[r] = better ? key : keys[r];
      indices[r] = better ? at : indices[r];
    }
  }
}

/// Writes the results of all positions. Of widened columns the elements are looked up.
template <class U>
DMLCPU_NOINLINE void write_results(const ArgColumns& a, const Tile<U>& tile,
                                   const RunResults<U>& found, void* buffer) {
  const ArgOutput& out = a.output;
  const bool widened = found.numbers != nullptr;
  const auto first = [&](std::int64_t group_stride, std::int64_t lane_stride) {
    return tile.group * group_stride + (widened ? 0 : tile.lane) * lane_stride;
  };
  write_indices(out.indices, out.index_size, first(out.index_group_stride, out.index_lane_stride),
                tile.groups, found.results, out.index_group_stride, out.index_lane_stride, buffer,
                [&](auto* to, std::int64_t stride) {
                  write_run(a, tile, found, 0, out.from_end ? out.last : 0, out.from_end ? -1 : 1,
                            to, stride);
                });
  if (out.values == nullptr) return;
  const U* values = found.best;
  std::int64_t stride = found.stride;
  if (widened) {
    auto* const elements = static_cast<U*>(buffer);
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      for (std::int64_t r = 0; r < found.results; ++r) {
        const std::int64_t i = g * found.stride + r;
        const std::int64_t n =
            a.backwards ? tile.lanes / a.results - 1 - found.numbers[i] : found.numbers[i];
        elements[g * found.results + r] =
            tile.data[element_offset(a.columns, g, n * a.results + r, found.positions[i])];
      }
    }
    values = elements;
    stride = found.results;
  }
  write_tile(values, stride, tile.groups, found.results,
             static_cast<U*>(out.values) + first(out.value_group_stride, out.value_lane_stride),
             out.value_group_stride, out.value_lane_stride);
}

/// Turns the best of a tile from what lanes hold to keys.
template <class O, class U = typename O::Unsigned>
void make_keys(std::int64_t count, U* best) {
  for (std::int64_t i = 0; i < count; ++i) best[i] = unsigned_key<O>(ArgLane<O>::key(best[i]));
}

/// Turns them to elements. Zeros and NaNs are looked up, in the caller's memory.
template <class O, class U = typename O::Unsigned>
void make_elements(const ArgColumns& a, const Tile<U>& tile, BestOfTile<U> state) {
  if constexpr (ArgLane<O>::kByKey) {
    for (std::int64_t g = 0; g < tile.groups; ++g, state = state.at(tile.lanes)) {
      for (std::int64_t l = 0; l < tile.lanes; ++l) {
        if (O::bits_of(static_cast<typename O::Key>(state.best[l]), &state.best[l])) continue;
        state.best[l] = tile.data[element_offset(a.columns, g, l, state.positions[l])];
      }
    }
  }
}

/// What depends on the order.
template <class U>
struct ArgOfOrder {
  void (*take_rows)(const TileRows<U>& rows, std::int64_t position, bool starts, std::int64_t ahead,
                    const BestOfTile<U>& state);
  void (*make_keys)(std::int64_t count, U* best);
  void (*make_elements)(const ArgColumns& a, const Tile<U>& tile, BestOfTile<U> state);
};

template <class U>
DMLCPU_NOINLINE void arg_columns_of(const ArgColumns& a, const ArgOfOrder<U>& order) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  constexpr std::int64_t kRun = arg_run_positions(kSize);
  const Columns& columns = a.columns;
  char* const scratch = static_cast<char*>(a.scratch);
  const bool widened = a.results < columns.lanes;
  const std::int64_t array_bytes = arg_tile_bytes(columns, kSize);
  const BestOfTile<U> state = {reinterpret_cast<U*>(scratch),
                               reinterpret_cast<U*>(scratch + array_bytes)};
  char* const buffer = scratch + arg_tile_arrays(widened) * array_bytes;
  char* const packed = buffer + arg_buffer_bytes(columns);
  // Packed tiles are in L1.
  const std::int64_t ahead = a.prefetches && columns.packing == Packing::kNone ? columns.ahead : 0;
  for_tiles<U>(columns, [&](const Tile<U>& tile) {
    std::int64_t run = 0;
    const auto end_run = [&] {
      RunResults<U> found = {state.best, state.positions, nullptr, tile.lanes, tile.lanes};
      const bool merges = a.keys != nullptr;
      if (merges || widened) order.make_keys(tile.groups * tile.lanes, state.best);
      if (widened) found = join_widened(a, tile, state, array_bytes / kSize);
      if (merges) return merge_run(a, tile, found, run, buffer);
      if (a.output.values != nullptr && !widened) order.make_elements(a, tile, state);
      write_results(a, tile, found, buffer);
    };
    for_rows(columns, tile, a.prefetches, packed, [&](TileRows<U> rows, std::int64_t position) {
      const std::int64_t end = position + rows.n;
      while (position < end) {
        const std::int64_t run_end = min_of(run + kRun, columns.n);
        rows.n = min_of(end, run_end) - position;
        order.take_rows(rows, position - run, position == run, ahead, state);
        rows.rows += rows.n;
        position += rows.n;
        if (position < run_end) continue;
        end_run();
        run = position;
      }
    });
  });
}

template <class O>
void arg_columns(const ArgColumns& a) {
  arg_columns_of<typename O::Unsigned>(a, {take_rows<O>, make_keys<O>, make_elements<O>});
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_LEVEL
