// The examples of DirectML's reference, with their literal fields, and what a dispatch promises.
#include <cstddef>
#include <cstring>
#include <limits>
#include <thread>

#include "check.hpp"
#include "dml_tensors.hpp"
#include "dmlcpu/directml.h"
#include "dmlcpu/runtime.hpp"

using dmlcpu::IndexError;
using dmlcpu::ValueError;
using dmlcpu::directml::CompiledOperator;
using dmlcpu::directml::CompileOptions;

namespace {

// Numbers and layouts are DirectML's.
static_assert(DML_OPERATOR_REDUCE == 55 && DML_OPERATOR_TOP_K == 71);
static_assert(DML_OPERATOR_GATHER_ND == 108 && DML_OPERATOR_TOP_K1 == 112);
static_assert(DML_OPERATOR_ARGMIN == 137 && DML_OPERATOR_ARGMAX == 138);
static_assert(DML_OPERATOR_GATHER_ND1 == 140);
static_assert(DML_TENSOR_DATA_TYPE_FLOAT32 == 1 && DML_TENSOR_DATA_TYPE_FLOAT16 == 2);
static_assert(DML_TENSOR_DATA_TYPE_UINT32 == 3 && DML_TENSOR_DATA_TYPE_UINT8 == 5);
static_assert(DML_TENSOR_DATA_TYPE_INT32 == 6 && DML_TENSOR_DATA_TYPE_INT8 == 8);
static_assert(DML_TENSOR_DATA_TYPE_FLOAT64 == 9 && DML_TENSOR_DATA_TYPE_UINT64 == 10);
static_assert(DML_TENSOR_DATA_TYPE_INT64 == 11 && DML_TENSOR_DATA_TYPE_INT4 == 13);
static_assert(DML_TENSOR_TYPE_BUFFER == 1 && DML_TENSOR_FLAG_OWNED_BY_DML == 1);
static_assert(DML_REDUCE_FUNCTION_ARGMAX == 0 && DML_REDUCE_FUNCTION_SUM_SQUARE == 11);
static_assert(DML_FEATURE_LEVEL_1_0 == 0x1000 && DML_FEATURE_LEVEL_6_4 == 0x6400);
static_assert(sizeof(DML_BUFFER_TENSOR_DESC) == 48);
static_assert(offsetof(DML_BUFFER_TENSOR_DESC, Sizes) == 16);
static_assert(offsetof(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes) == 32);
static_assert(offsetof(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment) == 40);
static_assert(offsetof(DML_REDUCE_OPERATOR_DESC, Axes) == 32);
static_assert(offsetof(DML_ARGMAX_OPERATOR_DESC, AxisDirection) == 32);
static_assert(offsetof(DML_TOP_K1_OPERATOR_DESC, AxisDirection) == 32);
static_assert(offsetof(DML_GATHER_ND1_OPERATOR_DESC, BatchDimensionCount) == 32);

using Floats = std::vector<float>;
using Indices = std::vector<UINT>;

constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr auto kUInt = DML_TENSOR_DATA_TYPE_UINT32;

const Floats kSquare{1, 2, 3, 3, 0, 4, 2, 5, 2};  // 3 x 3

template <class Desc>
Indices run_arg(DML_OPERATOR_TYPE type, const Desc& desc, const Floats& x, std::size_t count,
                const CompileOptions& options = {}) {
  Indices at(count, 99);
  const DML_OPERATOR_DESC op{type, &desc};
  CompiledOperator(op, options).dispatch({dml::input(x)}, {dml::output(at)});
  return at;
}

Indices argmin(std::vector<UINT> axes, std::vector<UINT> output_sizes) {
  const dml::Tensor in(kFloat, {3, 3});
  const dml::Tensor out(kUInt, output_sizes);
  const DML_ARGMIN_OPERATOR_DESC desc{&in.desc, &out.desc, static_cast<UINT>(axes.size()),
                                      axes.data(), DML_AXIS_DIRECTION_INCREASING};
  return run_arg(DML_OPERATOR_ARGMIN, desc, kSquare, output_sizes[0] * output_sizes[1]);
}

Indices argmax(std::vector<UINT> axes, std::vector<UINT> output_sizes) {
  const dml::Tensor in(kFloat, {3, 3});
  const dml::Tensor out(kUInt, output_sizes);
  const DML_ARGMAX_OPERATOR_DESC desc{&in.desc, &out.desc, static_cast<UINT>(axes.size()),
                                      axes.data(), DML_AXIS_DIRECTION_INCREASING};
  return run_arg(DML_OPERATOR_ARGMAX, desc, kSquare, output_sizes[0] * output_sizes[1]);
}

Indices reduce(DML_REDUCE_FUNCTION function, std::vector<UINT> axes,
               std::vector<UINT> output_sizes) {
  const dml::Tensor in(kFloat, {3, 3});
  const dml::Tensor out(kUInt, output_sizes);
  const DML_REDUCE_OPERATOR_DESC desc{function, &in.desc, &out.desc, static_cast<UINT>(axes.size()),
                                      axes.data()};
  return run_arg(DML_OPERATOR_REDUCE, desc, kSquare, output_sizes[0] * output_sizes[1]);
}

void test_arg() {
  CHECK((argmin({0}, {1, 3}) == Indices{0, 1, 2}));
  CHECK((argmin({1}, {3, 1}) == Indices{0, 1, 0}));
  CHECK((argmin({0, 1}, {1, 1}) == Indices{4}));
  CHECK((argmax({0}, {1, 3}) == Indices{1, 2, 1}));
  CHECK((argmax({1}, {3, 1}) == Indices{2, 2, 1}));
  CHECK((argmax({1, 0}, {1, 1}) == Indices{7}));
  CHECK((argmax({}, {3, 3}) == Indices(9, 0)));
  CHECK((reduce(DML_REDUCE_FUNCTION_ARGMIN, {1}, {3, 1}) == Indices{0, 1, 0}));
  CHECK((reduce(DML_REDUCE_FUNCTION_ARGMAX, {0}, {1, 3}) == Indices{1, 2, 1}));
}

void test_ties() {
  const dml::Tensor in(kFloat, {5});
  const dml::Tensor out(kUInt, {1});
  const UINT axis = 0;
  for (const auto direction : {DML_AXIS_DIRECTION_INCREASING, DML_AXIS_DIRECTION_DECREASING}) {
    const Indices want{direction == DML_AXIS_DIRECTION_INCREASING ? 0U : 4U};
    const DML_ARGMIN_OPERATOR_DESC least{&in.desc, &out.desc, 1, &axis, direction};
    CHECK(run_arg(DML_OPERATOR_ARGMIN, least, {1, 2, 3, 2, 1}, 1) == want);
    const DML_ARGMAX_OPERATOR_DESC most{&in.desc, &out.desc, 1, &axis, direction};
    CHECK(run_arg(DML_OPERATOR_ARGMAX, most, {3, 2, 1, 2, 3}, 1) == want);
  }
}

void test_nan_policy() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const dml::Tensor in(kFloat, {3});
  const dml::Tensor out(kUInt, {1});
  const UINT axis = 0;
  const DML_ARGMAX_OPERATOR_DESC desc{&in.desc, &out.desc, 1, &axis, DML_AXIS_DIRECTION_INCREASING};
  CompileOptions options{};
  CHECK(run_arg(DML_OPERATOR_ARGMAX, desc, {1, nan, 3}, 1, options) == Indices{2});
  options.nan_policy = DMLCPU_NAN_PROPAGATE;
  CHECK(run_arg(DML_OPERATOR_ARGMAX, desc, {1, nan, 3}, 1, options) == Indices{1});
}

