// Every top-k strategy, also where the planner would choose another, against a sort; on every
// instruction set.
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "check.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "kernels/dispatch.hpp"
#include "plan/top_k_plan.hpp"

using dmlcpu::TopKRow;
using dmlcpu::TopKStrategy;

namespace {

/// An element of a row, as its key and position.
struct Keyed {
  std::uint64_t key;
  std::int64_t index;
};

constexpr int kFloat32 = static_cast<int>(dmlcpu::DataType::kFloat32);
constexpr int kUInt8 = static_cast<int>(dmlcpu::DataType::kUInt8);
constexpr int kInt32 = static_cast<int>(dmlcpu::DataType::kInt32);
constexpr int kFloat64 = static_cast<int>(dmlcpu::DataType::kFloat64);

const dmlcpu::TopKElementKernels& element(int type) {
  constexpr auto kOrder = static_cast<int>(dmlcpu::Ordering::kLargestNanFirst);
  return dmlcpu::kernels().top_k->element[type][kOrder];
}

/// Scratch memory with guard bytes after it, which show a kernel that writes more than it said.
class GuardedScratch {
 public:
  explicit GuardedScratch(std::int64_t bytes)
      : bytes_(bytes), memory_(static_cast<std::size_t>(bytes + 64 + kGuard), 'g') {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    aligned_ = memory_.data() + (64 - address % 64) % 64;
  }
  char* get() const { return aligned_; }
  void check() const {
    for (std::int64_t i = 0; i < kGuard; ++i) CHECK(aligned_[bytes_ + i] == 'g');
  }

 private:
  static constexpr std::int64_t kGuard = 64;
  std::int64_t bytes_;
  std::vector<char> memory_;
  char* aligned_;
};

/// The kernels of rows whose positions fit 32 bits, and of longer ones.
const dmlcpu::TopKRowKernels& row_kernels(int width, std::int64_t length) {
  const auto& of_width = dmlcpu::kernels().top_k->width[width];
  return length <= dmlcpu::kTopKShortRow ? of_width.rows : of_width.longer_rows;
}

/// Whether n items are the first of `all`, and have the row's elements.
template <class T>
bool are_right(const dmlcpu::TopKRowKernels& rows, const TopKRow& row, const void* items,
               std::int64_t n, const std::vector<Keyed>& all) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<T> values(2 * count);
  std::vector<std::uint64_t> indices(count);
  rows.write(row, items, n, {{values.data(), 0, 0, 2}, {indices.data(), 0, 0, 1}, 8});
  const T* const x = static_cast<const T*>(row.data);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t index = all[i].index;
    if (static_cast<std::int64_t>(indices[i]) != index) return false;
    if (values[2 * i] != x[index * row.stride]) return false;
  }
  return true;
}

/// All items of the row in order, by a stable sort of their keys.
std::vector<Keyed> sorted(int type, int width, const void* data, std::int64_t stride,
                          std::int64_t n) {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(n));  // enough for keys of any width
  element(type).load(data, stride, n, bytes.data());
  std::vector<Keyed> items;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t key = 0;
    std::memcpy(&key, reinterpret_cast<const char*>(bytes.data()) + (i << width),
                std::size_t{1} << width);
    items.push_back({key, i});
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Keyed& a, const Keyed& b) { return a.key > b.key; });
  return items;
}

template <class T>
void compare_strategies(int type, int width, const std::vector<T>& x, std::int64_t stride) {
  const auto n = static_cast<std::int64_t>(x.size()) / stride;
  const auto want = sorted(type, width, x.data(), stride, n);
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, n / 40, n / 3,
                               n / 2, n / 2 + 1, n - 1, n}) {
    if (k < 1 || k > n) continue;
    const auto is_right = [&](TopKStrategy strategy) {
      const auto selection = dmlcpu::plan_selection(strategy, n, k);
      bool right = true;
      for (const std::int64_t longest : {n, dmlcpu::kTopKShortRow + 1}) {
        const dmlcpu::TopKRowKernels& rows = row_kernels(width, longest);
        const auto sizes = top_k_row_scratch(selection, std::int64_t{1} << width, longest);
        const GuardedScratch scratch(sizes.bytes);
        char* const at = scratch.get();
        const TopKRow row = {x.data(),        stride,         0,          n,       k,
                             false,           &element(type), &selection, nullptr, at,
                             at + sizes.items};
        const std::int64_t count = rows.collect(row);
        const void* const items =
            rows.sort(row.items, sizes.others < sizes.counts ? at + sizes.others : nullptr, count,
                      k, reinterpret_cast<std::uint32_t*>(at + sizes.counts));
        right &= count >= k && are_right<T>(rows, row, items, k, want);
        scratch.check();
      }
      return right;
    };
    CHECK(is_right(TopKStrategy::kSort));
    CHECK(is_right(TopKStrategy::kStripes));
    CHECK(is_right(TopKStrategy::kBlocks));
    if (dmlcpu::tuning::top_k_sample(n) > 0) CHECK(is_right(TopKStrategy::kSample));
  }
}

