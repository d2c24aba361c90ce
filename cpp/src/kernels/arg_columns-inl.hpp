// argmin and argmax of columns, register-blocked: the best of some vectors of lanes and its
// position stay in registers over the positions of a pass.
#pragma once

#include <type_traits>

#include "kernels/columns-inl.hpp"
#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
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
  /// From an element to what the lane holds, and from that to the key; both are given by their
  /// bits.
  static Position of(Position element) {
    return kByKey ? static_cast<Position>(O::key(element_of(element))) : element;
  }
  static typename O::Key key(Position best) {
    if constexpr (kByKey) {
      return static_cast<typename O::Key>(best);
    } else {
      return O::key(element_of(best));
    }
  }
  static T element_of(Position bits) {
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
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
    std::uint64_t words[sizeof mask / sizeof(std::uint64_t)];
    std::memcpy(words, &mask, sizeof mask);
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
}

/// Takes n positions of kVectors vectors of lanes, the first of them number `position`. False, and
/// nothing taken, if NaNs may decide: where they come first if the elements' sum is NaN (which also
/// comes of infinities of both signs), else if the first of a lane is one.
template <class O, std::int64_t kBytes, int kVectors, bool kCareful, class U = typename O::Unsigned>
bool take_vectors(const U* data, const std::int64_t* rows, std::int64_t n, std::int64_t position,
                  bool starts, std::int64_t ahead, const BestOfTile<U>& state) {
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
      best[v] = load(data + rows[0] + v * V::kWidth);
      positions[v] = P::all(static_cast<typename Lane::Position>(position));
      if constexpr (kSums) sum += best[v];
    }
  } else {
    for (int v = 0; v < kVectors; ++v) {
      best[v] = V::load(bests + v * V::kWidth);
      positions[v] = P::load(state.positions + v * V::kWidth);
    }
  }
  const std::int64_t first = starts ? 1 : 0;
  typename P::Type at = P::all(static_cast<typename Lane::Position>(position + first));
  for (std::int64_t i = first; i < n; ++i) {
    const U* const row = data + rows[i];
    if (ahead != 0) {
      for (std::int64_t b = 0; b < kVectors * kBytes; b += kCacheLine) {
        prefetch_level_2(reinterpret_cast<const char*>(row + ahead) + b);
      }
    }
    [[maybe_unused]] typename V::Type part{};
    for (int v = 0; v < kVectors; ++v) {
      const typename V::Type x = load(row + v * V::kWidth);
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
    V::store(bests + v * V::kWidth, best[v]);
    P::store(state.positions + v * V::kWidth, positions[v]);
  }
  return true;
}

/// The same of one vector with NaNs, which are few: not inlined, as all widths share it.
template <class O, std::int64_t kBytes, class U = typename O::Unsigned>
DMLCPU_NOINLINE void take_carefully(const U* data, const TileRows<U>& rows, std::int64_t position,
                                    bool starts, const BestOfTile<U>& state) {
  take_vectors<O, kBytes, 1, true>(data, rows.rows, rows.n, position, starts, 0, state);
}

/// The same of one lane.
template <class O, class U = typename O::Unsigned>
void take_lane(const U* data, const std::int64_t* rows, std::int64_t n, std::int64_t position,
               bool starts, const BestOfTile<U>& state) {
  using Lane = ArgLane<O>;
  // Packed elements were written as integers.
  const auto element = [&](std::int64_t i) {
    U bits;
    std::memcpy(&bits, data + rows[i], sizeof bits);
    return bits;
  };
  if (starts) {
    *state.best = Lane::of(element(0));
    *state.positions = static_cast<U>(position);
  }
  typename O::Key best = Lane::key(*state.best);
  for (std::int64_t i = starts ? 1 : 0; i < n; ++i) {
    const U x = element(i);
    const typename O::Key key = O::key(Lane::element_of(x));
    if (key <= best) continue;
    best = key;
    *state.best = Lane::of(x);
    *state.positions = static_cast<U>(position + i);
  }
}

/// The same of all lanes of a tile.
template <class O, class U = typename O::Unsigned>
void take_rows(const TileRows<U>& rows, std::int64_t position, bool starts, std::int64_t ahead,
               BestOfTile<U> state) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  for (std::int64_t g = 0; g < rows.groups; ++g) {
    const U* const data = rows.data + g * rows.group_stride;
    std::int64_t lane = 0;
    const auto take = [&](auto bytes, auto vectors, std::int64_t l) {
      if (take_vectors<O, bytes, vectors, false>(data + l, rows.rows, rows.n, position, starts,
                                                 ahead, state.at(l))) {
        return;
      }
      if constexpr (ArgLane<O>::kNative) {
        for (int v = 0; v < vectors; ++v, l += bytes / kSize) {
          take_carefully<O, bytes>(data + l, rows, position, starts, state.at(l));
        }
      }
    };
    // A last vector overlaps the one before: taking elements twice changes nothing, unless the
    // lanes are at their start, and then they start again.
    const auto take_all = [&](auto bytes, auto vectors) {
      constexpr std::int64_t kLanes = bytes * vectors / kSize;
      const std::int64_t last = rows.lanes - kLanes;
      if (last < 0) return;
      for (; lane < (vectors == 1 ? rows.lanes : last + 1); lane += kLanes) {
        take(bytes, vectors, min_of(lane, last));
      }
    };
    constexpr std::integral_constant<std::int64_t, kVectorBytes> kWhole;
    take_all(kWhole, std::integral_constant<int, 4>());
    take_all(kWhole, std::integral_constant<int, 2>());
    take_all(kWhole, std::integral_constant<int, 1>());
    if constexpr (kVectorBytes > 16) {
      take_all(std::integral_constant<std::int64_t, 16>(), std::integral_constant<int, 1>());
    }
    for (; lane < rows.lanes; ++lane) {
      take_lane<O>(data + lane, rows.rows, rows.n, position, starts, state.at(lane));
    }
    state = state.at(rows.lanes);
  }
}

