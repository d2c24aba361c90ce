// The tables of columns: where the positions of a period are, which indices they have, and the
// order of the lanes of a result.
#include <algorithm>

#include "plan/columns_plan.hpp"

namespace dmlcpu {
namespace {

/// Memory that is taken piece by piece, each at a cache line.
struct Pieces {
  char* memory;
  std::int64_t used = 0;

  template <class T>
  T* take(std::int64_t count) {
    char* const first = memory == nullptr ? nullptr : memory + used;
    used += round_up(count * std::int64_t{sizeof(T)});
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

/// Sets the ranks of one kind; fills their tables unless there is no memory.
void set_ranks(const ColumnsPlan& plan, bool outer, Pieces& pieces, LaneRanks& ranks) {
  const auto is_of_kind = [&](const Axis& axis) {
    return outer == (plan.columns.walk.n > 1 && axis.strides[1] > plan.indices.step);
  };
  // Strides are {rank, index, lane}. Ranks are in the order of indices.
  Axes of_lanes;
  Axes of_ranks;
  Offsets first{};
  std::int64_t lane_step = plan.per_result();
  for (int d = 0; d < plan.lanes.count; ++d) {
    const Axis& axis = plan.lanes.axes[d];
    lane_step /= axis.size;
    if (!is_of_kind(axis)) {
      of_lanes.push({axis.size, {}});
      continue;
    }
    std::int64_t rank_step = 1;
    for (int o = 0; o < plan.lanes.count; ++o) {
      const Axis& other = plan.lanes.axes[o];
      if (is_of_kind(other) && other.strides[1] < axis.strides[1]) rank_step *= other.size;
    }
    Axis ranked = {axis.size, {rank_step, axis.strides[1], 0}};
    if ((axis.strides[0] < 0) != (plan.columns.lanes.stride < 0)) reverse(ranked, first);
    ranked.strides[2] = lane_step;
    of_lanes.push(ranked);
    of_ranks.push(ranked);
  }
  ranks.count = iteration_count(of_ranks);
  if (ranks.count == 1) return;
  auto* to = pieces.take<std::uint16_t>(plan.columns.lanes.count);
  auto* const indices = pieces.take<std::int64_t>(ranks.count);
  auto* const lanes = pieces.take<std::int64_t>(ranks.count);
  if (pieces.memory == nullptr) return;
  ranks.of_lanes = to;
  ranks.indices = indices;
  ranks.lanes = lanes;
  const std::int64_t results = plan.columns.lanes.count / plan.per_result();
  for_inner(of_lanes, first, [&](const Axis& inner, const Offsets& offsets) {
    for (std::int64_t i = 0; i < inner.size; ++i, to += results) {
      std::fill_n(to, results, static_cast<std::uint16_t>(offsets[0] + i * inner.strides[0]));
    }
  });
  for_inner(of_ranks, first, [&](const Axis& inner, const Offsets& offsets) {
    for (std::int64_t i = 0; i < inner.size; ++i) {
      const std::int64_t rank = offsets[0] + i * inner.strides[0];
      indices[rank] = offsets[1] + i * inner.strides[1];
      lanes[rank] = offsets[2] + i * inner.strides[2];
    }
  });
}

/// Sets the tables, or says how many bytes they have.
std::int64_t set_tables(const ColumnsPlan& plan, char* memory, Walk& walk, ArgIndices& indices) {
  Pieces pieces = {memory};
  auto* const offsets = pieces.take<std::int64_t>(walk.period);
  auto* const table = plan.has_table ? pieces.take<std::int64_t>(walk.period) : nullptr;
  set_ranks(plan, true, pieces, indices.outer);
  set_ranks(plan, false, pieces, indices.inner);
  if (memory == nullptr) return pieces.used;
  const bool blocks = has_blocks(plan.columns.tiling.packing);
  const std::int64_t scale = blocks ? plan.columns.tiling.lanes : 1;
  Axes outer = plan.walk;
  const Axis inner = outer.pop();
  // The last of the steps of a cut axis, if all of them are in a period.
  const std::int64_t overlap =
      plan.cut.is(inner) && inner.size == plan.cut.steps() ? plan.cut.overlap() : 0;
  Odometer position(outer);
  for (std::int64_t i = 0; i < walk.period; position.next()) {
    const std::int64_t first = position.offsets()[0] - (blocks ? plan.input_offset : 0);
    for (std::int64_t j = 0; j < inner.size; ++j, ++i) {
      offsets[i] = (first + j * inner.strides[0]) * scale;
      if (table != nullptr) table[i] = position.offsets()[1] + j * inner.strides[1];
    }
    offsets[i - 1] -= overlap * plan.cut.strides[0];
    if (table != nullptr) table[i - 1] -= overlap * plan.cut.strides[1];
  }
  walk.offsets = offsets;
  indices.table = table;
  return pieces.used;
}

}  // namespace

void ColumnsPlan::fill_tables(char* memory, Columns& to, ArgIndices& to_indices) const {
  set_tables(*this, memory, to.walk, to_indices);
}

std::int64_t ColumnsPlan::table_bytes() const {
  Walk walk_of = columns.walk;
  ArgIndices indices_of = indices;
  return set_tables(*this, nullptr, walk_of, indices_of);
}

}  // namespace dmlcpu
