// The tables of columns: where the positions of a period are, which indices they have, and the
// order of the lanes of a result.
#include <algorithm>

#include "plan/columns_plan.hpp"

namespace dmlcpu {
namespace {

/// Memory that is taken piece by piece, each at a cache line.
struct Pieces {
  char* memory;

  template <class T>
  T* take(std::int64_t count) {
    char* const first = memory;
    memory += round_up(count * std::int64_t{sizeof(T)});
    return reinterpret_cast<T*>(first);
  }
};

/// Calls body(inner, offsets) for each position of the loops but the innermost, which it is to walk
/// from there on.
template <class Body>
void for_inner(Axes axes, const Offsets& first, const Body& body) {
  const std::int64_t count = iteration_count(axes);
  const Axis inner = axes.pop();
  Odometer others(axes);
  for (std::int64_t i = 0; i < count; i += inner.size, others.next()) {
    Offsets offsets = first;
    for (int s = 0; s < 3; ++s) offsets[s] += others.offsets()[s];
    body(inner, offsets);
  }
}

/// Whether lanes of an axis are ranked before positions, or after them.
bool is_outer(const ColumnsPlan& plan, const Axis& axis) {
  return plan.columns.walk.n > 1 && axis.strides[1] > plan.indices.step;
}

/// Fills the tables of the ranks of one kind.
void fill_ranks(const ColumnsPlan& plan, bool outer, Pieces& pieces, LaneRanks& ranks) {
  if (ranks.count == 1) return;
  // Strides are {rank, index, lane}. Ranks are in the order of indices.
  Axes of_lanes;
  Axes of_ranks;
  Offsets first{};
  std::int64_t lane_step = 1;
  of_lanes.count = plan.lanes.count;
  for (int d = plan.lanes.count - 1; d >= 0; --d) {
    const Axis& axis = plan.lanes.axes[d];
    of_lanes.axes[d] = {axis.size, {}};
    if (is_outer(plan, axis) != outer) {
      lane_step *= axis.size;
      continue;
    }
    std::int64_t rank_step = 1;
    for (int o = 0; o < plan.lanes.count; ++o) {
      const Axis& other = plan.lanes.axes[o];
      const bool nearer = is_outer(plan, other) == outer && other.strides[1] < axis.strides[1];
      if (nearer) rank_step *= other.size;
    }
    Axis ranked = {axis.size, {rank_step, axis.strides[1], 0}};
    if ((axis.strides[0] < 0) != (plan.columns.lanes.stride < 0)) reverse(ranked, first);
    ranked.strides[2] = lane_step;
    lane_step *= axis.size;
    of_lanes.axes[d] = ranked;
    of_ranks.push(ranked);
  }
  auto* to = pieces.take<std::uint16_t>(plan.columns.lanes.count);
  auto* const indices = pieces.take<std::int64_t>(ranks.count);
  auto* const lanes = plan.has_values ? pieces.take<std::int64_t>(ranks.count) : nullptr;
  ranks.of_lanes = to;
  ranks.indices = indices;
  ranks.lanes = lanes;
  const std::int64_t results = plan.results;
  for_inner(of_lanes, first, [&](const Axis& inner, const Offsets& offsets) {
    for (std::int64_t i = 0; i < inner.size; ++i, to += results) {
      std::fill_n(to, results, static_cast<std::uint16_t>(offsets[0] + i * inner.strides[0]));
    }
  });
  for_inner(of_ranks, first, [&](const Axis& inner, const Offsets& offsets) {
    for (std::int64_t i = 0; i < inner.size; ++i) {
      const std::int64_t rank = offsets[0] + i * inner.strides[0];
      indices[rank] = offsets[1] + i * inner.strides[1];
      if (lanes != nullptr) lanes[rank] = offsets[2] + i * inner.strides[2];
    }
  });
}

/// Fills the tables of the positions of a period.
void fill_positions(const ColumnsPlan& plan, std::int64_t* offsets, std::int64_t* table) {
  const bool blocks = has_blocks(plan.columns.tiling.packing);
  const std::int64_t scale = blocks ? plan.columns.tiling.lanes : 1;
  // The last of the steps of a cut axis, if all of them are in a period.
  const Axis last = plan.walk.last();
  const std::int64_t overlap =
      plan.cut.is(last) && last.size == plan.cut.steps() ? plan.cut.overlap() : 0;
  for_inner(plan.walk, {}, [&](const Axis& inner, const Offsets& first) {
    const std::int64_t begin = first[0] - (blocks ? plan.input_offset : 0);
    for (std::int64_t j = 0; j < inner.size; ++j) {
      offsets[j] = (begin + j * inner.strides[0]) * scale;
    }
    offsets += inner.size;
    offsets[-1] -= overlap * plan.cut.strides[0];
    if (table == nullptr) return;
    for (std::int64_t j = 0; j < inner.size; ++j) table[j] = first[1] + j * inner.strides[1];
    table += inner.size;
    table[-1] -= overlap * plan.cut.strides[1];
  });
}

}  // namespace

void ColumnsPlan::count_ranks() {
  for (int d = 0; d < lanes.count; ++d) {
    (is_outer(*this, lanes.axes[d]) ? indices.outer : indices.inner).count *= lanes.axes[d].size;
  }
}

std::int64_t ColumnsPlan::table_bytes() const {
  std::int64_t bytes = (has_table ? 2 : 1) * round_up(8 * columns.walk.period);
  for (const std::int64_t count : {indices.outer.count, indices.inner.count}) {
    if (count > 1)
      bytes += round_up(2 * columns.lanes.count) + (has_values ? 2 : 1) * round_up(8 * count);
  }
  return bytes;
}

void ColumnsPlan::fill_tables(char* memory, Columns& to, ArgIndices& to_indices) const {
  Pieces pieces = {memory};
  auto* const offsets = pieces.take<std::int64_t>(columns.walk.period);
  auto* const table = has_table ? pieces.take<std::int64_t>(columns.walk.period) : nullptr;
  fill_positions(*this, offsets, table);
  to.walk.offsets = offsets;
  to_indices.table = table;
  fill_ranks(*this, true, pieces, to_indices.outer);
  fill_ranks(*this, false, pieces, to_indices.inner);
}

}  // namespace dmlcpu
