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
  using Best = std::conditional_t<kByKey, typename O::Rank, T>;

  template <class V, std::int64_t kBytes>
  static V load(const T* p) {
    if constexpr (kByKey) {
      using Signed = typename Vector<typename O::Rank, kBytes>::Type;
      const auto keys = O::template loose_ranks<V, Signed>(
          Vector<Position, kBytes>::load(reinterpret_cast<const Position*>(p)));
      const V nan = Vector<typename O::Rank, kBytes>::all(O::nan_rank());
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
  static Best of(T x) {
    if constexpr (kByKey) {
      return O::rank(x);
    } else {
      return x;
    }
  }
  static typename O::Rank key(Best best) {
    if constexpr (kByKey) {
      return best;
    } else {
      return O::rank(best);
    }
  }
};

/// The best of the lanes of a tile so far, and its position.
template <class O>
struct BestOfTile {
  typename ArgLane<O>::Best* best;
  typename ArgLane<O>::Position* positions;
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
template <class O, std::int64_t kBytes, int kVectors, bool kCareful, class T = typename O::Element>
bool take_vectors(const T* data, const std::int64_t* rows, std::int64_t n, std::int64_t position,
                  bool starts, std::int64_t ahead, const BestOfTile<O>& state) {
  using Lane = ArgLane<O>;
  using V = Vector<typename Lane::Best, kBytes>;
  using P = Vector<typename Lane::Position, kBytes>;
  constexpr bool kSums = Lane::kNative && O::kNanFirst && !kCareful;
  const auto load = [](const T* p) { return Lane::template load<typename V::Type, kBytes>(p); };
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
      best[v] = V::load(state.best + v * V::kWidth);
      positions[v] = P::load(state.positions + v * V::kWidth);
    }
  }
  const std::int64_t first = starts ? 1 : 0;
  typename P::Type at = P::all(static_cast<typename Lane::Position>(position + first));
  for (std::int64_t i = first; i < n; ++i) {
    const T* const row = data + rows[i];
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
    V::store(state.best + v * V::kWidth, best[v]);
    P::store(state.positions + v * V::kWidth, positions[v]);
  }
  return true;
}

/// The same of one lane.
template <class O, class T = typename O::Element>
void take_lane(const T* data, const std::int64_t* rows, std::int64_t n, std::int64_t position,
               bool starts, const BestOfTile<O>& state) {
  using Lane = ArgLane<O>;
  if (starts) {
    *state.best = Lane::of(data[rows[0]]);
    *state.positions = static_cast<typename Lane::Position>(position);
  }
  typename O::Rank best = Lane::key(*state.best);
  for (std::int64_t i = starts ? 1 : 0; i < n; ++i) {
    const T x = data[rows[i]];
    const typename O::Rank key = O::rank(x);
    if (key <= best) continue;
    best = key;
    *state.best = Lane::of(x);
    *state.positions = static_cast<typename Lane::Position>(position + i);
  }
}

