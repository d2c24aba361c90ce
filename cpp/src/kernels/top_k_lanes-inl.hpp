// top-k of many short lines with small k: a line per vector lane, its best elements in a sorted
// list into which better ones are inserted, for all lanes at once and without a branch.
#pragma once

#include "kernels/top_k_items-inl.hpp"
#include "kernels/transpose-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Ranks U of a step as signed lanes of at least 32 bits, which every level compares.
template <class U>
struct Lanes {
  using Lane = typename IntegersOf<(sizeof(U) < 4 ? 4 : sizeof(U))>::Signed;
  using Bits = typename IntegersOf<sizeof(Lane)>::Unsigned;
  using V = typename Vector<Lane>::Type;
  static constexpr std::int64_t kWidth = Vector<Lane>::kWidth;
  static constexpr Lane kLowest = static_cast<Lane>(Bits{1} << (8 * sizeof(Lane) - 1));

  static V load(const U* ranks) {
    if constexpr (sizeof(U) == sizeof(Lane)) {
      const auto bits = Vector<U>::load(ranks) ^ static_cast<U>(kLowest);
      return reinterpret_cast<V>(bits);
    } else {
      Lane lanes[kWidth];
      for (std::int64_t l = 0; l < kWidth; ++l) lanes[l] = lane(ranks[l]);
      return Vector<Lane>::load(lanes);
    }
  }
  static Lane lane(U rank) {
    return static_cast<Lane>(sizeof(U) == sizeof(Lane) ? rank ^ static_cast<U>(kLowest) : rank);
  }
  /// Back to what load() took.
  static U rank(Lane lane) {
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

/// The best so far of a vector's lines, in kSlots slots, best first; of equal ranks the earlier
/// step first. Elements of the lowest rank never enter: slots that they should have keep that rank.
template <class U, int kSlots>
class BestOfLanes {
  using L = Lanes<U>;
  using V = typename L::V;

 public:
  BestOfLanes() {
    for (int j = 0; j < kSlots; ++j) {
      ranks_[j] = Vector<typename L::Lane>::all(L::kLowest);
      steps_[j] = V{};
    }
  }

  /// Takes the steps in ascending order.
  void insert(V x, std::int64_t step) {
    const V at = Vector<typename L::Lane>::all(static_cast<typename L::Lane>(step));
    // Each slot keeps its element, or gets the new one, or its upper neighbour's: those below the
    // new one move down. Slots are written from below, so the neighbour's is still the old one.
    auto above_this = x > ranks_[kSlots - 1];
    for (int j = kSlots - 1; j > 0; --j) {
      const auto above_next = x > ranks_[j - 1];
      ranks_[j] = higher(ranks_[j], lower(x, ranks_[j - 1]));
      steps_[j] = above_next ? steps_[j - 1] : above_this ? at : steps_[j];
      above_this = above_next;
    }
    ranks_[0] = higher(ranks_[0], x);
    steps_[0] = above_this ? at : steps_[0];
  }
  V worst() const { return ranks_[kSlots - 1]; }

  /// Writes the first k of each of `lines` lanes, one lane behind the other, given the lanes'
  /// steps.
  void write(const U* steps, std::int64_t stride, std::int64_t lines, std::int64_t k,
             TopKItem* items) const {
    for (std::int64_t l = 0; l < lines; ++l) {
      std::int64_t next = 0;
      for (std::int64_t j = 0; j < k; ++j) {
        std::int64_t step = steps_[j][l];
        if (ranks_[j][l] == L::kLowest) {
          while (L::lane(steps[next * stride + l]) != L::kLowest) ++next;
          step = next++;
        }
        *items++ = {std::uint64_t{L::rank(ranks_[j][l])}, step};
      }
    }
  }

 private:
  V ranks_[kSlots];
  V steps_[kSlots];
};

/// A rank that at least kSlots elements of each lane exceed, or kLowest where there is no such
/// bound: one below the kSlots-th highest of the extremes of blocks.
template <class U, int kSlots>
typename Lanes<U>::V lanes_bound(const U* steps, std::int64_t stride, std::int64_t length) {
  using L = Lanes<U>;
  using V = typename L::V;
  constexpr std::int64_t kBlock = tuning::kTopKLanesBlock;
  const V lowest = Vector<typename L::Lane>::all(L::kLowest);
  if (length / kBlock < tuning::kTopKLanesBlocksPerSlot * kSlots) return lowest;
  V best[kSlots];
  for (V& slot : best) slot = lowest;
  for (std::int64_t first = 0; first + kBlock <= length; first += kBlock) {
    V extreme = L::load(steps + first * stride);
    for (std::int64_t i = 1; i < kBlock; ++i) {
      extreme = higher(extreme, L::load(steps + (first + i) * stride));
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

/// Selects from the lines of a tile: step i of line l is steps[i * stride + l], where stride is a
/// whole number of vectors; 1 <= k <= kSlots.
template <class U, int kSlots>
void select_lanes(const U* steps, std::int64_t stride, std::int64_t length, std::int64_t lines,
                  std::int64_t k, TopKItem* items) {
  using L = Lanes<U>;
  using V = typename L::V;
  for (std::int64_t line = 0; line < lines; line += L::kWidth, steps += L::kWidth) {
    BestOfLanes<U, kSlots> best;
    const V bound = lanes_bound<U, kSlots>(steps, stride, length);
    V cut = bound;
    const auto take = [&](std::int64_t i) {
      const V x = L::load(steps + i * stride);
      if (!any(x > cut)) return;
      best.insert(x, i);
      cut = higher(bound, best.worst());
    };
    std::int64_t i = 0;
    for (; i + 4 <= length; i += 4) {
      const U* next = steps + i * stride;
      const auto found = ((L::load(next) > cut) | (L::load(next + stride) > cut)) |
                         ((L::load(next + 2 * stride) > cut) | (L::load(next + 3 * stride) > cut));
      if (!any(found)) continue;
      for (std::int64_t s = 0; s < 4; ++s) take(i + s);
    }
    for (; i < length; ++i) take(i);
    best.write(steps, stride, min_of(L::kWidth, lines - line), k, items + line * k);
  }
}

/// The select_lanes with the fewest slots for k.
template <class U, int... kSlots>
auto select_lanes_for(std::int64_t k) {
  auto chosen = &select_lanes<U, tuning::kTopKLanesMaxK>;
  static_cast<void>(((k <= kSlots ? (chosen = &select_lanes<U, kSlots>, true) : false) || ...));
  return chosen;
}

/// Scratch: lanes_scratch_bytes(), the steps and then the lines' ranks.
template <class U>
void top_k_lanes(const TopKLines& group, TopKItem* items) {
  const std::int64_t length = group.length;
  const std::int64_t lines = group.lines;
  constexpr std::int64_t kMost = tuning::kTopKGroupLines;
  U* const steps = static_cast<U*>(group.scratch);
  const auto* const data = static_cast<const char*>(group.data);
  // Lanes beyond the lines are selected from too, and never written.
  const std::int64_t stride = (lines + Lanes<U>::kWidth - 1) / Lanes<U>::kWidth * Lanes<U>::kWidth;
  const std::int64_t line_bytes = group.line_stride * group.element_size;
  const std::int64_t step_bytes = group.stride * group.element_size;
  if (absolute(line_bytes) < absolute(step_bytes)) {
    for (std::int64_t i = 0; i < length; ++i) {
      U* const to = steps + i * stride;
      const char* const from = data + i * step_bytes;
      // The next steps are too far apart for the processor to foresee.
      prefetch_lines(from + tuning::kTopKLanesPrefetch * step_bytes, lines, line_bytes,
                     group.element_size);
      group.load(from, group.line_stride, lines, to);
      for (std::int64_t l = lines; l < stride; ++l) to[l] = 0;
    }
  } else {
    U* const ranks = steps + kMost * length;
    if (group.stride == 1 && group.line_stride == length) {
      group.load(data, 1, lines * length, ranks);
    } else {
      for (std::int64_t l = 0; l < lines; ++l) {
        group.load(data + l * line_bytes, group.stride, length, ranks + l * length);
      }
    }
    for (std::int64_t l = lines; l < stride; ++l) {
      for (std::int64_t i = 0; i < length; ++i) ranks[l * length + i] = 0;
    }
    transpose(ranks, length, stride, length, steps, stride, 0);
  }
  select_lanes_for<U, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24>(group.k)(steps, stride, length, lines,
                                                                 group.k, items);
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
