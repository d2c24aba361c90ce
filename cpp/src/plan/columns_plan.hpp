// How columns are chosen: which axes fill vectors of lanes, which are walked, how a tile is packed.
#pragma once

#include <cstdint>
#include <string>

#include "interface/columns.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

/// Kernel calls on columns, a group of lanes for each group of results: a lane for each result, or
/// `per_result` of them.
struct ColumnsPlan {
  /// But for `data` and `rows`; of all groups and lanes, some of which a task takes.
  Columns columns{};
  /// The walk, the positions of a reduction, is one or several axes in the order of their indices.
  /// These are the axes of one period without the tail, the last of them changing fastest; strides
  /// are {input, index step, 0}.
  Axes walk;
  /// If not 1, the lanes are a reduced axis, or part of one: further elements of the same results,
  /// whose indices are `widened_step` higher for each `lanes / per_result` lanes, counted from the
  /// lanes' end if `backwards`. Where the walk does not fill the lanes at last, its tail takes some
  /// elements twice; to the index that it has by the walk `tail_index`, below 0, is added.
  std::int64_t per_result = 1;
  /// Reduced axes each of whose positions is a result, the last of them changing fastest, until the
  /// best of these are joined; strides are {input, index step, 0}. None if `count` is 0.
  Axes joined;
  std::int64_t input_offset = 0;  ///< of the first lane's first position, or of its block
  std::int64_t index_offset = 0;  ///< what all indices begin from
  std::int64_t least_groups = 1;  ///< of a task: all of a block, or a row of kLeastTileBytes
  bool widened() const { return per_result > 1; }
  bool joins() const { return joined.count > 0; }

  /// Sets how many positions of lanes in place are a pass, and how far ahead their rows are
  /// prefetched.
  void set_pass(std::int64_t positions, std::int64_t element_size);
  /// Columns::rows, of 8 bytes each, and how much scratch memory they take.
  void fill_rows(std::int64_t* rows) const;
  std::int64_t row_bytes() const { return round_up(8 * columns.period); }
};

/// Takes groups and results out of the tasks' kept axes, and what is walked out of the reduced
/// ones, which are simplified and whose kept strides are not negative; `widens`, for argmin and
/// argmax, if positions may be lanes, and rows compared in registers. Contiguous elements whose
/// lanes, of `lane_bytes` if that is not 0, leave much of their cache lines empty are not the
/// lanes, if another axis has more.
ColumnsPlan plan_columns(std::int64_t element_size, std::int64_t input_bytes, bool widens,
                         std::int64_t lane_bytes, Tasks& tasks, Axes& reduced);

std::string to_text(const ColumnsPlan& plan, const Tasks& tasks);

}  // namespace dmlcpu
