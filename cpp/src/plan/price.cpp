#include "plan/price.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "interface/arg.hpp"
#include "interface/tuning.hpp"
#include "plan/candidates_text.hpp"
#include "plan/columns_estimate.hpp"
#include "plan/columns_lanes.hpp"
#include "plan/costs.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

/// Columns of a candidate.
ColumnsEstimate columns_of(const ArgProblem& problem, const Candidate& candidate,
                           std::int64_t vector_bytes) {
  return {{problem.element_size, problem.results, problem.kept, problem.reduced},
          candidate.lanes,
          vector_bytes};
}

/// Counts what candidates of a problem pay, in `To`, which is one of those.
template <class To>
class Costing {
 public:
  Costing(const ArgProblem& problem, const Machine& machine, To& to)
      : problem_(problem), size_(real(problem.element_size)), machine_(machine), to_(to) {}

  void count(const Candidate& candidate) {
    if (candidate.is_rows) return count_rows();
    const ColumnsEstimate columns = columns_of(problem_, candidate, machine_.vector_bytes);
    columns.packing == Packing::kRegisters ? count_squares(columns) : count_columns(columns);
  }

 private:
  static constexpr double kMany = 1e9;  ///< runs that are read in turns: more than any prefetch

  /// Rows one by one, a call for each position of the other reduced axes.
  void count_rows() {
    const Axis& row = problem_.reduced.last();
    const Axis& kept = problem_.kept.last();
    const std::int64_t apart = stride_of(row);
    const double rows = real(problem_.results * iteration_count(problem_.reduced)) / real(row.size);
    const double bytes = real(row.size) * size_;
    to_.add(Cost::kCall, rows / real(kept.size));
    const double vectors = whole(bytes / real(machine_.vector_bytes));
    to_.add(vectors > 4 ? Cost::kLongRow : Cost::kRow, rows);
    if (apart > 1) {
      const Cost cost = apart > tuning::kPackedStride ? Cost::kRowApart : Cost::kRowStrided;
      to_.add(cost, rows * real(row.size));
    } else {
      to_.add(row.strides[0] < 0 ? Cost::kRowBackward : Cost::kRowVector, rows * vectors);
    }
    // Elements that have a cache line each, or rows.
    if (real(apart) * size_ > real(kCacheLine)) {
      count_jumps(rows * real(row.size), size_, real(apart), kMany);
    } else {
      count_jumps(rows, bytes * real(apart), real(kept.strides[0]), kMany);
    }
  }

  void count_squares(const ColumnsEstimate& columns) {
    const double lanes = columns.others * real(columns.lanes);
    const double row_bytes = columns.positions * size_;
    const double of_squares = whole(row_bytes / real(kSquareBytes)) * real(kSquareBytes);
    const double vector_lanes = real(machine_.vector_bytes) / size_;
    to_.add(Cost::kCall, 1);
    to_.add(Cost::kTile, columns.others);
    to_.add(Cost::kSquare, columns.others * whole(real(columns.lanes) / vector_lanes) *
                               vector_lanes * of_squares / size_);
    count_jumps(lanes, of_squares, real(columns.apart), columns.tile_lanes);
  }

  void count_columns(const ColumnsEstimate& columns) {
    const bool strided = columns.packing == Packing::kStrided;
    const bool blocks = has_blocks(columns.packing);
    const double calls = columns.calls();
    const double tiles = columns.tiles();
    const double positions = tiles * columns.in_call;
    const double in_tile = columns.tile_lanes * columns.tile_groups;
    to_.add(Cost::kCall, calls);
    to_.add(Cost::kTile, tiles);
    if (blocks) {
      const double all = positions * columns.tile_lanes / columns.in_block;
      to_.add(Cost::kTransposed, all * columns.block);
      count_jumps(all, columns.block * size_, real(columns.apart), columns.tile_lanes);
    } else {
      if (strided) to_.add(Cost::kStrided, positions * in_tile);
      const double groups = columns.is_dense ? 1 : columns.tile_groups;
      count_jumps(positions * groups, in_tile / groups * real(columns.apart) * size_,
                  columns.position_apart, columns.in_call * groups);
    }
    // Groups that follow each other, at the latest when they were packed, are a row.
    const bool is_row = strided || (blocks ? columns.group_apart == 1 : columns.is_dense);
    const double groups = is_row ? 1 : columns.tile_groups;
    count_compared(positions, groups, in_tile / groups);
    const double runs = whole(columns.in_call / real(arg_run_positions(problem_.element_size)));
    if (columns.lane_axes > 0) {
      to_.add(Cost::kRank, real(columns.lanes * columns.lane_axes));
      // Pairs of lanes at a time. The groups of single results are merged together.
      const double times = runs * (columns.results > 1 ? calls * columns.groups : tiles);
      std::int64_t steps = 0;
      while (columns.results << steps < columns.lanes) ++steps;
      to_.add(Cost::kMerge, times * real(steps));
      to_.add(Cost::kMergedLane, calls * runs * columns.groups * real(columns.lanes));
    }
    const double outer = columns.positions / columns.in_call;
    if (outer * runs > 1) to_.add(Cost::kMergedResult, real(problem_.results) * outer * runs);
  }

