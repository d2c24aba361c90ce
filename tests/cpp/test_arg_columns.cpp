// The kernels of argmin and argmax of columns against an element-by-element reference
// implementation, on every instruction set: edges of vectors, tiles, passes, periods and counters,
// each packing, merged and written results. What decides is put at those edges; guard bytes are
// around all that kernels write.
#include "arg_columns_check.hpp"
#include "interface/tuning.hpp"

using cases::Case;
using cases::check_case;
using cases::make_case;
using cases::pool_of;
using cases::sign_of;
using cases::Type;
using cases::type_of;
using dmlcpu::DataType;
using dmlcpu::Packing;
using rng::any_of;
using rng::random;

namespace {

/// Bytes of the narrowest rows that are taken several at a time.
constexpr std::int64_t kWide = dmlcpu::tuning::kWideRowsBytes;

/// Lanes around one, two and four vectors of each instruction set, those of wide rows, and single
/// ones.
std::vector<std::int64_t> edges_of_lanes(std::int64_t size) {
  std::vector<std::int64_t> edges = {1, 2, 3};
  const std::int64_t widths[] = {16, 32, 64, 128, 256, kWide, kWide + 32, kWide + 64};
  for (const std::int64_t bytes : widths) {
    for (const std::int64_t d : {-1, 0, 1})
      edges.push_back(std::max<std::int64_t>(bytes / size + d, 1));
  }
  return edges;
}

Packing random_packing() {
  return any_of({Packing::kInPlace, Packing::kTransposed, Packing::kStrided});
}

/// Gives results several lanes now and then: a half, a third or a fifth of the lanes are results,
/// or one is.
void maybe_give_lanes(Case& c) {
  const dmlcpu::Columns& columns = c.call.columns;
  const std::int64_t lanes = columns.lanes.count;
  const std::int64_t by = any_of<std::int64_t>({1, 1, 2, 3, 5, 6, lanes});
  if (by == 1 || lanes % by != 0 || by > 256) return;
  // A tile has all lanes of a result; that of blocks is laid out already.
  if (dmlcpu::has_blocks(columns.tiling.packing) && columns.tiling.lanes < lanes) return;
  const std::int64_t outer = any_of<std::int64_t>({1, by, 2, 3});
  if (by % outer == 0) give_lanes(c, outer, by / outer);
}

void test_edges_of_vectors(DataType type) {
  const auto size = static_cast<std::int64_t>(dmlcpu::info(type).size);
  for (const std::int64_t lanes : edges_of_lanes(size)) {
    for (const Packing packing : {Packing::kInPlace, Packing::kTransposed, Packing::kStrided}) {
      const std::int64_t period = 1 + random(2 * dmlcpu::tuning::kPassRows + 2);
      const std::int64_t periods = any_of<std::int64_t>({1, 1, 2, 3});
      const std::int64_t missing = periods == 1 ? 0 : random(period);
      const std::int64_t groups = any_of<std::int64_t>({1, 1, 2, 3});
      Case c = make_case(type, {packing, period * periods - missing, period, groups, lanes});
      maybe_give_lanes(c);
      fill_from(c, some_elements(c.type));
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
  const std::uint64_t common = t.is_float ? sign + t.infinity / 2 : any_of<std::uint64_t>({0, 5});
  constexpr std::int64_t kPositions = 7;
  for (const std::uint64_t special : pool) {
    for (std::int64_t position = 0; position < kPositions; ++position) {
      const std::int64_t lanes = any_of(
          {std::int64_t{1}, 16 / t.size, 64 / t.size + 1, 256 / t.size + 1, kWide / t.size + 1});
      const std::int64_t groups = any_of<std::int64_t>({1, 2});
      Case c = make_case(type, {random_packing(), kPositions, kPositions, groups, lanes});
      const std::int64_t lane = any_of({std::int64_t{0}, lanes / 2, lanes - 1});
      const std::uint64_t other =
          pool[static_cast<std::size_t>(random(static_cast<std::int64_t>(pool.size())))];
      fill(c, [&](std::int64_t i, std::int64_t g, std::int64_t l) {
        if (l == lane && g == groups - 1 && i == position) return special;
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
  const auto check_edges = [&](Case& c) {
    const std::int64_t positions = c.call.columns.walk.n;
    const std::int64_t edges[] = {0, 1, wrap - 1, wrap, wrap + 1, positions - 1, positions / 2};
    for (const bool ties : {false, true}) {
      fill(c, [&](std::int64_t i, std::int64_t, std::int64_t l) {
        const std::int64_t edge = edges[l % 7];
        return static_cast<std::uint64_t>(i == edge || (ties && i > edge) ? 9 : 0);
      });
      check_merged(c, dmlcpu::Ordering::kLargestNanFirst);
      check_merged(c, dmlcpu::Ordering::kSmallestNanLast);
    }
  };
  for (const Packing packing : {Packing::kInPlace, Packing::kTransposed, Packing::kStrided}) {
    const std::int64_t period = packing == Packing::kTransposed ? n / 5 : n;
    Case c = make_case(type, {packing, n / period * period, period, 1, 16 / t.size + 2});
    c.call.columns.tiling.pass = period;
    check_edges(c);
  }
  // In registers at most as many.
  Case rows;
  while (rows.call.columns.tiling.packing != Packing::kRegisters) {
    rows = make_case(type, {Packing::kTransposed, wrap, wrap, 1, 64 / t.size + 2});
  }
  // As plans have it: each pass transposes the whole row.
  rows.call.columns.tiling.pass = wrap;
  check_edges(rows);
}

/// Tiles, of groups and of lanes, in which all are equal: the first position of the first one wins,
/// whatever is merged first.
void test_ties(DataType type) {
  for (int i = 0; i < 30; ++i) {
    const std::int64_t period = 1 + random(6);
    Case c = make_case(
        type, {random_packing(), period * (1 + random(4)), period, 1 + random(4), 1 + random(70)});
    dmlcpu::Columns& columns = c.call.columns;
    if (!has_blocks(columns.tiling.packing)) columns.tiling.lanes = 1 + random(columns.lanes.count);
    maybe_give_lanes(c);
    fill(c, [](std::int64_t, std::int64_t, std::int64_t) { return std::uint64_t{3}; });
    check_case(c);
  }
}

}  // namespace

int main() {
  cases::for_each_kernel([](DataType type) {
    for (int i = 0; i < 6; ++i) test_edges_of_vectors(type);
    for (int i = 0; i < 4; ++i) test_one_element_decides(type);
    test_ties(type);
    if (dmlcpu::info(type).size < 4) test_counters_that_wrap(type);
  });
  return check::failures == 0 ? 0 : 1;
}
