#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "directml/read.hpp"

namespace dmlcpu::directml {
namespace {

/// The tensor's last `count` dimensions; the others must be 1. `reason` says what counts them.
Tensor last_dimensions(const TensorDesc& tensor, int count, const std::string& reason) {
  Tensor last = tensor.layout;
  const int others = tensor.layout.rank - count;
  for (int d = 0; d < others; ++d) {
    if (tensor.layout.sizes[d] != 1) {
      fail<ValueError>(field(tensor, "Sizes"),
                       "must be 1 in the " + std::to_string(others) +
                           " dimensions before the last " + std::to_string(count) + " (" + reason +
                           ")",
                       to_text(tensor.shape()));
    }
  }
  last.rank = count;
  std::copy_n(tensor.layout.sizes.begin() + others, count, last.sizes.begin());
  std::copy_n(tensor.layout.strides.begin() + others, count, last.strides.begin());
  return last;
}

int read_count(const char* name, UINT count, const TensorDesc& tensor) {
  const int rank = tensor.layout.rank;
  if (count < 1 || count > static_cast<UINT>(rank)) {
    fail<ValueError>(
        name,
        "must be in [1, " + std::to_string(rank) + "] (" + field(tensor, "DimensionCount") + ")",
        count);
  }
  return static_cast<int>(count);
}

template <class Desc>
Described<GatherNdDescriptor> read_either(const Desc& desc, UINT batch_count, LevelCheck& levels) {
  Described<GatherNdDescriptor> described;
  described.input_count = 2;
  TensorDesc& input = described.tensors[0];
  TensorDesc& indices = described.tensors[1];
  TensorDesc& output = described.tensors[2];
  input = read_tensor("InputTensor", desc.InputTensor, Role::kInput);
  indices = read_tensor("IndicesTensor", desc.IndicesTensor, Role::kInput);
  output = read_tensor("OutputTensor", desc.OutputTensor, Role::kOutput);
  levels.check_data(input);
  levels.check_indices(indices);
  check_same_type(output, input);
  check_same_dimensions(indices, input);
  check_same_dimensions(output, input);

  const int input_count = read_count("InputDimensionCount", desc.InputDimensionCount, input);
  const int indices_count =
      read_count("IndicesDimensionCount", desc.IndicesDimensionCount, indices);
  const int most = std::min(input_count, indices_count) - 1;
  if (batch_count > static_cast<UINT>(most)) {
    fail<ValueError>("BatchDimensionCount",
                     "must be in [0, " + std::to_string(most) +
                         "] (below InputDimensionCount and IndicesDimensionCount)",
                     batch_count);
  }
  const int batch = static_cast<int>(batch_count);
  GatherNdDescriptor& gather = described.descriptor;
  gather.batch_dims = batch;
  gather.input = as_const(last_dimensions(input, input_count, "InputDimensionCount"));
  gather.indices = as_const(last_dimensions(indices, indices_count, "IndicesDimensionCount"));
  if (!std::equal(gather.indices.sizes.begin(), gather.indices.sizes.begin() + batch,
                  gather.input.sizes.begin())) {
    fail<ValueError>(
        "IndicesTensor.Sizes",
        "must have the batch dimensions of InputTensor, " + to_text({batch, gather.input.sizes}),
        to_text({batch, gather.indices.sizes}));
  }
  const std::int64_t tuple = gather.indices.sizes[indices_count - 1];
  if (tuple > input_count - batch) {
    fail<ValueError>("IndicesTensor.Sizes",
                     "must end in a size in [1, " + std::to_string(input_count - batch) +
                         "] (InputDimensionCount without the batch)",
                     tuple);
  }
  const int trailing = input_count - batch - static_cast<int>(tuple);
  const int output_count = indices_count - 1 + trailing;
  if (output_count > output.layout.rank) {
    fail<ValueError>(
        "OutputTensor.DimensionCount",
        "must be at least " + std::to_string(output_count) + ", the dimensions of the result",
        output.layout.rank);
  }
  Shape shape{output.layout.rank, {}};
  const int others = shape.rank - output_count;
  std::fill_n(shape.sizes.begin(), others, 1);
  std::copy_n(gather.indices.sizes.begin(), indices_count - 1, shape.sizes.begin() + others);
  std::copy_n(gather.input.sizes.begin() + input_count - trailing, trailing,
              shape.sizes.begin() + shape.rank - trailing);
  check_sizes(output, shape);
  gather.output = last_dimensions(output, output_count, "");
  return described;
}

}  // namespace

Described<GatherNdDescriptor> read(const DML_GATHER_ND_OPERATOR_DESC& desc, LevelCheck& levels) {
  return read_either(desc, 0, levels);
}

Described<GatherNdDescriptor> read(const DML_GATHER_ND1_OPERATOR_DESC& desc, LevelCheck& levels) {
  return read_either(desc, desc.BatchDimensionCount, levels);
}

}  // namespace dmlcpu::directml