  /// Rows of lanes that are compared, of some groups at each position.
  void count_compared(double positions, double groups, double lanes) {
    const double bytes = lanes * size_;
    const bool is_short = bytes < real(machine_.vector_bytes);
    const double vector = is_short ? real(kSquareBytes) : real(machine_.vector_bytes);
    const double vectors = whole(bytes / vector);
    if (bytes >= real(tuning::kWideRowsBytes)) {
      to_.add(Cost::kWideVector, positions * groups * vectors);
    } else if (bytes < vector) {
      to_.add(Cost::kScalar, positions * groups * lanes);
    } else {
      // Less than four full vectors are taken one by one, or with those of three other groups.
      const double takes = bytes >= 4 * vector ? groups * whole(bytes / (4 * vector))
                           : groups >= 4       ? vectors * whole(groups / 4)
                                               : vectors * groups;
      to_.add(Cost::kTake, positions * takes);
      to_.add(is_short ? Cost::kShortVector : Cost::kVector, positions * groups * vectors);
    }
  }

  /// Counts jumps between runs of `bytes` that begin `apart` elements from each other.
  void count_jumps(double runs, double bytes, double apart, double in_turns) {
    dmlcpu::count_jumps(machine_, runs, bytes, apart * size_, in_turns, problem_.bytes, to_);
  }

  const ArgProblem& problem_;
  const double size_;  ///< of an element
  const Machine& machine_;
  To& to_;
};

}  // namespace

Counts count_costs(const ArgProblem& problem, const Candidate& candidate, const Machine& machine) {
  Counter counter;
  Costing<Counter>(problem, machine, counter).count(candidate);
  return counter.all;
}

float price(const ArgProblem& problem, const Candidate& candidate, const Machine& machine) {
  PriceSum sum = {machine, problem.element_size};
  Costing<PriceSum>(problem, machine, sum).count(candidate);
  return sum.all;
}

std::int64_t count_tasks(const ArgProblem& problem, const Candidate& candidate) {
  if (candidate.is_rows) return problem.results;
  const ColumnsEstimate columns = columns_of(problem, candidate, kCacheLine);
  const bool several = columns.lane_axes > 0;
  if (has_blocks(columns.packing) && !several) return problem.results;
  // A row of lanes is divided into tiles; but the lanes of a result stay together.
  const double in_row = real(columns.lanes) * (columns.is_dense ? columns.groups : 1);
  const double bytes = in_row * real(columns.apart * problem.element_size);
  // A tile in place, of the widest elements.
  const std::int64_t in_place_bytes = tuning::kTileElements * std::int64_t{sizeof(std::int64_t)};
  const bool in_place = columns.packing == Packing::kInPlace;
  const std::int64_t tile = in_place ? in_place_bytes : tuning::kHalfL1Bytes;
  const double tiles = several && !columns.is_dense ? 1 : whole(bytes / real(tile));
  const double tasks = columns.others * (columns.is_dense ? 1 : columns.groups) * tiles;
  return static_cast<std::int64_t>(std::clamp(tasks, 1.0, 1e9));
}

int axis_of_parts(const ArgProblem& problem, const Candidate& candidate) {
  Axes walked = problem.reduced;
  walked.count -= candidate.lanes.whole;
  return longest(walked, false);
}

float share_of_thread(const ArgProblem& problem, const Candidate& candidate, int threads) {
  const int axis = axis_of_parts(problem, candidate);
  const std::int64_t size = axis < 0 ? 1 : problem.reduced.axes[axis].size;
  const std::int64_t parts = std::max<std::int64_t>(size / tuning::kMinPartPositions, 1);
  const std::int64_t calls =
      std::min<std::int64_t>(count_tasks(problem, candidate), threads) * parts;
  return 1 / static_cast<float>(std::min<std::int64_t>(calls, threads));
}

std::string candidates_text(const ArgProblem& problem, const Machine& machine, int threads,
                            int number) {
  const Candidates candidates = enumerate(problem);
  const Candidate chosen = choose(problem, machine, number, threads);
  const Axis& row = problem.reduced.last();
  std::string all = candidates.count > 0 ? "candidates\n" : "";
  for (int c = 0; c < candidates.count; ++c) {
    const Candidate& candidate = candidates.all[c];
    all += candidate_text(
        candidate.is_rows
            ? text("rows, ", row.size, " by ", row.strides[0])
            : "columns " + to_text(columns_of(problem, candidate, machine.vector_bytes)),
        candidate == chosen, machine, problem.element_size,
        count_costs(problem, candidate, machine));
  }
  return all;
}

}  // namespace dmlcpu
