// Every rule of DirectML's reference broken once, by one field of a good descriptor, and its text.
#include <cstring>
#include <string>

#include "check.hpp"
#include "dml_tensors.hpp"
#include "dmlcpu/directml.h"

using dmlcpu::ValueError;
using dmlcpu::directml::CompiledOperator;
using dmlcpu::directml::CompileOptions;
using dmlcpu::directml::FeatureLevelError;

namespace {

constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr auto kUInt = DML_TENSOR_DATA_TYPE_UINT32;

std::string compile_error(const DML_OPERATOR_DESC& op, const CompileOptions& options = {}) {
  return check::error_of<ValueError>([&] { const CompiledOperator compiled(op, options); });
}

template <class Enum>
void set_number(Enum& field, std::uint32_t number) {
  std::memcpy(&field, &number, sizeof field);
}

/// A good descriptor of each operator, to be spoiled.
struct Arg {
  dml::Tensor in{kFloat, {3, 4}};
  dml::Tensor out{kUInt, {3, 1}};
  std::vector<UINT> axes{1};
  DML_ARGMIN_OPERATOR_DESC desc{&in.desc, &out.desc, 1, axes.data(), DML_AXIS_DIRECTION_INCREASING};
  DML_OPERATOR_DESC op{DML_OPERATOR_ARGMIN, &desc};
};

struct TopK {
  dml::Tensor in{kFloat, {3, 4}};
  dml::Tensor values{kFloat, {3, 2}};
  dml::Tensor indices{kUInt, {3, 2}};
  DML_TOP_K1_OPERATOR_DESC desc{
      &in.desc, &values.desc, &indices.desc, 1, 2, DML_AXIS_DIRECTION_DECREASING};
  DML_OPERATOR_DESC op{DML_OPERATOR_TOP_K1, &desc};
};

struct Gather {
  dml::Tensor in{kFloat, {1, 5, 3, 4}};
  dml::Tensor indices{kUInt, {1, 5, 7, 1}};
  dml::Tensor out{kFloat, {1, 5, 7, 4}};
  DML_GATHER_ND1_OPERATOR_DESC desc{&in.desc, &indices.desc, &out.desc, 3, 3, 1};
  DML_OPERATOR_DESC op{DML_OPERATOR_GATHER_ND1, &desc};
};

template <class Good, class Spoil>
std::string spoiled(Spoil&& spoil) {
  Good good;
  CHECK(compile_error(good.op).empty());
  spoil(good);
  return compile_error(good.op);
}

void test_operator() {
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.op.Type, 7); }) ==
        "Type: must be REDUCE (55), TOP_K (71), GATHER_ND (108), TOP_K1 (112), ARGMIN (137), "
        "ARGMAX (138) or GATHER_ND1 (140), got 7");
  CHECK(spoiled<Arg>([](Arg& a) { a.op.Desc = nullptr; }) == "Desc: must be given, got null");
}

void test_tensor() {
  CHECK(spoiled<Arg>([](Arg& a) { a.desc.InputTensor = nullptr; }) ==
        "InputTensor: must be given, got null");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.out.desc.Type, 0); }) ==
        "OutputTensor.Type: must be BUFFER (1), got 0");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.desc.Desc = nullptr; }) ==
        "InputTensor.Desc: must be given, got null");
  const std::string types =
      "InputTensor.DataType: must be FLOAT32, FLOAT16, FLOAT64 or an integer type of 8 to 64 bits";
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.in.buffer.DataType, 0); }) ==
        types + ", got UNKNOWN");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.in.buffer.DataType, 13); }) == types + ", got INT4");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.in.buffer.DataType, 99); }) == types + ", got 99");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.in.buffer.Flags, 1); }).empty());
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.in.buffer.Flags, 2); }) ==
        "InputTensor.Flags: must be NONE (0) or OWNED_BY_DML (1), got 2");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.out.buffer.Flags, 1); }) ==
        "OutputTensor.Flags: must be NONE (0), got 1");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.DimensionCount = 0; }) ==
        "InputTensor.DimensionCount: must be in [1, 8], got 0");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.DimensionCount = 9; }) ==
        "InputTensor.DimensionCount: must be in [1, 8], got 9");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.Sizes = nullptr; }) ==
        "InputTensor.Sizes: must be given, got null");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.sizes[1] = 0; }) ==
        "InputTensor.Sizes: must be at least 1 in every dimension, got (3, 0)");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.TotalTensorSizeInBytes = 47; }) ==
        "InputTensor.TotalTensorSizeInBytes: must be at least 48 (its elements, rounded up to 4 "
        "bytes), got 47");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.TotalTensorSizeInBytes = 1000; }).empty());
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.GuaranteedBaseOffsetAlignment = 16; }).empty());
  const std::string alignment =
      "InputTensor.GuaranteedBaseOffsetAlignment: must be 0 or a power of two of at least the "
      "element's 4 bytes, got ";
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.GuaranteedBaseOffsetAlignment = 12; }) ==
        alignment + "12");
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.GuaranteedBaseOffsetAlignment = 2; }) ==
        alignment + "2");
  CHECK(spoiled<Arg>([](Arg& a) {
          static const UINT strides[] = {0, 1};
          a.out.buffer.Strides = strides;
        }) == "OutputTensor.Strides: must give every element a place of its own, got (0, 1)");
}

