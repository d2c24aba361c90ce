// argmin and argmax: validate, plan, run.
#include "ops/arg.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/scratch.hpp"
#include "core/tuning.hpp"
#include "core/validate.hpp"
#include "kernels/dispatch.hpp"
#include "ops/index_output.hpp"
#include "ops/ranking.hpp"
#include "plan/arg_plan.hpp"

namespace dmlcpu {
namespace {

/// The best so far of a tile's lines.
struct Best {
  std::int64_t* ranks;
  std::int64_t* indices;

  void reset(std::int64_t lines) const {
    for (std::int64_t l = 0; l < lines; ++l) {
      ranks[l] = std::numeric_limits<std::int64_t>::min();
      indices[l] = std::numeric_limits<std::int64_t>::max();
    }
  }
  void merge(std::int64_t line, std::int64_t rank, std::int64_t index) const {
    if (rank > ranks[line] || (rank == ranks[line] && index < indices[line])) {
      ranks[line] = rank;
      indices[line] = index;
    }
  }
};

ArgKernel kernel_of(const ArgDescriptor& descriptor, ArgStrategy strategy) {
  const Ranking order = ranking(descriptor.largest, descriptor.nan_policy == NanPolicy::kPropagate);
  return kernels().arg->kernels[static_cast<int>(descriptor.input.type)][static_cast<int>(order)]
                               [static_cast<int>(strategy)];
}

/// Inputs of so many bytes are asked for before they are needed.
std::int64_t prefetch_least_bytes(ArgStrategy strategy) {
  return strategy == ArgStrategy::kRows ? tuning::kRowPrefetchLeastBytes
                                        : tuning::kSweepPrefetchBytes;
}

class ArgRun {
 public:
  ArgRun(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input, void* output)
      : plan_(plan),
        tiles_(plan.tiles()),
        element_size_(static_cast<std::int64_t>(info(descriptor.input.type).size)),
        best_bytes_(round_up(plan.tile * kIndexBytes)),
        kernel_bytes_(round_up(arg_scratch_bytes(plan, element_size_))),
        prefetches_(element_count(descriptor.input) * element_size_ >=
                    prefetch_least_bytes(plan.strategy)),
        input_(static_cast<const char*>(input) + plan.input_offset * element_size_),
        output_(descriptor.output.type, output, plan.output_offset),
        kernel_(kernel_of(descriptor, plan.strategy)) {}

  void run() const {
    if (plan_.parts > 1) {
      run_in_parts();
      return;
    }
    const std::int64_t cells = plan_.cells();
    const std::int64_t tasks =
        plan_.threads == 1 ? 1
                           : std::min<std::int64_t>(cells, plan_.threads * tuning::kTasksPerThread);
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, tasks));
    const std::int64_t worker_bytes = 2 * best_bytes_ + kernel_bytes_;
    const Scratch scratch(threads * worker_bytes);
    parallel_for(threads, tasks, [&](std::int64_t task, int worker) {
      char* const mine = scratch.at(worker * worker_bytes);
      const Best best = best_at(mine);
      // The one element of each result need not be read.
      const bool single = plan_.reduced_count == 1;
      if (single) std::fill_n(best.indices, plan_.tile, 0);
      const std::int64_t last = start_of_part(cells, task + 1, tasks);
      for (std::int64_t c = start_of_part(cells, task, tasks); c < last; ++c) {
        const Cell cell = cell_at(c);
        if (!single) run_part(cell, 0, best, mine + 2 * best_bytes_);
        finish(cell, best);
      }
    });
  }

 private:
  static constexpr std::int64_t kIndexBytes = sizeof(std::int64_t);

  /// A tile's bests in 2 * best_bytes_ of scratch memory.
  Best best_at(char* memory) const {
    return {reinterpret_cast<std::int64_t*>(memory),
            reinterpret_cast<std::int64_t*>(memory + best_bytes_)};
  }

  std::int64_t lines_of(std::int64_t tile) const {
    return std::min(plan_.tile, plan_.lines.size - tile * plan_.tile);
  }

  /// A cell's position of the kept axes and its tile.
  struct Cell {
    Offsets kept;
    std::int64_t tile;
  };
  Cell cell_at(std::int64_t cell) const {
    if (plan_.lines_reduced || tiles_ == 1) return {Odometer(plan_.kept, cell).offsets(), 0};
    return {Odometer(plan_.kept, cell / tiles_).offsets(), cell % tiles_};
  }

