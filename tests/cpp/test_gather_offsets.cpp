// Index tuples in range and out of it, in every place of a block, on every instruction set: whether
// they are found, and the offsets that they lead to. Calls hide most of the latter.
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

using dmlcpu::GatherAxis;
using dmlcpu::tuning::kGatherTupleBlock;

constexpr std::int64_t kFirst = 3;
constexpr std::int64_t kUnwritten = -77;
constexpr char kUntouched = 'u';

template <class I>
constexpr bool kSigned = std::numeric_limits<I>::is_signed;

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

enum class Kind { kPlain, kNegative, kOut };

/// Coordinates at the edges of an axis, of 32 bits and of the type. Those of size and beyond may
/// be in range as negative ones.
template <class I>
std::vector<I> coordinates(std::int64_t size, Kind kind) {
  using Limits = std::numeric_limits<I>;
  std::vector<I> all;
  for (const std::int64_t step : {-1, 0, 1}) {
    for (const std::int64_t edge : {std::int64_t{0}, size / 2, size, -size, std::int64_t{1} << 31,
                                    std::int64_t{1} << 32, std::int64_t{1} << 62}) {
      all.push_back(static_cast<I>(edge + step));
    }
  }
  all.insert(all.end(), {Limits::min(), Limits::max()});
  std::vector<I> chosen;
  for (const I coordinate : all) {
    const bool good = is_in_range(coordinate, size);
    if (good ? kind == (coordinate < 0 ? Kind::kNegative : Kind::kPlain) : kind == Kind::kOut) {
      chosen.push_back(coordinate);
    }
  }
  return chosen;
}

/// Tuples of `length` coordinates. Those of tuple `special` are of that kind, others plain.
template <class I>
struct Tuples {
  std::vector<I> indices;
  std::vector<std::int64_t> want;  // offsets from tuple kFirst on, clipped
  std::array<GatherAxis, dmlcpu::kMaxTupleLength> axes{};
  dmlcpu::GatherTuples tuples{};

  Tuples(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
         std::int64_t batch_stride, std::int64_t padding, std::int64_t count, std::int64_t special,
         Kind kind) {
    const int length = static_cast<int>(sizes.size());
    for (int j = 0; j < length; ++j) {
      const auto d = static_cast<std::size_t>(j);
      const std::int64_t wrap = kSigned<I> ? sizes[d] : sizeof(I) == 4 ? std::int64_t{1} << 32 : 0;
      axes[d] = {sizes[d], strides[d], wrap};
    }
    for (std::int64_t i = 0; i < kFirst + count; ++i) {
      std::int64_t offset = i * batch_stride;
      for (std::size_t j = 0; j < sizes.size(); ++j) {
        // Of a tuple out of range one coordinate is, each in turn.
        const auto n = static_cast<std::int64_t>(j);
        const bool is_special = i == special && (kind != Kind::kOut || special % length == n);
        const std::vector<I> chosen = coordinates<I>(sizes[j], is_special ? kind : Kind::kPlain);
        const I coordinate =
            chosen[static_cast<std::size_t>(i * 5 + n * 3 + i / 11) % chosen.size()];
        indices.push_back(coordinate);
        offset += clamped(coordinate, sizes[j]) * strides[j];
      }
      for (std::int64_t p = 0; p < padding; ++p) indices.push_back(I{1});
      if (i >= kFirst) want.push_back(offset);
    }
    tuples.indices = indices.data();
    tuples.tuple_stride = length + padding;
    tuples.batch_stride = batch_stride;
    tuples.coordinate_stride = 1;
    tuples.length = length;
    tuples.axes = axes.data();
    tuples.is_signed = kSigned<I>;
  }
};

/// `special` counts from kFirst on.
template <class I>
void test_offsets(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                  std::int64_t batch_stride, std::int64_t padding, std::int64_t count,
                  std::int64_t special, Kind kind) {
  if (kind == Kind::kNegative && !kSigned<I>) return;
  if (kind == Kind::kOut) {
    const std::int64_t axis = (special + kFirst) % static_cast<std::int64_t>(sizes.size());
    if (coordinates<I>(sizes[static_cast<std::size_t>(axis)], kind).empty()) return;
  }
  Tuples<I> made(sizes, strides, batch_stride, padding, count, special + kFirst, kind);
  const bool good = kind != Kind::kOut;
  const dmlcpu::GatherKernels& kernels = *dmlcpu::kernels().gather;
  const std::size_t wide = sizeof(I) == 8;
  CHECK(kernels.check[wide](made.tuples, kFirst, count) == good);
  std::vector<std::int64_t> got(made.want.size(), kUnwritten);
  CHECK(kernels.offsets[wide](made.tuples, kFirst, count, got.data()) == good);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool before = good || static_cast<std::int64_t>(i) < special;
    CHECK(got[i] == made.want[i] || (!good && got[i] == kUnwritten));
    CHECK(before || got[i] == kUnwritten);
  }
  made.tuples.clips = true;
  got.assign(made.want.size(), kUnwritten);
  CHECK(kernels.check[wide](made.tuples, kFirst, count));
  CHECK(kernels.offsets[wide](made.tuples, kFirst, count, got.data()));
  CHECK(got == made.want);
}

