// top-k of columns: a column per vector lane, its best elements in sorted slots into which better
// ones are inserted, for all lanes at once and without a branch.
#pragma once

#include "kernels/columns-inl.hpp"
#include "kernels/top_k_items-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// Keys U as signed lanes of at least 16 bits, which every instruction set compares and which count
/// positions.
template <class U>
struct LaneType {
  using Lane = typename IntegersOf<(sizeof(U) < 2 ? 2 : sizeof(U))>::Signed;
  using Bits = typename IntegersOf<sizeof(Lane)>::Unsigned;
  using V = typename Vector<Lane>::Type;
  static constexpr std::int64_t kWidth = Vector<Lane>::kWidth;
  static constexpr Lane kLowest = static_cast<Lane>(Bits{1} << (8 * sizeof(Lane) - 1));

  /// Bytes are in order as they are.
  static constexpr Lane kFlip = sizeof(U) == sizeof(Lane) ? kLowest : Lane{0};
};

/// The slots of some lanes in memory, best first; of equal keys the earlier position first. Slot j
/// of lane l is number j * stride + l.
template <class Lane>
struct Slots {
  Lane* keys;
  Lane* positions;
  std::int64_t stride;

  /// From that slot of the first lane, or that lane of the first slot, on.
  Slots at(std::int64_t number) const { return {keys + number, positions + number, stride}; }
};

/// What slots are selected from: keys, or elements of which keys are made, integers or others.
enum class Source : std::uint8_t { kKeys, kIntegers, kOthers };

/// Some positions of a tile, evenly spaced: one axis is walked. No vector of lanes begins after
/// `last`. Of elements, what is `ahead` of each row's vector is prefetched, if that is not 0.
template <class U>
struct SourceRows {
  Source source;
  const U* data;
  std::int64_t stride;
  std::int64_t n;
  std::int64_t group_stride;
  std::int64_t last;
  std::int64_t ahead;
  const KeyRule* rule;
  bool odd;  ///< as any_odd() says
};

/// The keys of a vector of lanes, of which the first row begins at `data`.
template <class U, Source kSource>
struct KeyRows {
  using L = LaneType<U>;
  const U* data;
  std::int64_t stride;
  std::int64_t ahead;
  KeyRule rule;
  DMLCPU_INLINE typename L::V operator[](std::int64_t i) const {
    const U* const row = data + i * stride;
    if (kSource != Source::kKeys && ahead != 0) prefetch<2>(row + ahead);
    const auto elements = Vector<U, sizeof(U) * L::kWidth>::load(row);
    const auto bits = __builtin_convertvector(elements, typename Vector<typename L::Bits>::Type);
    KeyRule known = rule;
    known.is_integer = kSource == Source::kIntegers;
    const auto keys = kSource == Source::kKeys ? bits : key_of<U>(known, bits);
    return reinterpret_cast<typename L::V>(keys) ^ L::kFlip;
  }
};

/// The slots of a vector of lanes, in registers if they are few.
template <class U, int kSlots>
struct KeptSlots {
  using L = LaneType<U>;
  using V = typename L::V;
  using Memory = Vector<typename L::Lane>;
  V keys[kSlots];
  V positions[kSlots];

  void load(const Slots<typename L::Lane>& from) {
    for (int j = 0; j < kSlots; ++j) {
      keys[j] = Memory::load(from.keys + j * from.stride);
      positions[j] = Memory::load(from.positions + j * from.stride);
    }
  }
  void store(const Slots<typename L::Lane>& to) const {
    for (int j = 0; j < kSlots; ++j) {
      Memory::store(to.keys + j * to.stride, keys[j]);
      Memory::store(to.positions + j * to.stride, positions[j]);
    }
  }
  /// Inserts x, of that position, into the slots up to `last`, whose element goes.
  DMLCPU_INLINE void insert(V x, std::int64_t position, int last) {
    const V at = Memory::all(static_cast<typename L::Lane>(position));
    // Each slot keeps its element, or gets the new one, or its upper neighbour's: those after the
    // new one move down. Slots are written from the last on, so the neighbour's is still the old.
    auto above_this = x > keys[last];
    for (int j = last; j > 0; --j) {
      const auto above_next = x > keys[j - 1];
      keys[j] = max_of(keys[j], min_of(x, keys[j - 1]));
      positions[j] = above_next ? positions[j - 1] : above_this ? at : positions[j];
      above_this = above_next;
    }
    keys[0] = max_of(keys[0], x);
    positions[0] = above_this ? at : positions[0];
  }
  /// Sets the slots to the first kSlots elements, sorted. Where there are fewer, the lowest key
  /// fills slots that nobody wants.
  template <class Keys>
  void fill(const Keys& rows, std::int64_t n) {
    const auto fill_one = [&, lowest = Memory::all(L::kLowest)](int slot) {
      keys[slot] = lowest;
      positions[slot] = Memory::all(static_cast<typename L::Lane>(slot));
      insert(slot < n ? rows[slot] : lowest, slot, slot);
    };
    if constexpr (kSlots <= 16) {
      unroll<kSlots>([&](auto slot) { fill_one(static_cast<int>(slot)); });
    } else {
      for (int slot = 0; slot < kSlots; ++slot) fill_one(slot);
    }
  }
};

