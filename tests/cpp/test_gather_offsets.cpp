// Index tuples in range and out of it, in every place of a block, on every instruction set: whether
// they are found, and the offsets that they lead to. Calls hide most of the latter.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "instruction_sets.hpp"
#include "interface/tuning.hpp"
#include "kernels/dispatch.hpp"
#include "sparse.hpp"

namespace {

using dmlcpu::GatherAxis;
using dmlcpu::GatherLayout;
using dmlcpu::GatherPart;
using dmlcpu::tuning::kGatherAhead;
using dmlcpu::tuning::kGatherChunk;
using dmlcpu::tuning::kGatherTupleBlock;

/// Bytes that can be looked up before and after the input's first one, few of which are in memory.
constexpr std::int64_t kBefore = std::int64_t{1} << 26;
constexpr std::int64_t kAfter = (std::int64_t{1} << 33) + kBefore;

/// What is at an offset of the input; nothing is where none was put.
char tag_at(std::int64_t offset) {
  return static_cast<char>((static_cast<std::uint64_t>(offset) * 0x9e3779b97f4a7c15U >> 56) | 1);
}

char* sparse_input() {
  static char* const memory = cases::sparse_memory(static_cast<std::size_t>(kBefore + kAfter));
  return memory + kBefore;
}

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
  std::vector<std::int64_t> want;  // offsets, clipped
  GatherLayout layout;
  GatherPart part{};

  Tuples(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
         std::int64_t batch_stride, std::int64_t padding, std::int64_t count, std::int64_t special,
         Kind kind) {
    const int length = static_cast<int>(sizes.size());
    for (int j = 0; j < length; ++j) {
      const auto d = static_cast<std::size_t>(j);
      const std::int64_t wrap = kSigned<I> ? sizes[d] : sizeof(I) == 4 ? std::int64_t{1} << 32 : 0;
      layout.axes[d] = {sizes[d], strides[d], wrap};
    }
    for (std::int64_t i = 0; i < count; ++i) {
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
      want.push_back(offset);
    }
    layout.tuple_stride = length + padding;
    layout.batch_stride = batch_stride;
    layout.length = length;
    part.indices = reinterpret_cast<const char*>(indices.data());
    part.tuples = count;
  }

  bool gather() const { return dmlcpu::kernels().gather[sizeof(I) == 8](layout, part); }
};

template <class I>
void test_offsets(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                  std::int64_t batch_stride, std::int64_t padding, std::int64_t count,
                  std::int64_t special, Kind kind) {
  if (kind == Kind::kNegative && !kSigned<I>) return;
  if (kind == Kind::kOut) {
    const std::int64_t axis = special % static_cast<std::int64_t>(sizes.size());
    if (coordinates<I>(sizes[static_cast<std::size_t>(axis)], kind).empty()) return;
  }
  Tuples<I> made(sizes, strides, batch_stride, padding, count, special, kind);
  const bool good = kind != Kind::kOut;
  CHECK(made.gather() == good);
  char* const input = sparse_input();
  std::vector<char> output(made.want.size());
  made.part.data = input;
  made.part.output = output.data();
  made.part.bytes = 1;
  made.layout.output_stride = 1;
  for (const std::int64_t offset : made.want) cases::use_sparse(input + offset) = tag_at(offset);
  CHECK(made.gather() == good);
  for (std::size_t i = 0; i < output.size(); ++i) CHECK(output[i] == tag_at(made.want[i]));
  for (const std::int64_t offset : made.want) input[offset] = 0;
}

/// The same tuples and their slices of `bytes` bytes, copied at once and by chunks.
template <class I>
void test_slices(const std::vector<std::int64_t>& sizes, std::int64_t bytes, std::int64_t count,
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
  Tuples<I> made(sizes, strides, 0, 0, count, special, kind);
  made.layout.output_stride = bytes;
  made.part.data = data.data() + begin;
  made.part.bytes = bytes;
  std::vector<char> want;
  for (const std::int64_t offset : made.want) {
    want.insert(want.end(), made.part.data + offset, made.part.data + offset + bytes);
  }
  want.push_back('u');
  for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{1}, kGatherAhead}) {
    made.layout.at_once = ahead == 0;
    made.layout.ahead = ahead;
    std::vector<char> output(want.size(), 'u');
    made.part.output = output.data();
    CHECK(made.gather() == (kind != Kind::kOut));
    CHECK(output == want);
  }
}

template <class I>
void test_all() {
  constexpr std::int64_t kTwoChunks = 2 * kGatherChunk + kGatherAhead;
  const std::vector<std::int64_t> counts = {
      1, 3, 4, 5, 8, kGatherTupleBlock - 1, kGatherTupleBlock, kGatherChunk + 7, kTwoChunks};
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
            std::vector<std::int64_t> beside = strides;
            beside[length / 2] = 1;
            if (length < 4) test_offsets<I>(huge, beside, 0, 0, count, special, kind);
          }
          for (const std::int64_t bytes : {1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 24, 31, 32}) {
            if (length < 6 && (bytes + mix) % 3 == 0)
              test_slices<I>(sizes, bytes, count, special, kind);
          }
        }
      }
    }
  }
}

}  // namespace

int main() {
  with_instruction_sets([](const auto& /*name*/) {
    test_all<std::uint32_t>();
    test_all<std::int32_t>();
    test_all<std::uint64_t>();
    test_all<std::int64_t>();
  });
  return check::failures == 0 ? 0 : 1;
}
