// The overlap tests against brute force over random small tensors.
#include <map>
#include <random>

#include "check.hpp"
#include "core/overlap.hpp"

using dmlcpu::ConstTensor;

namespace {

/// How often each byte belongs to an element.
std::map<std::intptr_t, int> bytes_of(const ConstTensor& t) {
  std::map<std::intptr_t, int> bytes;
  std::int64_t count = 1;
  for (int d = 0; d < t.rank; ++d) count *= t.sizes[d];
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t offset = 0;
    for (int d = t.rank - 1; d >= 0; --d) {
      offset += rest % t.sizes[d] * t.strides[d];
      rest /= t.sizes[d];
    }
    const auto size = static_cast<std::int64_t>(info(t.type).size);
    for (std::int64_t b = 0; b < size; ++b) {
      ++bytes[reinterpret_cast<std::intptr_t>(t.data) + offset * size + b];
    }
  }
  return bytes;
}

ConstTensor random_tensor(std::mt19937& random) {
  ConstTensor t;
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  t.type = pick(0, 1) == 0 ? dmlcpu::DataType::kInt8 : dmlcpu::DataType::kInt32;
  t.rank = pick(0, 4);
  for (int d = 0; d < t.rank; ++d) {
    t.sizes[d] = pick(0, 10) == 0 ? 0 : pick(1, 5);
    t.strides[d] = pick(-12, 12);
  }
  const auto size = static_cast<std::intptr_t>(info(t.type).size);
  t.data = reinterpret_cast<const void*>(4096 + pick(0, 60) * size);
  return t;
}

void test_random_tensors() {
  std::mt19937 random(1);
  int overlapping = 0;
  constexpr int kRounds = 20000;
  for (int i = 0; i < kRounds; ++i) {
    const ConstTensor a = random_tensor(random);
    const ConstTensor b = random_tensor(random);
    const auto bytes_a = bytes_of(a);
    const auto bytes_b = bytes_of(b);
    bool twice = false;
    bool shared = false;
    for (const auto& [address, times] : bytes_a) {
      twice = twice || times > 1;
      shared = shared || bytes_b.count(address) > 0;
    }
    CHECK(overlaps_itself(a) == twice);
    CHECK(overlap(a, b) == shared);
    overlapping += shared;
  }
  CHECK(overlapping > kRounds / 10 && overlapping < kRounds * 9 / 10);
}

/// `rank` axes whose strides are nearly 1000: m steps of them reach from 1000 * m to 1007 * m.
ConstTensor nearly_equal_strides(int rank, std::int64_t size) {
  ConstTensor t;
  t.type = dmlcpu::DataType::kInt8;
  t.rank = rank;
  for (int d = 0; d < rank; ++d) {
    t.sizes[d] = size;
    t.strides[d] = 1000 + d;
  }
  t.data = reinterpret_cast<const void*>(std::intptr_t{1} << 20);
  return t;
}

/// An element between what 40 and 41 steps reach. That a few axes do not meet it is found out; of
/// many the search is given up, and they count as overlapping.
void test_search_that_is_given_up() {
  for (const int rank : {2, 8}) {
    const ConstTensor many = nearly_equal_strides(rank, 30);
    ConstTensor one;
    one.type = dmlcpu::DataType::kInt8;
    one.data = static_cast<const char*>(many.data) + 40 * 1007 + 300;
    CHECK(overlap(many, one) == (rank == 8));
    CHECK(overlap(one, many) == (rank == 8));
  }
}

}  // namespace

int main() {
  test_random_tensors();
  test_search_that_is_given_up();
  return check::failures == 0 ? 0 : 1;
}
