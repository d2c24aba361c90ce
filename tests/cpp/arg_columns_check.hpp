// Calls of the kernels of argmin and argmax of columns, against an element-by-element reference
// implementation.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "arg_columns_case.hpp"
#include "check.hpp"
#include "instruction_sets.hpp"
#include "kernels/dispatch.hpp"

namespace cases {

struct Found {
  std::int64_t index;
  std::uint64_t bits;
};

/// The best element of each result of each group, of equal ones that of the lowest index.
inline std::vector<Found> expected(const Case& c, dmlcpu::Ordering ordering) {
  std::vector<Found> all;
  const ArgColumns& a = c.call;
  for (std::int64_t g = 0; g < a.columns.lanes.groups; ++g) {
    for (std::int64_t r = 0; r < a.results; ++r) {
      Found best{};
      bool first = true;
      for (std::int64_t l = r; l < a.columns.lanes.count; l += a.results) {
        for (std::int64_t i = 0; i < a.columns.walk.n; ++i) {
          const Found x = {c.index(i, l), c.bits(i, g, l)};
          const bool ties = !first && !beats(c.type, ordering, best.bits, x.bits);
          if (first || beats(c.type, ordering, x.bits, best.bits) ||
              (ties && x.index < best.index)) {
            best = x;
          }
          first = false;
        }
      }
      all.push_back(best);
    }
  }
  return all;
}

inline Guarded scratch_for(const Case& c) {
  dmlcpu::ArgIndices indices;
  indices.outer = c.outer.view();
  indices.inner = c.inner.view();
  return Guarded(
      arg_columns_scratch_bytes(c.call.columns.tiling, rank_kinds(indices), c.type.size));
}

/// The call with memory and tables.
inline ArgColumns call_of(const Case& c, Guarded& scratch) {
  ArgColumns a = c.call;
  a.columns.data = c.memory.data() + c.origin * c.type.size;
  a.columns.walk.offsets = c.offsets.data();
  a.indices.table = c.table.empty() ? nullptr : c.table.data();
  a.indices.outer = c.outer.view();
  a.indices.inner = c.inner.view();
  if (random(2) == 0) a.columns.tiling.ahead = 0;
  a.scratch = scratch.data();
  a.starts = true;
  return a;
}

/// The call for positions [first, last) alone: whole periods, or a part of the only one.
inline ArgColumns part_of(const Case& c, ArgColumns a, std::int64_t first, std::int64_t last) {
  dmlcpu::Walk& walk = a.columns.walk;
  const bool in_registers = a.columns.tiling.packing == Packing::kRegisters;
  const std::int64_t n = walk.n;
  const auto move_data = [&](std::int64_t elements) {
    a.columns.data = static_cast<const char*>(a.columns.data) + elements * c.type.size;
  };
  const auto move_tables = [&](std::int64_t positions) {
    walk.offsets += positions;
    if (a.indices.table != nullptr) a.indices.table += positions;
  };
  walk.n = last - first;
  a.indices.last_from -= first;
  if (a.indices.table == nullptr) a.indices.base += first * a.indices.step;
  if (in_registers) {
    move_data(first);
  } else if (walk.period >= n) {
    move_tables(first);
    walk.period = walk.n;
    a.columns.tiling.pass = std::min(a.columns.tiling.pass, walk.period);
  } else {
    const std::int64_t periods = first / walk.period;
    move_data(periods * walk.period_stride);
    if (a.indices.table != nullptr) a.indices.base += periods * a.indices.period_step;
    // The last of several periods overlaps, which now is none, or the only one.
    const bool is_only = first > 0 && last == n && walk.n <= walk.period;
    if (is_only) {
      move_data(walk.last_offset);
      move_tables(walk.last_skip);
    }
    if (is_only || last < n) walk.last_offset = walk.last_skip = 0;
  }
  return a;
}

inline void run(const Case& c, dmlcpu::Ordering ordering, const ArgColumns& a) {
  dmlcpu::kernels().arg[static_cast<int>(c.type.type)][static_cast<int>(ordering)].columns(a);
}

/// Merged results: of one call, or of two, one for the earlier and one for the later positions, in
/// either order.
inline void check_merged(const Case& c, dmlcpu::Ordering ordering) {
  Guarded scratch = scratch_for(c);
  ArgColumns a = call_of(c, scratch);
  const std::int64_t count = a.columns.lanes.groups * a.results;
  Guarded keys(8 * count);
  Guarded indices(8 * count);
  a.best_keys = reinterpret_cast<std::int64_t*>(keys.data());
  a.best_indices = reinterpret_cast<std::int64_t*>(indices.data());
  const std::vector<Found> want = expected(c, ordering);
  const std::int64_t n = a.columns.walk.n;
  const std::int64_t period = a.columns.walk.period;
  std::int64_t middle = random(2) == 0 ? 0 : random(n);
  if (period < n) middle = middle / period * period;
  // Squares of parts of rows would end after them.
  const std::int64_t least = dmlcpu::kSquareBytes / c.type.size;
  if (a.columns.tiling.packing == Packing::kRegisters && std::min(middle, n - middle) < least)
    middle = 0;
  const bool reversed = random(2) == 0;
  for (int part = 0; part < 2; ++part) {
    const bool is_first = (part == 0) != reversed;
    if (is_first && middle == 0) continue;
    run(c, ordering, is_first ? part_of(c, a, 0, middle) : part_of(c, a, middle, n));
    a.starts = false;
  }
  CHECK(scratch.is_intact() && keys.is_intact() && indices.is_intact());
  bool good = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const Found& x = want[static_cast<std::size_t>(i)];
    good = good && a.best_indices[i] == x.index;
    if (i == 0) continue;
    // Keys are in the order of the elements.
    const Found& y = want[static_cast<std::size_t>(i - 1)];
    good = good &&
           (a.best_keys[i] > a.best_keys[i - 1]) == beats(c.type, ordering, x.bits, y.bits) &&
           (a.best_keys[i] < a.best_keys[i - 1]) == beats(c.type, ordering, y.bits, x.bits);
  }
  CHECK(good);
}

