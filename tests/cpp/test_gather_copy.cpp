// Copies of slices, by ordinary and by non-temporal stores, whatever the processor would choose; on
// every instruction set. Which of the two a call takes depends on the processor's maker and on 8
// MiB of output, so that calls alone would test one of them.
#include <cstddef>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "instruction_sets.hpp"
#include "interface/tuning.hpp"
#include "kernels/dispatch.hpp"

namespace {

constexpr std::int64_t kTable = 5000;  // elements
constexpr char kUntouched = 'u';

char byte_at(std::int64_t i) { return static_cast<char>(i % 251); }

/// Slices of `inner` elements of 1 << width bytes, `gap` elements between them, the output `skew`
/// bytes after a cache line's begin: as runs of bytes, as they are checked, and as one loop and two
/// nested ones over elements. Where `skew` is 8, slices are far.
void test_copy(int width, std::int64_t inner, std::int64_t gap, std::int64_t skew, bool stream) {
  const std::int64_t size = std::int64_t{1} << width;
  std::vector<char> data(static_cast<std::size_t>(kTable * size));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_at(static_cast<std::int64_t>(i));
  // Some go into a second chunk.
  constexpr std::int64_t kCount = dmlcpu::tuning::kGatherChunk + 9;
  const std::int64_t positions = kTable - inner + 1;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < kCount; ++i) indices.push_back(i * 677 % positions);
  const std::int64_t step = inner + gap;
  std::vector<char> memory(static_cast<std::size_t>(kCount * step * size + 256), kUntouched);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  char* const output = memory.data() + (64 - address % 64) % 64 + skew;
  const std::vector<char> before = memory;
  std::vector<char> want = memory;
  for (std::int64_t i = 0; i < kCount; ++i) {
    std::memcpy(want.data() + (output - memory.data()) + i * step * size,
                data.data() + indices[static_cast<std::size_t>(i)] * size,
                static_cast<std::size_t>(inner * size));
  }

  const auto check = [&](const dmlcpu::GatherLayout& layout, std::int64_t bytes) {
    memory = before;
    const dmlcpu::GatherPart part{reinterpret_cast<const char*>(indices.data()), data.data(),
                                  output, kCount, bytes};
    CHECK(dmlcpu::kernels().gather[1](layout, part));
    CHECK(memory == want);
  };
  dmlcpu::GatherLayout layout;
  layout.tuple_stride = 1;
  layout.output_stride = step * size;
  layout.axes[0] = {positions, size, positions};
  layout.is_far = skew == 8;
  layout.stream = stream && inner * size % 16 == 0 && step * size % 16 == 0 &&
                  inner * size >= dmlcpu::kCacheLine;
  check(layout, inner * size);
  layout.at_once = inner == 1 && gap == 0;
  if (layout.at_once) check(layout, inner * size);
  layout.at_once = false;
  layout.stream = false;
  layout.run_axes = 1;
  layout.runs[0] = {inner, size, size};
  check(layout, size);
  if (inner % 3 != 0) return;
  layout.run_axes = 2;
  layout.runs[0] = {3, inner / 3 * size, inner / 3 * size};
  layout.runs[1] = {inner / 3, size, size};
  check(layout, size);
}

}  // namespace

int main() {
  with_instruction_sets([](const auto& /*name*/) {
    for (const bool stream : {false, true}) {
      for (const int width : {0, 1, 2, 3}) {
        // Every size around whole cache lines, and slices larger than what is prefetched.
        for (std::int64_t bytes = 1; bytes <= 330; ++bytes) {
          if (bytes >> width << width != bytes) continue;
          for (const std::int64_t gap : {0, 1, 16}) {
            test_copy(width, bytes >> width, gap, 0, stream);
            test_copy(width, bytes >> width, gap, 16, stream);
            test_copy(width, bytes >> width, gap, 8, stream);
          }
        }
        for (const std::int64_t bytes : {1024, 1032, 1040, 4096, 4112}) {
          test_copy(width, bytes >> width, 0, 16, stream);
        }
      }
    }
  });
  return check::failures == 0 ? 0 : 1;
}
