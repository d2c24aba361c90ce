// argmin and argmax of columns, register-blocked: the best of some vectors of lanes and its
// position stay in registers over the positions of a pass.
#pragma once

#include "kernels/arg_results-inl.hpp"
#include "kernels/compare-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Compares x, of position `at`, with the best before. kExact knows NaNs. Of native types one
/// comparison selects both: on AMD's processors maxima, comparisons and sums share two execution
/// pipes, while selections have others.
template <class O, bool kExact, class X, class P>
void take_vector(X x, P at, X& best, P& position) {
  using C = Compare<O>;
  if constexpr (C::kNative) {
    // No comparison with a NaN holds: of a number and a NaN, x is better if the order has it first.
    const auto better =
        kExact ? ~(O::kLargest ? x <= best : x >= best) & (O::kNanFirst ? best == best : x == x)
               : C::before(x, best);
    position = better ? at : position;
    best = better ? x : best;
  } else {
    const X better = C::best_of(best, x);
    position = C::before(better, best) ? at : position;
    best = better;
  }
}

/// Whether elements are taken by comparisons that know NaNs at once: of types that are not kNative.
/// Of float and double that takes longer, so they are taken without, and again where NaNs may
/// decide: with NaNs first if the sum of what was taken is one (as that of infinities may be), with
/// NaNs last if the best before is one, as no number is better.
template <class O>
constexpr bool kAlwaysExact = !Compare<O>::kNative;

/// Takes n positions of kVectors vectors of lanes, which are `apart` elements from each other, the
/// first position number `position`: if that is 0, it is the best so far, and the state is not
/// read. The state's vectors are `state_apart` from each other.
template <class O, std::int64_t kBytes, int kVectors, bool kExact = kAlwaysExact<O>,
          class U = typename O::Unsigned>
void take_vectors(const U* data, std::int64_t apart, const std::int64_t* rows, std::int64_t n,
                  std::int64_t position, std::int64_t ahead, const BestOfTile<U>& state,
                  std::int64_t state_apart) {
  using C = Compare<O>;
  using V = Vector<typename C::Lane, kBytes>;
  using P = Vector<U, kBytes>;
  constexpr auto kLineVectors = static_cast<int>(max_of(kCacheLine / kBytes, std::int64_t{1}));
  auto* const bests = reinterpret_cast<typename C::Lane*>(state.best);
  const auto load = [](const U* p) { return C::canonical(C::template load<kBytes>(p)); };
  const bool starts = position == 0;
  typename V::Type best[kVectors];
  typename V::Type sum{};
  typename P::Type positions[kVectors];
  unroll<kVectors>([&](auto v) {
    best[v] = starts ? load(data + rows[0] + v * apart) : V::load(bests + v * state_apart);
    positions[v] = starts ? typename P::Type{} : P::load(state.positions + v * state_apart);
    if (!kExact && !O::kNanFirst) sum += best[v];
  });
  const std::int64_t first = starts ? 1 : 0;
  typename P::Type at = P::all(static_cast<U>(position + first));
  for (std::int64_t i = first; i < n; ++i) {
    const U* const row = data + rows[i];
    if (ahead != 0) {
      for (int v = 0; v < kVectors; v += apart == V::kWidth ? kLineVectors : 1) {
        prefetch<2>(row + v * apart + ahead);
      }
    }
    typename V::Type row_sum{};
    unroll<kVectors>([&](auto v) {
      const typename V::Type x = load(row + v * apart);
      take_vector<O, kExact>(x, at, best[v], positions[v]);
      if (!kExact && O::kNanFirst) row_sum = v == 0 ? x : row_sum + x;
    });
    if (!kExact && O::kNanFirst) sum += row_sum;
    at += 1;
  }
  if constexpr (!kExact) {
    if (any_nan(sum)) {
      return take_vectors<O, kBytes, kVectors, true>(data, apart, rows, n, position, ahead, state,
                                                     state_apart);
    }
  }
  unroll<kVectors>([&](auto v) {
    V::store(bests + v * state_apart, best[v]);
    P::store(state.positions + v * state_apart, positions[v]);
  });
}

