// Merging pieces of a row, begun at every item, against a stable sort of the whole row.
#include <algorithm>
#include <limits>
#include <random>

#include "check.hpp"
#include "ops/top_k_merge.hpp"

using dmlcpu::TopKItem;
using dmlcpu::TopKMerge;
using dmlcpu::TopKPiece;

namespace {

bool has_higher_key(const TopKItem& a, const TopKItem& b) { return a.key > b.key; }

/// Cuts a row of keys at random and compares each item that any start meets first.
void test_row(const std::vector<std::uint64_t>& keys, std::int64_t piece_count,
              std::mt19937& random) {
  const auto n = static_cast<std::int64_t>(keys.size());
  std::vector<std::int64_t> starts{0, n};
  while (static_cast<std::int64_t>(starts.size()) <= piece_count) {
    starts.push_back(std::uniform_int_distribution<std::int64_t>(0, n)(random));
  }
  std::sort(starts.begin(), starts.end());

  std::vector<TopKItem> want;
  std::vector<std::vector<TopKItem>> items(static_cast<std::size_t>(piece_count));
  std::vector<TopKPiece> pieces;
  for (std::size_t p = 0; p < items.size(); ++p) {
    for (std::int64_t i = starts[p]; i < starts[p + 1]; ++i) {
      want.push_back({keys[static_cast<std::size_t>(i)], i});
      items[p].push_back({want.back().key, i - starts[p]});
    }
    std::stable_sort(items[p].begin(), items[p].end(), has_higher_key);
    pieces.push_back({items[p].data(), static_cast<std::int64_t>(items[p].size()), starts[p]});
  }
  std::stable_sort(want.begin(), want.end(), has_higher_key);

  TopKMerge merge(piece_count);
  for (std::int64_t start = 0; start < n; ++start) {
    merge.start(pieces, start);
    std::vector<TopKItem> got(static_cast<std::size_t>(n - start));
    // In two steps, so that a merge also goes on where it was left.
    const std::int64_t half = (n - start) / 2;
    merge.take(got.data(), half);
    merge.take(got.data() + half, n - start - half);
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const TopKItem& item = want[static_cast<std::size_t>(start) + i];
      same &= got[i].key == item.key && got[i].index == item.index;
    }
    CHECK(same);
  }
}

}  // namespace

int main() {
  std::mt19937 random(1);
  constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();
  for (int round = 0; round < 200; ++round) {
    // Few different keys, so that most starts are among equal ones; the extremes, at which the
    // search for a key begins and ends.
    const std::uint64_t choices[] = {0, 1, 7, kHighest - 1, kHighest};
    const int different = 1 + round % 5;
    std::vector<std::uint64_t> keys;
    const int n = std::uniform_int_distribution<int>(1, 40)(random);
    for (int i = 0; i < n; ++i) {
      keys.push_back(choices[std::uniform_int_distribution<int>(0, different - 1)(random)]);
    }
    for (const std::int64_t pieces : {1, 2, 3, 5}) test_row(keys, pieces, random);
  }
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint64_t> keys;
    for (int i = 0; i < 50; ++i) keys.push_back(random());
    for (const std::int64_t pieces : {1, 2, 3, 5}) test_row(keys, pieces, random);
  }
  return check::failures;
}
