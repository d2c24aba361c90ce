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

/// Columns of a candidate; rows are compared in registers where they fill a vector.
ColumnsEstimate estimate_of(const ArgProblem& problem, const Candidate& candidate,
                            std::int64_t vector_bytes) {
  return {{problem.element_size, problem.results, problem.kept, problem.reduced},
          candidate.lanes,
          vector_bytes};
}

/// Adds what candidates of a problem pay to a bill.
class Costing {
 public:
  Costing(const ArgProblem& problem, Bill& bill)
      : problem_(problem), size_(real(problem.element_size)), bill_(bill) {}

  /// Rows one by one, a call for each position of the other reduced axes.
  void add_rows() {
    const Axis& row = problem_.reduced.last();
    const Axis& kept = problem_.kept.last();
    const std::int64_t apart = stride_of(row);
    const double rows = real(problem_.results * iteration_count(problem_.reduced)) / real(row.size);
    const double bytes = real(row.size) * size_;
    bill_.add(Cost::kCall, rows / real(kept.size));
    const double vectors = whole(bytes / vector_bytes());
    bill_.add(vectors > 4 ? Cost::kLongRow : Cost::kRow, rows);
    if (apart > 1) {
      const Cost cost = apart > tuning::kPackedStride ? Cost::kRowApart : Cost::kRowStrided;
      bill_.add(Cost::kPackedRow, rows);
      bill_.add(cost, rows * real(row.size));
    } else {
      bill_.add(row.strides[0] < 0 ? Cost::kRowBackward : Cost::kRowVector, rows * vectors);
    }
    // Elements that have a cache line each, with those of the next rows; or rows.
    const double next = std::min(real(stride_of(kept)) * size_, real(kCacheLine));
    if (real(apart) * size_ > real(kCacheLine)) {
      add_jumps(rows * real(row.size), next, real(apart), real(row.size));
    } else {
      add_jumps(rows, bytes * real(apart), real(stride_of(kept)), real(kept.size));
    }
  }

  void add_columns(const ColumnsEstimate& columns) {
    columns.packing == Packing::kRegisters ? add_squares(columns) : add_tiles(columns);
  }

 private:
  double vector_bytes() const { return real(bill_.machine.vector_bytes); }

  void add_squares(const ColumnsEstimate& columns) {
    const double lanes = columns.others * real(columns.lanes);
    const double row_bytes = columns.positions * size_;
    const double of_squares = whole(row_bytes / real(kSquareBytes)) * real(kSquareBytes);
    const double vector_lanes = vector_bytes() / size_;
    bill_.add(Cost::kCall, 1);
    bill_.add(Cost::kTile, columns.others);
    bill_.add(Cost::kSquare, columns.others * whole(real(columns.lanes) / vector_lanes) *
                                 vector_lanes * of_squares / size_);
    add_jumps(lanes, row_bytes, real(columns.apart), real(columns.lanes));
    add_written(columns);
  }

  void add_tiles(const ColumnsEstimate& columns) {
    const bool strided = columns.packing == Packing::kStrided;
    const bool blocks = has_blocks(columns.packing);
    const double calls = columns.calls();
    const double tiles = columns.tiles();
    const double positions = tiles * columns.in_call;
    const double in_tile = columns.tile_lanes * columns.tile_groups;
    bill_.add(Cost::kCall, calls);
    bill_.add(Cost::kTile, tiles);
    if (blocks) {
      const double all = positions * columns.tile_lanes / columns.in_block;
      bill_.add_transposed(all, columns.block, columns.tile_lanes);
      add_jumps(all, columns.block * size_, real(columns.apart), real(columns.lanes));
    } else {
      if (strided) {
        const bool far = columns.apart > tuning::kPackedStride;
        bill_.add(far ? Cost::kStridedApart : Cost::kStrided, positions * in_tile);
      }
      const double runs = columns.is_dense ? 1 : columns.tile_groups;
      add_jumps(positions * runs, in_tile / runs * real(columns.apart) * size_,
                columns.position_apart, columns.in_call * runs);
    }
    // Groups that follow each other, at the latest when they were packed, are a row.
    const bool is_row = strided || (blocks ? columns.group_apart == 1 : columns.is_dense);
    const double groups = is_row ? 1 : columns.tile_groups;
    add_compared(positions, groups, is_row ? in_tile : columns.tile_lanes);
    add_merged(columns);
    add_written(columns);
  }

  /// Rows of lanes that are compared, of some groups at each position.
  void add_compared(double positions, double groups, double lanes) {
    const double bytes = lanes * size_;
    const bool is_short = bytes < vector_bytes();
    const double vector = is_short ? real(kSquareBytes) : vector_bytes();
    const double vectors = whole(bytes / vector);
    if (bytes >= real(tuning::kWideRowsBytes)) {
      bill_.add(Cost::kWideVector, positions * groups * vectors);
    } else if (bytes < vector) {
      bill_.add(Cost::kScalar, positions * groups * lanes);
    } else {
      // Less than four full vectors are taken one by one, or with those of three other groups.
      const double takes = bytes >= 4 * vector ? groups * whole(bytes / (4 * vector))
                           : groups >= 4       ? vectors * whole(groups / 4)
                                               : vectors * groups;
      bill_.add(Cost::kTake, positions * takes);
      bill_.add(is_short ? Cost::kShortVector : Cost::kVector, positions * groups * vectors);
    }
  }