/// The same of up to kRows positions of all lanes of wide rows: each is read from its beginning to
/// its end, and the best of a lane is loaded and stored once for all of them. Lanes are independent
/// of each other: while one waits for its comparisons, the next ones are loaded. Of fewer than
/// kRows positions the last is taken again.
template <class O, int kRows, bool kExact = kAlwaysExact<O>, class U = typename O::Unsigned>
void take_wide(const U* data, std::int64_t lanes, const std::int64_t* rows, std::int64_t n,
               std::int64_t position, std::int64_t ahead, const BestOfTile<U>& state) {
  using C = Compare<O>;
  using V = Vector<typename C::Lane>;
  using P = Vector<U>;
  const auto load = [](const U* p) { return C::canonical(C::load(p)); };
  // Local: stores of characters could change what is not.
  auto* const bests = reinterpret_cast<typename C::Lane*>(state.best);
  U* const positions = state.positions;
  const U* row[kRows];
  for (int r = 0; r < kRows; ++r) row[r] = data + rows[min_of<std::int64_t>(r, n - 1)];
  const typename P::Type first = P::all(static_cast<U>(position));
  const bool starts = position == 0;
  typename V::Type sum{};
  for (std::int64_t i = 0; i < lanes; i += V::kWidth) {
    const std::int64_t l = min_of(i, lanes - V::kWidth);
    if (ahead != 0 && i % (kCacheLine / kSizeOf<U>) == 0) {
      for (const U* const p : row) prefetch<2>(p + l + ahead);
    }
    typename V::Type best = starts ? load(row[0] + l) : V::load(bests + l);
    typename P::Type found = starts ? first : P::load(positions + l);
    typename V::Type lane_sum = O::kNanFirst ? load(row[0] + l) : best;
    unroll<kRows>([&](auto r) {
      const typename V::Type x = load(row[r] + l);
      take_vector<O, kExact>(x, first + static_cast<U>(r), best, found);
      if (!kExact && O::kNanFirst && r > 0) lane_sum += x;
    });
    if (!kExact) sum += lane_sum;
    V::store(bests + l, best);
    P::store(positions + l, found);
  }
  // The best may be of these positions already, but no NaN that decides is lost.
  if constexpr (!kExact) {
    if (any_nan(sum)) {
      take_wide<O, kRows, true>(data, lanes, rows, n, position, ahead, state);
    }
  }
}

/// Takes all n positions of lanes that are rows, `stride` apart: squares of as many of them as fill
/// a vector are transposed and compared in registers. Needs a vector of lanes, and rows that have
/// at least kSquareBytes, or begin at most as much after each other.
template <class O, bool kExact = kAlwaysExact<O>, class U = typename O::Unsigned>
void take_short_rows(const Tile<U>& tile, std::int64_t stride, std::int64_t n, std::int64_t ahead,
                     const BestOfTile<U>& state) {
  using C = Compare<O>;
  using V = Vector<typename C::Lane>;
  using P = Vector<U>;
  using Square = Squares<kVectorBytes, U>;
  const RowPrefetch<U, P::kWidth> row_prefetch = {stride, n};
  U last_rows[P::kWidth * Square::kSide];
  typename V::Type sum{};
  for_steps(tile.lanes, P::kWidth, [&](std::int64_t lane) {
    const U* row = tile.data + lane * stride;
    if (n < Square::kSide && (tile.lanes - lane - P::kWidth) * stride + n < Square::kSide) {
      // The last row of the squares would end after the tile, and so maybe after the tensor.
      const std::int64_t elements = (P::kWidth - 1) * stride + n;
      std::memcpy(last_rows, row, static_cast<std::size_t>(elements) * sizeof(U));
      row = last_rows;
    }
    typename V::Type best{};
    typename P::Type position{};
    const auto take = [&](std::int64_t i, typename P::Type at, auto count) {
      if (ahead != 0) row_prefetch(row + ahead * stride, i);
      const Square square(row + i, stride);
      unroll<Square::kSide>([&](auto c) {
        if (c >= count) return;
        const typename V::Type x = C::canonical(C::lanes_of(square.columns[c]));
        if (c == 0 && i == 0) best = x;
        if (!kExact && (O::kNanFirst || (c == 0 && i == 0))) sum += x;
        take_vector<O, kExact>(x, at, best, position);
        at += 1;
      });
    };
    if (n < Square::kSide) {
      take(0, P::all(0), n);
    } else {
      // Positions in a register: compilers would make those of each column anew from an integer.
      for_steps(n, Square::kSide, [&](std::int64_t i) {
        take(i, loaded(P::all(static_cast<U>(i))), Constant<Square::kSide>());
      });
    }
    V::store(reinterpret_cast<typename C::Lane*>(state.best + lane), best);
    P::store(state.positions + lane, position);
  });
  if constexpr (!kExact) {
    if (any_nan(sum)) take_short_rows<O, true>(tile, stride, n, ahead, state);
  }
}

