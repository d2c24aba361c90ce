// The plan of top-k: strategies, their scratch memory, packing and pieces.
#include "check.hpp"
#include "core/tuning.hpp"
#include "plan/top_k_plan.hpp"
#include "tensors.hpp"

using dmlcpu::TopKDescriptor;
using dmlcpu::TopKPlan;
using dmlcpu::TopKStrategy;

namespace {

void test_strategies() {
  const auto strategy = [](std::int64_t n, std::int64_t k) {
    return dmlcpu::select_strategy(4, n, k).strategy;
  };
  CHECK(strategy(100, 5) == TopKStrategy::kDirect);
  CHECK(strategy(128256, 50) == TopKStrategy::kBlocks);
  CHECK(strategy(10'000'000, 1000) == TopKStrategy::kBlocks);
  CHECK(strategy(10'000'000, 100'000) == TopKStrategy::kRadix);
  CHECK(strategy(1'000'000, 999'999) == TopKStrategy::kRadix);
}

void test_blocks_are_powers_of_two_and_enough() {
  for (std::int64_t n = 129; n < 1'000'000'000; n = n * 3 + 1) {
    for (std::int64_t k = 2; k < n; k = k * 5 + 1) {
      const auto selection = dmlcpu::select_strategy(4, n, k);
      if (selection.strategy != TopKStrategy::kBlocks) continue;
      CHECK((selection.block & (selection.block - 1)) == 0);
      CHECK(n / selection.block >= k);
    }
  }
}

void test_scratch_stays_small_for_small_k() {
  // 10 of 10 million float32, 40 MB: under 2 MB.
  CHECK(dmlcpu::select_strategy(4, 10'000'000, 10).scratch_bytes < 2'000'000);
}

TopKPlan plan(std::initializer_list<std::int64_t> sizes, std::int64_t axis, std::int64_t k,
              int threads) {
  static std::vector<float> memory(1 << 20);
  static std::vector<std::uint32_t> indices(1 << 20);
  TopKDescriptor descriptor;
  descriptor.input = tensors::packed_input(memory, sizes);
  descriptor.axis = axis;
  descriptor.k = k;
  descriptor.values = tensors::packed(memory, sizes);
  descriptor.indices = tensors::packed(indices, sizes);
  return plan_top_k(descriptor, threads);
}

void test_long_rows_are_sorted_in_buckets() {
  const std::int64_t n = dmlcpu::tuning::kTopKBucketsLength;
  for (const int threads : {1, 2}) {
    CHECK(plan({n}, 0, n / 2 + 1, threads).buckets);
    CHECK(plan({3, n}, 1, n, threads).buckets);
    CHECK(!plan({n}, 0, n / 2, threads).buckets);
    CHECK(!plan({n - 1}, 0, n - 1, threads).buckets);
  }
}

void test_strided_axes_are_packed() {
  const TopKPlan p = plan({500, 64}, 0, 40, 1);
  CHECK(p.packed);
  CHECK(p.stride == 1);
  CHECK(p.input_stride == 64);
  CHECK(!plan({64, 500}, 1, 40, 1).packed);
}

void test_many_short_lines_are_searched_side_by_side() {
  namespace tuning = dmlcpu::tuning;
  CHECK(plan({500, 64}, 0, 5, 1).lanes);
  CHECK(plan({64, 500}, 1, tuning::kTopKLanesMaxK, 1).lanes);
  CHECK(!plan({64, 500}, 1, tuning::kTopKLanesMaxK + 1, 1).lanes);
  // Long enough for the extremes of blocks.
  CHECK(plan({64, 2000}, 1, tuning::kTopKLanesAlwaysK, 1).lanes);
  CHECK(!plan({64, 2000}, 1, tuning::kTopKLanesAlwaysK + 1, 1).lanes);
  CHECK(!plan({tuning::kTopKLanesMinLines - 1, 500}, 1, 5, 1).lanes);
  CHECK(plan({16, tuning::kTopKLanesMaxLength}, 1, 5, 1).lanes);
  CHECK(!plan({16, tuning::kTopKLanesMaxLength + 1}, 1, 5, 1).lanes);
}

void test_long_rows_are_cut_only_when_there_are_too_few() {
  CHECK(plan({1 << 20}, 0, 5, 4).pieces == 4);
  // Small k takes longer rows than large k does.
  constexpr std::int64_t kLargestSmall = dmlcpu::tuning::kTopKBlocksMaxK;
  CHECK(plan({1 << 17}, 0, kLargestSmall, 4).pieces == 1);
  CHECK(plan({1 << 17}, 0, kLargestSmall + 1, 4).pieces == 4);
  CHECK(plan({8, 1 << 16}, 1, 5, 4).pieces == 1);
  CHECK(plan({1 << 10}, 0, 5, 4).pieces == 1);
}

void test_pieces_cover_the_row() {
  const TopKPlan p = plan({(1 << 19) + 1}, 0, 5, 3);
  CHECK(p.piece_start(0) == 0);
  CHECK(p.piece_start(p.pieces) == p.length);
  for (std::int64_t i = 0; i < p.pieces; ++i) {
    CHECK(p.piece_start(i + 1) - p.piece_start(i) <= p.longest_piece());
  }
}

void test_plans_can_be_printed() {
  const std::string text = to_text(plan({64, 500}, 1, 40, 1));
  CHECK(text.find("direct of 40 from 500 by 1\n") == 0);
  CHECK(to_text(plan({64, 500}, 1, 5, 1)).find("lanes of 5 from 500 by 1\n") == 0);
}

}  // namespace

int main() {
  test_plans_can_be_printed();
  test_strategies();
  test_blocks_are_powers_of_two_and_enough();
  test_scratch_stays_small_for_small_k();
  test_long_rows_are_sorted_in_buckets();
  test_strided_axes_are_packed();
  test_many_short_lines_are_searched_side_by_side();
  test_long_rows_are_cut_only_when_there_are_too_few();
  test_pieces_cover_the_row();
  return check::failures == 0 ? 0 : 1;
}
