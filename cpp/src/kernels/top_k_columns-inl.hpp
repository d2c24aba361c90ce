// top-k of columns with small k: a column per vector lane, its best elements in sorted slots into
// which better ones are inserted, for all lanes at once and without a branch.
#pragma once

#include <utility>

#include "kernels/columns-inl.hpp"
#include "kernels/top_k_items-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Keys U as signed lanes of at least 16 bits, which every level compares and which count
/// positions.
template <class U>
struct Lanes {
  using Lane = typename IntegersOf<(sizeof(U) < 2 ? 2 : sizeof(U))>::Signed;
  using Bits = typename IntegersOf<sizeof(Lane)>::Unsigned;
  using V = typename Vector<Lane>::Type;
  static constexpr std::int64_t kWidth = Vector<Lane>::kWidth;
  static constexpr Lane kLowest = static_cast<Lane>(Bits{1} << (8 * sizeof(Lane) - 1));

  static V load(const U* keys) {
    if constexpr (sizeof(U) == sizeof(Lane)) {
      const auto bits = Vector<U>::load(keys) ^ static_cast<U>(kLowest);
      return reinterpret_cast<V>(bits);
    } else {
      return __builtin_convertvector(Vector<U, kVectorBytes / 2>::load(keys), V);
    }
  }
  /// Lanes rounded up to whole vectors.
  static std::int64_t padded(std::int64_t lanes) { return (lanes + kWidth - 1) / kWidth * kWidth; }
  /// Back to what load() took.
  static U key(Lane lane) {
    return static_cast<U>(sizeof(U) == sizeof(Lane) ? lane ^ kLowest : lane);
  }
};

template <class V>
V higher(V a, V b) {
  return a > b ? a : b;
}

template <class V>
V lower(V a, V b) {
  return a < b ? a : b;
}

/// The slots of some lanes in memory: slot j of lane l is number j * stride + l.
template <class Lane>
struct SlotsState {
  Lane* keys;
  Lane* positions;
  std::int64_t stride;

  SlotsState at(std::int64_t lane) const { return {keys + lane, positions + lane, stride}; }
};

/// The best so far of a vector's lanes, best first; of equal keys the earlier position first.
template <class U, int kSlots>
class Slots {
  using L = Lanes<U>;
  using V = typename L::V;
  using Lane = typename L::Lane;

 public:
  void load(const SlotsState<Lane>& state) {
    for (int j = 0; j < kSlots; ++j) {
      keys_[j] = Vector<Lane>::load(state.keys + j * state.stride);
      positions_[j] = Vector<Lane>::load(state.positions + j * state.stride);
    }
  }
  void store(const SlotsState<Lane>& state) const {
    for (int j = 0; j < kSlots; ++j) {
      Vector<Lane>::store(state.keys + j * state.stride, keys_[j]);
      Vector<Lane>::store(state.positions + j * state.stride, positions_[j]);
    }
  }

  /// Takes the first kSlots positions.
  template <class At>
  void fill(const At& at) {
    const auto take = [&](int i) {
      keys_[i] = Vector<Lane>::all(L::kLowest);
      positions_[i] = Vector<Lane>::all(static_cast<Lane>(i));
      insert(at(i), i, i);
    };
    if constexpr (kSlots <= 16) {
      unrolled(take, std::make_integer_sequence<int, kSlots>());
    } else {
      for (int i = 0; i < kSlots; ++i) take(i);
    }
  }
  /// Takes a later position than those before, into the slots up to `last`, whose element goes.
  void insert(V x, std::int64_t position, int last = kSlots - 1) {
    const V at = Vector<Lane>::all(static_cast<Lane>(position));
    // Each slot keeps its element, or gets the new one, or its upper neighbour's: those after the
    // new one move down. Slots are written from the last on, so the neighbour's is still the old.
    auto above_this = x > keys_[last];
    for (int j = last; j > 0; --j) {
      const auto above_next = x > keys_[j - 1];
      keys_[j] = higher(keys_[j], lower(x, keys_[j - 1]));
      positions_[j] = above_next ? positions_[j - 1] : above_this ? at : positions_[j];
      above_this = above_next;
    }
    keys_[0] = higher(keys_[0], x);
    positions_[0] = above_this ? at : positions_[0];
  }
  V worst() const { return keys_[kSlots - 1]; }

 private:
  template <class Take, int... kAt>
  void unrolled(const Take& take, std::integer_sequence<int, kAt...> /*slots*/) {
    (take(kAt), ...);
  }

