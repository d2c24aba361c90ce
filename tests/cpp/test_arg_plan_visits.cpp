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
#include "core/tuning.hpp"

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

/// Offsets of a tile's elements, as Columns says.
class Elements {
 public:
  Elements(const Case& c, const ColumnsPlan& plan)
      : case_(c), columns_(plan.columns), rows_(static_cast<std::size_t>(plan.columns.period)) {
    if (columns_.n > 0) plan.fill_rows(rows_.data());
  }

  std::int64_t offset(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    const std::int64_t period = position / columns_.period;
    const std::int64_t row = rows_[static_cast<std::size_t>(position % columns_.period)];
    const std::int64_t beside = lane * columns_.lane_stride;
    const bool own_blocks = columns_.tile_groups < columns_.groups;
    std::int64_t offset = row + group * columns_.group_stride;
    if (position == columns_.tail) {
      CHECK(columns_.packing != Packing::kTransposed && position == columns_.n - 1);
      // In the first period the table has it.
      CHECK(period > 0 || row == columns_.tail_offset);
      return columns_.tail_offset + group * columns_.group_stride + beside;
    }
    if (columns_.packing == Packing::kTransposed) {
      const std::int64_t in_block = own_blocks ? row : offset;
      CHECK(in_block % columns_.tile_lanes == 0);
      const std::int64_t block_row = in_block / columns_.tile_lanes;
      CHECK(block_row >= 0 && block_row < columns_.block);
      offset += block_row - in_block;
    }
    return offset + period * columns_.period_stride + beside;
  }

  /// Blocks are read whole: all of them, of all lanes and periods, are in the tensor's memory.
  void check_blocks(std::int64_t first_element, std::int64_t group) const {
    if (columns_.packing != Packing::kTransposed) return;
    if (columns_.tile_groups < columns_.groups) first_element += group * columns_.group_stride;
    CHECK(columns_.n % columns_.period == 0);
    for (std::int64_t period = 0; period < columns_.n / columns_.period; ++period) {
      for (const std::int64_t lane : {std::int64_t{0}, columns_.lanes - 1}) {
        const std::int64_t first =
            first_element + period * columns_.period_stride + lane * columns_.lane_stride;
        CHECK(first >= case_.lowest && first + columns_.block - 1 <= case_.highest);
      }
    }
  }

 private:
  const Case& case_;
  dmlcpu::Columns columns_;
  std::vector<std::int64_t> rows_;
};

/// What the kernel visits of a result, from an offset and an index on.
void visit_columns(const ColumnsPlan& plan, const Elements& elements, std::int64_t first,
                   std::int64_t index, std::int64_t group, std::int64_t result, Visits& visits) {
  const dmlcpu::Columns& columns = plan.columns;
  const std::int64_t results = columns.lanes / plan.per_result;
  for (std::int64_t p = 0; p < columns.n; ++p) {
    const std::int64_t base =
        index + p * plan.columns.index_step + (p == columns.tail ? plan.columns.tail_index : 0);
    for (std::int64_t w = 0; w < plan.per_result; ++w) {
      const std::int64_t number = plan.columns.backwards ? plan.per_result - 1 - w : w;
      visits.emplace_back(first + elements.offset(p, group, w * results + result),
                          base + number * plan.columns.widened_step);
    }
  }
}