  /// Cells are too few for the threads: each is run in parts whose bests are merged.
  void run_in_parts() const {
    const std::int64_t cells = plan_.cells();
    const std::int64_t tasks = cells * plan_.parts;
    const int threads = static_cast<int>(std::min<std::int64_t>(plan_.threads, tasks));
    const std::int64_t bests_bytes = tasks * 2 * best_bytes_;
    const Scratch scratch(bests_bytes + threads * kernel_bytes_);
    const auto best_of = [&](std::int64_t cell, std::int64_t part) {
      return best_at(scratch.at((cell * plan_.parts + part) * 2 * best_bytes_));
    };
    parallel_for(threads, tasks, [&](std::int64_t task, int worker) {
      const std::int64_t cell = task / plan_.parts;
      const std::int64_t part = task % plan_.parts;
      run_part(cell_at(cell), part, best_of(cell, part),
               scratch.at(bests_bytes + worker * kernel_bytes_));
    });
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const Cell place = cell_at(cell);
      const std::int64_t lines = plan_.lines_reduced ? plan_.tile : lines_of(place.tile);
      const Best best = best_of(cell, 0);
      for (std::int64_t part = 1; part < plan_.parts; ++part) {
        const Best other = best_of(cell, part);
        for (std::int64_t l = 0; l < lines; ++l) best.merge(l, other.ranks[l], other.indices[l]);
      }
      finish(place, best);
    }
  }

  void run_part(const Cell& cell, std::int64_t part, const Best& best, char* kernel_scratch) const {
    const bool cut_length = plan_.parts_of_length && plan_.parts > 1;
    const std::int64_t unit_tiles = plan_.lines_reduced ? tiles_ : 1;
    const std::int64_t units = positions(plan_.reduced) * unit_tiles;
    const std::int64_t first_unit = cut_length ? 0 : start_of_part(units, part, plan_.parts);
    const std::int64_t last_unit = cut_length ? units : start_of_part(units, part + 1, plan_.parts);
    const std::int64_t length = plan_.length.size;
    const std::int64_t first = cut_length ? start_of_part(length, part, plan_.parts) : 0;
    const std::int64_t last = cut_length ? start_of_part(length, part + 1, plan_.parts) : length;
    const bool has_tail = plan_.fold.tail > 0 && (!cut_length || part == plan_.parts - 1);

    // The first panel starts the bests, unless later ones have more lines.
    bool starts = unit_tiles == 1 && last > first;
    if (!starts) best.reset(plan_.tile);
    // Then finish() has nothing to compare either.
    const bool only =
        starts && units == 1 && plan_.parts == 1 && plan_.fold.folds == 1 && !plan_.lines_reduced;
    Odometer reduced(plan_.reduced, unit_tiles == 1 ? first_unit : first_unit / unit_tiles);
    for (std::int64_t unit = first_unit; unit < last_unit; ++unit) {
      const std::int64_t tile = plan_.lines_reduced ? unit % unit_tiles : cell.tile;
      const std::int64_t line = tile * plan_.tile;
      const std::int64_t origin = cell.kept[0] + reduced.offsets()[0];
      const std::int64_t index =
          reduced.offsets()[1] + (plan_.lines_reduced ? line * plan_.lines.strides[1] : 0);
      ArgPanel panel{};
      panel.data = at(origin + line * plan_.lines.strides[0] + first * plan_.length.strides[0]);
      panel.length = last - first;
      panel.length_stride = plan_.length.strides[0];
      panel.lines = lines_of(tile);
      panel.line_stride = plan_.lines.strides[0];
      panel.index_base = index + first * plan_.length.strides[1];
      panel.index_step = plan_.length.strides[1];
      panel.starts = std::exchange(starts, false);
      panel.only = only;
      panel.prefetches = prefetches_;
      panel.transposes = plan_.transposes;
      panel.scratch = kernel_scratch;
      if (panel.length > 0) kernel_(panel, best.ranks, best.indices);
      if (has_tail) {
        panel.data = at(origin + plan_.fold.tail_offset);
        panel.length = plan_.fold.tail;
        panel.length_stride = plan_.fold.tail_stride;
        panel.lines = plan_.lines.size / plan_.fold.folds;
        panel.index_base = index + plan_.fold.tail_index;
        panel.index_step = plan_.fold.tail_index_step;
        panel.starts = false;
        panel.transposes = false;
        kernel_(panel, best.ranks, best.indices);
      }
      if (tile == unit_tiles - 1 || !plan_.lines_reduced) reduced.next();
    }
  }

  /// Merges the lines that belong to one result and writes the cell's results.
  void finish(const Cell& cell, const Best& best) const {
    std::int64_t results = plan_.lines_reduced ? plan_.tile : lines_of(cell.tile);
    if (plan_.lines_reduced) {
      for (std::int64_t l = 1; l < results; ++l) {
        // A line that no element was merged into still has the highest index.
        if (best.indices[l] == std::numeric_limits<std::int64_t>::max()) continue;
        best.merge(0, best.ranks[l], best.indices[l] + l * plan_.lines.strides[1]);
      }
      results = 1;
    } else if (plan_.fold.folds > 1) {
      results /= plan_.fold.folds;
      for (std::int64_t l = 0; l < results; ++l) best.indices[l] += plan_.fold.base;
      for (std::int64_t group = 1; group < plan_.fold.folds; ++group) {
        for (std::int64_t l = 0; l < results; ++l) {
          best.merge(l, best.ranks[group * results + l],
                     best.indices[group * results + l] + plan_.fold.base + group * plan_.fold.step);
        }
      }
    }
    if (plan_.from_end) {
      for (std::int64_t l = 0; l < results; ++l) {
        best.indices[l] = plan_.reduced_count - 1 - best.indices[l];
      }
    }
    const std::int64_t stride = plan_.lines_reduced ? 0 : plan_.lines.strides[1];
    output_.write(cell.kept[1] + cell.tile * plan_.tile * stride, stride, best.indices, results);
  }

  const void* at(std::int64_t offset) const { return input_ + offset * element_size_; }

  const ArgPlan& plan_;
  std::int64_t tiles_;
  std::int64_t element_size_;
  std::int64_t best_bytes_;
  std::int64_t kernel_bytes_;
  bool prefetches_;
  const char* input_;
  IndexOutput output_;
  ArgKernel kernel_;
};