/// Copies the items of two parts to the buckets of their bins; returns where the buckets end.
std::vector<std::int64_t> distribute(const dmlcpu::TopKRowKernels& rows, const TopKRow (&parts)[2],
                                     const dmlcpu::TopKBins& bins, std::int64_t buckets, char* to) {
  std::vector<std::int64_t> places[2];
  std::vector<std::int64_t> ends(static_cast<std::size_t>(buckets));
  for (int p = 0; p < 2; ++p) {
    std::vector<std::int64_t> counts(dmlcpu::kTopKBinCount, -1);
    rows.count(parts[p].items, parts[p].length, bins, counts.data());
    places[p].resize(ends.size());
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      places[p][bins.buckets[bin]] += counts[bin];
    }
  }
  std::int64_t place = 0;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    for (auto& of_part : places) place += std::exchange(of_part[s], place);
    ends[s] = place;
  }
  for (int p = 0; p < 2; ++p) {
    rows.distribute(parts[p].items, parts[p].length, bins, places[p].data(), to);
  }
  CHECK(places[1] == ends);
  return ends;
}

/// Two parts of a row, divided into buckets of bins of several widths, and each bucket sorted.
template <class T>
void compare_buckets(int type, int width, const std::vector<T>& x, std::int64_t boundary) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto want = sorted(type, width, x.data(), 1, n);
  const auto selection = dmlcpu::plan_selection(TopKStrategy::kSort, n, n);
  for (const std::int64_t longest : {n, dmlcpu::kTopKShortRow + 1}) {
    const dmlcpu::TopKRowKernels& rows = row_kernels(width, longest);
    const auto sizes = top_k_row_scratch(selection, std::int64_t{1} << width, longest, 2);
    const GuardedScratch scratch(sizes.bytes);
    const auto part = [&](std::int64_t p, std::int64_t first, std::int64_t last) {
      char* const items = scratch.get() + sizes.items + p * sizes.part_bytes;
      return TopKRow{x.data(),       1,          first,   last - first,  last - first, false,
                     &element(type), &selection, nullptr, scratch.get(), items};
    };
    const TopKRow parts[] = {part(0, 0, boundary), part(1, boundary, n)};
    dmlcpu::TopKKeyRange keys = {~std::uint64_t{0}, 0};
    for (const TopKRow& row : parts) {
      CHECK(rows.collect(row) == row.length);
      const auto range = rows.key_range(row.items, row.length);
      keys = {std::min(keys.lowest, range.lowest), std::max(keys.highest, range.highest)};
    }
    CHECK(keys.highest == want.front().key && keys.lowest == want.back().key);
    std::vector<char> memory(static_cast<std::size_t>(n * sizes.item_bytes));
    char* const others = memory.data();
    static dmlcpu::TopKBins bins;
    bins.highest = keys.highest;
    bins.shift = 0;
    while ((keys.highest - keys.lowest) >> bins.shift >= dmlcpu::kTopKBinCount) ++bins.shift;
    for (const int last = std::min(bins.shift + 4, 63); bins.shift <= last; ++bins.shift) {
      for (const std::int64_t buckets : {1, 2, 7, 256}) {
        for (std::int64_t bin = 0; bin < dmlcpu::kTopKBinCount; ++bin) {
          bins.buckets[bin] = static_cast<std::uint8_t>(bin * buckets / dmlcpu::kTopKBinCount);
        }
        std::int64_t first = 0;
        for (const std::int64_t end : distribute(rows, parts, bins, buckets, others)) {
          const std::int64_t count = end - first;
          rows.sort(others + first * sizes.item_bytes, nullptr, count, count, nullptr);
          first = end;
        }
        CHECK(are_right<T>(rows, parts[0], others, n, want));
      }
    }
    scratch.check();
  }
}

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
  std::vector<std::vector<Keyed>> want;
  for (std::int64_t l = 0; l < lanes; ++l) {
    want.push_back(sorted(type, width, x.data() + l * lane_stride, stride, n));
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(i * (transposed ? tile_lanes : stride));
  dmlcpu::TopKColumns a{};
  a.columns.data = x.data();
  a.columns.n = n;
  a.columns.tail = -1;
  a.columns.period = n;
  a.columns.rows = rows.data();
  a.columns.groups = 1;
  a.columns.lanes = lanes;
  a.columns.lane_stride = lane_stride;
  a.columns.packing = packing;
  a.columns.block = n;
  a.columns.tile_groups = 1;
  a.columns.tile_lanes = tile_lanes;
  a.columns.pass = n;
  a.element = &element(type);
  const auto check = [&](std::int64_t k, bool sorts) {
    if (!transposed) {
      a.columns.pass = sorts ? pass : std::max(pass, dmlcpu::top_k_slots(a.columns, k, false));
    }
    const std::int64_t bytes =
        dmlcpu::top_k_columns_scratch(a.columns, std::int64_t{1} << width, k, sorts).bytes;
    const GuardedScratch scratch(bytes);
    std::vector<T> values(static_cast<std::size_t>(lanes * k));
    std::vector<std::uint64_t> indices(static_cast<std::size_t>(lanes * k));
    a.k = k;
    a.sorts = sorts;
    a.outputs = {{values.data(), 1, 0, k}, {indices.data(), 1, 0, k}, 8};
    a.scratch = scratch.get();
    dmlcpu::kernels().top_k->width[width].columns(a);
    scratch.check();
    for (std::int64_t l = 0; l < lanes; ++l) {
      for (std::int64_t j = 0; j < k; ++j) {
        const auto at = static_cast<std::size_t>(l * k + j);
        const auto index = static_cast<std::int64_t>(indices[at]);
        CHECK(index == want[static_cast<std::size_t>(l)][static_cast<std::size_t>(j)].index);
        CHECK(values[at] == x[static_cast<std::size_t>(l * lane_stride + index * stride)]);
      }
    }
  };
  for (std::int64_t k = 2; k <= dmlcpu::tuning::kTopKColumnsMaxK && k <= n; k += 1 + k / 7) {
    check(k, false);
  }
  for (const std::int64_t k : {std::int64_t{1}, n / 2, n - 1, n}) check(k, true);
}