struct Selected {
  Floats values;
  Indices indices;
  bool operator==(const Selected& other) const {
    return values == other.values && indices == other.indices;
  }
};

template <class Desc>
Selected run_top_k(DML_OPERATOR_TYPE type, const Desc& desc, const Floats& x, std::size_t count) {
  Selected selected{Floats(count, -1), Indices(count, 99)};
  const DML_OPERATOR_DESC op{type, &desc};
  CompiledOperator(op).dispatch({dml::input(x)},
                                {dml::output(selected.values), dml::output(selected.indices)});
  return selected;
}

void test_top_k() {
  const Floats x{0, 1, 10, 11, 3, 2, 9, 8, 4, 5, 6, 7};
  const dml::Tensor in(kFloat, {1, 1, 3, 4});
  const Selected by_row{{11, 10, 9, 8, 7, 6}, {3, 2, 2, 3, 3, 2}};
  const Selected by_column{{4, 5, 10, 11, 3, 2, 9, 8}, {2, 2, 0, 0, 1, 1, 1, 1}};
  {
    const dml::Tensor values(kFloat, {1, 1, 3, 2});
    const dml::Tensor indices(kUInt, {1, 1, 3, 2});
    const DML_TOP_K_OPERATOR_DESC desc{&in.desc, &values.desc, &indices.desc, 3, 2};
    CHECK(run_top_k(DML_OPERATOR_TOP_K, desc, x, 6) == by_row);
    const DML_TOP_K1_OPERATOR_DESC desc1{
        &in.desc, &values.desc, &indices.desc, 3, 2, DML_AXIS_DIRECTION_DECREASING};
    CHECK(run_top_k(DML_OPERATOR_TOP_K1, desc1, x, 6) == by_row);
  }
  {
    const dml::Tensor values(kFloat, {1, 1, 2, 4});
    const dml::Tensor indices(kUInt, {1, 1, 2, 4});
    const DML_TOP_K_OPERATOR_DESC desc{&in.desc, &values.desc, &indices.desc, 2, 2};
    CHECK(run_top_k(DML_OPERATOR_TOP_K, desc, x, 8) == by_column);
  }
  const dml::Tensor values(kFloat, {1, 1, 3, 3});
  const dml::Tensor indices(kUInt, {1, 1, 3, 3});
  const Floats ties{1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 6, 6};
  DML_TOP_K1_OPERATOR_DESC desc{
      &in.desc, &values.desc, &indices.desc, 3, 3, DML_AXIS_DIRECTION_DECREASING};
  CHECK((run_top_k(DML_OPERATOR_TOP_K1, desc, ties, 9) ==
         Selected{{3, 2, 2, 5, 5, 4, 6, 6, 6}, {3, 1, 2, 2, 3, 1, 0, 1, 2}}));
  desc.AxisDirection = DML_AXIS_DIRECTION_INCREASING;
  CHECK((run_top_k(DML_OPERATOR_TOP_K1, desc, ties, 9) ==
         Selected{{1, 2, 2, 3, 4, 5, 6, 6, 6}, {0, 1, 2, 0, 1, 2, 0, 1, 2}}));
}

