// Offsets of index tuples in range and far out of it, on every instruction set. Calls hide what
// becomes of the latter: they copy nothing of a chunk that holds one, unless another thread changes
// it after it was checked. Then its offset must still lie inside the input.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "kernels/dispatch.hpp"

namespace {

constexpr std::int64_t kCount = 2 * dmlcpu::tuning::kGatherTupleBlock + 13;
constexpr std::int64_t kFirst = 3;
constexpr std::int64_t kBatchStride = 1000;

/// The nearest coordinate in range, negative ones wrapped.
template <class I>
std::int64_t clamped(I coordinate, std::int64_t size) {
  if (coordinate < 0) {
    return std::max<std::int64_t>(static_cast<std::int64_t>(coordinate) + size, 0);
  }
  return static_cast<std::int64_t>(
      std::min(static_cast<std::uint64_t>(coordinate), static_cast<std::uint64_t>(size - 1)));
}

template <class I>
bool is_in_range(I coordinate, std::int64_t size) {
  if (coordinate < 0) return static_cast<std::int64_t>(coordinate) >= -size;
  return static_cast<std::uint64_t>(coordinate) < static_cast<std::uint64_t>(size);
}

/// Coordinates in range if `good`, else also at the edges of an axis, of 32 bits and of the type.
template <class I>
std::vector<I> coordinates(std::int64_t size, bool good) {
  using Limits = std::numeric_limits<I>;
  std::vector<I> chosen{0, static_cast<I>(size - 1), static_cast<I>(size / 2)};
  if (Limits::is_signed) {
    chosen.insert(chosen.end(), {static_cast<I>(-1), static_cast<I>(-size)});
  }
  if (!good) {
    chosen.insert(chosen.end(),
                  {static_cast<I>(size), static_cast<I>(-size - 1), Limits::min(), Limits::max(),
                   static_cast<I>(Limits::max() - 1), static_cast<I>(Limits::max() / 2 + 1),
                   static_cast<I>(std::int64_t{1} << 31), static_cast<I>(std::int64_t{1} << 32)});
  }
  return chosen;
}

/// `type` is the number of I in GatherKernels; strides are negative on every axis, on every other
/// one or on none.
template <class I>
void test_offsets(int type, int length, int negative, bool good) {
  constexpr std::array<std::int64_t, 8> kSizes = {5, 1, 7, 2, 3, 4, 6, 2};
  std::array<std::int64_t, 8> strides{};
  dmlcpu::GatherTuples tuples{};
  std::int64_t step = 1;
  for (int j = 0; j < length; ++j) {
    const bool turned = negative == 2 || (negative == 1 && j % 2 == 0);
    strides[j] = turned ? -step : step;
    const std::int64_t extent = step * (kSizes[j] - 1);
    tuples.range += extent;
    if (turned) tuples.lowest -= extent;
    step *= kSizes[j] + 1;
  }
  std::vector<I> indices;
  std::vector<std::int64_t> want;
  bool in_range = true;
  for (std::int64_t i = 0; i < kFirst + kCount; ++i) {
    std::int64_t offset = i * kBatchStride;
    for (int j = 0; j < length; ++j) {
      const std::vector<I> chosen = coordinates<I>(kSizes[j], good);
      const I coordinate = chosen[static_cast<std::size_t>(i * 5 + j * 3 + i / 11) % chosen.size()];
      indices.push_back(coordinate);
      offset += clamped(coordinate, kSizes[j]) * strides[j];
      if (i >= kFirst) in_range = in_range && is_in_range(coordinate, kSizes[j]);
    }
    if (i >= kFirst) want.push_back(offset);
  }
  CHECK(in_range == good);
  tuples.indices = indices.data();
  tuples.tuple_stride = length;
  tuples.batch_stride = kBatchStride;
  tuples.coordinate_stride = 1;
  tuples.length = length;
  tuples.sizes = kSizes.data();
  tuples.strides = strides.data();
  tuples.packed = true;

  const dmlcpu::GatherKernels& kernels = *dmlcpu::kernels().gather;
  std::vector<std::int64_t> got(kCount);
  CHECK(kernels.check[type](tuples, kFirst, kCount) == good);
  CHECK(kernels.offsets[type](tuples, kFirst, kCount, got.data()) == good);
  CHECK(got == want);
  got.assign(kCount, 0);
  kernels.narrow_clipped_offsets[type](tuples, kFirst, kCount, got.data());
  CHECK(got == want);
  got.assign(kCount, 0);
  CHECK(kernels.narrow_offsets[type](tuples, kFirst, kCount, got.data()) == good);
  if (good) CHECK(got == want);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t lowest = tuples.lowest + (kFirst + i) * kBatchStride;
    const std::int64_t offset = got[static_cast<std::size_t>(i)];
    CHECK(lowest <= offset && offset <= lowest + tuples.range);
  }
}

}  // namespace

int main() {
  for (const std::string_view name : dmlcpu::instruction_sets()) {
    dmlcpu::use_instruction_set(name);
    for (int length = 1; length <= 8; ++length) {
      for (const int negative : {0, 1, 2}) {
        for (const bool good : {true, false}) {
          test_offsets<std::uint32_t>(0, length, negative, good);
          test_offsets<std::int32_t>(1, length, negative, good);
          test_offsets<std::uint64_t>(2, length, negative, good);
          test_offsets<std::int64_t>(3, length, negative, good);
        }
      }
    }
  }
  return check::failures == 0 ? 0 : 1;
}
