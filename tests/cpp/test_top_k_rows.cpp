// Every top-k strategy of rows, also where the planner would choose another, against a sort; on
// every instruction set.
#include <utility>

#include "plan/tuning.hpp"
#include "top_k_case.hpp"

using dmlcpu::TopKRow;
using dmlcpu::TopKStrategy;

namespace {

/// The kernels of rows whose positions fit 32 bits, and of longer ones.
const dmlcpu::TopKRowKernels& row_kernels(int width, std::int64_t length) {
  const auto& of_width = dmlcpu::kernels().top_k->width[width];
  return length <= dmlcpu::kTopKShortRow ? of_width.rows : of_width.longer_rows;
}

/// Whether n items are the first of `all`, and have the row's elements.
template <class T>
bool are_right(const dmlcpu::TopKRowKernels& rows, const TopKRow& row, const void* items,
               std::int64_t n, const std::vector<std::int64_t>& all) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<T> values(2 * count);
  std::vector<std::uint64_t> indices(count);
  rows.write(row, items, n, {{values.data(), 0, 0, 2}, {indices.data(), 0, 0, 1}, 8});
  const T* const x = static_cast<const T*>(row.data);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t index = all[i];
    if (static_cast<std::int64_t>(indices[i]) != index) return false;
    if (values[2 * i] != x[index * row.stride]) return false;
  }
  return true;
}

/// Whether the k-th item alone is selected, in scratch memory for that.
template <class T>
bool selects_last(const dmlcpu::TopKRowKernels& rows, TopKRow row, std::int64_t element_size,
                  std::int64_t longest, const std::vector<std::int64_t>& all) {
  const auto sizes = top_k_row_scratch(*row.selection, element_size, longest, 1, 1, 0, true);
  const GuardedScratch scratch(sizes.bytes);
  row.scratch = scratch.get();
  row.items = scratch.get() + sizes.items;
  const std::int64_t count = rows.collect(row);
  const void* const item = rows.select(row.items, count, row.k, scratch.get() + sizes.others);
  scratch.check();
  return are_right<T>(rows, row, item, 1, {all.begin() + row.k - 1, all.begin() + row.k});
}

template <class T>
void compare_strategies(int type, int width, const std::vector<T>& x, std::int64_t stride) {
  const auto n = static_cast<std::int64_t>(x.size()) / stride;
  const auto want = sorted(x.data(), stride, n);
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
        const void* const items = rows.sort(row.items, at + sizes.others, count,
                                            reinterpret_cast<std::uint32_t*>(at + sizes.counts));
        right &= count >= k && are_right<T>(rows, row, items, k, want);
        scratch.check();
        right &= selects_last<T>(rows, row, std::int64_t{1} << width, longest, want);
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
    places[p].resize(counts.size());
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
  return ends;
}

/// Two parts of a row, divided into buckets of bins of several widths, and each bucket sorted.
template <class T>
void compare_buckets(int type, int width, const std::vector<T>& x, std::int64_t boundary) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto want = sorted(x.data(), 1, n);
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
    const auto key_at = [&](std::int64_t position) {
      const TopKRow one = part(0, position, position + 1);
      CHECK(rows.collect(one) == 1);
      return rows.range(one.items, 1).highest;
    };
    const std::uint64_t highest = key_at(want.front());
    const std::uint64_t lowest = key_at(want.back());
    const TopKRow parts[] = {part(0, 0, boundary), part(1, boundary, n)};
    dmlcpu::TopKRange keys = {~std::uint64_t{0}, 0};
    for (const TopKRow& row : parts) {
      CHECK(rows.collect(row) == row.length);
      const auto range = rows.range(row.items, row.length);
      keys = {std::min(keys.lowest, range.lowest), std::max(keys.highest, range.highest)};
    }
    CHECK(keys.highest == highest && keys.lowest == lowest);
    std::vector<char> memory(static_cast<std::size_t>(n * sizes.item_bytes));
    char* const others = memory.data();
    std::vector<char> more(memory.size());
    std::vector<std::uint32_t> counts(
        static_cast<std::size_t>(dmlcpu::top_k_sort_counts(std::int64_t{1} << width, n)));
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
          char* const items = others + first * sizes.item_bytes;
          const void* const in_order = rows.sort(items, more.data(), count, counts.data());
          if (in_order != items) {
            std::memcpy(items, in_order, static_cast<std::size_t>(count * sizes.item_bytes));
          }
          first = end;
        }
        CHECK(are_right<T>(rows, part(0, 0, n), others, n, want));
      }
    }
    scratch.check();
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
  return test_instruction_sets([](std::mt19937& random) {
    test_type<float>(kFloat32, 2, patterns<float>(random));
    test_type<double>(kFloat64, 3, patterns<double>(random));
    test_type<std::uint8_t>(kUInt8, 0, patterns<std::uint8_t>(random));
    test_type<dmlcpu::Bool>(kBool, 0, boolean_patterns(random));
  });
}