void test_gather_nd() {
  {
    const dml::Tensor in(kFloat, {2, 2});
    const dml::Tensor indices(kUInt, {2, 1});
    const dml::Tensor out(kFloat, {2, 2});
    const DML_GATHER_ND_OPERATOR_DESC desc{&in.desc, &indices.desc, &out.desc, 2, 2};
    const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER_ND, &desc};
    const Floats x{0, 1, 2, 3};
    const Indices at{1, 0};
    Floats y(4);
    CompiledOperator(op).dispatch({dml::input(x), dml::input(at)}, {dml::output(y)});
    CHECK((y == Floats{2, 3, 0, 1}));
  }
  {
    const dml::Tensor in(kFloat, {2, 2, 2});
    const dml::Tensor indices(kUInt, {1, 2, 2});
    const dml::Tensor out(kFloat, {1, 2, 2});
    const DML_GATHER_ND_OPERATOR_DESC desc{&in.desc, &indices.desc, &out.desc, 3, 2};
    const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER_ND, &desc};
    const Floats x{0, 1, 2, 3, 4, 5, 6, 7};
    const Indices at{0, 1, 1, 0};
    Floats y(4);
    CompiledOperator(op).dispatch({dml::input(x), dml::input(at)}, {dml::output(y)});
    CHECK((y == Floats{2, 3, 4, 5}));
  }
}

/// The sizes that show what the output's formula should be: {3,4,5,6,7} and {1,1,1,2,3} with 3
/// dimensions of indices give {1,1,2,6,7}.
void test_gather_nd_of_five_dimensions() {
  const dml::Tensor in(kFloat, {3, 4, 5, 6, 7});
  const dml::Tensor indices(kUInt, {1, 1, 1, 2, 3});
  const dml::Tensor out(kFloat, {1, 1, 2, 6, 7});
  const DML_GATHER_ND_OPERATOR_DESC desc{&in.desc, &indices.desc, &out.desc, 5, 3};
  const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER_ND, &desc};
  Floats x(3 * 4 * 5 * 6 * 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Indices at{2, 3, 4, 0, 1, 2};
  Floats y(2 * 6 * 7);
  CompiledOperator(op).dispatch({dml::input(x), dml::input(at)}, {dml::output(y)});
  CHECK(y[0] == x[((2 * 4 + 3) * 5 + 4) * 42]);
  CHECK(y[42 + 41] == x[((0 * 4 + 1) * 5 + 2) * 42 + 41]);
}

