// The typed functions: what they make of sizes, strides, axes and options. The operators themselves
// are tested through Python.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "dmlcpu/dmlcpu.hpp"

using dmlcpu::AxisDirection;
using dmlcpu::View;

namespace {

constexpr float kMatrix[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};  // 3 x 3

void test_arg() {
  std::uint32_t at[3] = {9, 9, 9};
  dmlcpu::argmin<float, std::uint32_t>({kMatrix, {3, 3}}, {1}, {at, {3, 1}});
  CHECK(at[0] == 0 && at[1] == 1 && at[2] == 0);
  dmlcpu::argmax<float, std::uint32_t>({kMatrix, {3, 3}}, {0}, {at, {1, 3}});
  CHECK(at[0] == 1 && at[1] == 2 && at[2] == 1);
  // Reduced axes left out of the output.
  dmlcpu::argmax<float, std::uint32_t>({kMatrix, {3, 3}}, {-1}, {at, {3}});
  CHECK(at[0] == 2 && at[1] == 2 && at[2] == 1);
  std::int64_t all = 9;
  dmlcpu::argmax<float, std::int64_t>({kMatrix, {3, 3}}, {}, {&all, {1, 1}});
  CHECK(all == 7);
  dmlcpu::argmin<float, std::int64_t>({kMatrix, {3, 3}}, {1, 0}, {&all, {}});
  CHECK(all == 4);
  std::uint8_t narrow[3] = {9, 9, 9};
  dmlcpu::argmax<float, std::uint8_t>({kMatrix, {3, 3}}, {0}, {narrow, {3}});
  CHECK(narrow[0] == 1 && narrow[1] == 2 && narrow[2] == 1);
}

void test_options() {
  const int x[] = {1, 2, 3, 2, 1};
  std::int32_t at = 9;
  dmlcpu::ArgOptions last;
  last.axis_direction = AxisDirection::kDecreasing;
  last.threads = 2;
  const int threads = dmlcpu::num_threads();
  dmlcpu::argmin<int, std::int32_t>({x, {5}}, {0}, {&at, {1}}, last);
  CHECK(at == 4);
  CHECK(dmlcpu::num_threads() == threads);
  last.threads = -1;
  CHECK(check::error_of<dmlcpu::ValueError>([&] {
          dmlcpu::argmin<int, std::int32_t>({x, {5}}, {0}, {&at, {1}}, last);
        }) == "num_threads: must be at least 0, got -1");
}

void test_strides() {
  // The transpose, backwards along the columns, every result in every other place.
  std::uint64_t at[6] = {9, 9, 9, 9, 9, 9};
  const View<const float> rotated(kMatrix + 6, {3, 3}, {1, -3});
  dmlcpu::argmax<float, std::uint64_t>(rotated, {1}, {at, {3}, {2}});
  CHECK(at[0] == 1 && at[2] == 0 && at[4] == 1);
  CHECK(at[1] == 9 && at[3] == 9 && at[5] == 9);
}

void test_top_k() {
  float values[4] = {};
  std::uint32_t at[4] = {};
  dmlcpu::top_k<float, std::uint32_t>({kMatrix, {3, 3}}, 1, 0, {values, {1, 3}}, {at, {1, 3}});
  CHECK(values[0] == 3 && values[1] == 5 && values[2] == 4);
  CHECK(at[0] == 1 && at[1] == 2 && at[2] == 1);
  dmlcpu::TopKOptions smallest;
  smallest.axis_direction = AxisDirection::kIncreasing;
  dmlcpu::top_k<float, std::uint32_t>({kMatrix, {9}}, 2, -1, {values, {2}}, {at, {2}}, smallest);
  CHECK(values[0] == 0 && values[1] == 1 && at[0] == 4 && at[1] == 0);
}

/// Tuples are checked first, without an output, by several tasks; the input may be null if it is
/// empty. UndefinedBehaviorSanitizer sees offsets from null pointers.
/// One element has no axis, which is searched nevertheless.
void test_top_k_of_one_element() {
  for (const auto results : {dmlcpu::TopKResults::kBoth, dmlcpu::TopKResults::kValues,
                             dmlcpu::TopKResults::kIndices, dmlcpu::TopKResults::kLast}) {
    const float x = 3;
    float value = 3;
    std::uint32_t index = 0;
    dmlcpu::TopKDescriptor d;
    d.input = View<const float>(&x, {}).tensor();
    d.values = View<float>(&value, {}).tensor();
    d.indices = View<std::uint32_t>(&index, {}).tensor();
    d.results = results;
    d.k = 1;
    if (results != dmlcpu::TopKResults::kIndices) value = 9;
    if (results != dmlcpu::TopKResults::kValues) index = 9;
    dmlcpu::run(d);
    CHECK(value == 3 && index == 0);
  }
}

void test_gather_in_tasks() {
  dmlcpu::set_grain_bytes(1);
  dmlcpu::GatherNdOptions options;
  options.threads = 3;
  std::vector<std::int32_t> tuples(300, 2);
  std::vector<float> found(300);
  const View<float> out(found.data(), {300});
  dmlcpu::gather_nd<float, std::int32_t>({kMatrix, {9}}, {tuples.data(), {300, 1}}, out, options);
  CHECK(found[0] == 3 && found[299] == found[0]);
  options.batch_dims = 1;
  CHECK(check::error_of<dmlcpu::IndexError>([&] {
          dmlcpu::gather_nd<float, std::int32_t>({nullptr, {3, 0}}, {tuples.data(), {3, 100, 1}},
                                                 {found.data(), {3, 100}}, options);
        }) == "indices: must be empty for axis 1, of size 0, got 2 at position (0, 0, 0)");
  dmlcpu::set_grain_bytes(0);
}

void test_gather_nd() {
  const std::int32_t tuples[] = {1, 0, -1, 1};
  float found[2] = {};
  const View<float> out(found, {2});
  dmlcpu::gather_nd<float, std::int32_t>({kMatrix, {3, 3}}, {tuples, {2, 2}}, out);
  CHECK(found[0] == 3 && found[1] == 5);
  const std::int32_t outside[] = {3, 0};
  const auto gather = [&](dmlcpu::IndexMode mode) {
    dmlcpu::GatherNdOptions options;
    options.mode = mode;
    dmlcpu::gather_nd<float, std::int32_t>({kMatrix, {3, 3}}, {outside, {1, 2}}, {found, {1}},
                                           options);
  };
  CHECK(!check::error_of<dmlcpu::IndexError>([&] { gather(dmlcpu::IndexMode::kRaise); }).empty());
  CHECK(found[0] == 3);
  gather(dmlcpu::IndexMode::kClip);
  CHECK(found[0] == 2);
  // Slices of two batches.
  const std::uint64_t one[] = {2, 0};
  dmlcpu::GatherNdOptions batched;
  batched.batch_dims = 1;
  float slices[2] = {};
  dmlcpu::gather_nd<float, std::uint64_t>({kMatrix, {2, 3}}, {one, {2, 1}}, {slices, {2}}, batched);
  CHECK(slices[0] == 3 && slices[1] == 3);
}

void test_views() {
  static_assert(dmlcpu::data_type_of<bool>() == dmlcpu::DataType::kBool);
  static_assert(dmlcpu::data_type_of<std::uint8_t>() == dmlcpu::DataType::kUInt8);
  static_assert(dmlcpu::data_type_of<dmlcpu::BFloat16>() == dmlcpu::DataType::kBFloat16);
  static_assert(std::is_convertible_v<View<float>, View<const float>>);
  static_assert(!std::is_convertible_v<View<const float>, View<float>>);
  static_assert(!dmlcpu::is_element<char>);
  CHECK(check::error_of<dmlcpu::ValueError>([] {
          const View<const float> view(kMatrix, {1, 1, 1, 1, 1, 1, 1, 1, 1});
        }) == "sizes: must be at most 8, got more");
  CHECK(check::error_of<dmlcpu::ValueError>([] {
          const View<const float> view(kMatrix, {3, 3}, {1});
        }) == "strides: must be as many as sizes, got 1");
  CHECK(check::error_of<dmlcpu::ValueError>([] {
          const View<const float> view(kMatrix, {9}, {1, 1});
        }) == "strides: must be as many as sizes, got 2");
  CHECK(check::error_of<dmlcpu::ValueError>([] {
          const View<const float> view(kMatrix, std::vector<int>(8, 1), std::vector<int>(9, 1));
        }) == "strides: must be as many as sizes, got 9");
  const std::int64_t sizes[] = {3, 3};
  CHECK(check::error_of<dmlcpu::ValueError>([&] {
          const View<const float> view(kMatrix, {sizes, -1});
        }) == "count: must be at least 0, got -1");
  CHECK(check::error_of<dmlcpu::ValueError>([&] {
          const View<const float> view(kMatrix, std::vector<int>(9, 1));
        }) == "sizes: must be at most 8, got more");
  // A number alone is no list: it would be taken for rows where columns follow.
  static_assert(!std::is_constructible_v<View<const float>, const float*, int>);
  // What output_shape() gives.
  CHECK(View<const float>(kMatrix, dmlcpu::Shape{2, {3, 3}}).tensor().strides[0] == 3);
  // Sizes whose product wraps are the operators' to refuse.
  const std::int64_t huge = std::int64_t{1} << 62;
  std::uint32_t at = 0;
  CHECK(!check::error_of<dmlcpu::ValueError>([&] {
           dmlcpu::argmax<float, std::uint32_t>({kMatrix, {huge, huge}}, {0}, {&at, {1, huge}});
         }).empty());
}

template <class Element>
void check_deduced(Element* data) {
  const View x(data, {3, 3});
  static_assert(std::is_same_v<decltype(x), const View<Element>>);
  std::int64_t at[3] = {9, 9, 9};
  const View indices(at, std::vector<int>{3});
  dmlcpu::argmin(x, {1}, indices);
  CHECK(at[0] == 0 && at[1] == 1 && at[2] == 0);
  dmlcpu::argmax(x, {0}, indices);
  CHECK(at[0] == 1 && at[1] == 2 && at[2] == 1);
  dmlcpu::argmax(View(data, {3, 3}, {1, 3}), {}, View(at, {}), {AxisDirection::kDecreasing});
  CHECK(at[0] == 5);
  float best[3] = {};
  const View values(best, {3, 1});
  dmlcpu::top_k(x, 1, -1, values, View(at, {3, 1}));
  CHECK(best[0] == 3 && best[1] == 4 && best[2] == 5 && at[2] == 1);
  // Indices to write to, and to read from.
  at[0] = 2, at[1] = 1;
  const std::int64_t* const read = at;
  dmlcpu::gather_nd(x, View(at, {1, 2}), View(best, {1}));
  CHECK(best[0] == 5);
  dmlcpu::gather_nd(x, View(read, {1}), View(best, {3}));
  CHECK(best[0] == 2 && best[1] == 5 && best[2] == 2);
}

void test_deduction() {
  check_deduced(kMatrix);
  float matrix[9];
  std::copy_n(kMatrix, 9, matrix);
  check_deduced(matrix);
}

void test_scoped_threads() {
  const int before = dmlcpu::num_threads();
  {
    const dmlcpu::ScopedThreads one(1);
    CHECK(dmlcpu::num_threads() == 1);
    const dmlcpu::ScopedThreads three(3);
    CHECK(dmlcpu::num_threads() == 3);
  }
  CHECK(dmlcpu::num_threads() == before);
}

}  // namespace

int main() {
  test_arg();
  test_options();
  test_strides();
  test_top_k();
  test_gather_nd();
  test_top_k_of_one_element();
  test_gather_in_tasks();
  test_views();
  test_deduction();
  test_scoped_threads();
  return check::failures;
}