/// Written in the output's type, counted from either end, with values or without.
inline void check_written(const Case& c, dmlcpu::Ordering ordering) {
  Guarded scratch = scratch_for(c);
  ArgColumns a = call_of(c, scratch);
  const std::vector<Found> want = expected(c, ordering);
  dmlcpu::Outputs& out = a.outputs;
  out.index_size = any_of<std::int64_t>({4, 8});
  a.indices.reversed = random(2) == 0;
  a.indices.last = 1'000'000;
  const std::int64_t groups = a.columns.lanes.groups;
  const std::int64_t results = a.results;
  // Results or groups beside each other, with gaps or without; the memory of gaps stays.
  const auto strides = [&](dmlcpu::Output& output) {
    const std::int64_t step = any_of<std::int64_t>({1, 1, 2, 3});
    const bool lanes_inside = random(2) == 0;
    output.lane_stride = lanes_inside ? step : step * groups;
    output.group_stride = lanes_inside ? step * results : step;
    return step * results * groups;
  };
  const std::int64_t span = strides(out.indices);
  const std::int64_t value_span = strides(out.values);
  Guarded indices(span * out.index_size);
  Guarded values(value_span * c.type.size);
  out.indices.data = indices.data();
  if (random(4) != 0) out.values.data = values.data();
  run(c, ordering, a);
  CHECK(scratch.is_intact() && indices.is_intact() && values.is_intact());
  // Put the guard over all that should be written, after it was compared.
  bool good = true;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t r = 0; r < results; ++r) {
      const Found& x = want[static_cast<std::size_t>(g * results + r)];
      const auto take = [&](char* at, std::uint64_t expected_bits, std::int64_t size) {
        good = good &&
               std::memcmp(at, low_bytes(expected_bits, size), static_cast<std::size_t>(size)) == 0;
        std::memset(at, kGuard, static_cast<std::size_t>(size));
      };
      const std::int64_t at = g * out.indices.group_stride + r * out.indices.lane_stride;
      const std::int64_t index = a.indices.reversed ? a.indices.last - x.index : x.index;
      take(indices.data() + at * out.index_size, static_cast<std::uint64_t>(index), out.index_size);
      if (out.values.data == nullptr) continue;
      const std::int64_t value = g * out.values.group_stride + r * out.values.lane_stride;
      take(values.data() + value * c.type.size, x.bits, c.type.size);
    }
  }
  const auto is_guard = [](char byte) { return byte == kGuard; };
  good = good && std::all_of(indices.data(), indices.data() + span * out.index_size, is_guard);
  good = good && std::all_of(values.data(), values.data() + value_span * c.type.size, is_guard);
  CHECK(good);
}

/// Both, or merged alone where the kernel does not write.
inline void check_in_order(const Case& c, dmlcpu::Ordering ordering) {
  check_merged(c, ordering);
  const Columns& columns = c.call.columns;
  if (columns.walk.n > dmlcpu::arg_run_positions(c.type.size)) return;
  check_written(c, ordering);
}

inline void check_case(const Case& c) {
  for (int ordering = 0; ordering < dmlcpu::kOrderingCount; ++ordering) {
    check_in_order(c, static_cast<dmlcpu::Ordering>(ordering));
  }
}

/// Some of the pool's elements, one or several, so that single ones decide and others tie; or all.
inline std::vector<std::uint64_t> some_elements(const Type& type) {
  const std::vector<std::uint64_t> pool = pool_of(type);
  const auto size = static_cast<std::int64_t>(pool.size());
  const std::int64_t distinct = any_of<std::int64_t>({1, 2, 3, size});
  if (distinct == size) return pool;
  std::vector<std::uint64_t> few;
  for (std::int64_t i = 0; i < distinct; ++i) {
    few.push_back(pool[static_cast<std::size_t>(random(size))]);
  }
  return few;
}

/// Sets each element to one of some, at random.
inline void fill_from(Case& c, const std::vector<std::uint64_t>& elements) {
  fill(c, [&](std::int64_t, std::int64_t, std::int64_t) {
    return elements[static_cast<std::size_t>(random(static_cast<std::int64_t>(elements.size())))];
  });
}

/// Calls test(type) on each instruction set for each type.
template <class Test>
void for_each_kernel(Test&& test) {
  with_instruction_sets([&](const auto& name) {
    for (int type = 0; type < dmlcpu::kDataTypeCount; ++type) {
      const auto data_type = static_cast<DataType>(type);
      const int before = check::failures;
      test(data_type);
      if (check::failures > before) {
        std::cerr << name << ", " << dmlcpu::info(data_type).name << "\n";
      }
    }
  });
}

}  // namespace cases
