#include "plan/columns_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/tuning.hpp"

namespace dmlcpu {
namespace {

/// A cache line, and the vector of any instruction set.
constexpr std::int64_t kLineBytes = 64;

std::int64_t stride_of(const Axis& axis) { return std::abs(axis.strides[0]); }

/// The position of the kept axis that fills vectors best: the innermost one that does, which reads
/// each cache line at once, else the longest.
int best_lanes(std::int64_t element_size, const Axes& kept) {
  for (int d = kept.count - 1; d >= 0; --d) {
    if (kept.axes[d].strides[0] != 0 && kept.axes[d].size * element_size >= kLineBytes) return d;
  }
  return longest(kept, true);
}

/// The lanes are `count` of the positions of `axis`, which is walked on in steps of as many.
void widen(Axis& axis, std::int64_t count, ColumnsPlan& plan) {
  plan.widened_step = axis.strides[1];
  plan.per_result = count;
  plan.lanes = count;
  plan.lane_stride = axis.strides[0];
  plan.left = axis.size % count != 0;
  plan.left_offset = (axis.size - count) * axis.strides[0];
  plan.left_index = (axis.size - count) * axis.strides[1];
  axis.size /= count;
  axis.strides[0] *= count;
  axis.strides[1] *= count;
}

/// Positions of narrow groups whose rows follow each other in memory without a gap, in either
/// direction: all elements of some positions are lanes.
void widen_without_gap(Axis& axis, std::int64_t count, Tasks& tasks, ColumnsPlan& plan) {
  tasks.results = tasks.groups;
  tasks.groups = kUnitAxis;
  const bool backwards = axis.strides[0] < 0;
  const std::int64_t stride = axis.strides[0];
  const std::int64_t step = axis.strides[1];
  widen(axis, count, plan);
  plan.lanes = count * tasks.results.size;
  plan.lane_stride = 1;
  if (backwards) {
    // Lanes ascend in memory, so their indices descend.
    plan.input_offset = (count - 1) * stride;
    plan.index_base = (count - 1) * step;
    plan.widened_step = -step;
  }
}

/// Whether a lane's elements of one period, of all groups, are blocks that are worth transposing
/// whole, each from one run of memory. Sets the third stride of the walk's axes and of the groups:
/// the row of the transposed blocks.
bool make_blocks(std::int64_t element_size, const Axis& groups, ColumnsPlan& plan, Walk& walk) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t elements = 1;
  const auto is_inside = [&](const Axis& axis) {
    return std::abs(axis.strides[0]) < std::abs(plan.lane_stride);
  };
  const auto reach = [&](const Axis& axis) {
    (axis.strides[0] < 0 ? first : last) += (axis.size - 1) * axis.strides[0];
    elements *= axis.size;
  };
  plan.blocks = Axes();
  for (int d = 0; d < walk.axes.count; ++d) {
    if (is_inside(walk.axes.axes[d])) reach(walk.axes.axes[d]);
  }
  if (elements == 1) return false;
  reach(groups);
  plan.block = last - first + 1;
  plan.block_first = first;
  std::int64_t rows = plan.block;
  for (int d = walk.axes.count - 1; d >= 0; --d) {
    Axis& axis = walk.axes.axes[d];
    axis.strides[2] = axis.strides[0];
    if (is_inside(axis)) continue;
    axis.strides[2] = rows;
    rows *= axis.size;
    plan.blocks.push(axis);
  }
  std::reverse(plan.blocks.axes.begin(), plan.blocks.axes.begin() + plan.blocks.count);
  // Gaps are read as well: less than a page, they are in pages that can be read.
  const std::int64_t gaps = plan.block - elements;
  return gaps <= elements && gaps * element_size < kPageBytes && rows <= tuning::kBlockElements;
}

/// Positions that are lanes beside each other.
std::int64_t widened_count(std::int64_t element_size, const Axis& lanes) {
  return ceil_divide(tuning::kWidenedBytes, lanes.size * element_size);
}

/// Chooses lanes, and groups beside them.
void choose_lanes(std::int64_t element_size, bool widens, std::int64_t least_lanes, Tasks& tasks,
                  Axes& reduced, ColumnsPlan& plan) {
  Axes& kept = tasks.kept;
  const auto bytes = [element_size](const Axis& axis) { return axis.size * element_size; };
  const bool has_inner = kept.count > 0 && kept.axes[kept.count - 1].strides[0] != 0;
  const bool reduced_inner =
      reduced.count > 0 && (!has_inner || stride_of(reduced.axes[reduced.count - 1]) <
                                              stride_of(kept.axes[kept.count - 1]));
  const auto use = [&](const Axis& axis) {
    tasks.results = axis;
    plan.lanes = axis.size;
    plan.lane_stride = axis.strides[0];
  };
  const auto widens_without_gap = [&](const Axis& lanes, std::int64_t least) {
    if (!widens || reduced.count == 0 || lanes.strides[0] != 1) return false;
    const Axis& inner = reduced.axes[reduced.count - 1];
    return stride_of(inner) == lanes.size && inner.size >= least &&
           inner.size >= 2 * widened_count(element_size, lanes);
  };
  if (has_inner && !reduced_inner) {
    tasks.groups = kept.pop();
    const std::int64_t inner_bytes = bytes(tasks.groups);
    // Whole vectors, but so few that each waits for its own latency.
    const bool waits = inner_bytes < tuning::kWidenedBytes &&
                       widens_without_gap(tasks.groups, tuning::kWidenedLeastBytes / element_size);
    const bool fills = inner_bytes >= tuning::kLaneBytes && tasks.groups.size >= least_lanes;
    if (fills && !waits) {
      use(tasks.groups);
      tasks.groups = kept.count > 0 ? kept.pop() : kUnitAxis;
      return;
    }
  }
  const int outer = best_lanes(element_size, kept);
  const std::int64_t outer_bytes = outer < 0 ? 0 : bytes(kept.axes[outer]);
  if (widens && reduced.count > 0) {
    // Too few columns to fill vectors, or too many elements of each: positions are lanes as well.
    const bool many = outer_bytes >= kLineBytes;
    if (tasks.groups.size > 1 &&
        widens_without_gap(tasks.groups,
                           many ? tuning::kBlockElements / tasks.groups.size + 1 : 0)) {
      widen_without_gap(reduced.axes[reduced.count - 1], widened_count(element_size, tasks.groups),
                        tasks, plan);
      if (kept.count > 0) tasks.groups = kept.pop();
      return;
    }
    const int longest_reduced = longest(reduced, true);
    Axis& lanes = reduced.axes[longest_reduced];
    const std::int64_t part = tuning::kWidenedBytes / element_size;
    if (outer_bytes < kLineBytes && bytes(lanes) >= kLineBytes &&
        (reduced.count > 1 || lanes.size >= 2 * part)) {
      if (reduced.count == 1) {
        widen(lanes, part, plan);
      } else {
        Axis taken = reduced.take(longest_reduced);
        widen(taken, taken.size, plan);
      }
      return;
    }
  }
  if (outer >= 0) {
    use(kept.take(outer));
  } else {
    use(tasks.groups);
    tasks.groups = kUnitAxis;
  }
}

/// Chooses how the lanes are packed, and takes the walked axes out of the reduced ones.
void choose_packing(std::int64_t element_size, const Axis& groups, Axes& reduced,
                    ColumnsPlan& plan) {
  constexpr std::int64_t kRows = tuning::kWalkRows;
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const auto walk = [&](std::int64_t limit, std::int64_t stride_limit) {
    // The left positions are about the widened axis alone.
    if (!plan.left) return Walk(reduced, limit, stride_limit, false);
    Axes widened;
    widened.push(reduced.pop());
    return Walk(widened, limit, stride_limit, false);
  };
  if (plan.lane_stride == 1) {
    plan.walk = walk(kRows, kAny);
    return;
  }
  // All axes in the order of their indices, or at least those of one block.
  for (const std::int64_t stride_limit : {kAny, std::abs(plan.lane_stride)}) {
    Axes others = reduced;
    Walk blocks(others, tuning::kBlockElements / groups.size, stride_limit, true);
    if (plan.left || !make_blocks(element_size, groups, plan, blocks)) continue;
    plan.packing = Packing::kTransposed;
    plan.walk = blocks;
    reduced = others;
    return;
  }
  plan.packing = Packing::kStrided;
  plan.walk = walk(kRows, kAny);
}

/// Tiles, whose best elements and positions, and packed elements, stay in L1.
void choose_tiles(std::int64_t element_size, const Axis& groups, ColumnsPlan& plan) {
  const std::int64_t line = kLineBytes / element_size;
  const std::int64_t most = std::min(tuning::kTileElements, tuning::kTileBytes / element_size);
  const std::int64_t lanes = plan.lanes;
  plan.tile_lanes = std::min(lanes, most);
  switch (plan.packing) {
    case Packing::kNone: {
      const std::int64_t tile_bytes = plan.walk.n * plan.tile_lanes * element_size;
      plan.tile_groups = std::clamp(std::min(most / lanes, tuning::kPassBytes / tile_bytes),
                                    std::int64_t{1}, groups.size);
      // In registers over all positions, if the caches, or the processor's own prefetching, hold
      // rows that are read a few vectors at a time.
      const Walk& walk = plan.walk;
      const std::int64_t stride =
          walk.axes.count == 0 ? 0 : walk.axes.axes[walk.axes.count - 1].strides[0];
      const bool streams = std::abs(stride) * element_size <= tuning::kPassStrideBytes;
      const std::int64_t rows = tuning::kPassReadBytes / (plan.tile_lanes * element_size);
      plan.pass = tile_bytes <= tuning::kPassBytes || streams
                      ? walk.period
                      : std::min(walk.period, std::max(rows, tuning::kPassRows));
      plan.ahead = tuning::kColumnsPrefetchAhead / element_size * (streams && stride < 0 ? -1 : 1);
      break;
    }
    case Packing::kTransposed: {
      plan.tile_groups = groups.size;
      const std::int64_t rows = plan.block * positions(plan.blocks);
      const std::int64_t fit = tuning::kTransposeBytes / (rows * element_size) / line * line;
      const std::int64_t tiles = ceil_divide(lanes, std::max(fit, line));
      plan.tile_lanes = std::min(lanes, ceil_divide(ceil_divide(lanes, tiles), line) * line);
      plan.pass = plan.walk.period;
      break;
    }
    case Packing::kStrided: {
      // Every row reads of each cache line again, unless lanes are a line apart.
      const std::int64_t apart =
          std::min<std::int64_t>(std::abs(plan.lane_stride) * element_size, kLineBytes);
      plan.tile_lanes =
          std::clamp(tuning::kStridedTileBytes / std::max<std::int64_t>(apart, 1), line, most);
      plan.tile_lanes = std::min(plan.tile_lanes, lanes);
      if (groups.size * element_size < kLineBytes) plan.tile_groups = groups.size;
      plan.pass =
          std::clamp(tuning::kTransposeBytes / (plan.tile_groups * plan.tile_lanes * element_size),
                     std::int64_t{1}, plan.walk.period);
      break;
    }
  }
}

}  // namespace

