// The C++ face of directml_c.h: errors are exceptions, operators release themselves.
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

using CompileOptions = dmlcpu_compile_options;
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
inline DML_FEATURE_LEVEL feature_level_required(const DML_OPERATOR_DESC& desc) {
  DML_FEATURE_LEVEL level{};
  check(dmlcpu_feature_level_required(&desc, &level));
  return level;
}

/// An operator that was checked and planned once, to be run many times, from many threads at once
/// as long as their outputs do not overlap.
///
///   const dmlcpu::directml::CompiledOperator argmax(desc);
///   argmax.dispatch({{input.data(), input_bytes}}, {{output.data(), output_bytes}});
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