  V keys_[kSlots];
  V positions_[kSlots];
};

/// A key that at least kSlots of n elements of each lane exceed, or kLowest where there is no such
/// bound: one below the kSlots-th highest of the extremes of blocks, of which there are as many.
template <class U, int kSlots>
typename Lanes<U>::V slots_bound(const U* keys, const std::int64_t* rows, std::int64_t n) {
  using L = Lanes<U>;
  using V = typename L::V;
  constexpr std::int64_t kBlock = tuning::kTopKSlotsBlock;
  const V lowest = Vector<typename L::Lane>::all(L::kLowest);
  V best[kSlots];
  for (V& slot : best) slot = lowest;
  for (std::int64_t first = 0; first + kBlock <= n; first += kBlock) {
    V extreme = L::load(keys + rows[first]);
    for (std::int64_t i = 1; i < kBlock; ++i) {
      extreme = higher(extreme, L::load(keys + rows[first + i]));
    }
    for (V& slot : best) {
      const V other = lower(extreme, slot);
      slot = higher(slot, extreme);
      extreme = other;
    }
  }
  const V bound = best[kSlots - 1];
  // A comparison that holds is -1.
  return bound + reinterpret_cast<V>(bound > lowest);
}

/// Takes n positions of a vector of lanes: the first time at least kSlots, or all. Later the slots
/// are only read if an element comes before the worst.
template <class U, int kSlots>
void take_slots(const U* keys, const std::int64_t* rows, std::int64_t n, std::int64_t position,
                const SlotsState<typename Lanes<U>::Lane>& state) {
  using L = Lanes<U>;
  using V = typename L::V;
  constexpr std::int64_t kBoundLength = tuning::kTopKSlotsBlocks * tuning::kTopKSlotsBlock * kSlots;
  const auto at = [&](std::int64_t i) { return L::load(keys + rows[i]); };
  Slots<U, kSlots> slots;
  bool loaded = position == 0;
  std::int64_t i = 0;
  V cut = Vector<typename L::Lane>::all(L::kLowest);
  if (loaded) {
    // Where there are fewer positions, the lowest key after them is in no slot that is wanted.
    slots.fill([&, lowest = cut](std::int64_t first) { return first < n ? at(first) : lowest; });
    i = min_of<std::int64_t>(n, kSlots);
    if (n >= kBoundLength) {
      cut = slots_bound<U, kSlots>(keys, rows, n);
    } else {
      // In one lane or another most of the next elements enter.
      const std::int64_t few = min_of<std::int64_t>(n, tuning::kTopKSlotsFew * kSlots);
      for (; i < few; ++i) slots.insert(at(i), i);
    }
    cut = higher(cut, slots.worst());
  } else {
    cut = Vector<typename L::Lane>::load(state.keys + (kSlots - 1) * state.stride);
  }
  const auto take = [&](std::int64_t p) {
    const V x = at(p);
    if (!any(x > cut)) return;
    if (!loaded) slots.load(state);
    loaded = true;
    slots.insert(x, position + p);
    cut = higher(cut, slots.worst());
  };
  for (; i + 4 <= n; i += 4) {
    const auto found =
        ((at(i) > cut) | (at(i + 1) > cut)) | ((at(i + 2) > cut) | (at(i + 3) > cut));
    if (!any(found)) continue;
    for (std::int64_t s = 0; s < 4; ++s) take(i + s);
  }
  for (; i < n; ++i) take(i);
  if (loaded) slots.store(state);
}

/// The take_slots with the fewest slots for k, and how many these are.
template <class U>
struct SlotsKernel {
  decltype(&take_slots<U, 2>) take;
  std::int64_t slots;
};
template <class U, int... kSlots>
SlotsKernel<U> slots_kernel_for(std::int64_t k) {
  SlotsKernel<U> chosen = {&take_slots<U, tuning::kTopKColumnsMaxK>, tuning::kTopKColumnsMaxK};
  static_cast<void>(
      ((k <= kSlots ? (chosen = {&take_slots<U, kSlots>, kSlots}, true) : false) || ...));
  return chosen;
}