/// Takes positions of a vector of lanes: the first time at least kSlots, or all. Later the slots
/// are only read if an element comes before the worst.
template <class U, Source kSource, int kSlots>
void take_slots(const SourceRows<U>& source, const U* data, std::int64_t position,
                const Slots<typename LaneType<U>::Lane>& state) {
  const KeyRows<U, kSource> rows = {data, source.stride, source.ahead, *source.rule};
  const std::int64_t n = source.n;
  using L = LaneType<U>;
  using V = typename L::V;
  // In one lane or another most of the first elements enter.
  constexpr std::int64_t kSure = tuning::top_k_sure_positions(kSlots, L::kWidth);
  KeptSlots<U, kSlots> slots;
  std::int64_t i = 0;
  if (position == 0) {
    slots.fill(rows, n);
    i = min_of<std::int64_t>(n, kSlots);
  } else if (position < kSure) {
    slots.load(state);
  }
  bool loaded = position < kSure;
  for (; loaded && i < min_of(n, kSure - position); ++i) {
    slots.insert(rows[i], position + i, kSlots - 1);
  }
  const auto* const last = state.keys + (kSlots - 1) * state.stride;
  V worst = loaded ? slots.keys[kSlots - 1] : Vector<typename L::Lane>::load(last);
  for (; i < n; i += 4) {
    V x[4];
    unroll<4>([&](auto j) { x[j] = rows[min_of(i + j, n - 1)]; });
    if (!any(((x[0] > worst) | (x[1] > worst)) | ((x[2] > worst) | (x[3] > worst)))) continue;
    for (std::int64_t j = 0; j < min_of<std::int64_t>(n - i, 4); ++j) {
      if (!any(x[j] > worst)) continue;
      if (!loaded) slots.load(state);
      loaded = true;
      slots.insert(x[j], position + i + j, kSlots - 1);
      worst = slots.keys[kSlots - 1];
    }
  }
  if (loaded) slots.store(state);
}

/// The take_slots with the fewest slots for k, if there is one.
template <class U, Source kSource, int... kSlots>
auto take_slots_for(std::int64_t k) {
  decltype(&take_slots<U, kSource, 2>) chosen = nullptr;
  static_cast<void>(
      ((k <= kSlots && (chosen = &take_slots<U, kSource, kSlots>) != nullptr) || ...));
  return chosen;
}

/// What slots are selected from: elements, or their keys, with capacity in `keys`. Of elements the
/// last vector of lanes ends with the row, after which nothing may be readable. Keys are computed
/// in one go of a transposed block, and of rows that follow each other without a gap, as those of
/// several groups do; their vectors may end in the next row, whose lanes select for nobody.
template <class U>
SourceRows<U> source_of(const TopKColumns& a, const Tile<U>& tile, const TileRows<U>& rows,
                        U* keys) {
  const KeyRule& rule = a.element->rule;
  const std::int64_t lanes = tile.lanes;
  const bool looks = !rule.is_integer;
  SourceRows<U> all = {Source::kKeys,
                       rows.data + rows.offsets[0],
                       rows.n > 1 ? rows.offsets[1] - rows.offsets[0] : lanes,
                       rows.n,
                       rows.group_stride,
                       lanes,
                       0,
                       &rule,
                       false};
  const auto make_keys = [&](const U* data, std::int64_t count, U* to) {
    all.odd |= looks && any_odd(data, count);
    load_keys(rule, data, 1, count, to);
  };
  if (has_blocks(a.columns.tiling.packing)) {
    // In place: `keys` is where the tile is packed.
    make_keys(rows.data, a.columns.tiling.block * a.columns.tiling.lanes, keys);
    return all;
  }
  if (top_k_takes_elements(a.columns, kSizeOf<U>, a.k, a.compares_all) &&
      lanes >= LaneType<U>::kWidth) {
    all.odd = looks && any_odd(rows, 1, lanes);
    // Booleans of 0 and 1 are integers.
    all.source = looks && (sizeof(U) > 1 || all.odd) ? Source::kOthers : Source::kIntegers;
    all.last = lanes - LaneType<U>::kWidth;
    return all;
  }
  const bool dense = all.stride == lanes;
  const std::int64_t count = dense ? tile.groups * rows.n * lanes : lanes;
  for (std::int64_t r = 0; r < (dense ? 1 : rows.n); ++r) {
    make_keys(all.data + r * all.stride, count, keys + r * lanes);
  }
  all.data = keys;
  all.stride = lanes;
  return all;
}

