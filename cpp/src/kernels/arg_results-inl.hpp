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

/// Result r has `count` lanes, lane n at [n * results + r]. Leaves its best in lane 0, merging
/// pairs: the higher key wins, then the lower index, of which the position or the lane's number is
/// the major part.
template <class U>
void merge_lanes(const Columns& columns, std::int64_t count, std::int64_t results,
                 const BestOfTile<U>& lanes, U* numbers) {
  for (std::int64_t n = 0; n < count; ++n) {
    const auto number = static_cast<U>(columns.backwards ? count - 1 - n : n);
    for (std::int64_t r = 0; r < results; ++r) numbers[n * results + r] = number;
  }
  const bool number_first = columns.widened_step > columns.index_step;
  U* const keys = lanes.best;
  U* const major = number_first ? numbers : lanes.positions;
  U* const minor = number_first ? lanes.positions : numbers;
  while (count > 1) {
    const std::int64_t half = (count + 1) / 2;
    const std::int64_t distance = half * results;
    const std::int64_t pairs = (count - half) * results;
    std::int64_t i = 0;
    const auto merge_by = [&](auto bytes) {
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
    merge_by(Constant<kVectorBytes>());
    if constexpr (kVectorBytes > 16) merge_by(Constant<16>());
    merge_by(Constant<sizeof(U)>());
    count = half;
  }
}

/// The results of a run of a tile's positions: result r of group g is number g * stride + r.
template <class U>
struct RunResults : BestOfTile<U> {
  const U* numbers;  ///< of the lanes; null unless the columns are widened
  std::int64_t stride;
  std::int64_t results;
};

/// Writes the index of each result of the run that begins at position `run` to to[g * stride + r].
template <class Index, class U>
DMLCPU_NOINLINE void write_run(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& found,
                               std::int64_t run, Index* to, std::int64_t stride) {
  const Columns& columns = a.columns;
  const std::int64_t before =
      columns.backwards ? columns.lanes - tile.lane - tile.lanes : tile.lane;
  const std::int64_t first =
      a.index_base + run * columns.index_step + before / a.results * columns.widened_step;
  const std::int64_t sign = a.reversed ? -1 : 1;
  // Modulo the index type: int, to which C++ promotes shorter ones, would overflow.
  using Wide = std::common_type_t<Index, unsigned>;
  const auto base = static_cast<Wide>((a.reversed ? a.last : 0) + sign * first);
  const auto step = static_cast<Wide>(sign * columns.index_step);
  const auto widened_step = static_cast<Wide>(sign * columns.widened_step);
  const auto tail_index = static_cast<Wide>(sign * columns.tail_index);
  const std::int64_t tail = columns.tail - run;
  // One result per group, contiguous on both sides: all groups at once.
  const bool single = found.results == 1 && found.stride == 1 && stride == 1;
  const std::int64_t results = single ? tile.groups : found.results;
  for (std::int64_t g = 0; g < (single ? 1 : tile.groups); ++g, to += stride) {
    const U* const positions = found.positions + g * found.stride;
    for (std::int64_t r = 0; r < results; ++r) {
      to[r] = static_cast<Index>(base + step * static_cast<Wide>(positions[r]));
    }
    if (found.numbers == nullptr) continue;
    const U* const numbers = found.numbers + g * found.stride;
    for (std::int64_t r = 0; r < results; ++r) {
      const bool in_tail = static_cast<std::int64_t>(positions[r]) == tail;
      to[r] = static_cast<Index>(static_cast<Wide>(to[r]) +
                                 widened_step * static_cast<Wide>(numbers[r]) +
                                 (in_tail ? tail_index : Wide{0}));
    }
  }
}

/// Merges the lanes of each result of a tile, whose best are keys. Arrays of scratch memory are
/// `array` elements apart.
template <class U>
DMLCPU_NOINLINE RunResults<U> merge_widened(const ArgColumns& a, const Tile<U>& tile,
                                            BestOfTile<U> state, std::int64_t array) {
  const std::int64_t count = tile.lanes / a.results;
  U* const numbers = state.best + 4 * array;
  if (a.results == 1 && tile.groups > 1) {
    // Groups side by side, so that they fill vectors.
    const BestOfTile<U> transposed = {state.best + 2 * array, state.best + 3 * array};
    transpose(state.best, count, tile.groups, count, transposed.best, tile.groups, 0);
    transpose(state.positions, count, tile.groups, count, transposed.positions, tile.groups, 0);
    merge_lanes(a.columns, count, tile.groups, transposed, numbers);
    return {transposed, numbers, 1, 1};
  }
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    merge_lanes(a.columns, count, a.results, state.at(g * tile.lanes), numbers + g * tile.lanes);
  }
  return {state, numbers, tile.lanes, a.results};
}

/// Merges the results of a run, whose best are keys, into the best so far.
template <class U>
DMLCPU_NOINLINE void merge_run(const ArgColumns& a, const Tile<U>& tile, const RunResults<U>& found,
                               std::int64_t run, void* buffer) {
  const std::int64_t results = found.results;
  const std::int64_t first = found.numbers == nullptr ? tile.lane : 0;
  // Of widened columns only the first tile of a result starts.
  const bool starts = a.starts && run == 0 && tile.lane == first;
  const auto* index = static_cast<const std::int64_t*>(buffer);
  write_run(a, tile, found, run, static_cast<std::uint64_t*>(buffer), results);
  for (std::int64_t g = 0; g < tile.groups; ++g, index += results) {
    const U* const best = found.best + g * found.stride;
    std::int64_t* const keys = a.keys + (tile.group + g) * a.results + first;
    std::int64_t* const indices = a.indices + (tile.group + g) * a.results + first;
    for (std::int64_t r = 0; r < results; ++r) {
      const std::int64_t key = wide_key(best[r]);
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
                                   const RunResults<U>& found) {
  for (std::int64_t g = 0; g < tile.groups; ++g) {
    for (std::int64_t r = 0; r < found.results; ++r) {
      const std::int64_t i = g * found.stride + r;
      if (bits_of(rule, found.best[i], &found.best[i])) continue;
      std::int64_t number = found.numbers == nullptr ? 0 : found.numbers[i];
      if (a.columns.backwards) number = tile.lanes / a.results - 1 - number;
      found.best[i] =
          tile.data[element_offset(a.columns, g, number * a.results + r, found.positions[i])];
    }
  }
}

/// Writes the results of all positions.
template <class U>
DMLCPU_NOINLINE void write_results(const ArgColumns& a, const Tile<U>& tile,
                                   const RunResults<U>& found, void* buffer) {
  const Outputs to =
      outputs_at<U>(a.outputs, 0, tile.group, found.numbers == nullptr ? tile.lane : 0);
  if (to.values.data != nullptr) {
    write_tile(found.best, found.stride, tile.groups, found.results,
               static_cast<U*>(to.values.data), to.values.group_stride, to.values.lane_stride);
  }
  write_indices<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(
      to, &Output::group_stride, tile.groups, found.results, buffer,
      [&](auto* data, std::int64_t stride) { write_run(a, tile, found, 0, data, stride); });
}

}  // namespace
}  // namespace dmlcpu::DMLCPU_TARGET
