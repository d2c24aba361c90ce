#include <string>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "directml/read.hpp"

namespace dmlcpu::directml {
namespace {

template <class Desc>
Described<TopKDescriptor> read_either(const Desc& desc, LevelCheck& levels) {
  Described<TopKDescriptor> described;
  described.output_count = 2;
  TensorDesc& input = described.tensors[0];
  TensorDesc& values = described.tensors[1];
  TensorDesc& indices = described.tensors[2];
  input = read_tensor("InputTensor", desc.InputTensor, Role::kInput);
  values = read_tensor("OutputValueTensor", desc.OutputValueTensor, Role::kOutput);
  indices = read_tensor("OutputIndexTensor", desc.OutputIndexTensor, Role::kOutput);
  levels.check_data(input);
  levels.check_indices(indices);
  check_same_type(values, input);
  check_same_dimensions(values, input);
  check_same_dimensions(indices, input);

  Shape shape = input.shape();
  if (desc.Axis >= static_cast<UINT>(shape.rank)) {
    fail<ValueError>("Axis", "must be in [0, " + std::to_string(shape.rank - 1) + "]", desc.Axis);
  }
  const std::int64_t size = shape.sizes[desc.Axis];
  // The reference has K below the size; drivers take all elements too.
  if (desc.K < 1 || desc.K > size) {
    fail<ValueError>("K",
                     "must be in [1, " + std::to_string(size) + "] (the size of axis " +
                         std::to_string(desc.Axis) + ")",
                     desc.K);
  }
  shape.sizes[desc.Axis] = desc.K;
  check_sizes(values, shape);
  check_sizes(indices, shape);

  TopKDescriptor& top_k = described.descriptor;
  top_k.input = as_const(input.layout);
  top_k.axis = desc.Axis;
  top_k.k = desc.K;
  top_k.values = values.layout;
  top_k.indices = indices.layout;
  return described;
}

}  // namespace

Described<TopKDescriptor> read(const DML_TOP_K_OPERATOR_DESC& desc, LevelCheck& levels) {
  return read_either(desc, levels);
}

Described<TopKDescriptor> read(const DML_TOP_K1_OPERATOR_DESC& desc, LevelCheck& levels) {
  Described<TopKDescriptor> described = read_either(desc, levels);
  described.descriptor.axis_direction = read_axis_direction(desc.AxisDirection);
  return described;
}

}  // namespace dmlcpu::directml
