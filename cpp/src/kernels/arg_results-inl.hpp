// The results of columns of argmin and argmax: lanes of one result merged, runs merged, outputs
// written. All types of a width share it: what is compared are keys.
#pragma once

#include "kernels/columns-inl.hpp"
#include "kernels/order-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu::DMLCPU_TARGET {
namespace {

/// What each lane of a tile holds of its best so far, the bits of an element or its key, and its
/// position in the run.
template <class U>
struct BestOfTile {
  U* best;
  U* positions;

  BestOfTile at(std::int64_t lane) const { return {best + lane, positions + lane}; }
};

/// Writes the ranks of a group's lanes, each `times` times, and returns `to`; if all lanes have the
/// same rank, writes nothing and returns null.
template <class U>
U* fill_ranks(const LaneRanks& ranks, std::int64_t lanes, std::int64_t times, U* to) {
  if (ranks.count == 1) return nullptr;
  const auto fill = [&](auto each) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto rank = static_cast<U>(ranks.of_lanes[l]);
      for (std::int64_t t = 0; t < each; ++t) to[l * each + t] = rank;
    }
  };
  // Compilers make vector code of strides that they know.
  times == 1 ? fill(Constant<1>()) : fill(times);
  return to;
}

/// Result r has `count` lanes, lane m at [m * results + r]. Leaves its best in lane 0, merging
/// pairs: the higher key wins, then the lower of `major`, then of `middle`, then, if kThree, of
/// `minor`. Reads up to a vector beyond the lanes, and writes back what it read there.
template <bool kThree, class U>
void merge_lanes(std::int64_t count, std::int64_t results, U* keys, U* major, U* middle, U* minor) {
  U numbers[Vector<U, 16>::kWidth];
  for (std::int64_t l = 0; l < Vector<U, 16>::kWidth; ++l) numbers[l] = static_cast<U>(l);
  while (count > 1) {
    const std::int64_t half = (count + 1) / 2;
    const std::int64_t distance = half * results;
    const std::int64_t pairs = (count - half) * results;
    const auto merge_at = [&](auto bytes, std::int64_t i, auto all) {
      using V = Vector<U, bytes>;
      const auto at = [&](const U* p) { return V::load(p + i); };
      const auto other = [&](const U* p) { return V::load(p + i + distance); };
      auto before = other(middle) < at(middle);
      if (kThree) before |= (other(middle) == at(middle)) & (other(minor) < at(minor));
      before = (other(major) < at(major)) | ((other(major) == at(major)) & before);
      auto better = (other(keys) > at(keys)) | ((other(keys) == at(keys)) & before);
      if constexpr (!all) better &= V::load(numbers) < V::all(static_cast<U>(pairs - i));
      const auto take = [&](U* p) { V::store(p + i, better ? other(p) : at(p)); };
      take(keys);
      take(major);
      take(middle);
      if (kThree) take(minor);
    };
    std::int64_t i = 0;
    for (; i + Vector<U>::kWidth <= pairs; i += Vector<U>::kWidth) {
      merge_at(Constant<kVectorBytes>(), i, std::true_type());
    }
    for (; i + Vector<U, 16>::kWidth <= pairs; i += Vector<U, 16>::kWidth) {
      merge_at(Constant<16>(), i, std::true_type());
    }
    if (i < pairs) merge_at(Constant<16>(), i, std::false_type());
    count = half;
  }
}

/// The results of a run of a tile's positions: result r of group g is number g * stride + r.
template <class U>
struct RunResults : BestOfTile<U> {
  const U* outer;  ///< the ranks of their lanes; null if all have the same
  const U* inner;
  std::int64_t stride;
  std::int64_t results;
};

/// Merges the lanes of each result of a tile, whose best are keys. Arrays of scratch memory are
/// `array` elements apart.
template <class U>
DMLCPU_NOINLINE RunResults<U> merge_results(const ArgColumns& a, const Tile<U>& tile,
                                            BestOfTile<U> state, std::int64_t array) {
  const std::int64_t count = tile.lanes / a.results;
  const auto memory = [&](int number) { return state.best + number * array; };
  RunResults<U> all = {state, nullptr, nullptr, tile.lanes, a.results};
  std::int64_t groups = tile.groups;
  if (a.results == 1 && groups * kSizeOf<U> >= 16) {
    // Groups side by side fill vectors.
    all = {{memory(2), memory(3)}, nullptr, nullptr, 1, 1};
    transpose(state.best, count, groups, count, all.best, groups, 0);
    transpose(state.positions, count, groups, count, all.positions, groups, 0);
  }
  U* const inner_memory = memory(a.indices.outer.count > 1 ? 5 : 4);
  const std::int64_t results = all.stride == 1 ? std::exchange(groups, 1) : a.results;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t first = g * all.stride;
    const BestOfTile<U> best = all.at(first);
    const std::int64_t times = results / a.results;
    U* const outer = fill_ranks(a.indices.outer, tile.lanes, times, memory(4) + first);
    U* const inner = fill_ranks(a.indices.inner, tile.lanes, times, inner_memory + first);
    if (outer != nullptr && inner != nullptr) {
      merge_lanes<true>(count, results, best.best, outer, best.positions, inner);
    } else {
      merge_lanes<false>(count, results, best.best, outer != nullptr ? outer : best.positions,
                         outer != nullptr ? best.positions : inner, inner);
    }
    if (outer != nullptr) all.outer = memory(4);
    if (inner != nullptr) all.inner = inner_memory;
  }
  return all;
}