Walk::Walk(Axes& reduced, std::int64_t limit, std::int64_t stride_limit, bool whole) {
  bool first = true;
  std::int64_t next_step = 0;
  while (true) {
    int found = -1;
    for (int d = 0; d < reduced.count; ++d) {
      const Axis& axis = reduced.axes[d];
      const bool fits = first ? stride_of(axis) < stride_limit &&
                                    (found < 0 || axis.strides[1] < reduced.axes[found].strides[1])
                              : axis.strides[1] == next_step;
      if (fits) found = d;
    }
    if (found < 0) break;
    const Axis axis = reduced.take(found);
    if (first) index_step = axis.strides[1];
    first = false;
    next_step = axis.strides[1] * axis.size;
    n *= axis.size;
    const bool inside = stride_of(axis) < stride_limit;
    std::int64_t part = inside ? std::clamp(limit / period, std::int64_t{1}, axis.size) : 1;
    while (whole && axis.size % part != 0) --part;
    if (part > 1) axes.push({part, axis.strides});
    period *= part;
    period_stride = part * axis.strides[0];
    if (part < axis.size) break;
  }
  // Found from the fastest on.
  std::reverse(axes.axes.begin(), axes.axes.begin() + axes.count);
}

ColumnsPlan plan_columns(std::int64_t element_size, bool widens, std::int64_t least_lanes,
                         Tasks& tasks, Axes& reduced) {
  ColumnsPlan plan;
  choose_lanes(element_size, widens, least_lanes, tasks, reduced, plan);
  choose_packing(element_size, tasks.groups, reduced, plan);
  choose_tiles(element_size, tasks.groups, plan);
  return plan;
}