  /// The lanes of each result after each run, and results after each run but the first.
  void add_merged(const ColumnsEstimate& columns) {
    const double calls = columns.calls();
    const double runs = whole(columns.in_call / real(arg_run_positions(problem_.element_size)));
    if (columns.lane_axes > 0) {
      bill_.add(Cost::kRank, real(columns.lanes * columns.lane_axes));
      // Pairs of lanes at a time. The groups of single results are merged together.
      const bool single = columns.results == 1;
      const double merged_groups = calls * runs * columns.groups;
      std::int64_t rounds = 0;
      while (columns.results << rounds < columns.lanes) ++rounds;
      bill_.add(Cost::kMerge, (single ? runs * columns.tiles() : merged_groups) * real(rounds));
      bill_.add(Cost::kMergedLane, merged_groups * real(columns.lanes));
      if (single) bill_.add(Cost::kMergedGroup, merged_groups);
    }
    const double outer = columns.positions / columns.in_call;
    if (outer * runs > 1) bill_.add(Cost::kMergedResult, real(problem_.results) * outer * runs);
  }

  /// A vector of results can be stored at once only where they are side by side in the output.
  void add_written(const ColumnsEstimate& columns) {
    if (columns.results > 1 && columns.output_stride != 1) {
      bill_.add(Cost::kWrittenApart, real(problem_.results));
    }
  }

  /// Adds the jumps between runs of `bytes` that begin `distance` elements from each other.
  void add_jumps(double runs, double bytes, double distance, double in_turns) {
    bill_.add_jumps(runs, bytes, distance * size_, in_turns, problem_.bytes);
  }

  const ArgProblem& problem_;
  const double size_;  ///< of an element
  Bill& bill_;
};

std::int64_t count_tasks(const ArgProblem& problem, const ColumnsEstimate& columns) {
  const bool several = columns.lane_axes > 0;
  if (has_blocks(columns.packing) && !several) {
    // A task has at least kLeastTileBytes of the packed lanes.
    const std::int64_t least = tuning::kLeastTileBytes / problem.element_size;
    const double shares = whole(real(columns.lanes) / std::min(columns.tile_lanes, real(least)));
    return static_cast<std::int64_t>(columns.others * shares);
  }
  // A row of lanes is divided into tiles; but the lanes of a result stay together.
  const double in_row = real(columns.lanes) * (columns.is_dense ? columns.groups : 1);
  const double bytes = in_row * real(columns.apart * problem.element_size);
  // A tile in place, of the widest elements.
  const std::int64_t in_place_bytes = tuning::kTileElements * std::int64_t{sizeof(std::int64_t)};
  const bool in_place = columns.packing == Packing::kInPlace;
  const double tile = real(in_place ? in_place_bytes : tuning::kHalfL1Bytes);
  // As above, a task has at least kLeastTileBytes.
  const double packed = in_row * real(problem.element_size) / real(tuning::kLeastTileBytes);
  const double tiles = several && !columns.is_dense ? 1 : whole(std::min(bytes / tile, packed));
  const bool together = columns.is_dense || has_blocks(columns.packing);
  const double tasks = columns.others * (together ? 1 : columns.groups) * tiles;
  return static_cast<std::int64_t>(std::clamp(tasks, 1.0, 1e9));
}

/// How many of `threads` threads can share a candidate that has `tasks` tasks, each of them in
/// parts.
int usable_threads(const ArgProblem& problem, const Candidate& candidate, std::int64_t tasks,
                   int threads) {
  const int axis = axis_of_parts(problem, candidate);
  const std::int64_t size = axis < 0 ? 1 : problem.reduced.axes[axis].size;
  const std::int64_t parts = std::max<std::int64_t>(size / tuning::kMinPartPositions, 1);
  const std::int64_t calls = std::min<std::int64_t>(tasks, threads) * parts;
  return static_cast<int>(std::min<std::int64_t>(calls, threads));
}

}  // namespace

Price price(const ArgProblem& problem, const Candidate& candidate, const Machine& machine,
            int threads, Counts* counts) {
  Bill bill = {machine, problem.element_size, counts};
  Costing costing(problem, bill);
  std::int64_t tasks = problem.results;
  if (candidate.is_rows) {
    costing.add_rows();
  } else {
    const ColumnsEstimate columns = estimate_of(problem, candidate, machine.vector_bytes);
    costing.add_columns(columns);
    if (threads > 1) tasks = count_tasks(problem, columns);
  }
  const int usable = threads > 1 ? usable_threads(problem, candidate, tasks, threads) : 1;
  return {bill.price / static_cast<float>(usable), usable};
}

std::int64_t count_tasks(const ArgProblem& problem, const Candidate& candidate) {
  if (candidate.is_rows) return problem.results;
  // The size of vectors does not matter: rows in registers have as many tasks as transposed ones.
  return count_tasks(problem, estimate_of(problem, candidate, kSquareBytes));
}

int axis_of_parts(const ArgProblem& problem, const Candidate& candidate) {
  Axes walked = problem.reduced;
  walked.count -= candidate.lanes.whole;
  return longest(walked, false);
}

std::string candidates_text(const ArgProblem& problem, const Machine& machine, int threads,
                            int number) {
  const std::vector<Candidate> candidates = enumerate(problem);
  const Candidate chosen = choose(problem, machine, number, threads);
  const Axis& row = problem.reduced.last();
  std::string all = candidates.empty() ? "" : "candidates\n";
  for (const Candidate& candidate : candidates) {
    Counts counts{};
    const Price of_candidate = price(problem, candidate, machine, threads, &counts);
    all += candidate_text(
        candidate.is_rows
            ? text("rows, ", row.size, " by ", row.strides[0])
            : "columns " + to_text(estimate_of(problem, candidate, machine.vector_bytes)),
        candidate == chosen, of_candidate, counts);
  }
  return all;
}

}  // namespace dmlcpu
