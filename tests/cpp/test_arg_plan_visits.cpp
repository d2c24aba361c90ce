// What a plan of argmin or argmax visits, element by element, against the tensor's own enumeration:
// random shapes, strides, axes and threads.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "arg_plan_case.hpp"
#include "arg_plan_modes.hpp"
#include "check.hpp"
#include "plan/candidates.hpp"
#include "plan/tuning.hpp"

using arg_plan_cases::Case;
using arg_plan_cases::long_cases;
using arg_plan_cases::random_case;
using arg_plan_modes::kModes;
using arg_plan_modes::met;
using arg_plan_modes::note;
using dmlcpu::ArgDescriptor;
using dmlcpu::ArgPlan;
using dmlcpu::ArgStrategy;
using dmlcpu::ColumnsPlan;
using dmlcpu::Odometer;
using dmlcpu::Packing;
using rng::random;

namespace tuning = dmlcpu::tuning;

namespace {

/// (offset into the input, index) of elements.
using Visits = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// Those of each result, by its offset into the output.
using Results = std::map<std::int64_t, Visits>;

/// The elements that decide, in the tensor's own order. Of a broadcast axis it is the first one, or
/// the last.
Results expected(const ArgDescriptor& d, bool last_wins) {
  Results results;
  const auto is_reduced = [&d](int axis) {
    const auto* const end = d.axes.values.begin() + d.axes.count;
    return std::find(d.axes.values.begin(), end, axis) != end;
  };
  std::vector<std::int64_t> at(static_cast<std::size_t>(d.input.rank));
  while (true) {
    std::int64_t offset = 0;
    std::int64_t output = 0;
    std::int64_t index = 0;
    bool decides = true;
    int output_axis = 0;
    for (int axis = 0; axis < d.input.rank; ++axis) {
      const std::int64_t i = at[static_cast<std::size_t>(axis)];
      offset += i * d.input.strides[axis];
      if (is_reduced(axis)) {
        index = index * d.input.sizes[axis] + i;
        if (d.input.strides[axis] == 0 && i != (last_wins ? d.input.sizes[axis] - 1 : 0)) {
          decides = false;
        }
        if (d.keep_dims) ++output_axis;
      } else {
        output += i * d.output.strides[output_axis++];
      }
    }
    if (decides) results[output].emplace_back(offset, index);
    int axis = d.input.rank - 1;
    for (; axis >= 0; --axis) {
      if (++at[static_cast<std::size_t>(axis)] < d.input.sizes[axis]) break;
      at[static_cast<std::size_t>(axis)] = 0;
    }
    if (axis < 0) return results;
  }
}

/// The elements of a tile, as Columns and ArgIndices say.
class Elements {
 public:
  Elements(const Case& c, const ArgPlan& plan)
      : case_(c),
        columns_(plan.columns.columns),
        indices_(plan.columns.indices),
        tables_(static_cast<std::size_t>(plan.table_bytes / 8)) {
    if (!tables_.empty())
      plan.columns.fill_tables(reinterpret_cast<char*>(tables_.data()), columns_, indices_);
  }

  std::int64_t offset(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    const auto& [data, walk, lanes, tiling] = columns_;
    const std::int64_t row = walk.offsets[number(position)];
    const bool own_blocks = tiling.groups < lanes.groups;
    std::int64_t offset = row + group * lanes.group_stride;
    if (has_blocks(tiling.packing)) {
      const std::int64_t in_block = own_blocks ? row : offset;
      CHECK(in_block % tiling.lanes == 0);
      const std::int64_t block_row = in_block / tiling.lanes;
      CHECK(block_row >= 0 && block_row < tiling.block);
      offset += block_row - in_block;
    }
    return offset + position / walk.period * walk.period_stride +
           (is_last(position) ? walk.last_offset : 0) + lane * lanes.stride;
  }