/// The keys of a tile's elements. A pass over transposed blocks is all of them, whose rows may be
/// narrower than a vector: the lanes beyond a row's end are the next row's, and select for nobody.
/// Other lanes beyond the tile's have the lowest key.
template <class U>
TileRows<U> keys_of(const TopKColumns& a, const TileRows<U>& rows, U* keys,
                    std::int64_t* key_rows) {
  const Columns& columns = a.columns;
  TileRows<U> made = rows;
  made.data = keys;
  if (columns.packing == Packing::kTransposed) {
    const std::int64_t all = columns.block * columns.blocks * columns.tile_lanes;
    a.element->load(rows.data, 1, all, keys);
    for (std::int64_t r = 0; rows.lanes < columns.tile_lanes && r < all; r += columns.tile_lanes) {
      for (std::int64_t l = rows.lanes; l < columns.tile_lanes; ++l) keys[r + l] = 0;
    }
    std::memset(keys + all, 0, static_cast<std::size_t>(kVectorSlack));
    return made;
  }
  const std::int64_t padded = Lanes<U>::padded(rows.lanes);
  U* to = keys;
  for (std::int64_t r = 0; r < rows.n; ++r) {
    key_rows[r] = to - keys;
    for (std::int64_t g = 0; g < rows.groups; ++g, to += padded) {
      a.element->load(rows.data + rows.rows[r] + g * rows.group_stride, 1, rows.lanes, to);
      for (std::int64_t l = rows.lanes; l < padded; ++l) to[l] = 0;
    }
  }
  made.rows = key_rows;
  made.group_stride = padded;
  return made;
}

/// Writes the first k slots of a group's lanes, for which `keys` and `elements` have capacity.
template <class U>
void write_slots(const TopKColumns& a, const Tile<U>& tile, std::int64_t group,
                 const SlotsState<typename Lanes<U>::Lane>& state, U* keys, U* elements) {
  using L = Lanes<U>;
  for (std::int64_t j = 0; j < a.k; ++j) {
    for (std::int64_t l = 0; l < tile.lanes; ++l) {
      keys[j * tile.lanes + l] = L::key(state.keys[j * state.stride + l]);
    }
  }
  const auto offset = [&](const TopKOutput& output) {
    return (tile.group + group) * output.group_stride + tile.lane * output.lane_stride;
  };
  TopKOutputs outputs = a.outputs;
  outputs.values.data = static_cast<U*>(outputs.values.data) + offset(outputs.values);
  outputs.indices.data =
      static_cast<char*>(outputs.indices.data) + offset(outputs.indices) * outputs.index_size;
  write_results(
      *a.element, keys, elements, a.k, tile.lanes, outputs,
      [&state](std::int64_t j, std::int64_t l) {
        return static_cast<typename L::Bits>(state.positions[j * state.stride + l]);
      },
      [&](std::int64_t l, std::int64_t position) {
        return tile.data[element_offset(a.columns, group, l, position)];
      });
}

template <class U>
void top_k_columns(const TopKColumns& a) {
  using L = Lanes<U>;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(U));
  const SlotsKernel<U> kernel = slots_kernel_for<U, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24>(a.k);
  const Columns& columns = a.columns;
  const TopKColumnsScratch parts = top_k_columns_scratch(columns, kSize, a.k);
  char* const scratch = static_cast<char*>(a.scratch);
  U* const keys = reinterpret_cast<U*>(scratch + parts.keys);
  auto* const key_rows = reinterpret_cast<std::int64_t*>(scratch + parts.key_rows);
  auto* const states = reinterpret_cast<typename L::Lane*>(scratch + parts.states);
  U* const results = reinterpret_cast<U*>(scratch + parts.results);
  for_tiles<U>(columns, [&](const Tile<U>& tile) {
    const std::int64_t padded = L::padded(tile.lanes);
    const std::int64_t stride = tile.groups * padded;
    const SlotsState<typename L::Lane> state = {states, states + kernel.slots * stride, stride};
    for_rows(columns, tile, 0, columns.last, a.prefetches, scratch,
             [&](const TileRows<U>& rows, std::int64_t position) {
               const TileRows<U> made = keys_of(a, rows, keys, key_rows);
               for (std::int64_t g = 0; g < tile.groups; ++g) {
                 for (std::int64_t l = 0; l < tile.lanes; l += L::kWidth) {
                   kernel.take(made.data + g * made.group_stride + l, made.rows, made.n, position,
                               state.at(g * padded + l));
                 }
               }
             });
    for (std::int64_t g = 0; g < tile.groups; ++g) {
      write_slots(a, tile, g, state.at(g * padded), results, results + a.k * tile.lanes);
    }
  });
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
