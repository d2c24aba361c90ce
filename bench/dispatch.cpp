// Nanoseconds of compiling and dispatching DirectML's operators on a few elements, and of the typed
// functions beside them, interleaved: prints "what<tab>nanoseconds" for each call of each round.
// Arguments: rounds.
#include <dmlcpu/directml.h>
#include <dmlcpu/dmlcpu.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

namespace {

using dmlcpu::directml::CompiledOperator;

constexpr int kRepeats = 20000;

double nanoseconds_of(const std::function<void()>& call) {
  call();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRepeats; ++i) call();
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
  return passed.count() / kRepeats;
}

/// A contiguous tensor.
struct Tensor {
  std::vector<UINT> sizes;
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{};

  Tensor(DML_TENSOR_DATA_TYPE type, std::vector<UINT> sizes_) : sizes(std::move(sizes_)) {
    buffer.DataType = type;
    buffer.DimensionCount = static_cast<UINT>(sizes.size());
    buffer.Sizes = sizes.data();
    buffer.TotalTensorSizeInBytes =
        DMLCalcBufferTensorSize(type, buffer.DimensionCount, buffer.Sizes, nullptr);
    desc = {DML_TENSOR_TYPE_BUFFER, &buffer};
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
};

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 15;
  const float x[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};
  const UINT rows[] = {2, 0};
  float values[9];
  UINT indices[9];

  const auto f32 = DML_TENSOR_DATA_TYPE_FLOAT32;
  const auto u32 = DML_TENSOR_DATA_TYPE_UINT32;
  const Tensor square(f32, {3, 3});
  const Tensor column(u32, {3, 1});
  const Tensor top(f32, {3, 2});
  const Tensor top_at(u32, {3, 2});
  const Tensor picks(u32, {2, 1});
  const Tensor picked(f32, {2, 3});
  const UINT axis = 1;
  const DML_ARGMAX_OPERATOR_DESC argmax_desc{&square.desc, &column.desc, 1, &axis,
                                             DML_AXIS_DIRECTION_INCREASING};
  const DML_TOP_K_OPERATOR_DESC top_k_desc{&square.desc, &top.desc, &top_at.desc, 1, 2};
  const DML_GATHER_ND_OPERATOR_DESC gather_desc{&square.desc, &picks.desc, &picked.desc, 2, 2};
  const DML_OPERATOR_DESC argmax_op{DML_OPERATOR_ARGMAX, &argmax_desc};
  const DML_OPERATOR_DESC top_k_op{DML_OPERATOR_TOP_K, &top_k_desc};
  const DML_OPERATOR_DESC gather_op{DML_OPERATOR_GATHER_ND, &gather_desc};
  const CompiledOperator argmax(argmax_op);
  const CompiledOperator top_k(top_k_op);
  const CompiledOperator gather(gather_op);

  const std::pair<const char*, std::function<void()>> calls[] = {
      {"argmax 3x3, compile", [&] { const CompiledOperator compiled(argmax_op); }},
      {"argmax 3x3, dispatch",
       [&] { argmax.dispatch({{x, sizeof x}}, {{indices, sizeof indices}}); }},
      {"argmax 3x3, typed function",
       [&] { dmlcpu::argmax<float, UINT>({x, {3, 3}}, {1}, {indices, {3, 1}}); }},
      {"top-k 3x3, k 2, compile", [&] { const CompiledOperator compiled(top_k_op); }},
      {"top-k 3x3, k 2, dispatch",
       [&] {
         top_k.dispatch({{x, sizeof x}}, {{values, sizeof values}, {indices, sizeof indices}});
       }},
      {"top-k 3x3, k 2, typed function",
       [&] { dmlcpu::top_k<float, UINT>({x, {3, 3}}, 2, 1, {values, {3, 2}}, {indices, {3, 2}}); }},
      {"gather 2 of 3x3, compile", [&] { const CompiledOperator compiled(gather_op); }},
      {"gather 2 of 3x3, dispatch",
       [&] { gather.dispatch({{x, sizeof x}, {rows, sizeof rows}}, {{values, sizeof values}}); }},
      {"gather 2 of 3x3, typed function",
       [&] { dmlcpu::gather_nd<float, UINT>({x, {3, 3}}, {rows, {2, 1}}, {values, {2, 3}}); }},
  };
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [what, call] : calls) std::printf("%s\t%.1f\n", what, nanoseconds_of(call));
  }
  return 0;
}
