// How columns are chosen: which axes fill vectors of lanes, which are walked, how a tile is packed.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/columns_interface.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

/// The positions of a reduction, one or several axes in the order of their indices.
struct Walk {
  /// The axes of one period, the last of them changing fastest; strides are {input, index step, 0}.
  Axes axes;
  std::int64_t n = 1;
  std::int64_t period = 1;         ///< positions of the axes
  std::int64_t period_stride = 0;  ///< from period to period
  std::int64_t index_step = 1;     ///< from position to position

  Walk() = default;
  /// Takes as many axes as have one index step from position to position, while a period has at
  /// most `limit` positions. Of the axes in a period none has a stride of `stride_limit` or more.
  /// If there is such a limit, the last period has as many positions as the others: all of it may
  /// be read.
  Walk(Axes& reduced, std::int64_t limit, std::int64_t stride_limit = kAnyStride);

  static constexpr std::int64_t kAnyStride = std::numeric_limits<std::int64_t>::max();
};

/// Kernel calls on columns, a group of lanes for each group of results: a lane for each result, or
/// `per_result` of them.
struct ColumnsPlan {
  Columns columns{};  ///< but for its memory, of all groups and lanes
  Walk walk;
  /// If not 1, the lanes are a reduced axis, or part of one: further elements of the same results,
  /// whose indices are `widened_step` higher for each `lanes / per_result` lanes, counted from the
  /// lanes' end if `backwards`. Where the walk does not fill the lanes at last, its tail takes some
  /// elements twice; to the index that it has by the walk `tail_index`, below 0, is added.
  std::int64_t per_result = 1;
  std::int64_t input_offset = 0;  ///< of the first lane's first position, or of its block
  bool widened() const { return per_result > 1; }

  /// Columns::rows.
  void fill_rows(std::int64_t* rows) const;
};

/// Takes groups and results out of the tasks' kept axes, and what is walked out of the reduced
/// ones, which are simplified and whose kept strides are not negative; `widens` if positions may be
/// lanes. Fewer than `least_lanes` contiguous elements are not the lanes, if another axis
/// has more.
ColumnsPlan plan_columns(const ConstTensor& input, bool widens, std::int64_t least_lanes,
                         Tasks& tasks, Axes& reduced);

std::string to_text(const ColumnsPlan& plan, const Tasks& tasks);

}  // namespace dmlcpu
