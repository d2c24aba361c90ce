// argmin and argmax of many neighbouring lines at once: sweep over the elements of one step after
// those of the other, the best of each line staying in the first-level cache.
#pragma once

#include "kernels/order-inl.hpp"
#include "kernels/transpose-inl.hpp"
#include "kernels/vector-inl.hpp"

namespace dmlcpu {
namespace DMLCPU_LEVEL {
namespace {

/// Takes kSteps more elements of each line from `first` to `last` into its best; the first of them
/// is step number `step`.
template <class O, std::int64_t kSteps, class T = typename O::Element>
void sweep(const T* const* rows, std::int64_t first, std::int64_t last, typename O::Unsigned step,
           typename O::Rank* __restrict best, typename O::Unsigned* __restrict steps) {
  using Rank = typename O::Rank;
  using Step = typename O::Unsigned;
  const T* const row0 = rows[0];
  const T* const row1 = rows[kSteps > 1 ? 1 : 0];
  const T* const row2 = rows[kSteps > 2 ? 2 : 0];
  const T* const row3 = rows[kSteps > 3 ? 3 : 0];
  for (std::int64_t l = first; l < last; ++l) {
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

/// The same by the processor's own comparisons, which pass over NaNs, so only while none of `best`
/// is one: false if there may have been a NaN among the elements, as their sum is NaN (which also
/// comes of infinities of both signs). Takes last >= a vector.
template <class O, std::int64_t kSteps, class T = typename O::Element>
bool sweep_values(const T* const* rows, std::int64_t first, std::int64_t last,
                  typename O::Unsigned step, T* best, typename O::Unsigned* steps) {
  using V = Vector<T>;
  using W = Vector<typename O::Unsigned>;
  using Mask = Vector<typename O::Rank>;
  constexpr std::int64_t kWidth = V::kWidth;
  typename V::Type sum{};
  for (std::int64_t i = first; i < last; i += kWidth) {
    // The last vector overlaps the one before: taking an element twice changes nothing.
    const std::int64_t l = min_of(i, last - kWidth);
    typename V::Type b = V::load(best + l);
    typename W::Type s = W::load(steps + l);
    typename V::Type part{};
    for (std::int64_t r = 0; r < kSteps; ++r) {
      const typename V::Type x = V::load(rows[r] + l);
      const typename Mask::Type better = O::kLargest ? x > b : x < b;
      b = better ? x : b;
      s = better ? W::all(static_cast<typename O::Unsigned>(step + r)) : s;
      part = r == 0 ? x : part + x;
    }
    // One addition only waits for the vectors before.
    sum += part;
    V::store(best + l, b);
    W::store(steps + l, s);
  }
  return !any(sum != sum);
}

/// Calls body(first, last) for runs of the lines, and asks for their elements `ahead` of these rows
/// before, unless that is 0: by itself the processor foresees the rest of a row, but not the next
/// rows, and would wait for memory at the beginning of each.
template <std::int64_t kSteps, class T, class Body>
void in_runs(const T* const* rows, std::int64_t lines, std::int64_t ahead, Body body) {
  constexpr std::int64_t kLine = kCacheLine / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kRun = tuning::kSweepPrefetchLines * kLine;
  std::int64_t first = 0;
  if (ahead != 0) {
    for (; first + kRun <= lines; first += kRun) {
      for (std::int64_t r = 0; r < kSteps; ++r) {
        for (std::int64_t l = 0; l < kRun; l += kLine) {
          prefetch_level_2(rows[r] + first + l + ahead);
        }
      }
      body(first, first + kRun);
    }
  }
  if (first < lines) body(first, lines);
}

/// A tile of at most kColumnTile lines: the best of each, and its position, in three
/// arrays of arg_sweep_bytes().
template <class O>
class Sweep {
  using T = typename O::Element;
  using Rank = typename O::Rank;
  using Step = typename O::Unsigned;
  static constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));

 public:
  Sweep(std::int64_t lines, char* arrays, std::int64_t array_bytes)
      : lines_(lines),
        by_value_(kHasNativeOrder<T> && lines * kSize >= kVectorBytes),
        ranks_(reinterpret_cast<Rank*>(arrays)),
        values_(reinterpret_cast<T*>(arrays + array_bytes)),
        steps_(reinterpret_cast<Step*>(arrays + 2 * array_bytes)) {}

  /// Begins with a row, and asks for the elements `ahead` of it.
  void start(const T* row, std::int64_t ahead) {
    // Copies, which the compiler knows that no store to an array changes.
    Rank* __restrict const ranks = ranks_;
    T* __restrict const values = values_;
    std::memset(steps_, 0, static_cast<std::size_t>(lines_) * sizeof(Step));
    if constexpr (kHasNativeOrder<T>) {
      if (by_value_) {
        Step nans = 0;
        in_runs<1>(&row, lines_, ahead, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t l = first; l < last; ++l) {
            values[l] = row[l];
            nans |= static_cast<Step>(row[l] != row[l]);
          }
        });
        if (nans == 0) return;
        by_value_ = false;
      }
    }
    in_runs<1>(&row, lines_, ahead, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t l = first; l < last; ++l) ranks[l] = O::rank(row[l]);
    });
  }

  /// Takes the elements of kSteps more rows, and asks for those `ahead` of them.
  template <std::int64_t kSteps>
  void take(const T* const* rows, Step step, std::int64_t ahead) {
    if constexpr (kHasNativeOrder<T>) {
      if (by_value_) {
        bool numbers = true;
        in_runs<kSteps>(rows, lines_, ahead,
                        [&numbers, rows, step, values = values_, steps = steps_](
                            std::int64_t first, std::int64_t last) {
                          numbers &=
                              sweep_values<O, kSteps>(rows, first, last, step, values, steps);
                        });
        if (numbers) return;
        // Goes on by ranks. Taking these elements again adds the NaNs and changes nothing else.
        to_ranks();
      }
    }
    in_runs<kSteps>(
        rows, lines_, ahead,
        [rows, step, ranks = ranks_, steps = steps_](std::int64_t first, std::int64_t last) {
          sweep<O, kSteps>(rows, first, last, step, ranks, steps);
        });
  }

  const Rank* ranks() {
    if (by_value_) to_ranks();
    return ranks_;
  }
  const Step* steps() const { return steps_; }

 private:
  void to_ranks() {
    if constexpr (kHasNativeOrder<T>) {
      for (std::int64_t l = 0; l < lines_; ++l) ranks_[l] = O::rank(values_[l]);
    }
    by_value_ = false;
  }

  std::int64_t lines_;
  bool by_value_;
  Rank* ranks_;
  T* values_;
  Step* steps_;
};