/// Writes slots [a.first, k) of a tile's lanes, of which those of a group are `padded`: the slots
/// of one group after the other; or one slot of all groups after the other, if in the output groups
/// are nearer to each other than slots. `values` and `indices` are buffers, as of write_results().
template <class U>
void write_slots(const TopKColumns& a, const Tile<U>& tile,
                 const Slots<typename LaneType<U>::Lane>& slots, std::int64_t padded, bool odd,
                 U* values, void* indices) {
  const Output& out = a.outputs.indices.data == nullptr ? a.outputs.values : a.outputs.indices;
  const KeyRule rule = rule_of_values<U>(a.element->rule, odd);
  const bool by_slot = tile.groups > 1 && out.k_stride > out.group_stride;
  const std::int64_t step = by_slot ? padded : slots.stride;
  const std::int64_t count = a.k - a.first;
  for (std::int64_t i = 0; i < (by_slot ? count : tile.groups); ++i) {
    const auto from = slots.at(a.first * slots.stride + i * (by_slot ? slots.stride : padded));
    write_results(
        rule, by_slot ? tile.groups : count, tile.lanes,
        outputs_at<U>(a.outputs, by_slot ? i : 0, tile.group + (by_slot ? 0 : i), tile.lane),
        by_slot ? &Output::group_stride : &Output::k_stride, values, indices,
        [from, step](std::int64_t r, std::int64_t l) {
          return static_cast<U>(from.keys[r * step + l] ^ LaneType<U>::kFlip);
        },
        [from, step](std::int64_t r, std::int64_t l) {
          return static_cast<typename LaneType<U>::Bits>(from.positions[r * step + l]);
        },
        [&](std::int64_t r, std::int64_t l, std::int64_t position) {
          return tile.data[element_offset(a.columns, by_slot ? r : i, l, position)];
        });
  }
}

template <class U>
void select_columns(const TopKColumns& a) {
  using L = LaneType<U>;
  using Lane = typename L::Lane;
  const decltype(&take_slots<U, Source::kKeys, 2>) take[] = {
      take_slots_for<U, Source::kKeys, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, tuning::kTopKColumnsMaxK>(
          a.k),
      take_slots_for<U, Source::kIntegers, 2, 3, 4, 5, 6, tuning::kTopKElementsMaxK>(a.k),
      take_slots_for<U, Source::kOthers, 2, 3, 4, 5, 6, tuning::kTopKElementsMaxK>(a.k)};
  const std::int64_t slot_count = top_k_slots(a.columns, a.k, false);
  const TopKColumnsScratch layout = top_k_columns_scratch(a.columns, sizeof(U), a.k, false);
  char* const scratch = static_cast<char*>(a.scratch);
  auto* const states = reinterpret_cast<Lane*>(scratch + layout.states);
  for_tiles<U>(a.columns, [&](const Tile<U>& tile) {
    const std::int64_t padded = (tile.lanes + L::kWidth - 1) / L::kWidth * L::kWidth;
    const std::int64_t stride = tile.groups * padded;
    const Slots<Lane> slots = {states, states + slot_count * stride, stride};
    std::int64_t last = padded;
    bool odd = false;
    for_rows(a.columns, tile, scratch, [&](const TileRows<U>& rows, std::int64_t position) {
      SourceRows<U> all = source_of(a, tile, rows, reinterpret_cast<U*>(scratch + layout.keys));
      last = all.last;
      odd |= all.odd;
      for (std::int64_t g = 0; g < tile.groups; ++g) {
        for (std::int64_t l = 0; l < tile.lanes; l += L::kWidth) {
          const U* const data = all.data + g * all.group_stride + min_of(l, last);
          // Once for each cache line.
          all.ahead = l * kSizeOf<U> % kCacheLine == 0 ? rows.ahead : 0;
          take[static_cast<int>(all.source)](all, data, position, slots.at(g * padded + l));
        }
      }
    });
    // The last vector of lanes overlapped the one before: its slots go to the lanes they are of.
    for (std::int64_t j = 0; j < a.k && last < padded - L::kWidth; ++j) {
      KeptSlots<U, 1> moved;
      moved.load(slots.at(j * stride + padded - L::kWidth));
      moved.store(slots.at(j * stride + last));
    }
    write_slots(a, tile, slots, padded, odd, reinterpret_cast<U*>(scratch + layout.values),
                scratch + layout.indices);
  });
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
