// What the tests of top-k kernels share: keys, the order of a row's elements, scratch memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "check.hpp"
#include "instruction_sets.hpp"
#include "kernels/dispatch.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {

/// The order of booleans, and whether their bytes are equal.
constexpr bool operator>(Bool a, Bool b) { return a.byte != 0 && b.byte == 0; }
constexpr bool operator==(Bool a, Bool b) { return a.byte == b.byte; }
constexpr bool operator!=(Bool a, Bool b) { return a.byte != b.byte; }

}  // namespace dmlcpu

namespace {

constexpr int kFloat32 = static_cast<int>(dmlcpu::DataType::kFloat32);
constexpr int kUInt8 = static_cast<int>(dmlcpu::DataType::kUInt8);
constexpr int kBool = static_cast<int>(dmlcpu::DataType::kBool);
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

/// The positions of n elements in order: NaNs, then the largest, of equal ones the first.
template <class T>
std::vector<std::int64_t> sorted(const T* data, std::int64_t stride, std::int64_t n) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(n));
  std::iota(positions.begin(), positions.end(), 0);
  const auto is_nan = [](T x) { return !(x == x); };
  std::stable_sort(positions.begin(), positions.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = data[a * stride];
    const T y = data[b * stride];
    return is_nan(x) ? !is_nan(y) : x > y;
  });
  return positions;
}

/// Makes element i of n of one of five patterns: random numbers, ascending, descending, two values,
/// one.
template <class T>
auto patterns(std::mt19937& random) {
  return [&random](int pattern, int i, int n) {
    switch (pattern) {
      case 0:
        return static_cast<T>(random() % 100000);
      case 1:
        return static_cast<T>(i);
      case 2:
        return static_cast<T>(n - i);
      case 3:
        return static_cast<T>(random() % 2);
      default:
        return T{7};
    }
  };
}

/// Booleans of the patterns of bytes, in which ascending ones are 0 and 1 first; of random bytes
/// half are false.
inline auto boolean_patterns(std::mt19937& random) {
  return [&random, bytes = patterns<std::uint8_t>(random)](int pattern, int i, int n) {
    const std::uint8_t byte = bytes(pattern, i, n);
    return dmlcpu::Bool{pattern == 0 && random() % 2 == 0 ? std::uint8_t{0} : byte};
  };
}

/// Calls test(random) with each instruction set; returns the exit status.
template <class Test>
int test_instruction_sets(const Test& test) {
  std::mt19937 random(1);
  with_instruction_sets([&](const auto& /*name*/) { test(random); });
  return check::failures == 0 ? 0 : 1;
}

}  // namespace
