// Reading operator descriptors: every rule of the operators' references, then the library's own
// descriptors.
#pragma once

#include <array>

#include "directml/feature_levels.hpp"
#include "directml/tensor_desc.hpp"
#include "dmlcpu/directml_descriptors.h"
#include "dmlcpu/operators.hpp"

namespace dmlcpu::directml {

/// A descriptor without memory, and the tensors whose memory a dispatch brings: inputs first, then
/// outputs, in the order of DirectML's fields. Options that DirectML does not have are the default.
template <class Descriptor>
struct Described {
  Descriptor descriptor;
  std::array<TensorDesc, 3> tensors{};
  std::uint32_t input_count = 1;
  std::uint32_t output_count = 1;
};

/// Each throws ValueError that names the field and its rule; the level it needs is in `levels`.
Described<ArgDescriptor> read(const DML_ARGMIN_OPERATOR_DESC& desc, LevelCheck& levels);
Described<ArgDescriptor> read(const DML_ARGMAX_OPERATOR_DESC& desc, LevelCheck& levels);
Described<ArgDescriptor> read(const DML_REDUCE_OPERATOR_DESC& desc, LevelCheck& levels);
Described<TopKDescriptor> read(const DML_TOP_K_OPERATOR_DESC& desc, LevelCheck& levels);
Described<TopKDescriptor> read(const DML_TOP_K1_OPERATOR_DESC& desc, LevelCheck& levels);
Described<GatherNdDescriptor> read(const DML_GATHER_ND_OPERATOR_DESC& desc, LevelCheck& levels);
Described<GatherNdDescriptor> read(const DML_GATHER_ND1_OPERATOR_DESC& desc, LevelCheck& levels);

/// INCREASING or DECREASING.
AxisDirection read_axis_direction(const DML_AXIS_DIRECTION& direction);

}  // namespace dmlcpu::directml