void test_gather_nd1() {
  const dml::Tensor in(kFloat, {1, 3, 2, 2});
  const dml::Tensor indices(DML_TENSOR_DATA_TYPE_INT64, {1, 3, 2, 2});
  const dml::Tensor out(kFloat, {1, 1, 3, 2});
  const DML_GATHER_ND1_OPERATOR_DESC desc{&in.desc, &indices.desc, &out.desc, 3, 3, 1};
  const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER_ND1, &desc};
  const Floats x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::vector<std::int64_t> at{0, 0, 1, 1, 0, 1, -1, 0, -2, -1, 7, -9};
  Floats y(6);
  CompiledOperator(op).dispatch({dml::input(x), dml::input(at)}, {dml::output(y)});
  CHECK((y == Floats{0, 3, 5, 6, 9, 10}));  // the last tuple clamped to {1, 0}

  CompileOptions options{};
  options.index_mode = DMLCPU_INDEX_RAISE;
  const CompiledOperator strict(op, options);
  Floats untouched(6, -1);
  CHECK(check::error_of<IndexError>(
            [&] { strict.dispatch({dml::input(x), dml::input(at)}, {dml::output(untouched)}); }) ==
        "IndicesTensor: must be in [-2, 1] for axis 1, of size 2, got 7 at position (2, 1, 0)");
  CHECK(untouched == Floats(6, -1));
}

/// Broadcast, padded and transposed inputs; what lies between an output's elements stays.
void test_strides() {
  const UINT axis = 1;
  const Floats x{5, 1, 4, 0, 9, 2, 7, 0};  // rows of 3 elements and one of padding
  const dml::Tensor padded(kFloat, {2, 3}, {4, 1});
  const dml::Tensor spread(kUInt, {2, 1}, {3, 1});
  DML_ARGMAX_OPERATOR_DESC desc{&padded.desc, &spread.desc, 1, &axis,
                                DML_AXIS_DIRECTION_INCREASING};
  CHECK((run_arg(DML_OPERATOR_ARGMAX, desc, x, 5) == Indices{0, 99, 99, 0, 99}));

  const dml::Tensor transposed(kFloat, {4, 2}, {1, 4});
  const dml::Tensor column(kUInt, {4, 1});
  desc.InputTensor = &transposed.desc;
  desc.OutputTensor = &column.desc;
  CHECK((run_arg(DML_OPERATOR_ARGMAX, desc, x, 4) == Indices{1, 1, 1, 0}));

  const dml::Tensor broadcast(kFloat, {4, 3}, {0, 1});
  desc.InputTensor = &broadcast.desc;
  CHECK((run_arg(DML_OPERATOR_ARGMAX, desc, Floats{5, 6, 4}, 4) == Indices{1, 1, 1, 1}));
}

void test_memory() {
  const dml::Tensor in(kFloat, {3, 3});
  const dml::Tensor values(kFloat, {3, 2});
  const dml::Tensor indices(kUInt, {3, 2});
  const DML_TOP_K_OPERATOR_DESC desc{&in.desc, &values.desc, &indices.desc, 1, 2};
  const DML_OPERATOR_DESC op{DML_OPERATOR_TOP_K, &desc};
  const CompiledOperator top_k(op);
  Floats x = kSquare;
  Floats v(6);
  Indices at(6);
  const auto text = [&](const dmlcpu_input& i, const dmlcpu_output& o, const dmlcpu_output& p) {
    return check::error_of<ValueError>([&] { top_k.dispatch({i}, {o, p}); });
  };
  const auto good_in = dml::input(x);
  const auto good_values = dml::output(v);
  const auto good_indices = dml::output(at);
  CHECK(text(good_in, good_values, good_indices).empty());
  CHECK(text({x.data(), 35}, good_values, good_indices) ==
        "InputTensor: must have the 36 bytes up to its last element, got 35");
  CHECK(text(good_in, good_values, {at.data(), 0}) ==
        "OutputIndexTensor: must have the 24 bytes up to its last element, got 0");
  CHECK(text({nullptr, 36}, good_values, good_indices) ==
        "InputTensor: must point at its elements, got null");
  CHECK(text(good_in, {nullptr, 24}, good_indices) ==
        "OutputValueTensor: must point at its elements, got null");
  char* const odd = reinterpret_cast<char*>(x.data()) + 1;
  CHECK(text({odd, 36}, good_values, good_indices) ==
        "InputTensor: must be aligned to its elements, got an unaligned pointer");
  CHECK(text(good_in, {x.data() + 3, 24}, good_indices) ==
        "OutputValueTensor: must not overlap InputTensor, got shared memory");
  CHECK(text(good_in, good_values, {v.data() + 5, 24}) ==
        "OutputIndexTensor: must not overlap OutputValueTensor, got shared memory");
  CHECK(x == kSquare);
  CHECK(check::error_of<ValueError>([&] { top_k.dispatch({good_in}, {good_values}); }) ==
        "outputs: must be 2, got 1");
  CHECK(check::error_of<ValueError>([&] { top_k.dispatch({}, {good_values, good_indices}); }) ==
        "inputs: must be 1, got 0");
  CHECK(check::error_of<ValueError>([&] { top_k.dispatch(nullptr, 1, &good_values, 2); }) ==
        "inputs: must be given, got null");
}