template <class O>
void sweep_panel(const ArgPanel& panel, std::int64_t* ranks, std::int64_t* indices) {
  using T = typename O::Element;
  using Step = typename O::Unsigned;
  constexpr std::int64_t kTile = tuning::kColumnTile;
  // Steps are counted in an integer of the element's own width, so that values and steps fill
  // vectors alike; the counter starts over before it would wrap.
  constexpr std::int64_t kRun =
      sizeof(Step) < 4 ? std::int64_t{1} << (8 * sizeof(Step)) : std::int64_t{1} << 30;
  const bool prefetches = panel.prefetches && panel.line_stride == 1;
  // Of few rows the elements to come are those of the next lines, or of the next panel if this
  // one's rows lie one right behind the other.
  const bool few = panel.length <= 2 * kArgSweepRows;
  const std::int64_t next_panel = absolute(panel.length_stride) > panel.lines
                                      ? panel.lines
                                      : panel.length * absolute(panel.length_stride);
  const std::int64_t next_lines = prefetches && few ? next_panel : 0;
  char* const arrays = static_cast<char*>(panel.scratch);
  const std::int64_t array_bytes = arg_sweep_bytes(sizeof(T), panel.lines);
  const auto packed = [arrays, array_bytes](std::int64_t row) {
    return reinterpret_cast<T*>(arrays + (3 + row) * array_bytes);
  };
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
      Sweep<O> best(lines, arrays, array_bytes);
      best.start(row_at(0, packed(0)), next_lines);
      std::int64_t step = 1;
      for (; step + kArgSweepRows <= count; step += kArgSweepRows) {
        const T* rows[kArgSweepRows];
        for (std::int64_t s = 0; s < kArgSweepRows; ++s) rows[s] = row_at(step + s, packed(s));
        const bool more = prefetches && !few && step + 2 * kArgSweepRows <= count;
        best.template take<kArgSweepRows>(rows, static_cast<Step>(step),
                                          more ? kArgSweepRows * panel.length_stride : next_lines);
      }
      for (; step < count; ++step) {
        const T* row = row_at(step, packed(0));
        best.template take<1>(&row, static_cast<Step>(step), next_lines);
      }
      const Step* const best_steps = best.steps();
      const auto index_of = [&](std::int64_t l) {
        return panel.index_base +
               panel.index_step * (first + static_cast<std::int64_t>(best_steps[l]));
      };
      std::int64_t* const to_ranks = ranks + line;
      std::int64_t* const to_indices = indices + line;
      const bool writes_ranks = !panel.only || panel.length > kRun;
      const typename O::Rank* const best_ranks = writes_ranks ? best.ranks() : nullptr;
      if (panel.starts && first == 0) {
        for (std::int64_t l = 0; l < lines; ++l) to_indices[l] = best_steps[l];
        for (std::int64_t l = 0; writes_ranks && l < lines; ++l) {
          to_ranks[l] = wide_rank<O>(best_ranks[l]);
        }
        if (panel.index_step != 1) {
          for (std::int64_t l = 0; l < lines; ++l) to_indices[l] *= panel.index_step;
        }
        if (panel.index_base != 0) {
          for (std::int64_t l = 0; l < lines; ++l) to_indices[l] += panel.index_base;
        }
        continue;
      }
      for (std::int64_t l = 0; l < lines; ++l) {
        const std::int64_t rank = wide_rank<O>(best_ranks[l]);
        const std::int64_t index = index_of(l);
        const bool better =
            (rank > to_ranks[l]) | ((rank == to_ranks[l]) & (index < to_indices[l]));
        to_ranks[l] = better ? rank : to_ranks[l];
        to_indices[l] = better ? index : to_indices[l];
      }
    }
  }
}

