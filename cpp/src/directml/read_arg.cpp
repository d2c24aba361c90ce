#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "directml/read.hpp"

namespace dmlcpu::directml {
namespace {

/// The reduced axes.
AxisList read_axes(const Fields& fields, const TensorDesc& input) {
  const auto count = fields.get(Field::kAxisCount);
  const auto* const axes = fields.get<const UINT*>(Field::kAxes);
  const auto rank = static_cast<UINT>(input.layout.rank);
  if (count > rank) {
    fail<ValueError>(fields.name(Field::kAxisCount),
                     text("must be at most ", rank, ", ", field(input, Field::kDimensionCount)),
                     count);
  }
  if (count > 0) check_given(fields.name(Field::kAxes), axes);
  for (UINT i = 0; i < count; ++i) {
    const auto fail_axis = [&](const std::string& requirement) {
      fail<ValueError>(text(fields.name(Field::kAxes), "[", i, "]"), requirement, axes[i]);
    };
    if (axes[i] >= rank) fail_axis(text("must be in [0, ", rank - 1, "]"));
    if (std::find(axes, axes + i, axes[i]) != axes + i) fail_axis("must not repeat an axis");
  }
  return {axes, count};
}

}  // namespace

Described<ArgDescriptor> read_arg(const Fields& fields, LevelCheck& levels) {
  const bool is_argmax = fields.op.type.value == DML_OPERATOR_ARGMAX;
  const std::uint32_t function =
      fields.get_enumerator(Field::kFunction, detail::kFunctions,
                            is_argmax ? DML_REDUCE_FUNCTION_ARGMAX : DML_REDUCE_FUNCTION_ARGMIN);
  Described<ArgDescriptor> described{read_tensors(fields, 1, levels), {}};
  const TensorDesc& input = described.tensors[0];
  const TensorDesc& output = described.tensors[1];
  ArgDescriptor& arg = described.descriptor;
  arg.input = as_const(input.layout);
  arg.output = output.layout;
  arg.largest = function == DML_REDUCE_FUNCTION_ARGMAX;
  arg.axes = read_axes(fields, input);
  check_sizes(output, output_shape(arg));
  check_index_capacity(field(output, Field::kDataType).c_str(), arg.output.type, reduced_count(arg),
                       data_type_name(output.dml_type).c_str());
  arg.axis_direction = fields.axis_direction(DML_AXIS_DIRECTION_INCREASING);
  return described;
}

}  // namespace dmlcpu::directml