/// The same of all lanes of a tile.
template <class O, class T = typename O::Element>
void take_tile(const Tile<T>& tile, std::int64_t n, std::int64_t position, bool starts,
               std::int64_t ahead, BestOfTile<O> state) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    const T* const data = tile.data + g * tile.group_stride;
    std::int64_t lane = 0;
    const auto state_at = [&](std::int64_t l) {
      return BestOfTile<O>{state.best + l, state.positions + l};
    };
    const auto take = [&](auto bytes, auto vectors, std::int64_t l) {
      if (take_vectors<O, bytes, vectors, false>(data + l, tile.rows, n, position, starts, ahead,
                                                 state_at(l))) {
        return;
      }
      if constexpr (ArgLane<O>::kNative) {
        take_vectors<O, bytes, vectors, true>(data + l, tile.rows, n, position, starts, ahead,
                                              state_at(l));
      }
    };
    // A last vector overlaps the one before: taking elements twice changes nothing, unless the
    // lanes are at their start, and then they start again.
    const auto take_all = [&](auto bytes, auto vectors) {
      constexpr std::int64_t kLanes = bytes * vectors / kSize;
      for (; lane + kLanes <= tile.lanes; lane += kLanes) take(bytes, vectors, lane);
    };
    const auto take_rest = [&](auto bytes) {
      constexpr std::int64_t kLanes = bytes / kSize;
      if (lane == tile.lanes || tile.lanes < kLanes) return;
      take(bytes, std::integral_constant<int, 1>(), tile.lanes - kLanes);
      lane = tile.lanes;
    };
    constexpr std::integral_constant<std::int64_t, kVectorBytes> kWhole;
    take_all(kWhole, std::integral_constant<int, 4>());
    take_all(kWhole, std::integral_constant<int, 2>());
    take_all(kWhole, std::integral_constant<int, 1>());
    take_rest(kWhole);
    if constexpr (kVectorBytes > 16) {
      constexpr std::integral_constant<std::int64_t, 16> kPart;
      if (lane == 0) take_all(kPart, std::integral_constant<int, 1>());
      take_rest(kPart);
    }
    for (; lane < tile.lanes; ++lane) {
      take_lane<O>(data + lane, tile.rows, n, position, starts, state_at(lane));
    }
    state = state_at(tile.lanes);
  }
}

/// Merges lanes that are all of one result, each with its index higher by `widened_step` than the
/// one before. Few are as good as the best, so that they are looked for after it.
template <class O>
void merge_widened(const ArgColumns& a, std::int64_t index_base, bool empty, std::int64_t lanes,
                   BestOfTile<O> state, std::int64_t* key, std::int64_t* index) {
  typename O::Rank best = ArgLane<O>::key(state.best[0]);
  for (std::int64_t l = 1; l < lanes; ++l) best = max_of(best, ArgLane<O>::key(state.best[l]));
  const std::int64_t wide = wide_rank<O>(best);
  if (!empty && wide < *key) return;
  if (empty || wide > *key) *index = INT64_MAX;
  *key = wide;
  for (std::int64_t l = 0; l < lanes; ++l) {
    if (ArgLane<O>::key(state.best[l]) != best) continue;
    *index = min_of(*index, index_base + l * a.widened_step +
                                a.index_step * static_cast<std::int64_t>(state.positions[l]));
  }
}

/// Merges a tile, whose first lane is number `lane`, into the best so far.
template <class O>
void merge_tile(const ArgColumns& a, std::int64_t index_base, bool starts, std::int64_t group,
                std::int64_t groups, std::int64_t lane, std::int64_t lanes, BestOfTile<O> state) {
  const bool widened = a.results < a.columns.lanes;
  for (std::int64_t g = group; g < group + groups; ++g) {
    if (widened && a.results == 1) {
      merge_widened<O>(a, index_base + lane * a.widened_step, starts && lane == 0, lanes, state,
                       a.keys + g, a.indices + g);
      state.best += lanes;
      state.positions += lanes;
      continue;
    }
    // Lanes side by side may be further elements of the same results.
    std::int64_t number = widened ? lane / a.results : 0;
    std::int64_t result = lane - number * a.results;
    for (std::int64_t left = lanes; left > 0; ++number, result = 0) {
      const std::int64_t count = min_of(a.results - result, left);
      const std::int64_t base = index_base + number * a.widened_step;
      std::int64_t* const keys = a.keys + g * a.results + result;
      std::int64_t* const indices = a.indices + g * a.results + result;
      const bool empty = starts && number == 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t key = wide_rank<O>(ArgLane<O>::key(state.best[i]));
        const std::int64_t index =
            base + a.index_step * static_cast<std::int64_t>(state.positions[i]);
        const bool better = empty || key > keys[i] || (key == keys[i] && index < indices[i]);
        keys[i] = better ? key : keys[i];
        indices[i] = better ? index : indices[i];
      }
      state.best += count;
      state.positions += count;
      left -= count;
    }
  }
}