/// Merges lanes that are all of one result, each with its index higher by `widened_step` than the
/// one before. Few are as good as the best, so that they are looked for after it.
template <class U>
void merge_widened(const ArgColumns& a, std::int64_t index_base, bool empty, std::int64_t lanes,
                   BestOfTile<U> state, std::int64_t* key, std::int64_t* index) {
  U best = state.best[0];
  for (std::int64_t l = 1; l < lanes; ++l) best = max_of(best, state.best[l]);
  const std::int64_t wide = wide_key(best);
  if (!empty && wide < *key) return;
  if (empty || wide > *key) *index = INT64_MAX;
  *key = wide;
  for (std::int64_t l = 0; l < lanes; ++l) {
    if (state.best[l] != best) continue;
    *index = min_of(*index, index_base + l * a.widened_step +
                                a.index_step * static_cast<std::int64_t>(state.positions[l]));
  }
}

/// Merges a tile, whose best are keys, into the best so far. Shared by all orders of a width.
template <class U>
DMLCPU_NOINLINE void merge_tile(const ArgColumns& a, const Tile<U>& tile, std::int64_t index_base,
                                bool starts, BestOfTile<U> state) {
  const bool widened = a.results < a.columns.lanes;
  for (std::int64_t g = tile.group; g < tile.group + tile.groups; ++g) {
    if (widened && a.results == 1) {
      merge_widened(a, index_base + tile.lane * a.widened_step, starts && tile.lane == 0,
                    tile.lanes, state, a.keys + g, a.indices + g);
      state = state.at(tile.lanes);
      continue;
    }
    // Lanes side by side may be further elements of the same results.
    std::int64_t number = widened ? tile.lane / a.results : 0;
    std::int64_t result = tile.lane - number * a.results;
    for (std::int64_t left = tile.lanes; left > 0; ++number, result = 0) {
      const std::int64_t count = min_of(a.results - result, left);
      const std::int64_t base = index_base + number * a.widened_step;
      std::int64_t* const keys = a.keys + g * a.results + result;
      std::int64_t* const indices = a.indices + g * a.results + result;
      const bool empty = starts && number == 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t key = wide_key(state.best[i]);
        const std::int64_t index =
            base + a.index_step * static_cast<std::int64_t>(state.positions[i]);
        const bool better = empty || key > keys[i] || (key == keys[i] && index < indices[i]);
        keys[i] = better ? key : keys[i];
        indices[i] = better ? index : indices[i];
      }
      state = state.at(count);
      left -= count;
    }
  }
}

/// Writes a tile's results, whose best are elements. Shared by all orders of a width.
template <class U>
DMLCPU_NOINLINE void write_results(const ArgColumns& a, const Tile<U>& tile, BestOfTile<U> state) {
  const ArgOutput& out = a.output;
  const std::int64_t lanes = tile.lanes;
  with_indices(out.indices, out.index_size, [&](auto* to) {
    using Index = std::remove_reference_t<decltype(*to)>;
    const auto base = static_cast<Index>(a.index_base + a.columns.first * a.index_step);
    const auto step = static_cast<Index>(a.index_step);
    write_tile(to + tile.group * out.index_group_stride + tile.lane * out.index_lane_stride,
               out.index_group_stride, out.index_lane_stride, tile.groups, lanes,
               [=](std::int64_t g, std::int64_t l) {
                 return static_cast<Index>(
                     base + step * static_cast<Index>(state.positions[g * lanes + l]));
               });
  });
  if (out.values == nullptr) return;
  write_tile(static_cast<U*>(out.values) + tile.group * out.value_group_stride +
                 tile.lane * out.value_lane_stride,
             out.value_group_stride, out.value_lane_stride, tile.groups, lanes,
             [=](std::int64_t g, std::int64_t l) { return state.best[g * lanes + l]; });
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
        state.best[l] =
            tile.data[element_offset(a.columns, g, l, a.columns.first + state.positions[l])];
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
  const std::int64_t tile_bytes = arg_tile_bytes(columns, kSize);
  const BestOfTile<U> state = {reinterpret_cast<U*>(scratch),
                               reinterpret_cast<U*>(scratch + tile_bytes)};
  // Packed tiles are in L1.
  const std::int64_t ahead = a.prefetches && columns.packing == Packing::kNone ? columns.ahead : 0;
  for_tiles<U>(columns, [&](const Tile<U>& tile) {
    std::int64_t run = columns.first;
    for_rows(columns, tile, columns.first, columns.last, a.prefetches, scratch + 2 * tile_bytes,
             [&](TileRows<U> rows, std::int64_t position) {
               const std::int64_t end = position + rows.n;
               while (position < end) {
                 const std::int64_t run_end = min_of(run + kRun, columns.last);
                 rows.n = min_of(end, run_end) - position;
                 take_rows<O>(rows, position - run, position == run, ahead, state);
                 rows.rows += rows.n;
                 position += rows.n;
                 if (position < run_end) continue;
                 if (a.keys != nullptr) {
                   make_keys<O>(tile.groups * tile.lanes, state.best);
                   merge_tile(a, tile, a.index_base + run * a.index_step,
                              a.starts && run == columns.first, state);
                 } else {
                   if (a.output.values != nullptr) make_elements<O>(a, tile, state);
                   write_results(a, tile, state);
                 }
                 run = position;
               }
             });
  });
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
