#include <string>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "directml/names.hpp"
#include "directml/read.hpp"

namespace dmlcpu::directml {
namespace {

/// The reduced axes, bit d for axis d.
unsigned read_axes(const UINT* axes, UINT count, const TensorDesc& input) {
  const auto rank = static_cast<UINT>(input.layout.rank);
  if (count > rank) {
    fail<ValueError>("AxisCount",
                     "must be at most " + std::to_string(rank) + ", InputTensor.DimensionCount",
                     count);
  }
  if (count > 0 && axes == nullptr) fail<ValueError>("Axes", "must be given", "null");
  const auto name_of = [](UINT i) { return "Axes[" + std::to_string(i) + "]"; };
  unsigned set = 0;
  for (UINT i = 0; i < count; ++i) {
    if (axes[i] >= rank) {
      fail<ValueError>(name_of(i), "must be in [0, " + std::to_string(rank - 1) + "]", axes[i]);
    }
    if ((set >> axes[i] & 1U) != 0) {
      fail<ValueError>(name_of(i), "must not repeat an axis", axes[i]);
    }
    set |= 1U << axes[i];
  }
  return set;
}

/// All operators that reduce have these fields.
template <class Desc>
Described<ArgDescriptor> read_reduction(const Desc& desc, LevelCheck& levels) {
  Described<ArgDescriptor> described;
  TensorDesc& input = described.tensors[0];
  TensorDesc& output = described.tensors[1];
  input = read_tensor("InputTensor", desc.InputTensor, Role::kInput);
  output = read_tensor("OutputTensor", desc.OutputTensor, Role::kOutput);
  levels.check_data(input);
  levels.check_indices(output);
  check_same_dimensions(output, input);

  ArgDescriptor& arg = described.descriptor;
  arg.axes.all = false;
  const unsigned axes = read_axes(desc.Axes, desc.AxisCount, input);
  Shape shape = input.shape();
  std::int64_t reduced = 1;
  for (int d = 0; d < shape.rank; ++d) {
    if ((axes >> d & 1U) == 0) continue;
    arg.axes.values[arg.axes.count++] = d;
    reduced *= shape.sizes[d];
    shape.sizes[d] = 1;
  }
  check_sizes(output, shape);
  if (!holds_index(output.layout.type, reduced - 1)) {
    fail<ValueError>(
        "OutputTensor.DataType",
        "must hold the index " + std::to_string(reduced - 1) + " (UINT64 and INT64 do)",
        data_type_name(output.dml_type));
  }
  arg.input = as_const(input.layout);
  arg.output = output.layout;
  return described;
}

}  // namespace

AxisDirection read_axis_direction(const DML_AXIS_DIRECTION& direction) {
  switch (const std::uint32_t value = number(direction)) {
    case DML_AXIS_DIRECTION_INCREASING:
      return AxisDirection::kIncreasing;
    case DML_AXIS_DIRECTION_DECREASING:
      return AxisDirection::kDecreasing;
    default:
      fail<ValueError>("AxisDirection", "must be INCREASING (0) or DECREASING (1)", value);
  }
}

Described<ArgDescriptor> read(const DML_ARGMIN_OPERATOR_DESC& desc, LevelCheck& levels) {
  Described<ArgDescriptor> described = read_reduction(desc, levels);
  described.descriptor.largest = false;
  described.descriptor.axis_direction = read_axis_direction(desc.AxisDirection);
  return described;
}

Described<ArgDescriptor> read(const DML_ARGMAX_OPERATOR_DESC& desc, LevelCheck& levels) {
  Described<ArgDescriptor> described = read_reduction(desc, levels);
  described.descriptor.axis_direction = read_axis_direction(desc.AxisDirection);
  return described;
}

Described<ArgDescriptor> read(const DML_REDUCE_OPERATOR_DESC& desc, LevelCheck& levels) {
  const std::uint32_t function = number(desc.Function);
  if (function != DML_REDUCE_FUNCTION_ARGMAX && function != DML_REDUCE_FUNCTION_ARGMIN) {
    fail<ValueError>("Function", "must be ARGMAX (0) or ARGMIN (1)", function);
  }
  Described<ArgDescriptor> described = read_reduction(desc, levels);
  described.descriptor.largest = function == DML_REDUCE_FUNCTION_ARGMAX;
  return described;
}

}  // namespace dmlcpu::directml
