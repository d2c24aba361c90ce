// Top-k of columns, in slots or by comparison counting, against a sort of each column; on every
// instruction set.
#include <cmath>
#include <limits>
#include <string>

#include "interface/tuning.hpp"
#include "top_k_case.hpp"

namespace {

/// The k highest of each of `lanes` columns, in place, transposed or packed, inserted or sorted,
/// against each by itself. The columns of packed ones are every other element.
template <class T>
void compare_columns(int type, int width, const std::vector<T>& x, std::int64_t n,
                     std::int64_t lanes, dmlcpu::Packing packing, std::int64_t tile_lanes,
                     std::int64_t pass) {
  using dmlcpu::Packing;
  const bool transposed = packing == Packing::kTransposed;
  const std::int64_t apart = packing == Packing::kStrided ? 2 : 1;
  const std::int64_t stride = transposed ? 1 : lanes * apart;
  const std::int64_t lane_stride = transposed ? n : apart;
  std::vector<std::vector<std::int64_t>> want;
  for (std::int64_t l = 0; l < lanes; ++l) {
    want.push_back(sorted(x.data() + l * lane_stride, stride, n));
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(i * (transposed ? tile_lanes : stride));
  dmlcpu::TopKColumns a{};
  a.columns.data = x.data();
  a.columns.walk.n = n;
  a.columns.walk.period = n;
  a.columns.walk.offsets = rows.data();
  a.columns.lanes.groups = 1;
  a.columns.lanes.count = lanes;
  a.columns.lanes.stride = lane_stride;
  a.columns.tiling.packing = packing;
  a.columns.tiling.block = n;
  a.columns.tiling.groups = 1;
  a.columns.tiling.lanes = tile_lanes;
  a.columns.tiling.pass = n;
  a.element = &element(type);
  const auto check = [&](std::int64_t k, bool compares_all) {
    if (!transposed) {
      a.columns.tiling.pass =
          compares_all ? pass : std::max(pass, dmlcpu::top_k_slots(a.columns, k, false));
    }
    const std::int64_t bytes =
        dmlcpu::top_k_columns_scratch(a.columns, std::int64_t{1} << width, k, compares_all).bytes;
    const GuardedScratch scratch(bytes);
    std::vector<T> values(static_cast<std::size_t>(lanes * k));
    std::vector<std::uint64_t> indices(static_cast<std::size_t>(lanes * k));
    a.k = k;
    a.compares_all = compares_all;
    a.outputs = {{values.data(), 1, 0, k}, {indices.data(), 1, 0, k}, 8};
    a.scratch = scratch.get();
    dmlcpu::kernels().top_k->width[width].columns(a);
    scratch.check();
    for (std::int64_t l = 0; l < lanes; ++l) {
      for (std::int64_t j = 0; j < k; ++j) {
        const auto at = static_cast<std::size_t>(l * k + j);
        const auto index = static_cast<std::int64_t>(indices[at]);
        CHECK(index == want[static_cast<std::size_t>(l)][static_cast<std::size_t>(j)]);
        CHECK(values[at] == x[static_cast<std::size_t>(l * lane_stride + index * stride)]);
      }
    }
  };
  for (std::int64_t k = 2; k <= dmlcpu::tuning::kTopKColumnsMaxK && k <= n; k += 1 + k / 7) {
    check(k, false);
  }
  if (n > dmlcpu::tuning::kTopKComparisonsBytes / 2) return;
  for (const std::int64_t k : {std::int64_t{1}, n / 2, n - 1, n}) check(k, true);
}

/// Groups of lanes in place against each column by itself. Their rows follow each other without a
/// gap, in tiles of 3 groups, or not; results are by group, by slot, or not evenly spaced.
template <class T>
void compare_groups(int type, int width, const std::vector<T>& x, std::int64_t n,
                    std::int64_t lanes, std::int64_t gap, bool compares_all, std::int64_t k) {
  constexpr std::int64_t kGroups = 7;
  const std::int64_t stride = lanes + gap;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(i * stride);
  dmlcpu::TopKColumns a{};
  a.columns.data = x.data();
  a.columns.walk.n = a.columns.walk.period = a.columns.tiling.pass = n;
  a.columns.walk.offsets = rows.data();
  a.columns.lanes.groups = kGroups;
  a.columns.lanes.group_stride = n * stride;
  a.columns.lanes.count = a.columns.tiling.lanes = lanes;
  a.columns.lanes.stride = 1;
  a.columns.tiling.groups = gap == 0 ? 3 : 1;
  a.k = k;
  a.compares_all = compares_all;
  a.element = &element(type);
  const GuardedScratch scratch(
      dmlcpu::top_k_columns_scratch(a.columns, std::int64_t{1} << width, k, compares_all).bytes);
  a.scratch = scratch.get();
  const std::int64_t layouts[][3] = {{lanes, k * lanes, 1},       {3 * lanes, lanes, 1},
                                     {1, k, kGroups * k},         {kGroups, 1, kGroups * k},
                                     {kGroups * lanes, lanes, 1}, {lanes, k * lanes + 1, 1}};
  for (const auto& [k_stride, group_stride, lane_stride] : layouts) {
    // The second is of one tile, whose groups are not next to the next one's.
    a.columns.lanes.groups = k_stride == 3 * lanes ? 3 : kGroups;
    const auto size = static_cast<std::size_t>((k * lanes + 1) * kGroups);
    std::vector<T> values(size);
    std::vector<std::uint32_t> indices(size);
    a.outputs = {{values.data(), k_stride, group_stride, lane_stride},
                 {indices.data(), k_stride, group_stride, lane_stride},
                 4};
    dmlcpu::kernels().top_k->width[width].columns(a);
    scratch.check();
    for (std::int64_t g = 0; g < a.columns.lanes.groups; ++g) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        const T* const column = x.data() + g * n * stride + l;
        const auto want = sorted(column, stride, n);
        for (std::int64_t j = 0; j < k; ++j) {
          const auto at =
              static_cast<std::size_t>(j * k_stride + g * group_stride + l * lane_stride);
          CHECK(indices[at] == want[static_cast<std::size_t>(j)]);
          CHECK(std::memcmp(&values[at], column + indices[at] * stride, sizeof(T)) == 0);
        }
      }
    }
  }
}

