// Where there is no scratch memory a call fails before it has written anything. What a call
// allocates is what its plan's text says.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/scratch.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "dmlcpu/typed.hpp"
#include "tensors.hpp"

namespace {

/// How many more allocations succeed; below 0, all.
int allowed = -1;
/// Bytes of the largest allocation so far.
std::size_t largest = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  if (allowed == 0) throw std::bad_alloc();
  if (allowed > 0) --allowed;
  largest = std::max(largest, size);
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
#ifdef _WIN32
  void* const memory = _aligned_malloc(whole, alignment);
#else
  void* const memory = std::aligned_alloc(alignment, whole);
#endif
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  try {
    return allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Not a plain call: a compiler that inlines `operator delete` but not `operator new` into a caller
/// would warn that free() ends what new began.
#ifdef _WIN32
void (*volatile const release)(void*) = _aligned_free;
#else
void (*volatile const release)(void*) = std::free;
#endif

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

/// Whether running the descriptor allocates what its plan says, and what aligns it, or nothing as
/// large, as little memory is on the stack.
template <class Descriptor>
bool allocates_what_is_planned(const Descriptor& descriptor) {
  const std::string text = dmlcpu::plan_text(descriptor);
  const std::string name = "scratch ";
  const std::int64_t planned = std::stoll(text.substr(text.rfind(name) + name.size()));
  largest = 0;
  run(descriptor);
  const auto scratch = static_cast<std::int64_t>(largest - dmlcpu::Scratch::kSlack);
  return planned > dmlcpu::tuning::kScratchStackBytes
             ? scratch == planned
             : largest <= dmlcpu::tuning::kScratchStackBytes;
}

constexpr std::int64_t kRows = 600;
constexpr std::int64_t kColumns = 1000;

void check_planned(const std::vector<float>& x, std::vector<float>& values,
                   std::vector<std::uint32_t>& at) {
  for (const std::vector<std::int64_t>& axes :
       std::vector<std::vector<std::int64_t>>{{0}, {1}, {0, 1}}) {
    dmlcpu::ArgDescriptor arg;
    arg.input = tensors::contiguous_input(x, {kRows, kColumns});
    arg.axes = axes;
    const std::int64_t rows = axes[0] == 0 ? 1 : kRows;
    arg.output = tensors::contiguous(at, {rows, axes.back() == 1 ? 1 : kColumns});
    CHECK(allocates_what_is_planned(arg));
  }
  for (const std::int64_t axis : {0, 1}) {
    for (const std::int64_t k : {1, 3, 20, 300, 599}) {
      dmlcpu::TopKDescriptor best;
      best.input = tensors::contiguous_input(x, {kRows, kColumns});
      best.axis = axis;
      best.k = k;
      best.values = tensors::contiguous(values, {axis == 0 ? k : kRows, axis == 0 ? kColumns : k});
      best.indices = tensors::contiguous(at, {axis == 0 ? k : kRows, axis == 0 ? kColumns : k});
      CHECK(allocates_what_is_planned(best));
      best.input = tensors::contiguous_input(x, {1, kRows * kColumns});
      best.axis = 1;
      best.values = tensors::contiguous(values, {1, k});
      best.indices = tensors::contiguous(at, {1, k});
      CHECK(allocates_what_is_planned(best));
    }
  }
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

int main() {
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
    check_planned(x, values, at);
  }
  return check::failures;
}
