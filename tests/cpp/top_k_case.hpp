// What the tests of top-k kernels share: keys, the order of a row's elements, scratch memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>

#include "check.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "kernels/dispatch.hpp"
#include "plan/top_k_plan.hpp"

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

/// Calls test(random) with each instruction set; returns the exit status.
template <class Test>
int test_instruction_sets(const Test& test) {
  std::mt19937 random(1);
  for (const std::string_view name : dmlcpu::instruction_sets()) {
    dmlcpu::use_instruction_set(name);
    test(random);
  }
  return check::failures == 0 ? 0 : 1;
}

}  // namespace