/// Two tensors may lie inside each other's bounds, as long as no element is shared.
void test_interleaved() {
  Floats both{1, 0, 2, 0, 3, 0};
  const UINT axis = 0;
  const dml::Tensor in(kFloat, {3, 1}, {2, 1});
  const dml::Tensor out(kUInt, {1, 1});
  const DML_ARGMAX_OPERATOR_DESC desc{&in.desc, &out.desc, 1, &axis, DML_AXIS_DIRECTION_INCREASING};
  const CompiledOperator argmax({DML_OPERATOR_ARGMAX, &desc});
  argmax.dispatch({{both.data(), 20}}, {{both.data() + 3, 4}});
  UINT found = 0;
  std::memcpy(&found, &both[3], sizeof found);
  CHECK(found == 2);
}

/// One operator, planned for several threads, runs on many at once, and on fewer than planned.
void test_concurrent_dispatch() {
  const UINT rows = 64;
  const UINT columns = 3000;
  const dml::Tensor in(kFloat, {rows, columns});
  const dml::Tensor values(kFloat, {rows, 5});
  const dml::Tensor indices(kUInt, {rows, 5});
  const DML_TOP_K_OPERATOR_DESC desc{&in.desc, &values.desc, &indices.desc, 1, 5};
  Floats x(std::size_t{rows} * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 10007);
  dmlcpu::set_grain_bytes(1);
  dmlcpu::set_num_threads(4);
  const CompiledOperator top_k({DML_OPERATOR_TOP_K, &desc});
  const std::size_t count = 5 * rows;
  Selected want{Floats(count), Indices(count)};
  top_k.dispatch({dml::input(x)}, {dml::output(want.values), dml::output(want.indices)});
  std::vector<Selected> got(4, {Floats(count), Indices(count)});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < got.size(); ++t) {
    threads.emplace_back([&, t] {
      const dmlcpu::ScopedThreads scope(static_cast<int>(t % 2) + 1);
      for (int i = 0; i < 10; ++i) {
        top_k.dispatch({dml::input(x)}, {dml::output(got[t].values), dml::output(got[t].indices)});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Selected& selected : got) CHECK(selected == want);
  dmlcpu::set_num_threads(0);
  dmlcpu::set_grain_bytes(0);
}

/// A compiled operator keeps nothing of its descriptor.
void test_descriptor_may_end() {
  const auto make = [] {
    const std::vector<UINT> axes{1};
    const dml::Tensor in(kFloat, {3, 3});
    const dml::Tensor out(kUInt, {3, 1});
    const DML_ARGMAX_OPERATOR_DESC desc{&in.desc, &out.desc, 1, axes.data(),
                                        DML_AXIS_DIRECTION_INCREASING};
    return CompiledOperator({DML_OPERATOR_ARGMAX, &desc});
  };
  const CompiledOperator argmax = make();
  Indices at(3);
  argmax.dispatch({dml::input(kSquare)}, {dml::output(at)});
  CHECK((at == Indices{2, 2, 1}));
}

void test_tensor_size() {
  const UINT sizes[] = {2, 3};
  const UINT padded[] = {4, 1};
  const UINT broadcast[] = {0, 1};
  CHECK(DMLCalcBufferTensorSize(kFloat, 2, sizes, nullptr) == 24);
  CHECK(DMLCalcBufferTensorSize(kFloat, 2, sizes, padded) == 28);
  CHECK(DMLCalcBufferTensorSize(kFloat, 2, sizes, broadcast) == 12);
  CHECK(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_UINT8, 2, sizes, nullptr) == 8);
  CHECK(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_INT64, 2, sizes, nullptr) == 48);
  CHECK(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_UNKNOWN, 2, sizes, nullptr) == 0);
  // The listing of the reference counts elements in 32 bits.
  const UINT large[] = {70000, 70000};
  CHECK(DMLCalcBufferTensorSize(kFloat, 2, large, nullptr) == 19'600'000'000);
}

}  // namespace

int main() {
  test_arg();
  test_ties();
  test_nan_policy();
  test_top_k();
  test_gather_nd();
  test_gather_nd_of_five_dimensions();
  test_gather_nd1();
  test_strides();
  test_memory();
  test_interleaved();
  test_concurrent_dispatch();
  test_descriptor_may_end();
  test_tensor_size();
  return check::failures == 0 ? 0 : 1;
}
