// The kernels of argmin and argmax of columns against an element-by-element reference
// implementation, on every instruction set: edges of vectors, tiles, passes, periods and counters,
// each packing, merged and written results. What decides is put at those edges; guard bytes are
// around all that kernels write.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "arg_columns_case.hpp"
#include "check.hpp"
#include "dmlcpu/runtime.hpp"
#include "kernels/dispatch.hpp"

using cases::Case;
using cases::Guarded;
using cases::kGuard;
using cases::make_case;
using cases::pool_of;
using cases::sign_of;
using cases::Type;
using cases::type_of;
using dmlcpu::ArgColumns;
using dmlcpu::DataType;
using dmlcpu::Packing;
using rng::any_of;
using rng::random;

namespace {

struct Found {
  std::int64_t index;
  std::uint64_t bits;
};

/// The first of the best elements of `results` results of a group, by index.
std::vector<Found> expected(const Case& c, const ArgColumns& a, dmlcpu::Ordering ordering) {
  std::vector<Found> all;
  for (std::int64_t g = 0; g < c.columns.groups; ++g) {
    for (std::int64_t r = 0; r < a.results; ++r) {
      Found best{};
      bool first = true;
      for (std::int64_t l = r; l < c.columns.lanes; l += a.results) {
        for (std::int64_t i = a.columns.first; i < a.columns.last; ++i) {
          const Found x = {a.index_base + i * a.index_step + l / a.results * a.widened_step,
                           c.bits(i, g, l)};
          const bool ties = !first && !beats(c.type, ordering, x.bits, best.bits) &&
                            !beats(c.type, ordering, best.bits, x.bits);
          // Written results have the first position, whichever way indices go.
          const bool earlier = a.keys != nullptr && x.index < best.index;
          if (first || beats(c.type, ordering, x.bits, best.bits) || (ties && earlier)) best = x;
          first = false;
        }
      }
      all.push_back(best);
    }
  }
  return all;
}

ArgColumns call_of(const Case& c, Guarded& scratch) {
  ArgColumns a{};
  a.columns = c.columns;
  a.columns.data = c.memory.data() + c.origin * c.type.size;
  a.columns.rows = c.rows.data();
  a.columns.block_offsets = c.rows.data() + c.columns.period;
  a.index_step = 1;
  a.prefetches = random(2) == 0;
  a.scratch = scratch.data();
  a.starts = true;
  a.results = c.columns.lanes;
  return a;
}

void run(const Case& c, dmlcpu::Ordering ordering, const ArgColumns& a) {
  dmlcpu::kernels().arg->columns[static_cast<int>(c.type.type)][static_cast<int>(ordering)](a);
}

/// Merged at once, or in two calls, the later positions first or last.
void check_merged(const Case& c, dmlcpu::Ordering ordering) {
  Guarded scratch(arg_columns_scratch_bytes(c.columns, c.type.size));
  ArgColumns a = call_of(c, scratch);
  a.index_base = random(50);
  a.index_step = any_of<std::int64_t>({1, 1, 3, 100});
  for (const std::int64_t by : {1, 2, 3, 5}) {
    if (c.columns.lanes % by == 0 && random(2) == 0) a.results = c.columns.lanes / by;
  }
  if (random(4) == 0) a.results = 1;
  a.widened_step = any_of<std::int64_t>({1, -1, 7, 1000});
  const std::int64_t count = c.columns.groups * a.results;
  Guarded keys(8 * count);
  Guarded indices(8 * count);
  a.keys = reinterpret_cast<std::int64_t*>(keys.data());
  a.indices = reinterpret_cast<std::int64_t*>(indices.data());
  const std::vector<Found> want = expected(c, a, ordering);
  const std::int64_t n = c.columns.last;
  const std::int64_t middle = random(2) == 0 ? 0 : random(n);
  const bool reversed = random(2) == 0;
  for (int part = 0; part < 2; ++part) {
    const bool is_first = (part == 0) != reversed;
    a.columns.first = is_first ? 0 : middle;
    a.columns.last = is_first ? middle : n;
    if (a.columns.first == a.columns.last) continue;
    run(c, ordering, a);
    a.starts = false;
  }
  CHECK(scratch.is_intact() && keys.is_intact() && indices.is_intact());
  bool good = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const Found& x = want[static_cast<std::size_t>(i)];
    good = good && a.indices[i] == x.index;
    if (i == 0) continue;
    // Keys are in the order of the elements.
    const Found& y = want[static_cast<std::size_t>(i - 1)];
    good = good && (a.keys[i] > a.keys[i - 1]) == beats(c.type, ordering, x.bits, y.bits) &&
           (a.keys[i] < a.keys[i - 1]) == beats(c.type, ordering, y.bits, x.bits);
  }
  CHECK(good);
}

