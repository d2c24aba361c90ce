// Where there is no scratch memory a call fails before it has written anything.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "check.hpp"
#include "dmlcpu/runtime.hpp"
#include "dmlcpu/typed.hpp"

namespace {

/// How many more allocations succeed; below 0, all.
int allowed = -1;

void* allocate(std::size_t size, std::size_t alignment) {
  if (allowed == 0) throw std::bad_alloc();
  if (allowed > 0) --allowed;
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::uint32_t kUntouched = 0xabcdef01;

/// Whether call(outputs) fails with each number of allocations that is too small for it, without
/// having written anything, and at least `least` allocations are needed.
template <class Call>
bool fails_cleanly(std::vector<std::uint32_t>& output, int least, Call&& call) {
  for (int count = 0; count < 100; ++count) {
    std::fill(output.begin(), output.end(), kUntouched);
    bool failed = false;
    allowed = count;
    try {
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allowed = -1;
    if (!failed) return count >= least;
    for (const std::uint32_t x : output) {
      if (x != kUntouched) return false;
    }
  }
  return false;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

int main() {
  constexpr std::int64_t kRows = 600;
  constexpr std::int64_t kColumns = 1000;
  std::vector<float> x(kRows * kColumns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 10007);
  std::vector<std::uint32_t> at(kRows * kColumns);
  std::vector<float> values(kRows * kColumns);
  for (const int threads : {1, 3}) {
    const dmlcpu::ScopedThreads limit(threads);
    dmlcpu::set_grain_bytes(1);
    const auto argmax = [&] {
      dmlcpu::argmax<float, std::uint32_t>({x.data(), {kRows, kColumns}}, {0},
                                           {at.data(), {1, kColumns}});
    };
    // Runtimes of OpenMP allocate when they start, and do not survive a failure then.
    argmax();
    CHECK(fails_cleanly(at, 1, argmax));
    const auto top_k = [&](std::int64_t rows, std::int64_t columns, std::int64_t k) {
      dmlcpu::top_k<float, std::uint32_t>({x.data(), {rows, columns}}, k, 1,
                                          {values.data(), {rows, k}}, {at.data(), {rows, k}});
    };
    CHECK(fails_cleanly(at, 1, [&] { top_k(kRows, kColumns, 300); }));
    CHECK(fails_cleanly(at, 1, [&] { top_k(1, kRows * kColumns, 5000); }));
    CHECK(fails_cleanly(at, 1, [&] { top_k(1, kRows * kColumns, kRows * kColumns - 1); }));
  }
  return check::failures;
}
