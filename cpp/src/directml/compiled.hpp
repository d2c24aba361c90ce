// Compiled operators: read, planned, and dispatched on memory of the caller.
#pragma once

#include <cstdint>
#include <variant>

#include "directml/read.hpp"
#include "dmlcpu/directml_c.h"
#include "ops/arg.hpp"
#include "ops/gather_nd.hpp"
#include "ops/top_k.hpp"

namespace dmlcpu::directml {

template <class Descriptor, class Plan>
struct Program {
  Described<Descriptor> described;
  Plan plan;
};

using AnyProgram =
    std::variant<Program<ArgDescriptor, ArgPlan>, Program<TopKDescriptor, TopKProgram>,
                 Program<GatherNdDescriptor, GatherNdPlan>>;

/// Throws ValueError for a broken rule; FeatureLevelError when there is none but that the level is
/// too old.
AnyProgram compile(const DML_OPERATOR_DESC& desc, const dmlcpu_compile_options& options,
                   Naming naming);

/// The first level that allows the descriptor. Throws ValueError for a broken rule.
Level required_level(const DML_OPERATOR_DESC& desc, Naming naming);

/// Throws ValueError for unfit memory, IndexError for an index out of range.
void dispatch(const AnyProgram& program, const dmlcpu_input* inputs, std::uint32_t input_count,
              const dmlcpu_output* outputs, std::uint32_t output_count);

}  // namespace dmlcpu::directml
