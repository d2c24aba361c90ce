// What a plan of argmin or argmax visits, element by element, against the tensor's own enumeration:
// random shapes, strides, axes and threads.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/tuning.hpp"
#include "plan_tensors.hpp"
#include "random.hpp"

using dmlcpu::ArgDescriptor;
using dmlcpu::ArgPlan;
using dmlcpu::ArgStrategy;
using dmlcpu::ColumnsPlan;
using dmlcpu::DataType;
using dmlcpu::Odometer;
using dmlcpu::Packing;
using dmlcpu::Split;
using rng::random;

namespace tuning = dmlcpu::tuning;

namespace {

/// (offset into the input, index) of elements.
using Visits = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// Those of each result, by its offset into the output.
using Results = std::map<std::int64_t, Visits>;

/// The modes that the random plans had.
std::set<std::string> met;

struct Case {
  ArgDescriptor descriptor;
  bool has_values = false;
  dmlcpu::Tensor values;
  std::int64_t lowest = 0;  ///< offsets of the tensor's elements
  std::int64_t highest = 0;
};

std::int64_t random_size(std::int64_t most) {
  static const std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 65, 130, 300};
  return std::max<std::int64_t>(1, std::min(sizes[random(16)], most));
}

/// A tensor in some memory order, with gaps, reversed, strided, overlapping or broadcast axes.
Case random_case() {
  static const DataType types[] = {DataType::kUInt8, DataType::kFloat16, DataType::kFloat32,
                                   DataType::kFloat64};
  Case c;
  ArgDescriptor& d = c.descriptor;
  d.input.type = types[random(4)];
  d.input.rank = static_cast<int>(1 + random(6));
  d.keep_dims = random(2) == 0;
  if (random(3) == 0) d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  std::int64_t left = random(4) == 0 ? 20000 : 2000;
  std::vector<int> order;
  for (int axis = 0; axis < d.input.rank; ++axis) {
    d.input.sizes[axis] = random_size(left);
    left /= d.input.sizes[axis];
    order.push_back(axis);
  }
  for (int axis = 0; axis < d.input.rank; ++axis) {
    std::swap(d.input.sizes[axis], d.input.sizes[random(d.input.rank)]);
  }
  if (random(3) != 0) std::shuffle(order.begin(), order.end(), rng::engine);
  const bool gaps = random(2) == 0;
  std::int64_t stride = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    if (gaps && random(3) == 0) stride *= 1 + random(4);
    if (gaps && random(3) == 0) stride += random(5);
    d.input.strides[*axis] = random(5) == 0 ? -stride : stride;
    stride *= d.input.sizes[*axis];
    if (random(12) == 0) d.input.strides[*axis] = 0;
    // As of sliding windows, whose elements are visited several times.
    if (random(12) == 0) d.input.strides[*axis] = 1 + random(9);
  }
  d.axes.all = false;
  for (int axis = 0; axis < d.input.rank; ++axis) {
    if (random(2) == 0) d.axes.values[d.axes.count++] = axis;
    const std::int64_t span = (d.input.sizes[axis] - 1) * d.input.strides[axis];
    (span < 0 ? c.lowest : c.highest) += span;
  }
  const dmlcpu::Shape shape = output_shape(d);
  d.output.type = DataType::kUInt32;
  d.output.rank = shape.rank;
  d.output.sizes = shape.sizes;
  std::int64_t step = random(2) == 0 ? 1 : 2;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    d.output.strides[axis] = random(4) == 0 ? -step : step;
    step *= shape.sizes[axis];
  }
  if (d.axes.count == 1 && d.keep_dims && random(2) == 0) {
    c.has_values = true;
    c.values = dmlcpu::View<float>(nullptr, shape).tensor();
  }
  return c;
}

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
  Elements(const Case& c, const ColumnsPlan& plan, const dmlcpu::Axis& groups)
      : case_(c),
        plan_(plan),
        columns_(plan.columns(groups)),
        rows_(static_cast<std::size_t>(plan.row_count())) {
    plan.fill_rows(rows_.data());
  }

  std::int64_t offset(std::int64_t position, std::int64_t group, std::int64_t lane) const {
    const std::int64_t period = position / columns_.period;
    std::int64_t offset =
        rows_[static_cast<std::size_t>(position % columns_.period)] + group * columns_.group_stride;
    if (plan_.packing == Packing::kTransposed) {
      CHECK(offset % plan_.tile_lanes == 0);
      const std::int64_t row = offset / plan_.tile_lanes;
      CHECK(row >= 0 && row < columns_.block * columns_.blocks);
      offset = block_offset(row / columns_.block) + row % columns_.block;
    }
    return offset + period * columns_.period_stride + lane * columns_.lane_stride;
  }

  /// Blocks are read whole: all of them, of all lanes and periods, are in the tensor's memory.
  void check_blocks(std::int64_t first_element) const {
    if (plan_.packing != Packing::kTransposed) return;
    CHECK(plan_.walk.n % columns_.period == 0);
    for (std::int64_t period = 0; period < plan_.walk.n / columns_.period; ++period) {
      for (std::int64_t b = 0; b < columns_.blocks; ++b) {
        for (const std::int64_t lane : {std::int64_t{0}, plan_.lanes - 1}) {
          const std::int64_t first = first_element + period * columns_.period_stride +
                                     block_offset(b) + lane * columns_.lane_stride;
          CHECK(first >= case_.lowest && first + columns_.block - 1 <= case_.highest);
        }
      }
    }
  }

 private:
  std::int64_t block_offset(std::int64_t b) const {
    return rows_[static_cast<std::size_t>(columns_.period + b)];
  }

  const Case& case_;
  const ColumnsPlan& plan_;
  dmlcpu::Columns columns_;
  std::vector<std::int64_t> rows_;
};