/// Writes a tile's results, given its first element.
template <class O>
void write_results(const ArgColumns& a, std::int64_t group, std::int64_t groups, std::int64_t lane,
                   std::int64_t lanes, const typename O::Element* data, BestOfTile<O> state) {
  using Bits = typename O::Unsigned;
  const ArgOutput& out = a.output;
  const auto write_indices = [&](auto* to) {
    using Index = std::remove_reference_t<decltype(*to)>;
    const auto base = static_cast<Index>(a.index_base + a.columns.first * a.index_step);
    const auto step = static_cast<Index>(a.index_step);
    write_tile(to + group * out.index_group_stride + lane * out.index_lane_stride,
               out.index_group_stride, out.index_lane_stride, groups, lanes,
               [=](std::int64_t g, std::int64_t l) {
                 return static_cast<Index>(
                     base + step * static_cast<Index>(state.positions[g * lanes + l]));
               });
  };
  if (out.index_size == 4) {
    write_indices(static_cast<std::uint32_t*>(out.indices));
  } else {
    write_indices(static_cast<std::uint64_t*>(out.indices));
  }
  if (out.values == nullptr) return;
  [[maybe_unused]] const auto* const elements = reinterpret_cast<const Bits*>(data);
  const auto bits_of = [&](std::int64_t g, std::int64_t l) {
    const auto best = state.best[g * lanes + l];
    Bits bits;
    if constexpr (ArgLane<O>::kByKey) {
      // Zeros and NaNs are looked up, in the caller's memory or what it was packed to.
      if (!O::bits_of(best, &bits)) {
        bits = elements[element_offset(a.columns, g, l,
                                       a.columns.first + state.positions[g * lanes + l])];
      }
    } else {
      std::memcpy(&bits, &best, sizeof bits);
    }
    return bits;
  };
  write_tile(static_cast<Bits*>(out.values) + group * out.value_group_stride +
                 lane * out.value_lane_stride,
             out.value_group_stride, out.value_lane_stride, groups, lanes, bits_of);
}

template <class O>
void arg_columns(const ArgColumns& a) {
  using T = typename O::Element;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kRun = arg_run_positions(kSize);
  const Columns& columns = a.columns;
  char* const scratch = static_cast<char*>(a.scratch);
  const std::int64_t tile_bytes = arg_tile_bytes(columns, kSize);
  const BestOfTile<O> state = {
      reinterpret_cast<typename ArgLane<O>::Best*>(scratch),
      reinterpret_cast<typename ArgLane<O>::Position*>(scratch + tile_bytes)};
  const std::int64_t group_stride =
      columns.packing == Packing::kTransposed ? 0 : columns.group_stride;
  for_tiles(
      columns, [&](std::int64_t group, std::int64_t groups, std::int64_t lane, std::int64_t lanes) {
        const T* const data =
            static_cast<const T*>(columns.data) + group * group_stride + lane * columns.lane_stride;
        for (std::int64_t run = columns.first; run < columns.last; run += kRun) {
          const std::int64_t run_end = min_of(run + kRun, columns.last);
          for_tile(columns, data, groups, lanes, run, run_end, a.prefetches,
                   scratch + 2 * tile_bytes, [&](Tile<T> tile, std::int64_t position) {
                     // Packed tiles are in L1.
                     const std::int64_t ahead =
                         a.prefetches && columns.packing == Packing::kNone ? columns.ahead : 0;
                     for (std::int64_t i = 0; i < tile.n; i += columns.pass) {
                       take_tile<O>(tile, min_of(columns.pass, tile.n - i), position + i - run,
                                    position + i == run, ahead, state);
                       tile.rows += columns.pass;
                     }
                   });
          if (a.keys != nullptr) {
            merge_tile(a, a.index_base + run * a.index_step, a.starts && run == columns.first,
                       group, groups, lane, lanes, state);
          } else {
            write_results<O>(a, group, groups, lane, lanes, data, state);
          }
        }
      });
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
