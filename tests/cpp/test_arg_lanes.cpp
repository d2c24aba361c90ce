// The kernels of argmin and argmax of columns whose results have several lanes each, which are
// merged: against an element-by-element reference implementation, on every instruction set.
//
// Random data misses most of what may go wrong: a result is wrong only if the two elements that tie
// are in certain lanes and positions, or where steps overlap and take them twice. Here every result
// of a case has a pair of its own.
#include "arg_columns_check.hpp"

using cases::Case;
using cases::check_case;
using cases::check_in_order;
using cases::CutShape;
using cases::make_cut;
using dmlcpu::DataType;
using dmlcpu::Ordering;
using dmlcpu::Packing;
using rng::any_of;
using rng::random;

namespace {

constexpr std::int64_t kAll = 1'000'000;  ///< of a table that holds all positions

/// Groups of a few vectors are transposed before they are merged, single ones are not.
std::int64_t some_groups() { return any_of<std::int64_t>({1, 1, 2, 3, 4, 15, 16, 17, 64, 67}); }

/// Side by side in either direction, or apart.
std::int64_t some_stride(std::int64_t results) {
  if (results > 1) return any_of({results, -results});
  return any_of<std::int64_t>({1, 1, -1, -1, 2, -3});
}

/// Indices of an axis at the edges of lanes and positions, and of the last step: those it takes
/// alone, and those it takes again.
std::vector<std::int64_t> edges_of_axis(std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> edges;
  for (const std::int64_t row :
       {std::int64_t{0}, std::int64_t{1}, size / count / 2, size / count - 1, size / count}) {
    for (const std::int64_t lane :
         {std::int64_t{0}, std::int64_t{1}, count / 2, count - 2, count - 1}) {
      edges.push_back(row * count + lane);
    }
  }
  for (const std::int64_t at : {size - 1, size - 2, size - count, size - count + 1}) {
    edges.push_back(at);
  }
  edges.erase(std::remove_if(edges.begin(), edges.end(),
                             [size](std::int64_t at) { return at < 0 || at >= size; }),
              edges.end());
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Two elements of each result tie, of every pair of edges: the first lane at a later position with
/// the last at an earlier one, and with itself.
void test_pairs_that_tie(DataType type, const CutShape& shape) {
  const std::vector<std::int64_t> edges = edges_of_axis(shape.size, shape.count);
  const auto many = static_cast<std::int64_t>(edges.size());
  const std::int64_t results = shape.groups * shape.results;
  for (std::int64_t done = 0; done < many * many; done += results) {
    Case c = make_cut(type, shape);
    const auto wins = [&](std::int64_t at, std::int64_t g, std::int64_t r) {
      const std::int64_t pair = (done + g * shape.results + r) % (many * many);
      return at == edges[static_cast<std::size_t>(pair / many)] ||
             at == edges[static_cast<std::size_t>(pair % many)];
    };
    fill(c, [&](std::int64_t at, std::int64_t g, std::int64_t r) {
      return std::uint64_t{wins(at, g, r) ? 2U : 1U};
    });
    check_in_order(c, Ordering::kLargestNanFirst);
    fill(c, [&](std::int64_t at, std::int64_t g, std::int64_t r) {
      return std::uint64_t{wins(at, g, r) ? 1U : 2U};
    });
    check_in_order(c, Ordering::kSmallestNanLast);
  }
}

/// Counts of lanes that are merged in pairs, some of which have none; with and without an overlap,
/// of the last step in the table or of the last period.
void test_ties(DataType type) {
  for (const std::int64_t results : {1, 2, 3, 7}) {
    const std::int64_t groups = some_groups();
    const std::int64_t count = any_of<std::int64_t>({2, 3, 5, 8, 16, 17, 31, 64});
    const std::int64_t walked = 2 + random(5);
    const std::int64_t left = random(3) == 0 ? 0 : random(count);
    const std::int64_t period = any_of<std::int64_t>({kAll, walked, walked - 1, 1, 2, 3});
    const CutShape shape = {walked * count + left, count, results, groups,
                            some_stride(results),  period};
    test_pairs_that_tie(type, shape);
  }
}

/// Elements of few values and of many, NaNs and zeros of either sign among them: those that are
/// found are written with their own bits.
void test_values(DataType type) {
  for (const std::int64_t results : {1, 1, 1, 2, 5}) {
    const std::int64_t count = 2 + random(70);
    const std::int64_t size = count * (2 + random(4)) + (random(3) == 0 ? 0 : random(count));
    const std::int64_t period = any_of<std::int64_t>({kAll, 1, 2, 3});
    Case c = make_cut(type, {size, count, results, some_groups(), some_stride(results), period});
    fill_from(c, cases::some_elements(c.type));
    check_case(c);
    // A better element at each place of the last step, and just before that step.
    const std::uint64_t worst = c.type.is_float ? sign_of(c.type) + c.type.infinity : 0;
    const std::uint64_t better = c.type.is_float ? sign_of(c.type) : 1;
    fill(c, [&](std::int64_t at, std::int64_t g, std::int64_t r) {
      return at == size - 1 - (g * results + r) % (count + 1) ? better : worst;
    });
    check_case(c);
  }
}

/// All ranks and positions that a byte counts, 256 of each, and more positions than it does: these
/// then take several runs, the last of which may be the last step alone.
void test_counters_that_wrap(DataType type) {
  for (const std::int64_t count : {255, 256}) {
    for (const std::int64_t walked : {255, 256, 257}) {
      for (const std::int64_t left : {0, 1, 100}) {
        const std::int64_t stride = any_of<std::int64_t>({1, -1, 2, -2});
        const std::int64_t period = any_of<std::int64_t>({kAll, 100, walked});
        const std::int64_t size = walked * count + left;
        Case c = make_cut(type, {size, count, 1, 2, stride, period});
        c.call.columns.tiling.pass = c.call.columns.walk.period;
        const std::int64_t firsts[] = {count - 1, size - 1, 254 * count + 255, size - count, 254};
        for (std::int64_t first : firsts) {
          // Ties with the first lane at the next position, the last one, and the axis' end.
          fill(c, [&](std::int64_t at, std::int64_t g, std::int64_t) {
            const bool ties = g == 1 && (at == first / count * count + count || at == size - 1);
            return std::uint64_t{at == first || (at > first && ties) ? 9U : 0U};
          });
          check_in_order(c, Ordering::kLargestNanFirst);
        }
      }
    }
  }
}

/// Lanes of an outer axis, of an inner one, and of both, in any order of memory: what decides first
/// is the outer rank, then the position, then the inner rank. Ties of every pair at the edges.
void test_lanes_of_several_axes(DataType type) {
  const std::int64_t kinds[][2] = {{3, 1}, {1, 3}, {3, 2}, {2, 5}, {16, 16}, {256, 1}};
  for (const auto& [outer, inner] : kinds) {
    constexpr std::int64_t kPositions = 7;
    const Packing packing = any_of({Packing::kInPlace, Packing::kStrided, Packing::kTransposed});
    const std::int64_t results = any_of<std::int64_t>({1, 1, 2});
    const std::int64_t period = any_of<std::int64_t>({kPositions, 3});
    const std::int64_t lanes = outer * inner * results;
    Case c = cases::make_case(type, {packing, kPositions, period, some_groups(), lanes});
    if (dmlcpu::has_blocks(packing) && c.call.columns.tiling.lanes < lanes) continue;
    give_lanes(c, outer, inner);
    const std::int64_t all = outer * kPositions * inner;
    const std::int64_t edges[] = {0,       1,       inner - 1,      inner, kPositions * inner,
                                  all / 2, all - 1, all - 1 - inner};
    const auto wins = [&](std::int64_t at, std::int64_t pair) {
      return at == std::clamp<std::int64_t>(edges[pair / 8 % 8], 0, all - 1) ||
             at == std::clamp<std::int64_t>(edges[pair % 8], 0, all - 1);
    };
    for (std::int64_t done = 0; done < 64; done += c.call.columns.lanes.groups * results) {
      fill(c, [&](std::int64_t at, std::int64_t g, std::int64_t r) {
        return std::uint64_t{wins(at, done + g * results + r) ? 2U : 1U};
      });
      check_in_order(c, Ordering::kLargestNanFirst);
    }
    fill_from(c, cases::some_elements(c.type));
    check_case(c);
  }
}

}  // namespace

int main() {
  cases::for_each_kernel([](DataType type) {
    test_ties(type);
    for (int i = 0; i < 6; ++i) test_values(type);
    if (dmlcpu::info(type).size == 1) test_counters_that_wrap(type);
    for (int i = 0; i < 4; ++i) test_lanes_of_several_axes(type);
  });
  return check::failures == 0 ? 0 : 1;
}