Columns ColumnsPlan::columns(const Axis& groups) const {
  Columns columns{};
  columns.last = walk.n;
  columns.period = walk.period;
  columns.period_stride = walk.period_stride;
  columns.groups = groups.size;
  columns.group_stride = groups.strides[0] * (packing == Packing::kTransposed ? tile_lanes : 1);
  columns.lanes = lanes;
  columns.lane_stride = lane_stride;
  columns.packing = packing;
  columns.block = block;
  columns.blocks = positions(blocks);
  columns.tile_groups = tile_groups;
  columns.tile_lanes = tile_lanes;
  columns.pass = pass;
  columns.ahead = ahead;
  return columns;
}

void ColumnsPlan::fill_rows(std::int64_t* rows) const {
  const bool transposed = packing == Packing::kTransposed;
  // Of transposed blocks the third strides count rows.
  const int s = transposed ? 2 : 0;
  const std::int64_t scale = transposed ? tile_lanes : 1;
  Axes outer = walk.axes;
  const Axis inner = outer.count > 0 ? outer.pop() : kUnitAxis;
  Odometer position(outer);
  for (std::int64_t i = 0; i < walk.period; position.next()) {
    const std::int64_t first = position.offsets()[s] - (transposed ? block_first : 0);
    for (std::int64_t j = 0; j < inner.size; ++j)
      rows[i++] = (first + j * inner.strides[s]) * scale;
  }
  if (!transposed) return;
  Odometer block_position(blocks);
  for (std::int64_t b = 0; b < positions(blocks); ++b, block_position.next()) {
    rows[walk.period + b] = block_position.offsets()[0] + block_first;
  }
}

std::string to_text(const ColumnsPlan& plan, const Tasks& tasks) {
  static const char* const packings[] = {"in place", "transposed", "strided"};
  std::string text = "columns " + std::string(packings[static_cast<int>(plan.packing)]) + ", " +
                     std::to_string(plan.walk.n) + " positions in periods of " +
                     std::to_string(plan.walk.period) + ", passes of " + std::to_string(plan.pass) +
                     "\n";
  text += std::to_string(tasks.groups.size) + " groups by " +
          std::to_string(tasks.groups.strides[0]) + " of " + std::to_string(plan.lanes) +
          " lanes by " + std::to_string(plan.lane_stride);
  if (plan.widened()) text += ", widened from " + std::to_string(tasks.results.size);
  text += "; tiles of " + std::to_string(plan.tile_groups) + " x " +
          std::to_string(plan.tile_lanes) + "\n";
  return text;
}

}  // namespace dmlcpu