/// What the plan visits.
Results visited(const Case& c, const ArgPlan& plan) {
  Results results;
  const ColumnsPlan& columns = plan.columns;
  const bool is_columns = plan.strategy == ArgStrategy::kColumns;
  const Elements elements(c, columns, plan.tasks.groups);
  const std::int64_t widened = columns.per_result;
  Odometer kept(plan.tasks.kept);
  for (std::int64_t k = 0; k < positions(plan.tasks.kept); ++k, kept.next()) {
    for (std::int64_t g = 0; g < plan.tasks.groups.size; ++g) {
      for (std::int64_t r = 0; r < plan.tasks.results.size; ++r) {
        const auto place = [&](int s) {
          return kept.offsets()[s] + g * plan.tasks.groups.strides[s] +
                 r * plan.tasks.results.strides[s];
        };
        Visits& visits = results[plan.offsets[1] + place(1)];
        Odometer reduced(plan.reduced);
        for (std::int64_t i = 0; i < positions(plan.reduced); ++i, reduced.next()) {
          const std::int64_t index = reduced.offsets()[1];
          if (!is_columns) {
            const std::int64_t first = plan.offsets[0] + place(0) + reduced.offsets()[0];
            for (std::int64_t p = 0; p < plan.n.size; ++p) {
              visits.emplace_back(first + p * plan.n.strides[0], index + p * plan.n.strides[1]);
            }
            continue;
          }
          const std::int64_t first =
              plan.offsets[0] + kept.offsets()[0] + reduced.offsets()[0] + columns.input_offset;
          if (g == 0 && r == 0) elements.check_blocks(first);
          const auto visit = [&](std::int64_t data, std::int64_t base, std::int64_t p) {
            for (std::int64_t w = 0; w < widened; ++w) {
              visits.emplace_back(data + elements.offset(p, g, w * plan.tasks.results.size + r),
                                  base + p * columns.walk.index_step + w * columns.widened_step);
            }
          };
          const std::int64_t base = index + columns.index_base;
          for (std::int64_t p = 0; p < columns.walk.n; ++p) visit(first, base, p);
          if (columns.left) visit(first + columns.left_offset, base + columns.left_index, 0);
        }
      }
    }
  }
  return results;
}

void check_tiles(const ArgPlan& plan, std::int64_t element_size) {
  const ColumnsPlan& c = plan.columns;
  CHECK(c.pass >= 1 && c.pass <= std::max<std::int64_t>(c.walk.period, 1));
  CHECK(c.tile_lanes >= 1 && c.tile_lanes <= c.lanes);
  CHECK(c.tile_groups >= 1 && c.tile_groups <= plan.tasks.groups.size);
  if (c.packing == Packing::kTransposed) {
    // There is one tile of groups, and no task has fewer.
    CHECK(c.tile_groups == plan.tasks.groups.size &&
          plan.tasks.task_groups == plan.tasks.groups.size);
    CHECK(c.block * positions(c.blocks) <= tuning::kBlockElements);
  }
  // A task that merges has a result for each lane of its tile, or all of its results.
  if (plan.merges) {
    CHECK(plan.tasks.task_groups <= c.tile_groups || c.packing == Packing::kTransposed);
    CHECK(c.widened() ? plan.tasks.task_results == plan.tasks.results.size
                      : plan.tasks.task_results <= c.tile_lanes);
  } else {
    CHECK(c.walk.n <= dmlcpu::arg_run_positions(element_size));
    CHECK(plan.reduced.count == 0 && plan.parts == 1 && !c.widened());
  }
  CHECK(!c.left || c.widened());
  CHECK(c.walk.period <= tuning::kBlockElements);
  // Best elements and their positions, packed elements, and a table of offsets.
  const std::int64_t rows = c.packing == Packing::kStrided ? 8 * tuning::kWalkRows : 0;
  const std::int64_t packed =
      c.packing == Packing::kNone ? 0
      : c.packing == Packing::kTransposed
          ? std::max(tuning::kTransposeBytes, tuning::kBlockElements * 64)
          : std::max(tuning::kTransposeBytes, c.tile_groups * c.tile_lanes * element_size + 63);
  const std::int64_t best = dmlcpu::arg_tile_bytes(c.columns(plan.tasks.groups), element_size);
  CHECK(best >= c.tile_groups * c.tile_lanes * element_size);
  CHECK(arg_columns_scratch_bytes(c.columns(plan.tasks.groups), element_size) <=
        2 * best + packed + rows + 64);
}