  std::int64_t index(std::int64_t position, std::int64_t lane) const {
    const std::int64_t of_position =
        indices_.table == nullptr ? position * indices_.step
                                  : indices_.table[number(position)] +
                                        position / columns_.walk.period * indices_.period_step;
    return of_position + (position >= indices_.last_from ? indices_.last_index : 0) +
           of_rank(indices_.outer, lane) + of_rank(indices_.inner, lane);
  }

  /// Blocks are read whole: all of them, of all lanes and periods, are in the tensor's memory.
  void check_blocks(std::int64_t first_element, std::int64_t group) const {
    const auto& [data, walk, lanes, tiling] = columns_;
    if (!has_blocks(tiling.packing)) return;
    if (tiling.groups < lanes.groups) first_element += group * lanes.group_stride;
    for (std::int64_t position = 0; position < walk.n; position += walk.period) {
      const std::int64_t period =
          position / walk.period * walk.period_stride + (is_last(position) ? walk.last_offset : 0);
      for (const std::int64_t lane : {std::int64_t{0}, lanes.count - 1}) {
        const std::int64_t first = first_element + period + lane * lanes.stride;
        CHECK(first >= case_.lowest && first + tiling.block - 1 <= case_.highest);
      }
    }
  }

  /// Outer ranks, positions and inner ranks decide between indices in this order.
  void check_order(const ColumnsPlan& plan) const {
    const std::int64_t results = columns_.lanes.count / plan.per_result;
    for (const dmlcpu::LaneRanks& ranks : {indices_.outer, indices_.inner}) {
      CHECK(ranks.count <= dmlcpu::arg_run_positions(case_.element_size()));
      for (std::int64_t rank = 1; rank < ranks.count; ++rank) {
        CHECK(ranks.indices[rank] > ranks.indices[rank - 1]);
      }
    }
    for (std::int64_t l = 0; l < columns_.lanes.count && plan.has_several(); ++l) {
      // The ranks tell the lane.
      std::int64_t number = 0;
      for (const dmlcpu::LaneRanks& ranks : {indices_.outer, indices_.inner}) {
        if (ranks.lanes != nullptr) number += ranks.lanes[ranks.of_lanes[l]];
      }
      CHECK(!case_.has_values || number == l / results);
    }
    const std::int64_t last = columns_.walk.n - 1;
    std::int64_t inner = 0;
    if (indices_.inner.count > 1) inner = indices_.inner.indices[indices_.inner.count - 1];
    CHECK(last == 0 || inner < indices_.step);
    if (indices_.outer.count > 1) {
      const std::int64_t lane = indices_.outer.of_lanes[0];
      const std::int64_t of_positions =
          index(last, 0) - indices_.outer.indices[lane] - of_rank(indices_.inner, 0);
      CHECK(indices_.outer.indices[1] > of_positions + inner);
    }
  }

 private:
  bool is_last(std::int64_t position) const {
    const dmlcpu::Walk& walk = columns_.walk;
    return position >= walk.period && position / walk.period == (walk.n - 1) / walk.period;
  }
  std::int64_t number(std::int64_t position) const {
    return position % columns_.walk.period + (is_last(position) ? columns_.walk.last_skip : 0);
  }
  static std::int64_t of_rank(const dmlcpu::LaneRanks& ranks, std::int64_t lane) {
    return ranks.count == 1 ? 0 : ranks.indices[ranks.of_lanes[lane]];
  }

