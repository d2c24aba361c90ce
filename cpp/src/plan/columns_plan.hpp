// How columns are chosen: which axes fill vectors of lanes, which are walked, how a tile is packed.
#pragma once

#include <cstdint>
#include <string>

#include "interface/arg.hpp"
#include "plan/tasks.hpp"

namespace dmlcpu {

/// Which axes fill vectors of lanes.
struct LaneChoice {
  int results = -1;      ///< number of the kept axis with a lane for each position; -1: one result
  int groups = -1;       ///< number of the kept axis with a group for each position; -1: one group
  int whole = 0;         ///< how many of the innermost reduced axes are lanes of each result
  int cut_axis = -1;     ///< number of a reduced axis of which `cut` positions are lanes as well
  std::int64_t cut = 0;  ///< at most

  bool operator==(const LaneChoice& other) const {
    return results == other.results && groups == other.groups && whole == other.whole &&
           cut_axis == other.cut_axis && cut == other.cut;
  }
};

/// A reduced axis of which `count` positions are lanes at a time. It is walked in steps of `count`
/// positions; the last step overlaps the one before: an element that is compared twice changes no
/// result.
struct CutAxis {
  std::int64_t size = 0;  ///< 0 if there is none
  std::int64_t count = 1;
  std::array<std::int64_t, 3> strides{};

  std::int64_t steps() const { return ceil_divide(size, count); }
  std::int64_t overlap() const { return steps() * count - size; }
  /// Whether an axis is that of the steps: no other has its index step.
  bool is(const Axis& axis) const { return size > 0 && axis.strides[1] == strides[1] * count; }
  /// The number of that axis among some; -1 if it is none of them.
  int find(const Axes& axes) const { return size > 0 ? with_step(axes, strides[1] * count) : -1; }
  /// How many elements of the step before the one at a position overlaps, where it is axis `number`
  /// of those that are walked.
  std::int64_t overlap_at(int number, const Odometer& position) const {
    return number >= 0 && position.at(number) == steps() - 1 ? overlap() : 0;
  }
};

/// Kernel calls on columns, a group of lanes for each group of results: a lane for each result, or
/// several.
struct ColumnsPlan {
  /// Without the pointers, which fill_tables() sets. These are all groups and lanes; a task takes
  /// some of them.
  Columns columns;
  ArgIndices indices;
  bool has_table = false;   ///< indices of positions need ArgIndices::table
  bool has_values = false;  ///< elements are looked up by LaneRanks::lanes
  /// The walk is one or several axes in the order of their indices. These are the axes of one
  /// period, the last of them changing fastest; strides are {input, index step, 0}.
  Axes walk;
  /// The reduced axes whose positions are lanes of one result, the last of them changing fastest.
  Axes lanes;
  std::int64_t per_result = 1;  ///< how many they are
  std::int64_t results = 1;     ///< of a group
  CutAxis cut;
  std::int64_t input_offset = 0;  ///< of the first lane's first position, or of its block
  std::int64_t least_groups = 1;  ///< of a task: all of a block, or a row of kLeastTileBytes

  bool has_several() const { return lanes.count > 0; }

  /// Sets how many positions of lanes in place are a pass; and, if they are prefetched, how far
  /// ahead.
  void set_pass(std::int64_t positions, std::int64_t element_size, bool prefetches);
  /// Sets how many ranks the lanes of a result have.
  void count_ranks();
  /// Writes the tables that columns and indices point to, to as many bytes as table_bytes() says.
  void fill_tables(char* memory, Columns& to, ArgIndices& to_indices) const;
  std::int64_t table_bytes() const;
};

/// Takes groups and results out of the tasks' kept axes, and the axes that are lanes or walked out
/// of the reduced ones. Both are simplified, and kept strides are not negative. `compares` is for
/// argmin and argmax: rows may be compared in registers, and groups of the longest kept axis have
/// blocks of their own where a block holds no groups.
ColumnsPlan plan_columns(std::int64_t element_size, bool prefetches, const LaneChoice& choice,
                         bool compares, Tasks& tasks, Axes& reduced);

const char* name_of(Packing packing);
std::string to_text(const ColumnsPlan& plan, const Tasks& tasks);

}  // namespace dmlcpu