int threads_for_arg(std::int64_t bytes) {
  return threads_for_bytes(bytes, tuning::kArgLeastGrains);
}

/// The elements of a packed tensor all of whose axes are reduced, 0 for others.
std::int64_t elements_of_row(const ArgDescriptor& descriptor) {
  const ConstTensor& input = descriptor.input;
  if (!descriptor.axes.all && reduced_axes(descriptor) != (1U << input.rank) - 1) return 0;
  std::int64_t count = 1;
  for (int d = input.rank - 1; d >= 0; --d) {
    if (input.sizes[d] > 1 && input.strides[d] != count) return 0;
    count *= input.sizes[d];
  }
  return count;
}

/// A small call's most common case, in which making a plan takes longer than following it: one row
/// for one thread. False for any other.
bool run_as_row(const ArgDescriptor& descriptor) {
  const std::int64_t count = elements_of_row(descriptor);
  const auto size = static_cast<std::int64_t>(info(descriptor.input.type).size);
  if (count == 0 || threads_for_arg(count * size) > 1) return false;
  const bool from_end = descriptor.axis_direction == AxisDirection::kDecreasing;
  ArgPanel panel{};
  panel.data = static_cast<const char*>(descriptor.input.data) + (from_end ? count - 1 : 0) * size;
  panel.length = count;
  panel.length_stride = from_end ? -1 : 1;
  panel.lines = 1;
  panel.index_step = 1;
  panel.starts = true;
  panel.prefetches = count * size >= prefetch_least_bytes(ArgStrategy::kRows);
  std::int64_t rank = 0;
  std::int64_t index = 0;
  kernel_of(descriptor, ArgStrategy::kRows)(panel, &rank, &index);
  if (from_end) index = count - 1 - index;
  IndexOutput(descriptor.output.type, descriptor.output.data, 0).write(0, 0, &index, 1);
  return true;
}

}  // namespace

ArgPlan plan(const ArgDescriptor& descriptor) {
  if (element_count(descriptor.output) == 0) return {};
  const std::int64_t bytes =
      element_count(descriptor.input) * static_cast<std::int64_t>(info(descriptor.input.type).size);
  return plan_arg(descriptor, threads_for_arg(bytes));
}

void run_planned(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input,
                 void* output) {
  if (element_count(descriptor.output) == 0) return;
  ArgRun(descriptor, plan, input, output).run();
}

void run(const ArgDescriptor& descriptor) {
  validate(descriptor);
  if (run_as_row(descriptor)) return;
  run_planned(descriptor, plan(descriptor), descriptor.input.data, descriptor.output.data);
}

}  // namespace dmlcpu