  const Case& case_;
  dmlcpu::Columns columns_;
  dmlcpu::ArgIndices indices_;
  std::vector<std::int64_t> tables_;
};

/// What the plan visits.
Results visited(const Case& c, const ArgPlan& plan) {
  Results results;
  const ColumnsPlan& columns = plan.columns;
  const bool is_columns = plan.strategy == ArgStrategy::kColumns;
  const Elements elements(c, plan);
  if (is_columns) elements.check_order(columns);
  const int cut = columns.cut.find(plan.reduced);
  /// What a kernel call visits of a result, from an offset and an index on.
  const auto visit = [&](std::int64_t offset, std::int64_t index, std::int64_t g, std::int64_t r,
                         Visits& visits) {
    const std::int64_t lanes = columns.columns.lanes.count;
    const std::int64_t apart = lanes / columns.per_result;
    for (std::int64_t p = 0; is_columns && p < columns.columns.walk.n; ++p) {
      for (std::int64_t l = r; l < lanes; l += apart) {
        visits.emplace_back(offset + elements.offset(p, g, l), index + elements.index(p, l));
      }
    }
    for (std::int64_t p = 0; !is_columns && p < plan.n.size; ++p) {
      visits.emplace_back(offset + p * plan.n.strides[0], index + p * plan.n.strides[1]);
    }
  };
  Odometer kept(plan.tasks.kept);
  for (std::int64_t k = 0; k < iteration_count(plan.tasks.kept); ++k, kept.next()) {
    for (std::int64_t g = 0; g < plan.tasks.groups.size; ++g) {
      for (std::int64_t r = 0; r < plan.tasks.results.size; ++r) {
        const auto place = [&](int s) {
          return kept.offsets()[s] + g * plan.tasks.groups.strides[s] +
                 r * plan.tasks.results.strides[s];
        };
        Visits& visits = results[plan.tasks.offsets[1] + place(1)];
        for (std::int64_t part = 0; part < plan.parts; ++part) {
          Odometer reduced(plan.reduced);
          for (std::int64_t i = 0; i < iteration_count(plan.reduced); ++i, reduced.next()) {
            const std::int64_t back = columns.cut.overlap_at(cut, reduced);
            const auto first = [&](int s) {
              return reduced.offsets()[s] + plan.part_start(part) * plan.shared.strides[s] -
                     back * columns.cut.strides[s];
            };
            const std::int64_t offset =
                plan.tasks.offsets[0] + first(0) +
                (is_columns ? kept.offsets()[0] + columns.input_offset : place(0));
            if (is_columns && r == 0) elements.check_blocks(offset, g);
            visit(offset, first(1), g, r, visits);
          }
        }
      }
    }
  }
  return results;
}

void check_parts(const ArgPlan& plan) {
  if (plan.parts == 1) return;
  CHECK(plan.merges && plan.part_size >= tuning::kMinPartPositions);
  // None is empty, and only the last one overlaps others.
  CHECK((plan.parts - 1) * plan.part_size < plan.shared.size);
  CHECK(plan.parts * plan.part_size >= plan.shared.size);
}

void check_tiles(const ArgPlan& plan, std::int64_t element_size) {
  const ColumnsPlan& p = plan.columns;
  const auto& [data, walk, lanes, tiling] = p.columns;
  const bool blocks = has_blocks(tiling.packing);
  CHECK(tiling.pass >= 1 && tiling.pass <= walk.period);
  CHECK(tiling.lanes >= 1 && tiling.lanes <= lanes.count);
  CHECK(tiling.groups >= 1 && tiling.groups <= lanes.groups);
  CHECK(lanes.groups == plan.tasks.groups.size);
  CHECK(lanes.count == p.per_result * plan.tasks.results.size);
  if (blocks) {
    // There is one tile of groups, and no task has fewer; or each has its own.
    CHECK(tiling.groups == 1 ||
          (tiling.groups == lanes.groups && plan.tasks.task_groups == lanes.groups));
    CHECK(tiling.block <= tuning::kBlockElements);
  } else if (lanes.group_stride == lanes.count * lanes.stride && !plan.merges) {
    // A row of groups is split into wide tiles.
    CHECK(plan.tasks.task_groups == lanes.groups ||
          plan.tasks.task_groups * lanes.count * element_size >= tuning::kLeastTileBytes);
  }
  // A task that merges has a result for each lane of its tile, or all of its results.
  if (plan.merges) {
    CHECK(plan.tasks.task_groups <= tiling.groups || blocks);
    CHECK(p.has_several() ? plan.tasks.task_results == plan.tasks.results.size
                          : plan.tasks.task_results <= tiling.lanes);
  } else {
    CHECK(walk.n <= dmlcpu::arg_run_positions(element_size));
    CHECK(plan.reduced.count == 0 && plan.parts == 1);
  }
  CHECK(!p.has_several() || tiling.lanes == lanes.count);
  CHECK(walk.period <= tuning::kBlockElements);
  // Best elements, their positions and ranks, indices, packed elements, and a table of offsets.
  const std::int64_t offsets = tiling.packing == Packing::kStrided ? 8 * tuning::kWalkRows : 0;
  const std::int64_t packed =
      tiling.packing == Packing::kInPlace ? 0
      : blocks
          ? std::max(tuning::kTransposeBytes, tuning::kBlockElements * 64)
          : std::max(tuning::kTransposeBytes, tiling.groups * tiling.lanes * element_size + 63);
  const std::int64_t best = dmlcpu::arg_tile_bytes(tiling, element_size);
  CHECK(best >= tiling.groups * tiling.lanes * element_size);
  CHECK(arg_columns_scratch_bytes(tiling, rank_kinds(p.indices), element_size) <=
        (p.has_several() ? 6 : 2) * best + 8 * tiling.groups * tiling.lanes + packed + offsets +
            128);
}

void check_plan(const Case& c, const ArgPlan& plan) {
  const ArgDescriptor& d = c.descriptor;
  const auto element_size = c.element_size();
  const bool last_wins = d.axis_direction == dmlcpu::AxisDirection::kDecreasing;
  note(plan);
  check_parts(plan);
  if (plan.strategy == ArgStrategy::kColumns) check_tiles(plan, element_size);
  Results want = expected(d, last_wins);
  Results got = visited(c, plan);
  CHECK(got.size() == want.size());
  bool good = true;
  for (auto& [output, visits] : got) {
    for (auto& [offset, index] : visits) {
      // Values are looked up by what the plan says of the first element.
      if (c.has_values && d.input.sizes[d.axes.values[0]] > 1) {
        good = good && offset - index * plan.value_stride ==
                           visits.front().first - visits.front().second * plan.value_stride;
      }
    }
    if (plan.strategy == ArgStrategy::kFill) {
      CHECK(visits.size() == 1);
      visits.front().second = 0;
      // The input is not read.
      if (!c.has_values) visits.front().first = want[output].front().first;
    }
    for (auto& visit : visits) {
      if (last_wins) visit.second = plan.count - 1 - visit.second;
    }
    std::sort(visits.begin(), visits.end());
    // Overlapping steps and parts alone take elements twice.
    const auto end = std::unique(visits.begin(), visits.end());
    good = good && (plan.columns.cut.overlap() > 0 || plan.parts > 1 || end == visits.end());
    visits.erase(end, visits.end());
    std::sort(want[output].begin(), want[output].end());
    good = good && visits == want[output];
  }
  CHECK(good);
  if (!good) std::cerr << to_text(plan);
}

/// The plan that is chosen, and every candidate.
void check_case(const Case& c) {
  const dmlcpu::ArgProblem problem = problem_of(c.descriptor, c.has_values ? &c.values : nullptr);
  const int threads = static_cast<int>(1 + random(4));
  check_plan(c, plan_arg(problem, plan_tensors::machine, threads));
  const int count = static_cast<int>(enumerate(problem).size());
  for (int number = 0; number < count; ++number)
    check_plan(c, plan_arg(problem, plan_tensors::machine, threads, number));
}

}  // namespace

int main() {
  for (int i = 0; i < 4; ++i) {
    for (const Case& c : long_cases()) check_case(c);
  }
  for (int i = 0; i < 5000 && check::failures < 20; ++i) check_case(random_case());
  for (const char* mode : kModes) {
    if (met.count(mode) == 0) std::cerr << "not met: " << mode << "\n";
    CHECK(met.count(mode) == 1);
  }
  return check::failures == 0 ? 0 : 1;
}
