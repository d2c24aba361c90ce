#include "plan/top_k_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/tuning.hpp"
#include "core/validate.hpp"

namespace dmlcpu {
namespace {

constexpr std::int64_t kCounterBytes = sizeof(std::uint32_t);

/// The cheapest block length, a power of two.
std::int64_t block_length(std::int64_t length, std::int64_t k) {
  const double ideal = std::sqrt(static_cast<double>(tuning::kTopKBlockCostRatio) *
                                 static_cast<double>(length) / static_cast<double>(k));
  std::int64_t block = tuning::kTopKMinBlock;
  while (block < tuning::kTopKMaxBlock && static_cast<double>(2 * block) <= ideal) block *= 2;
  return block;
}

/// Chooses how many lines a task takes, and how it reads them.
void group_lines(std::int64_t element_size, TopKPlan& plan) {
  const std::int64_t line_bytes = plan.length * element_size;
  const std::int64_t line_stride = std::abs(plan.lines.strides[0]);
  const bool neighbours =
      plan.lines.size > 1 && line_stride > 0 && line_stride < std::abs(plan.input_stride);
  plan.packed = neighbours && line_bytes * tuning::kTopKGroupLines <= tuning::kTopKPackBytes;
  plan.stride = plan.packed ? 1 : plan.input_stride;
  // Enough groups for all threads, but neighbouring lines no fewer than fill a cache line.
  const std::int64_t lines = positions(plan.outer) * plan.lines.size;
  const std::int64_t share =
      std::max<std::int64_t>(lines / (plan.threads * tuning::kTasksPerThread), 1);
  const std::int64_t least = plan.packed ? 64 / element_size : 1;
  plan.group = std::min({tuning::kTopKGroupLines, std::max(share, least), plan.lines.size});
}

/// Tiles whose keys stay in L1, and slots beside them.
void choose_top_k_tiles(std::int64_t element_size, TopKColumnsPlan& plan) {
  ColumnsPlan& columns = plan.columns;
  const std::int64_t lane_bytes = top_k_lane_bytes(element_size);
  const std::int64_t line = 64 / lane_bytes;
  const auto whole = [line](std::int64_t lanes) {
    return std::max<std::int64_t>(lanes / line, 1) * line;
  };
  // Keys and positions of up to twice as many slots as are wanted.
  const std::int64_t most = whole(tuning::kTopKSlotBytes / (4 * plan.k * lane_bytes));
  if (columns.packing == Packing::kTransposed) {
    const std::int64_t rows = columns.block * positions(columns.blocks);
    columns.tile_lanes = std::min(whole(tuning::kTopKTileBytes / (rows * element_size)), most);
    columns.tile_lanes = std::min(columns.tile_lanes, whole(columns.lanes + line - 1));
    return;
  }
  // With few slots wide rows at a time, else all positions of few lanes.
  columns.tile_groups = 1;
  const bool at_once = plan.k > tuning::kTopKLongColumnsK;
  const std::int64_t fit = tuning::kTopKColumnsBytes / (columns.walk.n * element_size);
  columns.tile_lanes = std::min({columns.lanes, most, at_once ? whole(fit) : most});
  columns.pass = at_once ? columns.walk.period
                         : std::clamp(tuning::kTopKTileBytes / (columns.tile_lanes * element_size),
                                      std::int64_t{4}, columns.walk.period);
}

/// Divides groups, then lanes, among tasks.
void share_columns(int threads, TopKColumnsPlan& plan) {
  const ColumnsPlan& columns = plan.columns;
  plan.threads = threads;
  plan.task_groups = columns.groups.size;
  plan.task_lanes = columns.lanes;
  if (threads == 1) return;
  const std::int64_t wanted = threads * tuning::kTasksPerThread;
  std::int64_t tasks = positions(plan.kept);
  if (tasks < wanted && columns.packing != Packing::kTransposed) {
    plan.task_groups = std::max<std::int64_t>(columns.groups.size * tasks / wanted, 1);
    tasks *= ceil_divide(columns.groups.size, plan.task_groups);
  }
  if (tasks < wanted) {
    const std::int64_t tiles = ceil_divide(columns.lanes, columns.tile_lanes);
    plan.task_lanes = std::max<std::int64_t>(tiles * tasks / wanted, 1) * columns.tile_lanes;
  }
}

}  // namespace

TopKSample sample_for(std::int64_t length, std::int64_t k, std::int64_t count) {
  if (count == 0) return {};
  // The number of sampled elements among the k highest varies by its square root; four times that
  // is hardly ever exceeded.
  const double expected =
      std::ceil(static_cast<double>(k) * static_cast<double>(count) / static_cast<double>(length));
  const double margin = std::max(std::ceil(4 * std::sqrt(expected)), 2.0);
  return {count, std::min(static_cast<std::int64_t>(expected + margin), count)};
}

TopKSelection plan_selection(TopKStrategy strategy, std::int64_t element_size, std::int64_t length,
                             std::int64_t k) {
  TopKSelection selection;
  selection.strategy = strategy;
  switch (strategy) {
    case TopKStrategy::kDirect:
      selection.scratch_bytes = round_up(2 * length * top_k_item_bytes(element_size));
      if (top_k_sorts_by_digits(element_size, top_k_direct_sorted(length, k))) {
        selection.scratch_bytes += top_k_sort_counts(element_size) * kCounterBytes;
      }
      break;
    case TopKStrategy::kBlocks: {
      selection.block = block_length(length, k);
      const std::int64_t blocks = (length + selection.block - 1) / selection.block;
      selection.scratch_bytes =
          round_up(blocks * element_size) +
          round_up((k * selection.block + k + 1) * top_k_item_bytes(element_size)) +
          selection.block * element_size;
      break;
    }
    case TopKStrategy::kRadix: {
      selection.sort_all = k > length / 2;
      selection.room = tuning::top_k_radix_room(length, k, selection.sort_all);
      if (!selection.sort_all) {
        selection.sample = sample_for(length, k, tuning::top_k_sample(length));
      }
      selection.scratch_bytes =
          kTopKHistogramCounts * kCounterBytes +
          round_up(2 * (selection.room + 1) * top_k_item_bytes(element_size)) +
          selection.sample.count * element_size;
      break;
    }
  }
  return selection;
}

TopKSelection select_strategy(std::int64_t element_size, std::int64_t length, std::int64_t k) {
  const bool enough_blocks = k <= tuning::kTopKBlocksMaxK &&
                             length / block_length(length, k) >= tuning::kTopKBlocksPerResult * k;
  TopKStrategy strategy = TopKStrategy::kRadix;
  if (length > tuning::kTopKDirectLength && enough_blocks) {
    strategy = TopKStrategy::kBlocks;
  } else if (length <= tuning::kTopKHistogramLength) {
    strategy = TopKStrategy::kDirect;
  }
  return plan_selection(strategy, element_size, length, k);
}

std::optional<TopKColumnsPlan> plan_top_k_columns(const TopKDescriptor& descriptor, int threads) {
  const ConstTensor& input = descriptor.input;
  const auto element_size = static_cast<std::int64_t>(info(input.type).size);
  const int axis = search_axis(descriptor);
  const std::int64_t n = axis_size(input, axis);
  if (input.rank < 2 || descriptor.k > tuning::kTopKColumnsMaxK ||
      n > top_k_column_positions(element_size)) {
    return std::nullopt;
  }
  TopKColumnsPlan plan;
  plan.k = descriptor.k;
  plan.value_stride = descriptor.values.strides[axis];
  plan.index_stride = descriptor.indices.strides[axis];
  for (int d = 0; d < input.rank; ++d) {
    if (d == axis) continue;
    Axis kept{input.sizes[d],
              {input.strides[d], descriptor.values.strides[d], descriptor.indices.strides[d]}};
    if (kept.strides[0] < 0) {
      for (int s = 0; s < 3; ++s) {
        plan.offsets[s] += kept.strides[s] * (kept.size - 1);
        kept.strides[s] = -kept.strides[s];
      }
    }
    plan.kept.push(kept);
  }
  simplify(plan.kept);
  Axes reduced;
  if (n > 1) reduced.push({n, {input.strides[axis], 1, 0}});
  plan.columns = plan_columns(element_size, false, plan.kept, reduced);
  const ColumnsPlan& columns = plan.columns;
  const bool rows = std::abs(input.strides[axis]) < std::abs(columns.lane_stride);
  if (columns.lanes < tuning::kTopKMinLanes) return std::nullopt;
  if (rows && columns.packing != Packing::kTransposed) return std::nullopt;
  if (n > tuning::kTopKShortColumn && (rows || descriptor.k > tuning::kTopKLongColumnsK)) {
    return std::nullopt;
  }
  choose_top_k_tiles(element_size, plan);
  share_columns(threads, plan);
  return plan;
}

TopKPlan plan_top_k(const TopKDescriptor& descriptor, int threads) {
  const ConstTensor& input = descriptor.input;
  const auto element_size = static_cast<std::int64_t>(info(input.type).size);
  const int axis = search_axis(descriptor);
  TopKPlan plan;
  plan.k = descriptor.k;
  plan.length = axis_size(input, axis);
  if (input.rank > 0) {
    plan.input_stride = input.strides[axis];
    plan.value_stride = descriptor.values.strides[axis];
    plan.index_stride = descriptor.indices.strides[axis];
  }
  for (int d = 0; d < input.rank; ++d) {
    if (d == axis) continue;
    plan.outer.push(
        {input.sizes[d],
         {input.strides[d], descriptor.values.strides[d], descriptor.indices.strides[d]}});
  }
  simplify(plan.outer);
  if (plan.outer.count > 0) plan.lines = plan.outer.pop();

  plan.threads = threads;
  const std::int64_t line_bytes = plan.length * element_size;
  const std::int64_t lines = positions(plan.outer) * plan.lines.size;
  plan.buckets = 2 * plan.k > plan.length && plan.length >= tuning::kTopKBucketsLength &&
                 plan.length <= tuning::kTopKMaxPiece;
  if (lines < threads && !plan.buckets) {
    plan.pieces =
        std::min<std::int64_t>(threads, line_bytes / tuning::top_k_min_piece_bytes(plan.k));
  }
  const std::int64_t needed = (plan.length + tuning::kTopKMaxPiece - 1) / tuning::kTopKMaxPiece;
  plan.pieces = std::max({plan.pieces, needed, std::int64_t{1}});
  plan.selection =
      select_strategy(element_size, plan.longest_piece(), std::min(plan.k, plan.longest_piece()));
  if (plan.pieces > 1 && plan.selection.sample.count > 0) {
    const std::int64_t of_each = tuning::top_k_sample(plan.length) / plan.pieces;
    plan.sample = sample_for(plan.length, plan.k, of_each * plan.pieces);
  }
  group_lines(element_size, plan);
  return plan;
}

std::string to_text(const TopKColumnsPlan& plan) {
  return "slots of " + std::to_string(plan.k) + "\n" + to_text(plan.columns);
}

std::string to_text(const TopKPlan& plan) {
  static const char* const names[] = {"direct", "blocks", "radix"};
  std::string text = plan.buckets ? "buckets" : names[static_cast<int>(plan.selection.strategy)];
  text += " of " + std::to_string(plan.k) + " from " + std::to_string(plan.length) + " by " +
          std::to_string(plan.stride) + (plan.packed ? ", packed" : "") + "\n";
  text += "lines " + std::to_string(positions(plan.outer)) + " x " +
          std::to_string(plan.lines.size) + " in groups of " + std::to_string(plan.group) + "\n";
  text += "pieces " + std::to_string(plan.pieces) + ", blocks of " +
          std::to_string(plan.selection.block) + "\n";
  return text;
}

}  // namespace dmlcpu
