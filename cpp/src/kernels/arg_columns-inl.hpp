// argmin and argmax of columns, register-blocked: the best of some vectors of lanes and its
// position stay in registers over the positions of a pass.
#pragma once

#include "kernels/arg_results-inl.hpp"
#include "kernels/compare-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Whether x comes before b, of native types with NaNs. No comparison with a NaN holds: of a number
/// and a NaN, x unless the other one comes first.
template <class O, class V>
auto before_or_nan(V x, V b) {
  return ~(O::kLargest ? x <= b : x >= b) & (O::kNanFirst ? b == b : x == x);
}

/// Takes n positions of kVectors vectors of lanes, which are `apart` elements from each other, the
/// first position number `position`. Of types with NaNs kExact compares them as well; else false,
/// and nothing is taken, where they may decide: with NaNs first if the sum of what is taken is one
/// (as that of infinities may be), with NaNs last if the best before is one, as no number is
/// better.
template <class O, std::int64_t kBytes, int kVectors, bool kExact, class U = typename O::Unsigned>
bool try_vectors(const U* data, std::int64_t apart, const std::int64_t* rows, std::int64_t n,
                 std::int64_t position, bool starts, std::int64_t ahead, const BestOfTile<U>& state,
                 std::int64_t state_apart) {
  using C = Compare<O>;
  using T = typename O::Element;
  using V = Vector<typename C::Lane, kBytes>;
  using P = Vector<U, kBytes>;
  constexpr auto kLine = static_cast<int>(max_of(kCacheLine / kBytes, std::int64_t{1}));
  auto* const bests = reinterpret_cast<typename C::Lane*>(state.best);
  const auto load = [](const U* p) {
    const auto x = C::template load<kBytes>(reinterpret_cast<const T*>(p));
    if constexpr (C::kByKey) return O::canonical_key(x);
    return x;
  };
  typename V::Type best[kVectors];
  typename V::Type sum{};
  typename P::Type positions[kVectors];
  unroll<kVectors>([&](auto v) {
    best[v] = starts ? load(data + rows[0] + v * apart) : V::load(bests + v * state_apart);
    positions[v] =
        starts ? P::all(static_cast<U>(position)) : P::load(state.positions + v * state_apart);
    if (!kExact && !O::kNanFirst) sum += best[v];
  });
  const std::int64_t first = starts ? 1 : 0;
  typename P::Type at = P::all(static_cast<U>(position + first));
  for (std::int64_t i = first; i < n; ++i) {
    const U* const row = data + rows[i];
    if (ahead != 0) {
      for (int v = 0; v < kVectors; v += apart == V::kWidth ? kLine : 1) {
        prefetch<2>(row + v * apart + ahead);
      }
    }
    typename V::Type part{};
    unroll<kVectors>([&](auto v) {
      const typename V::Type x = load(row + v * apart);
      if constexpr (kExact && C::kNative) {
        const auto better = before_or_nan<O>(x, best[v]);
        positions[v] = better ? at : positions[v];
        best[v] = better ? x : best[v];
      } else {
        const typename V::Type better = C::best_of(best[v], x);
        positions[v] = C::before(better, best[v]) ? at : positions[v];
        best[v] = better;
      }
      if (!kExact && O::kNanFirst) part = v == 0 ? x : part + x;
    });
    if (!kExact && O::kNanFirst) sum += part;
    at += 1;
  }
  if (!kExact && any_nan(sum)) return false;
  unroll<kVectors>([&](auto v) {
    V::store(bests + v * state_apart, best[v]);
    P::store(state.positions + v * state_apart, positions[v]);
  });
  return true;
}

template <class O, std::int64_t kBytes, int kVectors, class... Arguments>
void take_vectors(const Arguments&... arguments) {
  if constexpr (Compare<O>::kNative) {
    if (try_vectors<O, kBytes, kVectors, false>(arguments...)) return;
  }
  try_vectors<O, kBytes, kVectors, true>(arguments...);
}