/// Writes the index of each result of the run that begins at position `run` to to[g * stride + r].
template <class Index, class U>
DMLCPU_NOINLINE void write_run(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& best,
                               std::int64_t run, Index* to, std::int64_t stride) {
  const ArgIndices& indices = a.indices;
  const Walk& walk = a.columns.walk;
  const std::int64_t sign = indices.reversed ? -1 : 1;
  // Modulo the index type: int, to which C++ promotes shorter ones, would overflow.
  using Wide = std::common_type_t<Index, unsigned>;
  const auto base = static_cast<Wide>((indices.reversed ? indices.last : 0) + sign * indices.base);
  const auto base_of_run = base + static_cast<Wide>(sign * indices.step * run);
  const auto step = static_cast<Wide>(sign * indices.step);
  // Without gaps on either side: all groups at once.
  const bool dense = best.stride == best.results && stride == best.results;
  const std::int64_t results = dense ? tile.groups * best.results : best.results;
  const std::int64_t groups = dense ? 1 : tile.groups;
  for (std::int64_t g = 0; g < groups && indices.table == nullptr; ++g) {
    for (std::int64_t r = 0; r < results; ++r) {
      const auto position = static_cast<Wide>(best.positions[g * best.stride + r]);
      to[g * stride + r] = static_cast<Index>(base_of_run + step * position);
    }
  }
  const bool linear = indices.table == nullptr && indices.last_index == 0;
  if (linear && best.outer == nullptr && best.inner == nullptr) return;
  for (std::int64_t g = 0; g < groups; ++g, to += stride) {
    const std::int64_t first = g * best.stride;
    for (std::int64_t r = 0; r < results; ++r) {
      const auto position = static_cast<std::int64_t>(best.positions[first + r]) + run;
      std::int64_t more = position < indices.last_from ? 0 : indices.last_index;
      if (indices.table != nullptr) {
        const PeriodPosition at(walk, position);
        more += indices.table[at.number] + at.period * indices.period_step;
      }
      if (best.outer != nullptr) more += indices.outer.indices[best.outer[first + r]];
      if (best.inner != nullptr) more += indices.inner.indices[best.inner[first + r]];
      const Wide before = indices.table == nullptr ? static_cast<Wide>(to[r]) : base;
      to[r] = static_cast<Index>(before + static_cast<Wide>(sign * more));
    }
  }
}

/// Merges the results of a run, whose best are keys, into the best so far.
template <class U>
DMLCPU_NOINLINE void merge_run(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& best,
                               std::int64_t run, void* buffer) {
  const std::int64_t results = best.results;
  const bool starts = a.starts && run == 0;
  const auto* index = static_cast<const std::int64_t*>(buffer);
  write_run(a, tile, best, run, static_cast<std::uint64_t*>(buffer), results);
  for (std::int64_t g = 0; g < tile.groups; ++g, index += results) {
    const U* const from = best.best + g * best.stride;
    std::int64_t* const keys = a.best_keys + (tile.group + g) * a.results + tile.lane;
    std::int64_t* const indices = a.best_indices + (tile.group + g) * a.results + tile.lane;
    for (std::int64_t r = 0; r < results; ++r) {
      const std::int64_t key = wide_key(from[r]);
      // No branches, which would be hard to predict.
      const bool better = starts | (key > keys[r]) | ((key == keys[r]) & (index[r] < indices[r]));
      keys[r] = better ? key : keys[r];
      indices[r] = better ? index[r] : indices[r];
    }
  }
}

/// Turns the keys of results to elements. Zeros and NaNs are looked up, in the caller's memory.
template <class U>
DMLCPU_NOINLINE void make_elements(const ArgColumns& a, const KeyRule& rule, const Tile<U>& tile,
                                   const RunResults<U>& best) {
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    for (std::int64_t r = 0; r < best.results; ++r) {
      const std::int64_t i = g * best.stride + r;
      if (bits_of(rule, best.best[i], &best.best[i])) continue;
      std::int64_t number = 0;
      if (best.outer != nullptr) number += a.indices.outer.lanes[best.outer[i]];
      if (best.inner != nullptr) number += a.indices.inner.lanes[best.inner[i]];
      best.best[i] =
          tile.data[element_offset(a.columns, g, number * a.results + r, best.positions[i])];
    }
  }
}

/// Writes the results of all positions.
template <class U>
DMLCPU_NOINLINE void write_results(const ArgColumns& a, const Tile<U>& tile,
                                   const RunResults<U>& best, void* buffer) {
  const Outputs to = outputs_at<U>(a.outputs, 0, tile.group, tile.lane);
  if (to.values.data != nullptr) {
    write_tile(best.best, best.stride, tile.groups, best.results, static_cast<U*>(to.values.data),
               to.values.group_stride, to.values.lane_stride);
  }
  write_indices<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(
      to, &Output::group_stride, tile.groups, best.results, buffer,
      [&](auto* data, std::int64_t stride) { write_run(a, tile, best, 0, data, stride); });
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