template <class T, class Make>
void test_columns(int type, int width, Make&& make) {
  using dmlcpu::Packing;
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 100, 255, 256, 513}) {
    for (const int lanes : {1, 3, 8, 16, 17, 33}) {
      for (int pattern = 0; pattern < 5; ++pattern) {
        std::vector<T> x;
        for (int i = 0; i < 2 * n * lanes; ++i) x.push_back(make(pattern, i, 2 * n * lanes));
        // Tiles of one vector of any instruction set, and of all lanes; one pass, and several.
        compare_columns(type, width, x, n, lanes, Packing::kTransposed, 64, n);
        compare_columns(type, width, x, n, lanes, Packing::kNone, 16, n);
        compare_columns(type, width, x, n, lanes, Packing::kNone, 40, 5);
        compare_columns(type, width, x, n, lanes, Packing::kStrided, 40, 16);
      }
    }
  }
}

template <class T, class Make>
void test_type(int type, int width, Make&& make) {
  for (const int n : {1, 2, 31, 32, 33, 127, 1023, 1024, 1025, 4000, 40000}) {
    for (int pattern = 0; pattern < 5; ++pattern) {
      std::vector<T> x;
      for (int i = 0; i < n; ++i) x.push_back(make(pattern, i, n));
      compare_strategies(type, width, x, 1);
      if (n > 3) compare_strategies(type, width, x, 3);
      if (n > 200) continue;
      for (const std::int64_t boundary : {0, 1, n / 3, n - 1})
        compare_buckets(type, width, x, boundary);
    }
  }
}

}  // namespace

int main() {
  std::mt19937 random(1);
  const auto make = [&](int pattern, int i, int n) {
    switch (pattern) {
      case 0:
        return static_cast<double>(random() % 100000);
      case 1:
        return static_cast<double>(i);
      case 2:
        return static_cast<double>(n - i);
      case 3:
        return static_cast<double>(random() % 2);
      default:
        return 7.0;
    }
  };
  for (const std::string_view name : dmlcpu::instruction_sets()) {
    dmlcpu::use_instruction_set(name);
    const auto floats = [&](int p, int i, int n) { return static_cast<float>(make(p, i, n)); };
    const auto bytes = [&](int p, int i, int n) {
      return static_cast<std::uint8_t>(static_cast<int>(make(p, i, n)));
    };
    // The lowest key, which the lanes treat apart, more often than k times.
    const auto lowest = [&](int p, int i, int n) {
      const int x = static_cast<int>(make(p, i, n)) % 3;
      return x == 0 ? std::numeric_limits<std::int32_t>::min() : x;
    };
    test_type<float>(kFloat32, 2, floats);
    test_type<double>(kFloat64, 3, make);
    test_type<std::uint8_t>(kUInt8, 0, bytes);
    test_columns<float>(kFloat32, 2, floats);
    test_columns<double>(kFloat64, 3, make);
    test_columns<std::uint8_t>(kUInt8, 0, bytes);
    test_columns<std::int32_t>(kInt32, 2, lowest);
  }
  return check::failures == 0 ? 0 : 1;
}