/// A listing that counts in 32 bits would find these small.
void test_large_tensors() {
  const UINT huge = 0xffffffff;
  const std::string overflow =
      "InputTensor: must have sizes and strides of at most 2^60 bytes, got shape ";
  Arg arg;
  arg.in.sizes[0] = huge;
  arg.in.sizes[1] = huge;
  CHECK(compile_error(arg.op) == overflow + "(4294967295, 4294967295)");
  arg.in.sizes[0] = 65536;
  arg.in.sizes[1] = 65536;
  arg.in.buffer.TotalTensorSizeInBytes = 0;
  CHECK(compile_error(arg.op) ==
        "InputTensor.TotalTensorSizeInBytes: must be at least 17179869184 (its elements, rounded "
        "up to 4 bytes), got 0");
}

/// Spans near 2^63 bytes, which fit 64 bits, but not twice: searching them for overlaps would wrap
/// around and find none. Sizes at random hardly come near.
void test_largest_tensors() {
  const UINT half = 0x80000000;
  const UINT huge = 0xffffffff;
  const dml::Tensor in(DML_TENSOR_DATA_TYPE_UINT8, {3, 2, half}, {0, 0, 0});
  const dml::Tensor values(DML_TENSOR_DATA_TYPE_UINT8, {3, 2, half}, {1, 2, huge});
  const dml::Tensor indices(kUInt, {3, 2, half});
  const DML_TOP_K_OPERATOR_DESC desc{&in.desc, &values.desc, &indices.desc, 0, 3};
  CHECK(compile_error({DML_OPERATOR_TOP_K, &desc}) ==
        "OutputValueTensor: must have sizes and strides of at most 2^60 bytes, got shape (3, 2, "
        "2147483648)");
  const dml::Tensor data(DML_TENSOR_DATA_TYPE_UINT8, {1, half}, {0, 1});
  const dml::Tensor rows(DML_TENSOR_DATA_TYPE_INT64, {huge, 1}, {0, 1});
  const dml::Tensor out(DML_TENSOR_DATA_TYPE_UINT8, {huge, half});
  const DML_GATHER_ND_OPERATOR_DESC gather{&data.desc, &rows.desc, &out.desc, 2, 2};
  CHECK(compile_error({DML_OPERATOR_GATHER_ND, &gather}) ==
        "OutputTensor: must have sizes and strides of at most 2^60 bytes, got shape (4294967295, "
        "2147483648)");
}