/// The same of all lanes of a tile, four vectors at a time where there are as many, side by side or
/// of four groups: each waits for its own comparison. The last ones overlap those before: taking
/// elements twice changes nothing, unless the lanes are at their start, and then they start again.
template <class O, class U = typename O::Unsigned>
void take_rows(const Tile<U>& tile, const TileRows<U>& rows, std::int64_t position, bool starts,
               std::int64_t ahead, const BestOfTile<U>& state) {
  const auto take_all = [&](auto bytes) {
    constexpr std::int64_t kLanes = bytes / kSizeOf<U>;
    const auto take_each = [&](auto vectors, std::int64_t groups) {
      const bool beside = groups == 1;
      const std::int64_t lanes = beside ? vectors * kLanes : kLanes;
      // The same of the next groups are prefetched.
      const std::int64_t distance = beside || ahead == 0 ? ahead : 4 * rows.group_stride;
      const auto take = [&](auto count, std::int64_t group, std::int64_t lane) {
        take_vectors<O, bytes, count>(
            rows.data + group * rows.group_stride + lane, beside ? kLanes : rows.group_stride,
            rows.rows, rows.n, position, starts, distance, state.at(group * tile.lanes + lane),
            beside ? kLanes : tile.lanes);
      };
      for_steps(tile.groups, groups, [&](std::int64_t group) {
        for (std::int64_t l = 0; l < tile.lanes; l += lanes) {
          if (beside && tile.lanes - l <= kLanes) {
            take(Constant<1>(), group, tile.lanes - kLanes);
          } else {
            take(vectors, group, min_of(l, tile.lanes - lanes));
          }
        }
      });
    };
    if constexpr (kLanes > 1) {
      if (tile.lanes >= 4 * kLanes) return take_each(Constant<4>(), 1);
      if (tile.groups >= 4) return take_each(Constant<4>(), 4);
    }
    take_each(Constant<1>(), 1);
  };
  const std::int64_t row_bytes = tile.lanes * kSizeOf<U>;
  if (row_bytes >= kVectorBytes) return take_all(Constant<kVectorBytes>());
  if (kVectorBytes > 16 && row_bytes >= 16) return take_all(Constant<16>());
  take_all(Constant<kSizeOf<U>>());
}

/// Turns the best of a tile from what lanes hold to keys.
template <class O, class U = typename O::Unsigned>
void make_keys(std::int64_t count, U* best) {
  for (std::int64_t i = 0; i < count; ++i) {
    typename Compare<O>::Lane x;
    std::memcpy(&x, best + i, sizeof x);
    best[i] = unsigned_key<O>(Compare<O>::key(x));
  }
}

/// Turns them to elements. Zeros and NaNs are looked up, in the caller's memory.
template <class O, class U = typename O::Unsigned>
void make_elements(const ArgColumns& a, const Tile<U>& tile, BestOfTile<U> state) {
  if constexpr (Compare<O>::kByKey) {
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
  void (*take_rows)(const Tile<U>& tile, const TileRows<U>& rows, std::int64_t position,
                    bool starts, std::int64_t ahead, const BestOfTile<U>& state);
  void (*make_keys)(std::int64_t count, U* best);
  void (*make_elements)(const ArgColumns& a, const Tile<U>& tile, BestOfTile<U> state);
};

template <class U>
DMLCPU_NOINLINE void arg_columns_of(const ArgColumns& a, const ArgOfOrder<U>& order) {
  constexpr std::int64_t kRun = arg_run_positions(kSizeOf<U>);
  const Columns& columns = a.columns;
  char* const scratch = static_cast<char*>(a.scratch);
  const bool widened = a.results < columns.lanes;
  const std::int64_t array_bytes = arg_tile_bytes(columns, kSizeOf<U>);
  const BestOfTile<U> state = {reinterpret_cast<U*>(scratch),
                               reinterpret_cast<U*>(scratch + array_bytes)};
  char* const buffer = scratch + arg_tile_arrays(widened) * array_bytes;
  char* const packed = buffer + arg_buffer_bytes(columns);
  // Packed tiles are in L1.
  const std::int64_t ahead = columns.packing == Packing::kNone ? columns.ahead : 0;
  for_tiles<U>(columns, [&](const Tile<U>& tile) {
    std::int64_t run = 0;
    const auto end_run = [&] {
      RunResults<U> found = {state.best, state.positions, nullptr, tile.lanes, tile.lanes};
      const bool merges = a.keys != nullptr;
      if (merges || widened) order.make_keys(tile.groups * tile.lanes, state.best);
      if (widened) found = join_widened(a, tile, state, array_bytes / kSizeOf<U>);
      if (merges) return merge_run(a, tile, found, run, buffer);
      if (a.outputs.values.data != nullptr && !widened) order.make_elements(a, tile, state);
      write_results(a, tile, found, buffer);
    };
    for_rows(columns, tile, packed, [&](TileRows<U> rows, std::int64_t position) {
      const std::int64_t end = position + rows.n;
      while (position < end) {
        const std::int64_t run_end = min_of(run + kRun, columns.n);
        rows.n = min_of(end, run_end) - position;
        order.take_rows(tile, rows, position - run, position == run, ahead, state);
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
}  // namespace dmlcpu::DMLCPU_TARGET
