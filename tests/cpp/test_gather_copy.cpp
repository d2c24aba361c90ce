// Copies of slices, by ordinary and by non-temporal stores, whatever the processor would choose; on
// every instruction set. Which of the two a call takes depends on the processor's maker and on 8
// MiB of output, so that calls alone would test one of them.
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "dmlcpu/runtime.hpp"
#include "kernels/dispatch.hpp"

namespace {

constexpr std::int64_t kTable = 5000;  // elements
constexpr char kUntouched = 'u';

char byte_at(std::int64_t i) { return static_cast<char>(i % 251); }

/// Slices of `inner` elements of 1 << width bytes, `gap` elements between them, the output `skew`
/// bytes after a cache line's begin; and the same as strided slices.
void test_copy(int width, std::int64_t inner, std::int64_t gap, std::int64_t skew, bool stream) {
  const std::int64_t size = std::int64_t{1} << width;
  std::vector<char> data(static_cast<std::size_t>(kTable * size));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_at(static_cast<std::int64_t>(i));
  // More than any prefetch distance.
  constexpr std::int64_t kCount = 40;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < kCount; ++i)
    offsets.push_back(i * 677 % (kTable - inner + 1) * size);
  const std::int64_t step = inner + gap;
  std::vector<char> memory(static_cast<std::size_t>(kCount * step * size + 256), kUntouched);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  char* const output = memory.data() + (64 - address % 64) % 64 + skew;

  dmlcpu::GatherCopy copy{};
  copy.data = data.data();
  copy.output = output;
  copy.output_stride = step * size;
  copy.bytes = inner * size;
  copy.from_stride = 1;
  copy.to_stride = 1;
  copy.stream = stream;
  const dmlcpu::GatherKernels& kernels = *dmlcpu::kernels().gather;
  const std::vector<char> before = memory;
  kernels.copy(copy, offsets.data(), kCount);

  std::vector<char> want(memory.size(), kUntouched);
  for (std::int64_t i = 0; i < kCount; ++i) {
    std::memcpy(want.data() + (output - memory.data()) + i * step * size,
                data.data() + offsets[static_cast<std::size_t>(i)],
                static_cast<std::size_t>(inner * size));
  }
  CHECK(memory == want);
  memory = before;
  kernels.copy_strided[width](copy, offsets.data(), kCount);
  CHECK(memory == want);
}

}  // namespace

int main() {
  for (const std::string_view name : dmlcpu::instruction_sets()) {
    dmlcpu::use_instruction_set(name);
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
  }
  return check::failures == 0 ? 0 : 1;
}