/// Takes positions of all lanes of a tile. Of rows that are not wide four vectors at a time where
/// there are as many, side by side or of four groups: each waits for its own comparison. The last
/// ones overlap those before: taking elements twice changes nothing, unless the lanes are at their
/// start, and then they start again. Groups without gaps between them are one row.
template <class O, class U = typename O::Unsigned>
void take_rows(Tile<U> tile, TileRows<U> rows, std::int64_t position, const BestOfTile<U>& state) {
  if (rows.group_stride == tile.lanes) tile.lanes *= std::exchange(tile.groups, 1);
  const auto take_next = [&](auto count) {
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      take_wide<O, count>(rows.data + g * rows.group_stride, tile.lanes, rows.offsets, rows.n,
                          position, rows.ahead, state.at(g * tile.lanes));
    }
    rows.offsets += count;
    rows.n -= count;
    position += count;
  };
  const std::int64_t row_bytes = tile.lanes * kSizeOf<U>;
  if (row_bytes >= tuning::kWideRowsBytes) {
    while (rows.n > 4) take_next(Constant<tuning::kPassRows>());
    if (rows.n > 2) return take_next(Constant<4>());
    if (rows.n > 0) take_next(Constant<2>());
    return;
  }
  const auto take_all = [&](auto bytes) {
    constexpr std::int64_t kWidth = bytes / kSizeOf<U>;
    const auto take_each = [&](auto vectors, std::int64_t groups) {
      const bool beside = groups == 1;
      const std::int64_t lanes = beside ? vectors * kWidth : kWidth;
      const auto take = [&](auto count, std::int64_t group, std::int64_t lane) {
        // The same of the next groups are prefetched.
        const std::int64_t next = min_of(group + groups, tile.groups - groups) - group;
        const std::int64_t distance =
            beside || rows.ahead == 0 ? rows.ahead : next * rows.group_stride;
        take_vectors<O, bytes, count>(rows.data + group * rows.group_stride + lane,
                                      beside ? kWidth : rows.group_stride, rows.offsets, rows.n,
                                      position, distance, state.at(group * tile.lanes + lane),
                                      beside ? kWidth : tile.lanes);
      };
      for_steps(tile.groups, groups, [&](std::int64_t group) {
        for (std::int64_t l = 0; l < tile.lanes; l += lanes) {
          if (beside && tile.lanes - l <= kWidth) {
            take(Constant<1>(), group, tile.lanes - kWidth);
          } else {
            take(vectors, group, min_of(l, tile.lanes - lanes));
          }
        }
      });
    };
    if constexpr (kWidth > 1) {
      if (tile.lanes >= 4 * kWidth) return take_each(Constant<4>(), 1);
      if (tile.groups >= 4) return take_each(Constant<4>(), 4);
    }
    take_each(Constant<1>(), 1);
  };
  if (row_bytes >= kVectorBytes) return take_all(Constant<kVectorBytes>());
  if (row_bytes >= 16) return take_all(Constant<16>());
  take_all(Constant<kSizeOf<U>>());
}

