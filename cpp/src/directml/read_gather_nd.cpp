#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "directml/read.hpp"

namespace dmlcpu::directml {
namespace {

/// The tensor's last `count` dimensions.
Tensor last_dimensions(const Tensor& tensor, int count) {
  Tensor last = tensor;
  last.rank = count;
  std::copy_n(tensor.sizes.begin() + tensor.rank - count, count, last.sizes.begin());
  std::copy_n(tensor.strides.begin() + tensor.rank - count, count, last.strides.begin());
  return last;
}

/// The tensor's last dimensions, as many as a field says; those before them must be 1.
ConstTensor read_counted(const Fields& fields, Field count_field, const TensorDesc& tensor) {
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
                     to_text(tensor.shape()));
  }
  return as_const(last_dimensions(tensor.layout, static_cast<int>(count)));
}

/// The shape of the result, which the output has after dimensions of 1.
Shape result_shape(const Fields& fields, const TensorDesc& indices,
                   const GatherNdDescriptor& gather) {
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
  return output_shape(gather, names);
}

}  // namespace

Described<GatherNdDescriptor> read_gather_nd(const Fields& fields, LevelCheck& levels) {
  Described<GatherNdDescriptor> described{read_tensors(fields, 1, levels), {}};
  const auto& [input, indices, output] = described.tensors;
  GatherNdDescriptor& gather = described.descriptor;
  gather.input = read_counted(fields, Field::kInputDimensionCount, input);
  gather.indices = read_counted(fields, Field::kIndicesDimensionCount, indices);
  gather.batch_dims = fields.get(Field::kBatchDimensionCount);
  const Shape result = result_shape(fields, indices, gather);
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
