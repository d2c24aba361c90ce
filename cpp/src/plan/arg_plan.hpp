// How an argmin or argmax runs, as data.
#pragma once

#include <cstdint>
#include <string>

#include "core/tuning.hpp"
#include "dmlcpu/operators.hpp"
#include "kernels/kernel_table.hpp"
#include "plan/axes.hpp"

namespace dmlcpu {

/// Nested loops around kernel calls:
///
///   for each cell: a position of `kept` and a tile of `lines`   (in parallel)
///     for each part of the cell's units                         (in parallel, merged in order)
///       for each unit: a position of `reduced`                  (and a tile of reduced `lines`)
///         kernel(panel of `length` x tile of `lines`)
///     merge the lines that belong to one result, write the results
///
/// Strides of `kept` are {input, output, 0}, of `reduced` and `length` {input, index step, 0}.
struct ArgPlan {
  ArgStrategy strategy = ArgStrategy::kRows;
  std::int64_t input_offset = 0;   ///< of the first element visited
  std::int64_t output_offset = 0;  ///< of the first element written
  Axes kept;
  Axes reduced;

  Axis length = kUnitAxis;  ///< the reduced axis that the kernel walks

  /// The kernel's neighbouring lines: one for each result; or, when `lines_reduced`, further
  /// elements of one result. Strides are {input, output, 0} or {input, index step, 0}.
  Axis lines = kUnitAxis;
  bool lines_reduced = false;
  bool transposes = false;  ///< short contiguous rows, which the kernel transposes
  std::int64_t tile = 1;    ///< lines per kernel call

  /// Narrow lines are widened: `folds` steps of `length` lie side by side, in groups of
  /// `lines.size` / `folds` lines, group g holding indices that are fold_base + g * fold_step
  /// higher. The `tail` steps behind the last full fold form a panel of one group.
  struct Fold {
    std::int64_t folds = 1;
    std::int64_t base = 0;
    std::int64_t step = 0;
    std::int64_t tail = 0;
    std::int64_t tail_offset = 0;  ///< of the tail's first element from the cell's
    std::int64_t tail_stride = 0;
    std::int64_t tail_index = 0;
    std::int64_t tail_index_step = 0;
  } fold;

  /// Reduced axes were turned around so that the first of equal elements is wanted; the index is
  /// then `reduced_count` - 1 - the index found.
  bool from_end = false;
  std::int64_t reduced_count = 1;

  std::int64_t parts = 1;        ///< pieces of a cell's units, or of `length`
  bool parts_of_length = false;  ///< whether `length` is cut; else the units are dealt out
  int threads = 1;

  std::int64_t tiles() const { return tile == lines.size ? 1 : (lines.size + tile - 1) / tile; }
  std::int64_t cells() const { return positions(kept) * (lines_reduced ? 1 : tiles()); }
  std::int64_t units() const { return positions(reduced) * (lines_reduced ? tiles() : 1); }
};

/// Plans a valid descriptor that has something to write, for up to `threads` threads.
ArgPlan plan_arg(const ArgDescriptor& descriptor, int threads);

/// The scratch memory of the plan's kernel calls.
std::int64_t arg_scratch_bytes(const ArgPlan& plan, std::int64_t element_size);

/// One line per loop, for tests and for people.
std::string to_text(const ArgPlan& plan);

}  // namespace dmlcpu