/// What depends on the order.
template <class U>
struct ArgOfOrder {
  void (*take_rows)(Tile<U> tile, TileRows<U> rows, std::int64_t position,
                    const BestOfTile<U>& state);
  void (*take_short_rows)(const Tile<U>& tile, std::int64_t stride, std::int64_t n,
                          std::int64_t ahead, const BestOfTile<U>& state);
  KeyRule rule;
  bool by_key;  ///< lanes hold signed keys, not elements
};

/// Turns the best of a tile from what lanes hold to keys.
template <class U>
void make_keys(const ArgOfOrder<U>& order, std::int64_t count, U* best) {
  const KeyRule rule = order.rule;
  const bool by_key = order.by_key;
  for (std::int64_t i = 0; i < count; ++i) {
    best[i] = by_key ? static_cast<U>(best[i] ^ kSignBit<U>) : key_of<U>(rule, best[i]);
  }
}

template <class U>
DMLCPU_NOINLINE void arg_columns_of(const ArgColumns& a, const ArgOfOrder<U>& order) {
  constexpr std::int64_t kRun = arg_run_positions(kSizeOf<U>);
  const Columns& columns = a.columns;
  char* const scratch = static_cast<char*>(a.scratch);
  const Tiling& tiling = columns.tiling;
  const std::int64_t n = columns.walk.n;
  const bool several = a.results < columns.lanes.count;
  const int kinds = rank_kinds(a.indices);
  const std::int64_t array_bytes = arg_tile_bytes(tiling, kSizeOf<U>);
  const BestOfTile<U> state = {reinterpret_cast<U*>(scratch),
                               reinterpret_cast<U*>(scratch + array_bytes)};
  char* const buffer = scratch + arg_tile_arrays(kinds) * array_bytes;
  char* const packed = buffer + arg_buffer_bytes(tiling);
  // Lanes hold booleans as 0 and 1, which may be what they are. In short columns that is looked at,
  // of longer ones it takes less time to look up the results.
  const bool booleans = sizeof(U) == 1 && !order.rule.is_integer;
  const bool looks = booleans && a.outputs.values.data != nullptr && n <= kCacheLine;
  const bool looks_up = booleans && !looks;
  bool odd = false;
  const auto end_run = [&](const Tile<U>& tile, std::int64_t run) {
    RunResults<U> found = {state, nullptr, nullptr, tile.lanes, tile.lanes};
    const bool merges = a.best_keys != nullptr;
    const bool decodes = (several || order.by_key || odd) && a.outputs.values.data != nullptr;
    if (merges || several || decodes) make_keys(order, tile.groups * tile.lanes, state.best);
    if (several) found = merge_results(a, tile, state, array_bytes / kSizeOf<U>);
    if (merges) return merge_run(a, tile, found, run, buffer);
    if (decodes) make_elements(a, rule_of_values<U>(order.rule, odd), tile, found);
    write_results(a, tile, found, buffer);
  };
  for_tiles<U>(columns, [&](const Tile<U>& tile) {
    // Narrower tiles are packed.
    if (tiling.packing == Packing::kRegisters && tile.lanes >= Vector<U>::kWidth) {
      const std::int64_t stride = columns.lanes.stride;
      odd = looks_up || (looks && any_odd(tile.data, n, tile.lanes, stride));
      order.take_short_rows(tile, stride, n, tiling.ahead, state);
      return end_run(tile, 0);
    }
    std::int64_t run = 0;
    odd = looks_up;
    for_rows(columns, tile, packed, [&](TileRows<U> rows, std::int64_t position) {
      const std::int64_t end = position + rows.n;
      odd |= looks && any_odd(rows, tile.groups, tile.lanes);
      while (position < end) {
        const std::int64_t run_end = min_of(run + kRun, n);
        rows.n = min_of(end, run_end) - position;
        order.take_rows(tile, rows, position - run, state);
        rows.offsets += rows.n;
        position += rows.n;
        if (position < run_end) continue;
        end_run(tile, run);
        run = position;
      }
    });
  });
}

template <class O>
void arg_columns(const ArgColumns& a) {
  arg_columns_of<typename O::Unsigned>(
      a, {take_rows<O>, take_short_rows<O>, O::kRule, Compare<O>::kByKey});
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