void test_arg() {
  CHECK(spoiled<Arg>([](Arg& a) { a.in.buffer.DimensionCount = 1; }) ==
        "OutputTensor.DimensionCount: must be 1, that of InputTensor, got 2");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.in.buffer.DataType, 9); }) ==
        "InputTensor.TotalTensorSizeInBytes: must be at least 96 (its elements, rounded up to 4 "
        "bytes), got 48");
  CHECK(spoiled<Arg>([](Arg& a) {
          set_number(a.in.buffer.DataType, 9);
          a.in.buffer.TotalTensorSizeInBytes = 96;
        }) ==
        "InputTensor.DataType: must be FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, "
        "INT8, UINT64 or INT64, got FLOAT64");
  CHECK(spoiled<Arg>([](Arg& a) { a.out.buffer.DataType = kFloat; }) ==
        "OutputTensor.DataType: must be UINT32, INT32, UINT64 or INT64, got FLOAT32");
  CHECK(spoiled<Arg>([](Arg& a) { a.desc.AxisCount = 3; }) ==
        "AxisCount: must be at most 2, InputTensor.DimensionCount, got 3");
  CHECK(spoiled<Arg>([](Arg& a) { a.desc.Axes = nullptr; }) == "Axes: must be given, got null");
  CHECK(spoiled<Arg>([](Arg& a) { a.axes[0] = 2; }) == "Axes[0]: must be in [0, 1], got 2");
  CHECK(spoiled<Arg>([](Arg& a) {
          static const UINT axes[] = {1, 1};
          a.desc.Axes = axes;
          a.desc.AxisCount = 2;
        }) == "Axes[1]: must not repeat an axis, got 1");
  CHECK(spoiled<Arg>([](Arg& a) { a.axes[0] = 0; }) ==
        "OutputTensor.Sizes: must be (1, 4), got (3, 1)");
  CHECK(spoiled<Arg>([](Arg& a) { set_number(a.desc.AxisDirection, 2); }) ==
        "AxisDirection: must be INCREASING (0) or DECREASING (1), got 2");
  // More than 2^32 elements, all at one place.
  static const UINT sizes[] = {65536, 65536};
  static const UINT strides[] = {0, 0};
  static const UINT both[] = {0, 1};
  static const UINT one[] = {1, 1};
  Arg arg;
  arg.in.buffer.Sizes = sizes;
  arg.in.buffer.Strides = strides;
  arg.desc.Axes = both;
  arg.desc.AxisCount = 2;
  arg.out.buffer.Sizes = one;
  CHECK(compile_error(arg.op).empty());
  arg.out.buffer.DataType = DML_TENSOR_DATA_TYPE_INT32;
  CHECK(compile_error(arg.op) ==
        "OutputTensor.DataType: must hold the index 4294967295, got INT32");
}

void test_reduce() {
  const Arg arg;
  DML_REDUCE_OPERATOR_DESC desc{DML_REDUCE_FUNCTION_ARGMAX, &arg.in.desc, &arg.out.desc, 1,
                                arg.axes.data()};
  const DML_OPERATOR_DESC op{DML_OPERATOR_REDUCE, &desc};
  CHECK(compile_error(op).empty());
  desc.Function = DML_REDUCE_FUNCTION_SUM;
  CHECK(compile_error(op) == "Function: must be ARGMAX (0) or ARGMIN (1), got 10");
}

void test_top_k() {
  CHECK(spoiled<TopK>([](TopK& t) { set_number(t.values.buffer.DataType, 6); }) ==
        "OutputValueTensor.DataType: must be FLOAT32, that of InputTensor, got INT32");
  CHECK(spoiled<TopK>([](TopK& t) { set_number(t.indices.buffer.DataType, 6); }) ==
        "OutputIndexTensor.DataType: must be UINT32 or UINT64, got INT32");
  CHECK(spoiled<TopK>([](TopK& t) { t.values.buffer.DimensionCount = 1; }) ==
        "OutputValueTensor.DimensionCount: must be 2, that of InputTensor, got 1");
  CHECK(spoiled<TopK>([](TopK& t) { t.indices.buffer.DimensionCount = 1; }) ==
        "OutputIndexTensor.DimensionCount: must be 2, that of InputTensor, got 1");
  CHECK(spoiled<TopK>([](TopK& t) { t.desc.Axis = 2; }) == "Axis: must be in [0, 1], got 2");
  CHECK(spoiled<TopK>([](TopK& t) { t.desc.K = 0; }) ==
        "K: must be in [1, 4] (the size of axis 1), got 0");
  CHECK(spoiled<TopK>([](TopK& t) { t.desc.K = 5; }) ==
        "K: must be in [1, 4] (the size of axis 1), got 5");
  CHECK(spoiled<TopK>([](TopK& t) { t.desc.K = 3; }) ==
        "OutputValueTensor.Sizes: must be (3, 3), got (3, 2)");
  CHECK(spoiled<TopK>([](TopK& t) { t.indices.sizes[0] = 1; }) ==
        "OutputIndexTensor.Sizes: must be (3, 2), got (1, 2)");
  CHECK(spoiled<TopK>([](TopK& t) { set_number(t.desc.AxisDirection, 5); }) ==
        "AxisDirection: must be INCREASING (0) or DECREASING (1), got 5");
  CHECK(spoiled<TopK>([](TopK& t) { t.op.Type = DML_OPERATOR_TOP_K; }).empty());
}

