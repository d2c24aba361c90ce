// argmin and argmax of many neighbouring lines at once: sweep over the elements of one step after
// those of the other, the best of each line staying in the first-level cache.
#pragma once

#include "kernels/order-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Steps swept before the tile's best are read and written back once.
constexpr std::int64_t kStepsAtOnce = 4;

/// Takes kSteps more elements of each line into its best; the first of them is step number `step`.
template <class O, std::int64_t kSteps, class T = typename O::Element>
void sweep(const T* const* rows, std::int64_t lines, typename O::Unsigned step,
           typename O::Rank* __restrict best, typename O::Unsigned* __restrict steps) {
  using Rank = typename O::Rank;
  using Step = typename O::Unsigned;
  const T* const row0 = rows[0];
  const T* const row1 = rows[kSteps > 1 ? 1 : 0];
  const T* const row2 = rows[kSteps > 2 ? 2 : 0];
  const T* const row3 = rows[kSteps > 3 ? 3 : 0];
  for (std::int64_t l = 0; l < lines; ++l) {
    Rank b = best[l];
    Step s = steps[l];
    const auto take = [&](T x, int offset) {
      const Rank r = O::rank(x);
      s = r > b ? static_cast<Step>(step + offset) : s;
      b = max_of(b, r);
    };
    take(row0[l], 0);
    if (kSteps > 1) take(row1[l], 1);
    if (kSteps > 2) take(row2[l], 2);
    if (kSteps > 3) take(row3[l], 3);
    best[l] = b;
    steps[l] = s;
  }
}

template <class O>
void arg_columns(const ArgPanel& panel, std::int64_t* ranks, std::int64_t* indices) {
  using T = typename O::Element;
  using Rank = typename O::Rank;
  using Step = typename O::Unsigned;
  constexpr std::int64_t kTile = tuning::kColumnTile;
  // Steps are counted in an integer of the element's own width, so that values and steps fill
  // vectors alike; the counter starts over before it would wrap.
  constexpr std::int64_t kRun =
      sizeof(Step) < 4 ? std::int64_t{1} << (8 * sizeof(Step)) : std::int64_t{1} << 30;
  T packed[kStepsAtOnce][kTile];
  Rank best[kTile];
  Step steps[kTile];
  for (std::int64_t line = 0; line < panel.lines; line += kTile) {
    const std::int64_t lines = min_of(kTile, panel.lines - line);
    const T* data = static_cast<const T*>(panel.data) + line * panel.line_stride;
    for (std::int64_t first = 0; first < panel.length; first += kRun) {
      const std::int64_t count = min_of(kRun, panel.length - first);
      const auto row_at = [&](std::int64_t step, T* buffer) {
        const T* row = data + (first + step) * panel.length_stride;
        if (panel.line_stride == 1) return row;
        pack(row, panel.line_stride, lines, buffer);
        return static_cast<const T*>(buffer);
      };
      const T* row = row_at(0, packed[0]);
      for (std::int64_t l = 0; l < lines; ++l) {
        best[l] = O::rank(row[l]);
        steps[l] = 0;
      }
      std::int64_t step = 1;
      for (; step + kStepsAtOnce <= count; step += kStepsAtOnce) {
        const T* rows[kStepsAtOnce];
        for (std::int64_t s = 0; s < kStepsAtOnce; ++s) rows[s] = row_at(step + s, packed[s]);
        sweep<O, kStepsAtOnce>(rows, lines, static_cast<Step>(step), best, steps);
      }
      for (; step < count; ++step) {
        row = row_at(step, packed[0]);
        sweep<O, 1>(&row, lines, static_cast<Step>(step), best, steps);
      }
      for (std::int64_t l = 0; l < lines; ++l) {
        const std::int64_t wide = wide_rank<O>(best[l]);
        const std::int64_t index =
            panel.index_base + panel.index_step * (first + static_cast<std::int64_t>(steps[l]));
        const bool better =
            (wide > ranks[line + l]) | ((wide == ranks[line + l]) & (index < indices[line + l]));
        ranks[line + l] = better ? wide : ranks[line + l];
        indices[line + l] = better ? index : indices[line + l];
      }
    }
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