/// Written in the output's type, with values or without.
void check_written(const Case& c, dmlcpu::Ordering ordering) {
  Guarded scratch(arg_columns_scratch_bytes(c.columns, c.type.size));
  ArgColumns a = call_of(c, scratch);
  a.index_base = any_of<std::int64_t>({0, 7, 5000});
  a.index_step = any_of<std::int64_t>({1, -1, 3});
  if (a.index_step < 0) a.index_base += c.columns.last;
  a.columns.first = random(3) == 0 ? random(c.columns.last) : 0;
  const std::vector<Found> want = expected(c, a, ordering);
  dmlcpu::ArgOutput& out = a.output;
  out.index_size = any_of<std::int64_t>({4, 8});
  const std::int64_t groups = c.columns.groups;
  const std::int64_t lanes = c.columns.lanes;
  // Lanes or groups beside each other, with gaps or without; the memory of gaps stays.
  const auto strides = [&](std::int64_t& group_stride, std::int64_t& lane_stride) {
    const std::int64_t step = any_of<std::int64_t>({1, 1, 2, 3});
    const bool lanes_inside = random(2) == 0;
    lane_stride = lanes_inside ? step : step * groups;
    group_stride = lanes_inside ? step * lanes : step;
    return step * lanes * groups;
  };
  const std::int64_t span = strides(out.index_group_stride, out.index_lane_stride);
  const std::int64_t value_span = strides(out.value_group_stride, out.value_lane_stride);
  Guarded indices(span * out.index_size);
  Guarded values(value_span * c.type.size);
  out.indices = indices.data();
  if (random(4) != 0) out.values = values.data();
  run(c, ordering, a);
  CHECK(scratch.is_intact() && indices.is_intact() && values.is_intact());
  // Put the guard over all that should be written, after it was compared.
  bool good = true;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const Found& x = want[static_cast<std::size_t>(g * lanes + l)];
      const auto take = [&](char* at, std::uint64_t expected_bits, std::int64_t size) {
        good = good && std::memcmp(at, &expected_bits, static_cast<std::size_t>(size)) == 0;
        std::memset(at, kGuard, static_cast<std::size_t>(size));
      };
      const std::int64_t at = g * out.index_group_stride + l * out.index_lane_stride;
      take(indices.data() + at * out.index_size, static_cast<std::uint64_t>(x.index),
           out.index_size);
      if (out.values == nullptr) continue;
      const std::int64_t value = g * out.value_group_stride + l * out.value_lane_stride;
      take(values.data() + value * c.type.size, x.bits, c.type.size);
    }
  }
  const auto is_guard = [](char byte) { return byte == kGuard; };
  good = good && std::all_of(indices.data(), indices.data() + span * out.index_size, is_guard);
  good = good && std::all_of(values.data(), values.data() + value_span * c.type.size, is_guard);
  CHECK(good);
}

void check_case(const Case& c) {
  for (int ordering = 0; ordering < dmlcpu::kOrderingCount; ++ordering) {
    check_merged(c, static_cast<dmlcpu::Ordering>(ordering));
    if (c.columns.last > dmlcpu::arg_run_positions(c.type.size)) continue;
    check_written(c, static_cast<dmlcpu::Ordering>(ordering));
  }
}

/// Lanes around one, two and four vectors of each instruction set, and single ones.
std::vector<std::int64_t> edges_of_lanes(std::int64_t size) {
  std::vector<std::int64_t> edges = {1, 2, 3};
  for (const std::int64_t bytes : {16, 32, 64, 128, 256}) {
    for (const std::int64_t d : {-1, 0, 1})
      edges.push_back(std::max<std::int64_t>(bytes / size + d, 1));
  }
  return edges;
}

Packing random_packing() {
  return any_of({Packing::kNone, Packing::kTransposed, Packing::kStrided});
}

void test_edges_of_vectors(DataType type) {
  const auto size = static_cast<std::int64_t>(dmlcpu::info(type).size);
  const std::vector<std::uint64_t> pool = pool_of(type_of(type));
  for (const std::int64_t lanes : edges_of_lanes(size)) {
    for (const Packing packing : {Packing::kNone, Packing::kTransposed, Packing::kStrided}) {
      const std::int64_t period = 1 + random(9);
      const std::int64_t periods = any_of<std::int64_t>({1, 1, 2, 3});
      Case c = make_case(type, {packing, period * periods, period, 1 + random(3), lanes});
      // All values, or few, so that single ones decide and others tie.
      const auto distinct = any_of<std::int64_t>({1, 2, 3, static_cast<std::int64_t>(pool.size())});
      std::vector<std::uint64_t> few;
      for (std::int64_t i = 0; i < distinct; ++i) {
        few.push_back(
            pool[static_cast<std::size_t>(random(static_cast<std::int64_t>(pool.size())))]);
      }
      if (distinct > 3) few = pool;
      fill(c, [&](std::int64_t, std::int64_t, std::int64_t) {
        return few[static_cast<std::size_t>(random(static_cast<std::int64_t>(few.size())))];
      });
      check_case(c);
    }
  }
}