/// The same tuples and their slices of `bytes` bytes in one pass.
template <class I>
void test_at_once(const std::vector<std::int64_t>& sizes, std::int64_t bytes, std::int64_t count,
                  std::int64_t special, Kind kind) {
  if (kind == Kind::kNegative && !kSigned<I>) return;
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = bytes;
  for (std::size_t j = sizes.size(); j-- > 0;) {
    strides[j] = step;
    step *= sizes[j];
  }
  // Backwards along the first axis, of tuples whose last axis has to be another.
  std::int64_t begin = 0;
  if (sizes.size() > 1) {
    strides[0] = -strides[0];
    begin = -strides[0] * (sizes[0] - 1);
  }
  std::vector<char> data(static_cast<std::size_t>(step));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i % 101);
  Tuples<I> made(sizes, strides, 0, 0, count, special + kFirst, kind);
  made.tuples.indices = made.indices.data() + kFirst * static_cast<std::int64_t>(sizes.size());
  const bool good = kind != Kind::kOut;
  for (const bool clips : {false, true}) {
    made.tuples.clips = clips;
    std::vector<char> output(static_cast<std::size_t>((count + 1) * bytes), kUntouched);
    dmlcpu::GatherCopy copy{};
    copy.data = data.data() + begin;
    copy.output = output.data();
    copy.bytes = bytes;
    copy.output_stride = bytes;
    const bool all = dmlcpu::kernels().gather->at_once[sizeof(I) == 8](made.tuples, count, copy);
    CHECK(all == (good || clips));
    const auto at = [&](std::int64_t i) { return output.begin() + i * bytes; };
    for (std::int64_t i = 0; i <= count; ++i) {
      const bool untouched =
          std::all_of(at(i), at(i) + bytes, [](char c) { return c == kUntouched; });
      const bool right =
          i < count &&
          std::equal(at(i), at(i) + bytes, copy.data + made.want[static_cast<std::size_t>(i)]);
      CHECK(i == count || (!all && i >= special) ? untouched : right || (!all && untouched));
    }
  }
}

template <class I>
void test_all() {
  const std::vector<std::int64_t> counts = {
      1, 3, 4, 5, 8, kGatherTupleBlock - 1, kGatherTupleBlock, 2 * kGatherTupleBlock + 7};
  const std::vector<std::int64_t> small = {5, 1, 7, 2, 3, 4, 6, 2};
  for (const Kind kind : {Kind::kPlain, Kind::kNegative, Kind::kOut}) {
    for (const std::int64_t count : counts) {
      for (std::size_t length = 1; length <= 8; ++length) {
        const std::vector<std::int64_t> sizes(small.begin(), small.begin() + length);
        for (const std::int64_t special : {std::int64_t{0}, count / 2, count - 1}) {
          // Negative strides: none, every other one, all. Not every combination with the counts.
          const auto mix = static_cast<std::int64_t>(length) + count;
          std::vector<std::int64_t> steps;
          for (std::size_t j = 0; j < length; ++j) {
            const std::int64_t step = std::int64_t{1} << (3 * j);
            const bool negative = mix % 3 == 2 || (mix % 3 == 1 && j % 2 == 0);
            steps.push_back(negative ? -step : step);
          }
          test_offsets<I>(sizes, steps, 0, 0, count, special, kind);
          const std::vector<std::int64_t> strides(length, 1000);
          test_offsets<I>(sizes, strides, 1 << 20, 0, count, special, kind);
          test_offsets<I>(sizes, strides, 0, 1, count, special, kind);
          for (const std::int64_t size : {(std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                          std::int64_t{1} << 32, (std::int64_t{1} << 33) + 1}) {
            std::vector<std::int64_t> huge = sizes;
            huge[length / 2] = size;
            if (length < 4) test_offsets<I>(huge, strides, 0, 0, count, special, kind);
          }
          for (const std::int64_t bytes : {1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 24, 31, 32}) {
            if (length < 6 && (bytes + mix) % 3 == 0)
              test_at_once<I>(sizes, bytes, count, special, kind);
          }
        }
      }
    }
  }
}

}  // namespace

int main() {
  for (const std::string_view name : dmlcpu::instruction_sets()) {
    dmlcpu::use_instruction_set(name);
    test_all<std::uint32_t>();
    test_all<std::int32_t>();
    test_all<std::uint64_t>();
    test_all<std::int64_t>();
  }
  return check::failures == 0 ? 0 : 1;
}
