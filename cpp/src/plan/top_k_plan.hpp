// How a top-k runs, as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/tuning.hpp"
#include "dmlcpu/operators.hpp"
#include "kernels/kernel_table.hpp"
#include "plan/axes.hpp"
#include "plan/columns_plan.hpp"

namespace dmlcpu {

/// A rank that somewhat more than k elements of a row probably reach is one that `reaches` of so
/// many sampled elements do.
struct TopKSample {
  std::int64_t count = 0;  ///< 0: nothing is guessed
  std::int64_t reaches = 0;
};
TopKSample sample_for(std::int64_t length, std::int64_t k, std::int64_t count);

/// Bytes of the kernels' items: rank and position share 8 bytes up to 32-bit ranks.
constexpr std::int64_t top_k_item_bytes(std::int64_t element_size) {
  return element_size == 8 ? 16 : 8;
}

/// How the k highest of one row are found.
struct TopKSelection {
  TopKStrategy strategy = TopKStrategy::kDirect;
  std::int64_t block = 1;          ///< elements per block of TopKStrategy::kBlocks
  bool sort_all = false;           ///< TopKStrategy::kRadix without a threshold
  std::int64_t room = 0;           ///< elements that TopKStrategy::kRadix has room for
  TopKSample sample;               ///< that it guesses a threshold from
  std::int64_t scratch_bytes = 0;  ///< that the kernel needs
};

/// The strategy for rows of up to `length` elements of `element_size` bytes, 1 <= k <= length.
TopKSelection select_strategy(std::int64_t element_size, std::int64_t length, std::int64_t k);

/// The same for one given strategy, which must be able to do it: kBlocks needs k blocks.
TopKSelection plan_selection(TopKStrategy strategy, std::int64_t element_size, std::int64_t length,
                             std::int64_t k);

///   for each position of `outer`                        (in parallel)
///     for each group of `lines`                         (in parallel)
///       for each line
///         for each of `pieces`                          (in parallel, merged in order)
///           kernel(row of length / pieces)
///         write k values and indices
///
/// Strides of `outer` and `lines` are {input, values, indices}.
struct TopKPlan {
  Axes outer;
  Axis lines = kUnitAxis;
  std::int64_t group = 1;  ///< lines per task
  bool packed = false;     ///< whether a group is copied side by side before it is searched

  std::int64_t length = 1;
  std::int64_t input_stride = 1;  ///< of the input along the row
  std::int64_t stride = 1;        ///< of the row that the kernel reads, 1 when it is packed
  std::int64_t k = 1;
  std::int64_t value_stride = 1;
  std::int64_t index_stride = 1;

  bool buckets = false;  ///< whether each line is sorted by all threads, in buckets

  std::int64_t pieces = 1;
  TopKSelection selection;  ///< for one piece
  TopKSample sample;        ///< of all pieces together, the same number from each
  int threads = 1;

  std::int64_t groups() const { return (lines.size + group - 1) / group; }
  std::int64_t piece_start(std::int64_t piece) const { return length * piece / pieces; }
  std::int64_t longest_piece() const { return (length + pieces - 1) / pieces; }
};

/// Plans a valid descriptor that has something to write, for up to `threads` threads.
TopKPlan plan_top_k(const TopKDescriptor& descriptor, int threads);

/// Columns with small k, each in a vector lane:
///
///   for each position of `kept` and each part of groups x lanes  (in parallel)
///     kernel(columns)
///
/// Strides of kept axes are {input, values, indices}.
struct TopKColumnsPlan {
  Axes kept;
  Offsets offsets{};  ///< of the first element visited, and of the first written
  ColumnsPlan columns;
  std::int64_t k = 1;
  std::int64_t value_stride = 1;  ///< from result to result of a column
  std::int64_t index_stride = 1;
  std::int64_t task_groups = 1;
  std::int64_t task_lanes = 1;
  int threads = 1;
};

/// The same by columns, if they are the better way.
std::optional<TopKColumnsPlan> plan_top_k_columns(const TopKDescriptor& descriptor, int threads);

/// One line per loop, for tests and for people.
std::string to_text(const TopKPlan& plan);
std::string to_text(const TopKColumnsPlan& plan);

}  // namespace dmlcpu