/// Short lines, each one's elements next to each other, are turned into columns first.
template <class O>
void arg_columns(const ArgPanel& panel, std::int64_t* ranks, std::int64_t* indices) {
  using T = typename O::Element;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (!panel.transposes) {
    sweep_panel<O>(panel, ranks, indices);
    return;
  }
  const std::int64_t most = arg_transposed_bytes(kSize, panel.length, panel.lines) / kSize;
  const std::int64_t ahead =
      panel.prefetches
          ? max_of<std::int64_t>(1, tuning::kTransposePrefetchBytes / kSize / panel.length)
          : 0;
  T* const columns = reinterpret_cast<T*>(static_cast<char*>(panel.scratch) +
                                          3 * arg_sweep_bytes(kSize, panel.lines));
  const bool backward = panel.length_stride == -1;
  const T* data = static_cast<const T*>(panel.data);
  if (backward) data -= panel.length - 1;
  ArgPanel turned = panel;
  turned.line_stride = 1;
  turned.prefetches = false;
  for (std::int64_t line = 0; line < panel.lines; line += most) {
    turned.lines = min_of(most, panel.lines - line);
    transpose(data + line * panel.line_stride, panel.line_stride, turned.lines, panel.length,
              columns, most, ahead);
    turned.data = columns + (backward ? (panel.length - 1) * most : 0);
    turned.length_stride = backward ? -most : most;
    sweep_panel<O>(turned, ranks + line, indices + line);
  }
}

}  // namespace
}  // namespace DMLCPU_LEVEL
}  // namespace dmlcpu