void test_gather_nd() {
  CHECK(spoiled<Gather>([](Gather& g) { set_number(g.out.buffer.DataType, 6); }) ==
        "OutputTensor.DataType: must be FLOAT32, that of InputTensor, got INT32");
  CHECK(spoiled<Gather>([](Gather& g) { set_number(g.indices.buffer.DataType, 1); }) ==
        "IndicesTensor.DataType: must be UINT32, INT32, UINT64 or INT64, got FLOAT32");
  CHECK(spoiled<Gather>([](Gather& g) { g.indices.buffer.DimensionCount = 3; }) ==
        "IndicesTensor.DimensionCount: must be 4, that of InputTensor, got 3");
  CHECK(spoiled<Gather>([](Gather& g) { g.out.buffer.DimensionCount = 3; }) ==
        "OutputTensor.DimensionCount: must be 4, that of InputTensor, got 3");
  CHECK(spoiled<Gather>([](Gather& g) { g.desc.InputDimensionCount = 5; }) ==
        "InputDimensionCount: must be in [1, 4] (InputTensor.DimensionCount), got 5");
  CHECK(spoiled<Gather>([](Gather& g) { g.desc.IndicesDimensionCount = 0; }) ==
        "IndicesDimensionCount: must be in [1, 4] (IndicesTensor.DimensionCount), got 0");
  CHECK(spoiled<Gather>([](Gather& g) { g.desc.BatchDimensionCount = 3; }) ==
        "BatchDimensionCount: must be in [0, 2] (below InputDimensionCount and "
        "IndicesDimensionCount), got 3");
  CHECK(spoiled<Gather>([](Gather& g) { g.desc.InputDimensionCount = 2; }) ==
        "InputTensor.Sizes: must be 1 in the 2 dimensions before the last 2 "
        "(InputDimensionCount), got (1, 5, 3, 4)");
  CHECK(spoiled<Gather>([](Gather& g) { g.desc.IndicesDimensionCount = 2; }) ==
        "IndicesTensor.Sizes: must be 1 in the 2 dimensions before the last 2 "
        "(IndicesDimensionCount), got (1, 5, 7, 1)");
  CHECK(spoiled<Gather>([](Gather& g) { g.indices.sizes[1] = 4; }) ==
        "IndicesTensor.Sizes: must have the batch dimensions of InputTensor (5,), got (4,)");
  CHECK(spoiled<Gather>([](Gather& g) {
          g.indices.sizes[3] = 3;
          g.indices.buffer.TotalTensorSizeInBytes *= 3;
        }) ==
        "IndicesTensor.Sizes: must end in a size in [1, 2] (InputDimensionCount without the "
        "batch), got 3");
  CHECK(spoiled<Gather>([](Gather& g) { g.out.sizes[0] = 2; }) ==
        "OutputTensor.TotalTensorSizeInBytes: must be at least 1120 (its elements, rounded up to "
        "4 bytes), got 560");
  CHECK(spoiled<Gather>([](Gather& g) { g.out.sizes[3] = 3; }) ==
        "OutputTensor.Sizes: must be (1, 5, 7, 4), got (1, 5, 7, 3)");
  // Tuples of 1 over 4 dimensions of indices leave more dimensions than the tensors have.
  const dml::Tensor in(kFloat, {2, 2, 2, 2});
  const dml::Tensor indices(kUInt, {2, 2, 2, 1});
  const dml::Tensor out(kFloat, {2, 2, 2, 2});
  const DML_GATHER_ND_OPERATOR_DESC desc{&in.desc, &indices.desc, &out.desc, 4, 4};
  CHECK(compile_error({DML_OPERATOR_GATHER_ND, &desc}) ==
        "OutputTensor.DimensionCount: must be at least 6, the dimensions of the result, got 4");
}

std::string level_error(const DML_OPERATOR_DESC& op, std::uint32_t level) {
  CompileOptions options{};
  set_number(options.feature_level, level);
  return check::error_of<FeatureLevelError>([&] { const CompiledOperator c(op, options); });
}

