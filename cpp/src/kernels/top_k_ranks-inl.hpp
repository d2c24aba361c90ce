// top-k of short columns by ranks: a column per vector lane, all of whose elements are compared
// with each other.
#pragma once

#include "kernels/top_k_columns-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Puts the keys of positions of a vector of lanes into the slots of the same numbers.
template <class U>
void fill_slots(const SourceRows<U>& source, const U* data, std::int64_t position,
                const Slots<typename Lanes<U>::Lane>& state) {
  using Lane = typename Lanes<U>::Lane;
  const KeyRows<U, Source::kKeys> rows = {data, source.stride, source.ahead, *source.rule};
  for (std::int64_t i = 0; i < source.n; ++i) {
    const std::int64_t slot = (position + i) * state.stride;
    Vector<Lane>::store(state.keys + slot, rows[i]);
    Vector<Lane>::store(state.positions + slot, Vector<Lane>::all(static_cast<Lane>(position + i)));
  }
}

/// Turns the positions of n slots of a vector of lanes, which are their numbers, to ranks: how many
/// of the slots come before each, of equal keys those of lower numbers. Each pair is compared once:
/// of two, it adds to the rank of the one that comes later.
template <class Lane>
void rank_slots(const Slots<Lane>& slots, std::int64_t n) {
  using V = Vector<Lane>;
  const auto rank_rows = [&](std::int64_t i, auto row_count) {
    constexpr std::int64_t kRows = decltype(row_count)::value;
    typename V::Type keys[kRows];
    typename V::Type ranks[kRows];
    const auto compare = [&](auto r, const auto& key, auto& rank) {
      // A slot's rank counts all of lower numbers at first. Masks are -1.
      const auto before = key > keys[r];
      ranks[r] -= before;
      rank += before;
    };
    unroll<kRows>([&](auto r) {
      keys[r] = V::load(slots.keys + (i + r) * slots.stride);
      ranks[r] = V::load(slots.positions + (i + r) * slots.stride);
    });
    unroll<kRows>(
        [&](auto r) { unroll<r>([&](auto earlier) { compare(earlier, keys[r], ranks[r]); }); });
    for (std::int64_t j = i + kRows; j < n; ++j) {
      const auto key = V::load(slots.keys + j * slots.stride);
      auto rank = V::load(slots.positions + j * slots.stride);
      unroll<kRows>([&](auto r) { compare(r, key, rank); });
      V::store(slots.positions + j * slots.stride, rank);
    }
    unroll<kRows>([&](auto r) { V::store(slots.positions + (i + r) * slots.stride, ranks[r]); });
  };
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) rank_rows(i, Constant<4>());
  for (; i < n; ++i) rank_rows(i, Constant<1>());
}

/// Some lanes of n ranked elements: those of ranks [first, first + count) are wanted.
template <class Lane>
struct RankedLanes {
  const Lane* ranks;  ///< of element i of lane l: ranks[i * stride + l]
  std::int64_t stride;
  std::int64_t lanes;
  std::int64_t n;
  std::int64_t first;
  std::int64_t count;
};

/// Writes elements(l)(i), element i of lane l, to where its rank belongs in the output. Not
/// inlined: its loops would have no registers left.
template <class T, class Lane, class Elements>
DMLCPU_NOINLINE void write_ranked(const RankedLanes<Lane> ranked, const Output output,
                                  const Elements elements) {
  const auto write_lane = [&](std::int64_t l, T* to, auto apart) {
    const Lane* ranks = ranked.ranks + l;
    const auto element = elements(l);
    const auto write_some = [&](std::int64_t i, auto some) {
      constexpr std::size_t kSome = decltype(some)::value;
      std::int64_t places[kSome];
      T written[kSome];
      unroll<kSome>([&](auto j) {
        places[j] = static_cast<std::make_unsigned_t<Lane>>(*ranks);
        ranks += ranked.stride;
        written[j] = static_cast<T>(element(i + j));
      });
      // After all that is read: processors that may not read before they know where earlier writes
      // go would wait for each.
      unroll<kSome>([&](auto j) { to[places[j] * apart] = written[j]; });
    };
    std::int64_t i = 0;
    for (; i + 4 <= ranked.n; i += 4) write_some(i, Constant<4>());
    for (; i < ranked.n; ++i) write_some(i, Constant<1>());
  };
  for (std::int64_t l = 0; l < ranked.lanes; ++l) {
    T* const to = static_cast<T*>(output.data) + l * output.lane_stride;
    if (ranked.count == ranked.n && output.k_stride == 1) {
      write_lane(l, to, Constant<1>());
    } else if (ranked.count == ranked.n) {
      write_lane(l, to, output.k_stride);
    } else {
      T all[tuning::kTopKRankedBytes / 2];
      write_lane(l, all, Constant<1>());
      for (std::int64_t j = 0; j < ranked.count; ++j) {
        to[j * output.k_stride] = all[ranked.first + j];
      }
    }
  }
}