/// What the plan visits.
Results visited(const Case& c, const ArgPlan& plan) {
  Results results;
  const ColumnsPlan& columns = plan.columns;
  const bool is_columns = plan.strategy == ArgStrategy::kColumns;
  const Elements elements(c, columns);
  Odometer kept(plan.tasks.kept);
  for (std::int64_t k = 0; k < iteration_count(plan.tasks.kept); ++k, kept.next()) {
    for (std::int64_t g = 0; g < plan.tasks.groups.size; ++g) {
      Odometer joined(columns.joined);
      for (std::int64_t r = 0; r < plan.tasks.results.size; ++r, joined.next()) {
        const auto place = [&](int s) {
          return kept.offsets()[s] + g * plan.tasks.groups.strides[s] +
                 r * plan.tasks.results.strides[s];
        };
        Visits& visits = results[plan.tasks.offsets[1] + place(1)];
        const auto visit_part = [&](std::int64_t start) {
          Odometer reduced(plan.reduced);
          for (std::int64_t i = 0; i < iteration_count(plan.reduced); ++i, reduced.next()) {
            const std::int64_t offset =
                plan.tasks.offsets[0] + reduced.offsets()[0] + start * plan.shared.strides[0];
            const std::int64_t index = reduced.offsets()[1] + start * plan.shared.strides[1];
            if (is_columns) {
              const std::int64_t first = offset + kept.offsets()[0] + columns.input_offset;
              if (r == 0) elements.check_blocks(first, g);
              visit_columns(columns, elements, first,
                            columns.index_offset + index + joined.offsets()[1], g, r, visits);
              continue;
            }
            for (std::int64_t p = 0; p < plan.n.size; ++p) {
              visits.emplace_back(offset + place(0) + p * plan.n.strides[0],
                                  index + p * plan.n.strides[1]);
            }
          }
        };
        for (std::int64_t part = 0; part < plan.parts; ++part) visit_part(plan.part_start(part));
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
  const dmlcpu::Columns& c = p.columns;
  CHECK(c.pass >= 1 && c.pass <= std::max<std::int64_t>(c.period, 1));
  CHECK(c.tile_lanes >= 1 && c.tile_lanes <= c.lanes);
  CHECK(c.tile_groups >= 1 && c.tile_groups <= plan.tasks.groups.size);
  CHECK(c.lanes == p.per_result * plan.tasks.results.size);
  if (c.packing == Packing::kTransposed) {
    // There is one tile of groups, and no task has fewer; or each has its own.
    CHECK(c.tile_groups == 1 || (c.tile_groups == plan.tasks.groups.size &&
                                 plan.tasks.task_groups == plan.tasks.groups.size));
    CHECK(c.block <= tuning::kBlockElements);
  } else if (c.group_stride == c.lanes * c.lane_stride && !plan.merges) {
    // A row of groups is split into wide tiles.
    CHECK(plan.tasks.task_groups == plan.tasks.groups.size ||
          plan.tasks.task_groups * c.lanes * element_size >= tuning::kLeastTileBytes);
  }
  // A task that merges has a result for each lane of its tile, or all of its results.
  if (plan.merges) {
    CHECK(plan.tasks.task_groups <= c.tile_groups || c.packing == Packing::kTransposed);
    CHECK(p.widened() || p.joins() ? plan.tasks.task_results == plan.tasks.results.size
                                   : plan.tasks.task_results <= c.tile_lanes);
  } else {
    CHECK(c.n <= dmlcpu::arg_run_positions(element_size));
    CHECK(plan.reduced.count == 0 && plan.parts == 1);
    CHECK(!p.widened() || c.tile_lanes == c.lanes);
  }
  if (p.widened()) {
    // Lanes are numbered from the begin of their tile, in an integer as wide as the element.
    CHECK(c.tile_lanes % plan.tasks.results.size == 0);
    CHECK(c.tile_lanes / plan.tasks.results.size <= dmlcpu::arg_run_positions(element_size));
    // Either number decides between indices before the other does.
    const std::int64_t number = (p.per_result - 1) * p.columns.widened_step;
    const std::int64_t position = (c.n - 1) * p.columns.index_step;
    CHECK(p.columns.widened_step > p.columns.index_step
              ? position < p.columns.widened_step
              : number < p.columns.index_step || c.n == 1);
  }
  CHECK(c.tail < 0 || p.widened());
  CHECK(!p.joins() || (plan.merges && c.packing != Packing::kTransposed &&
                       plan.tasks.results.size == iteration_count(p.joined)));
  CHECK(c.period <= tuning::kBlockElements);
  // Best elements and their positions, indices, packed elements, and a table of offsets.
  const std::int64_t rows = c.packing == Packing::kStrided ? 8 * tuning::kWalkRows : 0;
  const std::int64_t packed =
      c.packing == Packing::kNone ? 0
      : c.packing == Packing::kTransposed
          ? std::max(tuning::kTransposeBytes, tuning::kBlockElements * 64)
          : std::max(tuning::kTransposeBytes, c.tile_groups * c.tile_lanes * element_size + 63);
  const std::int64_t best = dmlcpu::arg_tile_bytes(c, element_size);
  CHECK(best >= c.tile_groups * c.tile_lanes * element_size);
  CHECK(arg_columns_scratch_bytes(c, p.widened(), element_size) <=
        (p.widened() ? 5 : 2) * best + 8 * c.tile_groups * c.tile_lanes + packed + rows + 128);
}

void check_case(const Case& c) {
  const ArgDescriptor& d = c.descriptor;
  const auto element_size = static_cast<std::int64_t>(info(d.input.type).size);
  const int threads = static_cast<int>(1 + random(4));
  const ArgPlan plan = plan_arg(problem_of(d, c.has_values ? &c.values : nullptr), threads);
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
    // A tail and overlapping parts alone take elements twice.
    const auto end = std::unique(visits.begin(), visits.end());
    good = good && (plan.columns.columns.tail >= 0 || plan.parts > 1 || end == visits.end());
    visits.erase(end, visits.end());
    std::sort(want[output].begin(), want[output].end());
    good = good && visits == want[output];
  }
  CHECK(good);
  if (!good) std::cerr << to_text(plan);
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
