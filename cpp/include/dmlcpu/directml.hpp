/// @file
/// The C++ face of directml_c.h: errors are exceptions, operators release themselves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>

#include "dmlcpu/directml_c.h"
#include "dmlcpu/error.hpp"
#include "dmlcpu/export.hpp"

namespace dmlcpu::directml {

/// The descriptor needs a newer feature level than it was compiled for.
class DMLCPU_API FeatureLevelError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// What an operator is compiled for; by default DirectML as its newest level and drivers are.
struct CompileOptions : dmlcpu_compile_options {
  // NOLINTNEXTLINE(google-explicit-constructor): braces give the fields.
  CompileOptions(DML_FEATURE_LEVEL level = {}, dmlcpu_nan_policy nans = DMLCPU_NAN_OMIT,
                 dmlcpu_index_mode mode = DMLCPU_INDEX_CLIP)
      : dmlcpu_compile_options{sizeof(dmlcpu_compile_options), level, nans, mode} {}
};
using Input = dmlcpu_input;
using Output = dmlcpu_output;

/// Throws what a status means: ValueError, FeatureLevelError, IndexError, std::bad_alloc or
/// std::logic_error.
inline void check(dmlcpu_status status) {
  switch (status) {
    case DMLCPU_OK:
      return;
    case DMLCPU_INVALID_VALUE:
      throw ValueError(dmlcpu_message());
    case DMLCPU_FEATURE_LEVEL:
      throw FeatureLevelError(dmlcpu_message());
    case DMLCPU_INDEX_OUT_OF_RANGE:
      throw IndexError(dmlcpu_message());
    case DMLCPU_OUT_OF_MEMORY:
      throw std::bad_alloc();
    default:
      throw std::logic_error(dmlcpu_message());
  }
}

/// The first feature level that allows the descriptor. Throws ValueError for any other broken rule.
///
/// ```
/// const UINT sizes[] = {8};
/// DML_BUFFER_TENSOR_DESC x{DML_TENSOR_DATA_TYPE_INT64, {}, 1, sizes, nullptr, 64, 0};
/// DML_BUFFER_TENSOR_DESC at{DML_TENSOR_DATA_TYPE_UINT64, {}, 1, sizes, nullptr, 64, 0};
/// DML_TENSOR_DESC input{DML_TENSOR_TYPE_BUFFER, &x};
/// DML_TENSOR_DESC indices{DML_TENSOR_TYPE_BUFFER, &at};
/// DML_TOP_K_OPERATOR_DESC top_k{&input, &input, &indices, 0, 8};
/// DML_OPERATOR_DESC desc{DML_OPERATOR_TOP_K, &top_k};
/// assert(dmlcpu::directml::feature_level_required(desc) == DML_FEATURE_LEVEL_5_0);
/// ```
inline DML_FEATURE_LEVEL feature_level_required(const DML_OPERATOR_DESC& desc) {
  DML_FEATURE_LEVEL level{};
  check(dmlcpu_feature_level_required(&desc, &level));
  return level;
}

/// An operator that was checked and planned once, to be run many times, from many threads at once
/// as long as their outputs do not overlap.
///
/// ```
/// const UINT sizes[] = {3, 3};
/// const UINT reduced[] = {3, 1};
/// const UINT axes[] = {1};
/// DML_BUFFER_TENSOR_DESC x{DML_TENSOR_DATA_TYPE_FLOAT32, {}, 2, sizes, nullptr, 36, 0};
/// DML_BUFFER_TENSOR_DESC y{DML_TENSOR_DATA_TYPE_UINT32, {}, 2, reduced, nullptr, 12, 0};
/// DML_TENSOR_DESC input{DML_TENSOR_TYPE_BUFFER, &x};
/// DML_TENSOR_DESC output{DML_TENSOR_TYPE_BUFFER, &y};
/// DML_ARGMAX_OPERATOR_DESC desc{&input, &output, 1, axes, DML_AXIS_DIRECTION_INCREASING};
/// const dmlcpu::directml::CompiledOperator argmax({DML_OPERATOR_ARGMAX, &desc});
///
/// const float elements[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};
/// UINT at[3];
/// argmax.dispatch({{elements, sizeof elements}}, {{at, sizeof at}});
/// assert(at[0] == 2 && at[1] == 2 && at[2] == 1);
/// ```
class CompiledOperator {
 public:
  /// Throws ValueError that names the broken rule, FeatureLevelError when only a newer level allows
  /// the descriptor.
  explicit CompiledOperator(const DML_OPERATOR_DESC& desc, const CompileOptions& options = {}) {
    dmlcpu_operator* compiled = nullptr;
    check(dmlcpu_compile(&desc, &options, &compiled));
    compiled_.reset(compiled);
  }

  /// See dmlcpu_dispatch. Throws ValueError for unfit memory; IndexError under DMLCPU_INDEX_RAISE.
  void dispatch(std::initializer_list<Input> inputs, std::initializer_list<Output> outputs) const {
    dispatch(inputs.begin(), static_cast<std::uint32_t>(inputs.size()), outputs.begin(),
             static_cast<std::uint32_t>(outputs.size()));
  }
  void dispatch(const Input* inputs, std::uint32_t input_count, const Output* outputs,
                std::uint32_t output_count) const {
    check(dmlcpu_dispatch(compiled_.get(), inputs, input_count, outputs, output_count));
  }

 private:
  struct Release {
    void operator()(dmlcpu_operator* compiled) const { dmlcpu_release(compiled); }
  };
  std::unique_ptr<dmlcpu_operator, Release> compiled_;
};

}  // namespace dmlcpu::directml