void note(const ArgPlan& plan) {
  static const char* const splits[] = {"", " split reduced", " split positions", " split lanes"};
  static const char* const packings[] = {"in place", "transposed", "strided"};
  if (plan.strategy != ArgStrategy::kColumns) {
    met.insert(plan.strategy == ArgStrategy::kFill ? "fill" : "rows");
    return;
  }
  const ColumnsPlan& c = plan.columns;
  const std::string packing = packings[static_cast<int>(c.packing)];
  met.insert(packing);
  if (c.widened()) {
    const std::string widened =
        packing + " widened" + (plan.tasks.results.size > 1 ? " of several results" : "");
    met.insert(widened);
    if (c.left) met.insert(widened + " left");
    if (c.left && plan.reduced.count > 0) met.insert("left in outer reduced axes");
    if (c.widened_step < 0) met.insert("widened backwards");
  }
  if (plan.parts > 1) met.insert(packing + splits[static_cast<int>(plan.split)]);
  if (positions(c.blocks) > 1 && c.packing == Packing::kTransposed) met.insert("blocks");
  if (c.walk.period < c.walk.n) met.insert(packing + " periods");
  if (c.walk.axes.count > 1) met.insert(packing + " of several axes");
  if (plan.tasks.groups.size > 1) met.insert(packing + " groups");
  if (c.block_first < 0) met.insert("reversed blocks");
  if (plan.reduced.count > 0) met.insert(packing + " inside of reduced axes");
}

void check_case(const Case& c) {
  const ArgDescriptor& d = c.descriptor;
  const auto element_size = static_cast<std::int64_t>(info(d.input.type).size);
  const int threads = static_cast<int>(1 + random(4));
  const ArgPlan plan = plan_arg(d, c.has_values ? &c.values : nullptr, threads);
  const bool last_wins = d.axis_direction == dmlcpu::AxisDirection::kDecreasing;
  note(plan);
  if (plan.strategy == ArgStrategy::kColumns) check_tiles(plan, element_size);
  Results want = expected(d, last_wins);
  Results got = visited(c, plan);
  CHECK(got.size() == want.size());
  bool good = true;
  for (auto& [output, visits] : got) {
    for (auto& [offset, index] : visits) {
      // Values are looked up by what the plan says of the first element.
      if (c.has_values && d.input.sizes[d.axes.values[0]] > 1) {
        good = good && offset - index * plan.value_stride * (last_wins ? -1 : 1) ==
                           visits.front().first -
                               visits.front().second * plan.value_stride * (last_wins ? -1 : 1);
      }
    }
    if (plan.strategy == ArgStrategy::kFill) {
      CHECK(visits.size() == 1);
      visits.front().second = 0;
    }
    for (auto& visit : visits) {
      if (last_wins) visit.second = plan.reduced_count - 1 - visit.second;
    }
    std::sort(visits.begin(), visits.end());
    // The left positions alone take elements twice.
    const auto end = std::unique(visits.begin(), visits.end());
    good = good && (plan.columns.left || end == visits.end());
    visits.erase(end, visits.end());
    std::sort(want[output].begin(), want[output].end());
    good = good && visits == want[output];
  }
  CHECK(good);
  if (!good) std::cerr << to_text(plan);
}

}  // namespace

int main() {
  for (int i = 0; i < 5000 && check::failures < 20; ++i) check_case(random_case());
  for (const char* mode : {"fill",
                           "rows",
                           "in place",
                           "in place periods",
                           "in place of several axes",
                           "in place groups",
                           "in place widened of several results",
                           "in place widened of several results left",
                           "left in outer reduced axes",
                           "in place widened",
                           "widened backwards",
                           "in place split reduced",
                           "in place split positions",
                           "in place split lanes",
                           "transposed",
                           "transposed periods",
                           "transposed of several axes",
                           "transposed groups",
                           "transposed widened",
                           "transposed split positions",
                           "blocks",
                           "reversed blocks",
                           "transposed inside of reduced axes",
                           "strided",
                           "strided periods",
                           "strided of several axes",
                           "strided groups",
                           "strided widened",
                           "strided widened left",
                           "strided split positions",
                           "strided inside of reduced axes"}) {
    if (met.count(mode) == 0) std::cerr << "not met: " << mode << "\n";
    CHECK(met.count(mode) == 1);
  }
  return check::failures == 0 ? 0 : 1;
}