template <class T, class Make>
void test_groups(int type, int width, Make&& make) {
  for (const int n : {2, 3, 5, 40}) {
    for (const int lanes : {1, 3, 8, 13, 16, 17, 31}) {
      for (int pattern = 0; pattern < 5; ++pattern) {
        std::vector<T> x;
        for (int i = 0; i < 7 * n * (lanes + 1); ++i) x.push_back(make(pattern, i, 7 * n * lanes));
        for (const int gap : {0, 1}) {
          compare_groups(type, width, x, n, lanes, gap, false, std::min(n, 2));
          compare_groups(type, width, x, n, lanes, gap, false, std::min(n, 7));
          compare_groups(type, width, x, n, lanes, gap, true, n / 2);
        }
      }
    }
  }
}

template <class T, class Make>
void test_columns(int type, int width, Make&& make) {
  using dmlcpu::Packing;
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 100, 255, 256, 513}) {
    for (const int lanes : {1, 3, 8, 16, 17, 33, 97}) {
      for (int pattern = 0; pattern < 5; ++pattern) {
        std::vector<T> x;
        for (int i = 0; i < 2 * n * lanes; ++i) x.push_back(make(pattern, i, 2 * n * lanes));
        // Tiles of one vector of any instruction set, of more, and of all lanes; one pass, several.
        compare_columns(type, width, x, n, lanes, Packing::kTransposed, 64, n);
        compare_columns(type, width, x, n, lanes, Packing::kInPlace, 16, n);
        compare_columns(type, width, x, n, lanes, Packing::kInPlace, 64, 5);
        compare_columns(type, width, x, n, lanes, Packing::kStrided, 97, 16);
      }
    }
  }
}

}  // namespace

int main() {
  return test_instruction_sets([](std::mt19937& random) {
    const auto floats = patterns<float>(random);
    const auto bytes = patterns<std::uint8_t>(random);
    test_columns<float>(kFloat32, 2, floats);
    test_columns<double>(kFloat64, 3, patterns<double>(random));
    test_columns<std::uint8_t>(kUInt8, 0, bytes);
    test_columns<dmlcpu::Bool>(kBool, 0, boolean_patterns(random));
    // The lowest key, which the lanes treat apart, more often than k times.
    test_columns<std::int32_t>(kInt32, 2, [&](int p, int i, int n) {
      const int x = patterns<std::int32_t>(random)(p, i, n) % 3;
      return x == 0 ? std::numeric_limits<std::int32_t>::min() : x;
    });
    // NaNs, whose keys do not tell their bits.
    test_groups<float>(kFloat32, 2, [&](int p, int i, int n) {
      return i % 5 == 0 ? std::nanf(std::to_string(i).c_str()) : floats(p, i, n);
    });
    test_groups<double>(kFloat64, 3, patterns<double>(random));
    test_groups<std::uint8_t>(kUInt8, 0, bytes);
    test_groups<dmlcpu::Bool>(kBool, 0, boolean_patterns(random));
  });
}
