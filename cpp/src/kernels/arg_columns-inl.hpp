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

/// Whether a comparison holds for any element of a vector of any size.
template <class Mask>
bool any_holds(const Mask& mask) {
  if constexpr (sizeof mask == kVectorBytes) {
    return any(mask);
  } else {
    std::uint8_t bytes[sizeof mask];
    std::memcpy(bytes, &mask, sizeof mask);
    std::uint8_t all = 0;
    for (const std::uint8_t byte : bytes) all |= byte;
    return all != 0;
  }
}

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
    if (any_holds(sum != sum)) return false;
  } else if constexpr (Lane::kNative && !kCareful) {
    for (int v = 0; v < kVectors; ++v) {
      if (any_holds(best[v] != best[v])) return false;
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
/// of four groups: each waits for its own comparison.
template <class O, class U = typename O::Unsigned>
void take_rows(const TileRows<U>& rows, std::int64_t position, bool starts, std::int64_t ahead,
               const BestOfTile<U>& state) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
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
  constexpr std::integral_constant<std::int64_t, kVectorBytes> kWhole;
  constexpr std::integral_constant<int, 1> kOne;
  constexpr std::integral_constant<int, 4> kFour;
  for (std::int64_t g = 0, groups = 0; g < rows.groups; g += groups) {
    groups = rows.groups - g < kFour ? 1 : kFour;
    std::int64_t lane = 0;
    // A last vector overlaps the one before: taking elements twice changes nothing, unless the
    // lanes are at their start, and then they start again.
    const auto take_all = [&](auto bytes, auto vectors) {
      constexpr std::int64_t kLanes = bytes / kSize;
      const std::int64_t last = rows.lanes - kLanes * vectors;
      if (last < 0) return;
      for (; lane < (vectors == 1 ? rows.lanes : last + 1); lane += kLanes * vectors) {
        const std::int64_t l = min_of(lane, last);
        if (vectors == 1 && groups == kFour) {
          // The same of the next groups.
          const std::int64_t distance = ahead == 0 ? 0 : kFour * rows.group_stride;
          take(bytes, kFour, g, l, rows.group_stride, rows.lanes, distance);
        } else {
          for (std::int64_t i = 0; i < groups; ++i)
            take(bytes, vectors, g + i, l, kLanes, kLanes, ahead);
        }
      }
    };
    take_all(kWhole, kFour);
    if (groups == 1) take_all(kWhole, std::integral_constant<int, 2>());
    take_all(kWhole, kOne);
    if constexpr (kVectorBytes > 16) take_all(std::integral_constant<std::int64_t, 16>(), kOne);
    take_all(std::integral_constant<std::int64_t, kSize>(), kOne);
  }
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
    merge(std::integral_constant<std::int64_t, kVectorBytes>());
    if constexpr (kVectorBytes > 16) merge(std::integral_constant<std::int64_t, 16>());
    merge(std::integral_constant<std::int64_t, sizeof(U)>());
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

/// Calls body(index_of), where index_of(i) is `sign` times the index of result i of a run whose
/// first position is number `run`, and `offset` more.
template <class Index, class U, class Body>
void with_index(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& found,
                std::int64_t run, std::int64_t offset, std::int64_t sign, const Body& body) {
  const auto of = [offset, sign](std::int64_t x) { return static_cast<Index>(offset + sign * x); };
  const std::int64_t before = a.backwards ? a.columns.lanes - tile.lane - tile.lanes : tile.lane;
  const std::int64_t number = before / a.results;
  const auto base = of(a.index_base + run * a.index_step + number * a.widened_step);
  const auto step = static_cast<Index>(sign * a.index_step);
  const auto widened = static_cast<Index>(sign * a.widened_step);
  const auto tail_index = static_cast<Index>(sign * a.tail_index);
  const std::int64_t tail = a.columns.tail - run;
  const auto index_of = [=](std::int64_t i) {
    return static_cast<Index>(base + step * static_cast<Index>(found.positions[i]));
  };
  if (found.numbers == nullptr) return body(index_of);
  body([=](std::int64_t i) {
    const bool in_tail = static_cast<std::int64_t>(found.positions[i]) == tail;
    return static_cast<Index>(index_of(i) + widened * static_cast<Index>(found.numbers[i]) +
                              (in_tail ? tail_index : Index{0}));
  });
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
                               std::int64_t run) {
  const std::int64_t first = found.numbers == nullptr ? tile.lane : 0;
  const bool starts = a.starts && run == 0 && tile.lane == first;
  with_index<std::int64_t>(a, tile, found, run, 0, 1, [&](const auto& index_of) {
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      std::int64_t* const keys = a.keys + (tile.group + g) * a.results + first;
      std::int64_t* const indices = a.indices + (tile.group + g) * a.results + first;
      for (std::int64_t r = 0; r < found.results; ++r) {
        const std::int64_t key = wide_key(found.best[g * found.stride + r]);
        const std::int64_t index = index_of(g * found.stride + r);
        const bool better = starts || key > keys[r] || (key == keys[r] && index < indices[r]);
        keys[r] = better ? key : keys[r];
        indices[r] = better ? index : indices[r];
      }
    }
  });
}

/// Writes the results of all positions. Of widened columns the elements are looked up.
template <class U>
DMLCPU_NOINLINE void write_results(const ArgColumns& a, const Tile<U>& tile,
                                   const RunResults<U>& found) {
  const ArgOutput& out = a.output;
  const bool widened = found.numbers != nullptr;
  const auto write = [&](auto* to, std::int64_t group_stride, std::int64_t lane_stride,
                         const auto& value) {
    write_tile(to + tile.group * group_stride + (widened ? 0 : tile.lane) * lane_stride,
               group_stride, lane_stride, tile.groups, found.results, value);
  };
  with_indices(out.indices, out.index_size, [&](auto* to) {
    using Index = std::remove_reference_t<decltype(*to)>;
    with_index<Index>(
        a, tile, found, 0, out.from_end ? out.last : 0, out.from_end ? -1 : 1,
        [&](const auto& index_of) {
          write(to, out.index_group_stride, out.index_lane_stride,
                [&](std::int64_t g, std::int64_t r) { return index_of(g * found.stride + r); });
        });
  });
  if (out.values == nullptr) return;
  write(static_cast<U*>(out.values), out.value_group_stride, out.value_lane_stride,
        [&](std::int64_t g, std::int64_t r) {
          const std::int64_t i = g * found.stride + r;
          if (!widened) return found.best[i];
          const std::int64_t n =
              a.backwards ? tile.lanes / a.results - 1 - found.numbers[i] : found.numbers[i];
          return tile.data[element_offset(a.columns, g, n * a.results + r, found.positions[i])];
        });
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

template <class O>
void arg_columns(const ArgColumns& a) {
  using U = typename O::Unsigned;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  constexpr std::int64_t kRun = arg_run_positions(kSize);
  const Columns& columns = a.columns;
  char* const scratch = static_cast<char*>(a.scratch);
  const bool widened = a.results < columns.lanes;
  const std::int64_t array_bytes = arg_tile_bytes(columns, kSize);
  const BestOfTile<U> state = {reinterpret_cast<U*>(scratch),
                               reinterpret_cast<U*>(scratch + array_bytes)};
  char* const packed = scratch + arg_tile_arrays(widened) * array_bytes;
  // Packed tiles are in L1.
  const std::int64_t ahead = a.prefetches && columns.packing == Packing::kNone ? columns.ahead : 0;
  for_tiles<U>(columns, [&](const Tile<U>& tile) {
    std::int64_t run = 0;
    const auto end_run = [&] {
      RunResults<U> found = {state.best, state.positions, nullptr, tile.lanes, tile.lanes};
      const bool merges = a.keys != nullptr;
      if (merges || widened) make_keys<O>(tile.groups * tile.lanes, state.best);
      if (widened) found = join_widened(a, tile, state, array_bytes / kSize);
      if (merges) return merge_run(a, tile, found, run);
      if (a.output.values != nullptr && !widened) make_elements<O>(a, tile, state);
      write_results(a, tile, found);
    };
    for_rows(columns, tile, a.prefetches, packed, [&](TileRows<U> rows, std::int64_t position) {
      const std::int64_t end = position + rows.n;
      while (position < end) {
        const std::int64_t run_end = min_of(run + kRun, columns.n);
        rows.n = min_of(end, run_end) - position;
        take_rows<O>(rows, position - run, position == run, ahead, state);
        rows.rows += rows.n;
        position += rows.n;
        if (position < run_end) continue;
        end_run();
        run = position;
      }
    });
  });
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_LEVEL
