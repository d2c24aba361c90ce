// top-k of short columns by comparison counting (Knuth, The Art of Computer Programming, vol. 3,
// 5.2): a column per vector lane, all of whose elements are compared with each other.
#pragma once

#include "kernels/top_k_columns-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Puts the keys of positions of a vector of lanes into the slots of the same numbers.
template <class U>
void fill_slots(const SourceRows<U>& source, const U* data, std::int64_t position,
                const Slots<typename LaneType<U>::Lane>& state) {
  using Lane = typename LaneType<U>::Lane;
  const KeyRows<U, Source::kKeys> rows = {data, source.stride, source.ahead, *source.rule};
  for (std::int64_t i = 0; i < source.n; ++i) {
    const std::int64_t slot = (position + i) * state.stride;
    Vector<Lane>::store(state.keys + slot, rows[i]);
    Vector<Lane>::store(state.positions + slot, Vector<Lane>::all(static_cast<Lane>(position + i)));
  }
}

/// Turns the positions of n slots of a vector of lanes, which are their numbers, to places: how
/// many of the slots come before each, of equal keys those of lower numbers. Each pair is compared
/// once, and counts for the one that comes later.
template <class Lane>
void place_slots(const Slots<Lane>& slots, std::int64_t n) {
  using V = Vector<Lane>;
  const auto place_rows = [&](std::int64_t i, auto row_count) {
    constexpr std::int64_t kRows = decltype(row_count)::value;
    typename V::Type keys[kRows];
    typename V::Type places[kRows];
    const auto compare = [&](auto r, const auto& key, auto& place) {
      // A slot's place counts all of lower numbers at first. Masks are -1.
      const auto before = key > keys[r];
      places[r] -= before;
      place += before;
    };
    unroll<kRows>([&](auto r) {
      keys[r] = V::load(slots.keys + (i + r) * slots.stride);
      places[r] = V::load(slots.positions + (i + r) * slots.stride);
    });
    unroll<kRows>(
        [&](auto r) { unroll<r>([&](auto earlier) { compare(earlier, keys[r], places[r]); }); });
    for (std::int64_t j = i + kRows; j < n; ++j) {
      const auto key = V::load(slots.keys + j * slots.stride);
      auto place = V::load(slots.positions + j * slots.stride);
      unroll<kRows>([&](auto r) { compare(r, key, place); });
      V::store(slots.positions + j * slots.stride, place);
    }
    unroll<kRows>([&](auto r) { V::store(slots.positions + (i + r) * slots.stride, places[r]); });
  };
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) place_rows(i, Constant<4>());
  for (; i < n; ++i) place_rows(i, Constant<1>());
}

/// Some lanes of n elements whose places are known: [first, first + count) of the places are
/// written.
template <class Lane>
struct PlacedLanes {
  const Lane* places;  ///< of element i of lane l: places[i * stride + l]
  std::int64_t stride;
  std::int64_t lanes;
  std::int64_t n;
  std::int64_t first;
  std::int64_t count;
};

/// Writes elements(l)(i), element i of lane l, to its place in the output. Not inlined: its loops
/// would have no registers left.
template <class T, class Lane, class Elements>
DMLCPU_NOINLINE void write_placed(const PlacedLanes<Lane> placed, const Output output,
                                  const Elements elements) {
  const auto write_lane = [&](std::int64_t l, T* to, auto apart) {
    const Lane* place = placed.places + l;
    const auto element = elements(l);
    const auto write_some = [&](std::int64_t i, auto some) {
      constexpr std::size_t kSome = decltype(some)::value;
      std::int64_t places[kSome];
      T values[kSome];
      unroll<kSome>([&](auto j) {
        places[j] = static_cast<std::make_unsigned_t<Lane>>(*place);
        place += placed.stride;
        values[j] = static_cast<T>(element(i + j));
      });
      // After all loads: where a load waits for the addresses of earlier stores (memory
      // disambiguation), it would wait for each.
      unroll<kSome>([&](auto j) { to[places[j] * apart] = values[j]; });
    };
    std::int64_t i = 0;
    for (; i + 4 <= placed.n; i += 4) write_some(i, Constant<4>());
    for (; i < placed.n; ++i) write_some(i, Constant<1>());
  };
  for (std::int64_t l = 0; l < placed.lanes; ++l) {
    T* const to = static_cast<T*>(output.data) + l * output.lane_stride;
    if (placed.count == placed.n && output.k_stride == 1) {
      write_lane(l, to, Constant<1>());
    } else if (placed.count == placed.n) {
      write_lane(l, to, output.k_stride);
    } else {
      T all[tuning::kTopKComparisonsBytes / 2];
      write_lane(l, all, Constant<1>());
      for (std::int64_t j = 0; j < placed.count; ++j) {
        to[j * output.k_stride] = all[placed.first + j];
      }
    }
  }
}

template <class U>
void place_columns(const TopKColumns& a) {
  using L = LaneType<U>;
  using Lane = typename L::Lane;
  const std::int64_t n = a.columns.walk.n;
  const TopKColumnsScratch layout = top_k_columns_scratch(a.columns, sizeof(U), a.k, true);
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
      place_slots(of_lanes, n);
      const PlacedLanes<Lane> placed = {
          of_lanes.positions, stride, min_of(L::kWidth, tile.lanes - l), n, a.first, a.k - a.first};
      const Outputs to = outputs_at<U>(a.outputs, 0, tile.group + g, tile.lane + l);
      if (to.values.data != nullptr) {
        const U* const data = tile.data + g * group_stride + l * a.columns.lanes.stride;
        write_placed<U>(placed, to.values,
                        [data, offsets, apart = a.columns.lanes.stride](std::int64_t lane) {
                          return [from = data + lane * apart, offsets](std::int64_t i) {
                            return from[offsets[i]];
                          };
                        });
      }
      const auto positions = [](std::int64_t) { return [](std::int64_t i) { return i; }; };
      if (to.indices.data == nullptr) return;
      to.index_size == 4 ? write_placed<std::uint32_t>(placed, to.indices, positions)
                         : write_placed<std::uint64_t>(placed, to.indices, positions);
    });
  });
}

template <class U>
void top_k_columns(const TopKColumns& a) {
  a.compares_all ? place_columns<U>(a) : select_columns<U>(a);
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
