#include "directml/read.hpp"

#include <algorithm>
#include <string>

#include "ops/validate.hpp"

namespace dmlcpu::directml {
namespace {

/// Reads all tensors and checks what they share: one rank, and one data type but for the tensor at
/// `indices`, which holds indices. The first one is the input.
Tensors read_tensors(Reader& fields, std::size_t indices) {
  Tensors all;
  std::size_t count = 0;
  for (const detail::FieldAt& at : fields.op.fields) {
    const detail::FieldKind kind = detail::info(at.field).kind;
    if (kind != detail::FieldKind::kInput && kind != detail::FieldKind::kOutput) continue;
    const auto* const desc = fields.get<const DML_TENSOR_DESC*>(at.field);
    all.tensors[count++] = read_tensor(at.field, fields.naming, desc);
    ++(kind == detail::FieldKind::kInput ? all.input_count : all.output_count);
  }
  const TensorDesc& input = all.tensors[0];
  fields.check_level(input, fields.op.data);
  fields.check_level(all.tensors[indices], fields.op.indices);
  for (std::size_t i = 1; i < count; ++i) {
    const TensorDesc& tensor = all.tensors[i];
    if (i != indices && tensor.dml_type != input.dml_type) {
      fail<ValueError>(field(tensor, Field::kDataType),
                       text("must be ", data_type_name(input.dml_type), ", that of ", input.name),
                       data_type_name(tensor.dml_type));
    }
    if (tensor.layout.rank != input.layout.rank) {
      fail<ValueError>(field(tensor, Field::kDimensionCount),
                       text("must be ", input.layout.rank, ", that of ", input.name),
                       tensor.layout.rank);
    }
  }
  return all;
}

/// That the sizes are those of the shape.
void check_sizes(const TensorDesc& tensor, const Shape& shape) {
  for (int d = 0; d < shape.rank; ++d) {
    if (tensor.layout.sizes[d] != shape.sizes[d]) {
      fail<ValueError>(field(tensor, Field::kSizes), "must be " + to_text(shape),
                       to_text(shape_of(tensor.layout)));
    }
  }
}

/// The reduced axes.
AxisList read_axes(const Reader& fields, const TensorDesc& input) {
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

/// The tensor's last `count` dimensions.
Tensor last_dimensions(const Tensor& tensor, int count) {
  Tensor last = tensor;
  last.rank = count;
  std::copy_n(tensor.sizes.begin() + tensor.rank - count, count, last.sizes.begin());
  std::copy_n(tensor.strides.begin() + tensor.rank - count, count, last.strides.begin());
  return last;
}

/// The tensor's last dimensions, as many as a field says; those before them must be 1.
ConstTensor read_counted(const Reader& fields, Field count_field, const TensorDesc& tensor) {
  const int rank = tensor.layout.rank;
  const std::uint32_t count = fields.get(count_field);
  if (count < 1 || count > static_cast<std::uint32_t>(rank)) {
    fail<ValueError>(
        fields.name(count_field),
        text("must be in [1, ", rank, "] (", field(tensor, Field::kDimensionCount), ")"), count);
  }
  const int others = rank - static_cast<int>(count);
  const auto sizes = tensor.layout.sizes.begin();
  if (std::any_of(sizes, sizes + others, [](std::int64_t size) { return size != 1; })) {
    fail<ValueError>(field(tensor, Field::kSizes),
                     text("must be 1 in the ", others, " dimensions before the last ", count, " (",
                          fields.name(count_field), ")"),
                     to_text(shape_of(tensor.layout)));
  }
  return as_const(last_dimensions(tensor.layout, static_cast<int>(count)));
}

}  // namespace

Described<ArgDescriptor> read_arg(Reader& fields) {
  const std::uint32_t otherwise = fields.op.value == DML_OPERATOR_ARGMAX
                                      ? DML_REDUCE_FUNCTION_ARGMAX
                                      : DML_REDUCE_FUNCTION_ARGMIN;
  const Enumerator& function = check_enumerator(
      fields.name(Field::kFunction), fields.get(Field::kFunction, otherwise), detail::kFunctions);
  Described<ArgDescriptor> described{read_tensors(fields, 1), {}};
  const TensorDesc& input = described.tensors[0];
  const TensorDesc& output = described.tensors[1];
  ArgDescriptor& arg = described.descriptor;
  arg.input = as_const(input.layout);
  arg.output = output.layout;
  arg.largest = function.value == DML_REDUCE_FUNCTION_ARGMAX;
  arg.axes = read_axes(fields, input);
  check_sizes(output, output_shape(arg));
  check_index_capacity(field(output, Field::kDataType).c_str(), arg.output.type, reduced_count(arg),
                       data_type_name(output.dml_type).c_str());
  arg.axis_direction = fields.axis_direction(DML_AXIS_DIRECTION_INCREASING);
  return described;
}

Described<TopKDescriptor> read_top_k(Reader& fields) {
  Described<TopKDescriptor> described{read_tensors(fields, 2), {}};
  const auto& [input, values, indices] = described.tensors;
  TopKDescriptor& top_k = described.descriptor;
  top_k.input = as_const(input.layout);
  top_k.axis = fields.get(Field::kAxis);
  if (top_k.axis >= input.layout.rank) {
    fail<ValueError>(fields.name(Field::kAxis), text("must be in [0, ", input.layout.rank - 1, "]"),
                     top_k.axis);
  }
  // The reference has K below the size; drivers take all elements too.
  top_k.k = fields.get(Field::kK);
  const Shape shape = output_shape(top_k, {input.name, nullptr, fields.name(Field::kK)});
  check_sizes(values, shape);
  check_sizes(indices, shape);
  top_k.values = values.layout;
  top_k.indices = indices.layout;
  top_k.axis_direction = fields.axis_direction(DML_AXIS_DIRECTION_DECREASING);
  return described;
}

Described<GatherNdDescriptor> read_gather_nd(Reader& fields) {
  Described<GatherNdDescriptor> described{read_tensors(fields, 1), {}};
  const auto& [input, indices, output] = described.tensors;
  GatherNdDescriptor& gather = described.descriptor;
  gather.input = read_counted(fields, Field::kInputDimensionCount, input);
  gather.indices = read_counted(fields, Field::kIndicesDimensionCount, indices);
  gather.batch_dims = fields.get(Field::kBatchDimensionCount);
  const std::string input_count = fields.name(Field::kInputDimensionCount);
  const std::string batch_limit =
      input_count + " and " + fields.name(Field::kIndicesDimensionCount);
  const std::string tuple_limit = input_count + " without the batch";
  const std::string sizes = field(indices, Field::kSizes);
  ArgumentNames names;
  names.input = fields.name(Field::kInputTensor);
  names.indices = sizes.c_str();
  names.batch_dims = fields.name(Field::kBatchDimensionCount);
  names.batch_limit = batch_limit.c_str();
  names.tuple_size = "end in a size";
  names.tuple_limit = tuple_limit.c_str();
  // The shape of the result, which the output has after dimensions of 1.
  const Shape result = output_shape(gather, names);
  Shape shape{output.layout.rank, {}};
  const int others = shape.rank - result.rank;
  if (others < 0) {
    fail<ValueError>(field(output, Field::kDimensionCount),
                     text("must be at least ", result.rank, ", the dimensions of the result"),
                     shape.rank);
  }
  std::fill_n(shape.sizes.begin(), others, 1);
  std::copy_n(result.sizes.begin(), result.rank, shape.sizes.begin() + others);
  check_sizes(output, shape);
  gather.output = last_dimensions(output.layout, result.rank);
  return described;
}

}  // namespace dmlcpu::directml