void test_feature_levels() {
  const Arg arg;
  CHECK(dmlcpu::directml::feature_level_required(arg.op) == DML_FEATURE_LEVEL_3_0);
  CHECK(level_error(arg.op, DML_FEATURE_LEVEL_2_1) ==
        "Type: must be an operator at feature level 2.1, got ARGMIN, which needs 3.0");
  CHECK(level_error(arg.op, DML_FEATURE_LEVEL_3_0).empty());
  const TopK top_k;
  CHECK(level_error(top_k.op, DML_FEATURE_LEVEL_3_0) ==
        "InputTensor.DimensionCount: must be 4 at feature level 3.0, got 2, which needs 3.1");
  TopK wide;
  wide.in.buffer.DataType = DML_TENSOR_DATA_TYPE_INT64;
  wide.in.buffer.TotalTensorSizeInBytes = 96;
  wide.values.buffer.DataType = DML_TENSOR_DATA_TYPE_INT64;
  wide.values.buffer.TotalTensorSizeInBytes = 48;
  CHECK(dmlcpu::directml::feature_level_required(wide.op) == DML_FEATURE_LEVEL_5_0);
  CHECK(level_error(wide.op, DML_FEATURE_LEVEL_4_1) ==
        "InputTensor.DataType: must be FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16 or "
        "INT8 at feature level 4.1, got INT64, which needs 5.0");
  CompileOptions options{};
  set_number(options.feature_level, 0x3200);
  CHECK(compile_error(arg.op, options) ==
        "feature_level: must be a DML_FEATURE_LEVEL, from 1.0 (4096) to 6.4 (25600), got 12800");
}

void test_options() {
  const Arg arg;
  CompileOptions options{};
  set_number(options.nan_policy, 2);
  CHECK(compile_error(arg.op, options) == "nan_policy: must be OMIT (0) or PROPAGATE (1), got 2");
  options = {};
  set_number(options.index_mode, 3);
  CHECK(compile_error(arg.op, options) == "index_mode: must be CLIP (0) or RAISE (1), got 3");
  // A size comes before all else: fields of other versions are not read.
  const auto sized = [](std::uint32_t size) {
    return "struct_size: must be 16 (sizeof(dmlcpu_compile_options), see "
           "DMLCPU_COMPILE_OPTIONS_INIT), got " +
           std::to_string(size);
  };
  for (const std::uint32_t size : {0U, 12U, 20U, 0xffffffffU}) {
    options.struct_size = size;
    CHECK(compile_error(arg.op, options) == sized(size));
  }
  dmlcpu_operator* compiled = nullptr;
  const dmlcpu_compile_options zero{};
  CHECK(dmlcpu_compile(&arg.op, &zero, &compiled) == DMLCPU_INVALID_VALUE);
  CHECK(dmlcpu_message() == sized(0));
  const dmlcpu_compile_options newest = DMLCPU_COMPILE_OPTIONS_INIT;
  CHECK(dmlcpu_compile(&arg.op, &newest, &compiled) == DMLCPU_OK);
  dmlcpu_release(compiled);
  // Braces give the fields.
  const CompileOptions old{DML_FEATURE_LEVEL_2_1, DMLCPU_NAN_PROPAGATE};
  CHECK(old.feature_level == DML_FEATURE_LEVEL_2_1 && old.nan_policy == DMLCPU_NAN_PROPAGATE);
  CHECK(!compile_error(arg.op, old).empty());
}

/// The C functions themselves.
void test_c_interface() {
  const Arg arg;
  dmlcpu_operator* compiled = nullptr;
  CHECK(dmlcpu_compile(&arg.op, nullptr, nullptr) == DMLCPU_INVALID_VALUE);
  CHECK(std::string(dmlcpu_message()) == "compiled: must be given, got null");
  CHECK(dmlcpu_compile(nullptr, nullptr, &compiled) == DMLCPU_INVALID_VALUE);
  CHECK(std::string(dmlcpu_message()) == "desc: must be given, got null");
  CHECK(compiled == nullptr);
  CHECK(dmlcpu_dispatch(nullptr, nullptr, 1, nullptr, 1) == DMLCPU_INVALID_VALUE);
  CHECK(std::string(dmlcpu_message()) == "compiled: must be given, got null");
  CHECK(dmlcpu_feature_level_required(&arg.op, nullptr) == DMLCPU_INVALID_VALUE);
  CHECK(dmlcpu_use_instruction_set(std::string(2000, 'x').c_str()) == DMLCPU_INVALID_VALUE);
  CHECK(std::string(dmlcpu_message()).size() == 1023);
  CHECK(std::string(dmlcpu_message()).rfind("name: must be one of ", 0) == 0);
  CHECK(dmlcpu_compile(&arg.op, nullptr, &compiled) == DMLCPU_OK);
  CHECK(compiled != nullptr);
  dmlcpu_release(compiled);
  dmlcpu_release(nullptr);
}

}  // namespace

int main() {
  test_operator();
  test_tensor();
  test_large_tensors();
  test_largest_tensors();
  test_arg();
  test_reduce();
  test_top_k();
  test_gather_nd();
  test_feature_levels();
  test_options();
  test_c_interface();
  return check::failures == 0 ? 0 : 1;
}
