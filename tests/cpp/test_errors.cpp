// Calls that only a C++ client can get wrong; the rest is tested from Python.
#include <limits>
#include <locale>

#include "check.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/runtime.hpp"
#include "tensors.hpp"

using dmlcpu::ArgDescriptor;
using dmlcpu::TypeError;
using dmlcpu::ValueError;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

std::vector<float> values(6);
std::vector<std::uint32_t> indices(6);

ArgDescriptor good() {
  ArgDescriptor descriptor;
  descriptor.input = tensors::contiguous_input(values, {2, 3});
  descriptor.output = tensors::contiguous(indices, {1, 1});
  return descriptor;
}

template <class Error, class Spoil>
std::string spoiled(Spoil&& spoil) {
  ArgDescriptor descriptor = good();
  spoil(descriptor);
  return check::error_of<Error>([&] { run(descriptor); });
}

void test_tensors() {
  CHECK(spoiled<ValueError>([](auto& d) { d.input.rank = 9; }) ==
        "input: must have at most 8 dimensions, got 9");
  CHECK(spoiled<ValueError>([](auto& d) { d.output.rank = 40; }) ==
        "out: must have at most 8 dimensions, got 40");
  CHECK(spoiled<ValueError>([](auto& d) { d.input.sizes[0] = -2; }) ==
        "input: must have sizes of at least 0, got (-2, 3)");
  CHECK(spoiled<ValueError>([](auto& d) { d.input.data = nullptr; }) ==
        "input: must point at its elements, got null");
  CHECK(spoiled<ValueError>([](auto& d) {
          d.input.data = static_cast<const char*>(d.input.data) + 1;
        }) == "input: must be aligned to its elements, got an unaligned pointer");
  const std::string overflow = "input: must have sizes and strides of at most 2^60 bytes, got ";
  CHECK(spoiled<ValueError>([](auto& d) { d.input.sizes[0] = kHuge; }) ==
        overflow + "shape (4611686018427387904, 3)");
  CHECK(spoiled<ValueError>([](auto& d) { d.input.strides[0] = kHuge; }) ==
        overflow + "shape (2, 3)");
  CHECK(spoiled<ValueError>([](auto& d) {
          d.input.strides[0] = std::numeric_limits<std::int64_t>::min();
        }) == overflow + "shape (2, 3)");
  CHECK(spoiled<ValueError>([](auto& d) {
          d.input.sizes[0] = kHuge / 2;
          d.input.strides[0] = 0;
        }) == overflow + "shape (2305843009213693952, 3)");
  CHECK(spoiled<TypeError>([](auto& d) { d.output.type = dmlcpu::DataType::kFloat32; }) ==
        "index_dtype: must be int8 to int64 or uint8 to uint64, got float32");
  CHECK(spoiled<TypeError>([](auto& d) { d.output.type = dmlcpu::DataType::kBool; }) ==
        "index_dtype: must be int8 to int64 or uint8 to uint64, got bool");
}

/// Every element type, at half of its size from an aligned address.
void test_alignment() {
  alignas(8) static char memory[64];
  for (int type = 0; type < dmlcpu::kDataTypeCount; ++type) {
    const auto data_type = static_cast<dmlcpu::DataType>(type);
    const std::size_t size = dmlcpu::info(data_type).size;
    for (std::size_t offset = 0; offset < size; ++offset) {
      const std::string text = spoiled<ValueError>([&](auto& d) {
        d.input.type = data_type;
        d.input.data = memory + offset;
      });
      CHECK(
          text ==
          (offset == 0 ? "" : "input: must be aligned to its elements, got an unaligned pointer"));
    }
  }
}

/// Sizes of 0 beside others whose product does not fit 64 bits: planners multiply any of them.
void test_empty_but_huge() {
  CHECK(spoiled<ValueError>([](auto& d) {
          d.input.rank = 3;
          d.input.sizes = {0, kHuge / 2, 64};
          d.input.strides = {0, 0, 0};
        }) ==
        "input: must have sizes and strides of at most 2^60 bytes, got shape (0, "
        "2305843009213693952, 64)");
  dmlcpu::GatherNdDescriptor gather;
  gather.input.rank = gather.indices.rank = 3;
  gather.input.sizes = {1, 0, std::int64_t{1} << 40};
  gather.indices.type = dmlcpu::DataType::kInt64;
  gather.indices.sizes = {0, std::int64_t{1} << 40, 1};
  CHECK(check::error_of<ValueError>([&] { dmlcpu::output_shape(gather); }) ==
        "indices: must give a result whose bytes fit 64 bits, got shape (0, 1099511627776, 0, "
        "1099511627776)");
}

/// What is reduced may be more than the elements: none, where a kept axis is empty.
void test_index_types_of_empty_tensors() {
  ArgDescriptor descriptor;
  descriptor.input.rank = descriptor.output.rank = 2;
  descriptor.input.sizes = {0, (std::int64_t{1} << 32) + 1};
  descriptor.output.sizes = {0, 1};
  descriptor.axes = {1};
  descriptor.output.type = dmlcpu::DataType::kUInt32;
  CHECK(check::error_of<ValueError>([&] { run(descriptor); }) ==
        "index_dtype: must hold the index 4294967296, got uint32");
  --descriptor.input.sizes[1];
  run(descriptor);
}

void test_runtime() {
  CHECK(check::error_of<ValueError>([] { dmlcpu::set_num_threads(-1); }) ==
        "num_threads: must be at least 0, got -1");
  CHECK(check::error_of<ValueError>([] { dmlcpu::exchange_thread_override(-1); }) ==
        "num_threads: must be at least 0, got -1");
}

void test_errors_are_std_exceptions() {
  CHECK(!check::error_of<std::invalid_argument>([] { dmlcpu::use_instruction_set("?"); }).empty());
  ArgDescriptor descriptor = good();
  descriptor.axes = {2};
  CHECK(!check::error_of<std::out_of_range>([&] { run(descriptor); }).empty());
}

/// A program's locale may separate thousands.
void test_numbers_in_any_locale() {
  struct Grouping : std::numpunct<char> {
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
  const std::vector<std::int32_t> beyond = {12345};
  dmlcpu::GatherNdDescriptor gather;
  gather.input = tensors::contiguous_input(values, {6});
  gather.indices = tensors::contiguous_input(beyond, {1});
  std::vector<float> found(1);
  gather.output = tensors::contiguous(found, {});
  CHECK(check::error_of<dmlcpu::IndexError>([&] { run(gather); }) ==
        "indices: must be in [-6, 5] for axis 0, of size 6, got 12345 at position (0,)");
  std::locale::global(before);
}

void test_good() {
  values = {1, 2, 9, 3, 4, 5};
  run(good());
  CHECK(indices[0] == 2);
}

}  // namespace

int main() {
  test_tensors();
  test_alignment();
  test_empty_but_huge();
  test_index_types_of_empty_tensors();
  test_runtime();
  test_errors_are_std_exceptions();
  test_numbers_in_any_locale();
  test_good();
  return check::failures == 0 ? 0 : 1;
}