template <class U>
void rank_columns(const TopKColumns& a) {
  using L = Lanes<U>;
  using Lane = typename L::Lane;
  const std::int64_t n = a.columns.n;
  const TopKColumnsScratch layout = top_k_columns_scratch(a.columns, sizeof(U), a.k, a.ranks);
  char* const scratch = static_cast<char*>(a.scratch);
  auto* const states = reinterpret_cast<Lane*>(scratch + layout.states);
  // Where elements are, from those of the first position on.
  auto* const offsets = reinterpret_cast<std::int64_t*>(scratch + layout.indices);
  for (std::int64_t i = 0; i < n; ++i) offsets[i] = element_offset(a.columns, 0, 0, i);
  const std::int64_t group_stride = element_offset(a.columns, 1, 0, 0) - offsets[0];
  for_tiles<U>(a.columns, [&](const Tile<U>& tile) {
    const std::int64_t padded = (tile.lanes + L::kWidth - 1) / L::kWidth * L::kWidth;
    const std::int64_t stride = tile.groups * padded;
    const Slots<Lane> slots = {states, states + n * stride, stride};
    const auto for_vectors = [&](const auto& body) {
      for (std::int64_t g = 0; g < tile.groups; ++g) {
        for (std::int64_t l = 0; l < tile.lanes; l += L::kWidth) {
          body(g, l, slots.at(g * padded + l));
        }
      }
    };
    for_rows(a.columns, tile, scratch, [&](const TileRows<U>& rows, std::int64_t position) {
      const auto all = source_of(a, tile, rows, reinterpret_cast<U*>(scratch + layout.keys));
      for_vectors([&](std::int64_t g, std::int64_t l, const Slots<Lane>& of_lanes) {
        fill_slots(all, all.data + g * all.group_stride + l, position, of_lanes);
      });
    });
    for_vectors([&](std::int64_t g, std::int64_t l, const Slots<Lane>& of_lanes) {
      rank_slots(of_lanes, n);
      const RankedLanes<Lane> ranked = {
          of_lanes.positions, stride, min_of(L::kWidth, tile.lanes - l), n, a.first, a.k - a.first};
      const Outputs to = outputs_at<U>(a.outputs, 0, tile.group + g, tile.lane + l);
      if (to.values.data != nullptr) {
        const U* const data = tile.data + g * group_stride + l * a.columns.lane_stride;
        write_ranked<U>(ranked, to.values,
                        [data, offsets, apart = a.columns.lane_stride](std::int64_t lane) {
                          return [from = data + lane * apart, offsets](std::int64_t i) {
                            return from[offsets[i]];
                          };
                        });
      }
      const auto positions = [](std::int64_t) { return [](std::int64_t i) { return i; }; };
      if (to.indices.data == nullptr) return;
      to.index_size == 4 ? write_ranked<std::uint32_t>(ranked, to.indices, positions)
                         : write_ranked<std::uint64_t>(ranked, to.indices, positions);
    });
  });
}

template <class U>
void top_k_columns(const TopKColumns& a) {
  a.ranks ? rank_columns<U>(a) : select_columns<U>(a);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