/// One element of each kind at each position of one lane: NaN in the first and last position, after
/// or before those of earlier passes; infinities of both signs, whose sum is NaN; two zeros.
void test_one_element_decides(DataType type) {
  const Type t = type_of(type);
  const std::uint64_t sign = sign_of(t);
  const std::vector<std::uint64_t> pool = pool_of(t);
  const std::uint64_t common = t.is_float ? sign + t.infinity / 2 : 5;
  constexpr std::int64_t kPositions = 7;
  for (const std::uint64_t special : pool) {
    for (std::int64_t position = 0; position < kPositions; ++position) {
      const std::int64_t lanes = any_of(
          {std::int64_t{1}, 16 / t.size, 64 / t.size + 1, 256 / t.size + 1, 320 / t.size - 1});
      Case c = make_case(type, {random_packing(), kPositions, kPositions, 2, lanes});
      const std::int64_t lane = any_of({std::int64_t{0}, lanes / 2, lanes - 1});
      const std::uint64_t other =
          pool[static_cast<std::size_t>(random(static_cast<std::int64_t>(pool.size())))];
      fill(c, [&](std::int64_t i, std::int64_t g, std::int64_t l) {
        if (l == lane && g == 1 && i == position) return special;
        return l == lane && i == (position + 2) % kPositions ? other : common;
      });
      check_case(c);
    }
  }
}

/// More positions than the counter of the element's width holds: the only extreme, or ties, at its
/// edges.
void test_counters_that_wrap(DataType type) {
  const Type t = type_of(type);
  const std::int64_t wrap = dmlcpu::arg_run_positions(t.size);
  const std::int64_t n = 2 * wrap + 3;
  for (const Packing packing : {Packing::kNone, Packing::kTransposed, Packing::kStrided}) {
    const std::int64_t period = packing == Packing::kTransposed ? n / 5 : n;
    const std::int64_t positions = n / period * period;
    Case c = make_case(type, {packing, positions, period, 1, 16 / t.size + 2});
    c.columns.pass = period;
    const std::int64_t edges[] = {0, 1, wrap - 1, wrap, wrap + 1, positions - 1, positions / 2};
    for (const bool ties : {false, true}) {
      fill(c, [&](std::int64_t i, std::int64_t, std::int64_t l) {
        const std::int64_t edge = edges[l % 7];
        return static_cast<std::uint64_t>(i == edge || (ties && i > edge) ? 9 : 5);
      });
      check_merged(c, dmlcpu::Ordering::kLargestNanFirst);
      check_merged(c, dmlcpu::Ordering::kSmallestNanLast);
    }
  }
}

/// Tiles, of groups and of lanes, in which all are equal: the first position of the first one wins,
/// whatever is merged first.
void test_ties(DataType type) {
  for (int i = 0; i < 30; ++i) {
    const std::int64_t period = 1 + random(6);
    Case c = make_case(
        type, {random_packing(), period * (1 + random(4)), period, 1 + random(4), 1 + random(70)});
    c.columns.tile_lanes = c.columns.packing == Packing::kTransposed ? c.columns.tile_lanes
                                                                     : 1 + random(c.columns.lanes);
    fill(c, [](std::int64_t, std::int64_t, std::int64_t) { return std::uint64_t{3}; });
    check_case(c);
  }
}

}  // namespace

int main() {
  for (const std::string_view name : dmlcpu::instruction_sets()) {
    dmlcpu::use_instruction_set(name);
    for (int type = 0; type < dmlcpu::kDataTypeCount; ++type) {
      const auto data_type = static_cast<DataType>(type);
      if (data_type == DataType::kBool) continue;  // its kernels are uint8's
      const int before = check::failures;
      for (int i = 0; i < 6; ++i) test_edges_of_vectors(data_type);
      for (int i = 0; i < 4; ++i) test_one_element_decides(data_type);
      test_ties(data_type);
      if (dmlcpu::info(data_type).size < 4) test_counters_that_wrap(data_type);
      if (check::failures > before) {
        std::cerr << name << ", " << dmlcpu::info(data_type).name << "\n";
      }
    }
  }
  return check::failures == 0 ? 0 : 1;
}
