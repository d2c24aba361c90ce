// DML_TENSOR_DESC: every rule that concerns one tensor alone.
#include <string>

#include "core/overlap.hpp"
#include "directml/read.hpp"
#include "ops/validate.hpp"

namespace dmlcpu::directml {
namespace {

// A tensor owned by DirectML is given when the operator is initialized. Here nothing is uploaded,
// so it is given with each dispatch, like others.
void check_flags(const TensorDesc& tensor, std::uint32_t flags, bool is_input) {
  const std::string name = field(tensor, Field::kFlags);
  if (is_input) check_enumerator(name, flags, detail::kFlags);
  if (!is_input && flags != DML_TENSOR_FLAG_NONE) fail<ValueError>(name, "must be NONE (0)", flags);
}

void check_size(const TensorDesc& tensor, const DML_BUFFER_TENSOR_DESC& desc) {
  const auto needed = (static_cast<std::uint64_t>(tensor.used_bytes) + 3) / 4 * 4;
  if (desc.TotalTensorSizeInBytes < needed) {
    fail<ValueError>(field(tensor, Field::kTotalTensorSizeInBytes),
                     text("must be at least ", needed, " (its elements, rounded up to 4 bytes)"),
                     desc.TotalTensorSizeInBytes);
  }
}

void check_alignment(const TensorDesc& tensor, std::uint32_t alignment) {
  const std::size_t element_size = info(tensor.layout.type).size;
  const bool power_of_two = (alignment & (alignment - 1)) == 0;
  if (alignment != 0 && (!power_of_two || alignment < element_size)) {
    fail<ValueError>(
        field(tensor, Field::kGuaranteedBaseOffsetAlignment),
        text("must be 0 or a power of two of at least the element's ", element_size, " bytes"),
        alignment);
  }
}

}  // namespace

std::string field(const TensorDesc& tensor, Field name) {
  return text(tensor.name, ".", name_of(name, tensor.naming));
}

TensorDesc read_tensor(Field name, Naming naming, const DML_TENSOR_DESC* desc) {
  const bool is_input = detail::info(name).kind == detail::FieldKind::kInput;
  TensorDesc tensor;
  tensor.name = name_of(name, naming);
  tensor.naming = naming;
  check_given(tensor.name, desc);
  if (number(desc->Type) != DML_TENSOR_TYPE_BUFFER) {
    fail<ValueError>(field(tensor, Field::kType), "must be BUFFER (1)", number(desc->Type));
  }
  check_given(field(tensor, Field::kDesc).c_str(), desc->Desc);
  const auto& buffer = *static_cast<const DML_BUFFER_TENSOR_DESC*>(desc->Desc);

  Tensor& layout = tensor.layout;
  tensor.dml_type = number(buffer.DataType);
  if (!find_data_type(tensor.dml_type, &layout.type)) {
    fail<ValueError>(field(tensor, Field::kDataType),
                     "must be FLOAT32, FLOAT16, FLOAT64 or an integer type of 8 to 64 bits",
                     data_type_name(tensor.dml_type));
  }
  check_flags(tensor, number(buffer.Flags), is_input);
  if (buffer.DimensionCount < 1 || buffer.DimensionCount > kMaxRank) {
    fail<ValueError>(field(tensor, Field::kDimensionCount), text("must be in [1, ", kMaxRank, "]"),
                     buffer.DimensionCount);
  }
  check_given(field(tensor, Field::kSizes).c_str(), buffer.Sizes);
  layout.rank = static_cast<int>(buffer.DimensionCount);
  // Unsigned: a product that wraps is found below.
  std::uint64_t stride = 1;
  for (int d = layout.rank - 1; d >= 0; --d) {
    layout.sizes[d] = buffer.Sizes[d];
    layout.strides[d] = buffer.Strides != nullptr ? static_cast<std::int64_t>(buffer.Strides[d])
                                                  : static_cast<std::int64_t>(stride);
    stride *= buffer.Sizes[d];
  }
  for (int d = 0; d < layout.rank; ++d) {
    if (layout.sizes[d] == 0) {
      fail<ValueError>(field(tensor, Field::kSizes), "must be at least 1 in every dimension",
                       to_text(shape_of(tensor.layout)));
    }
  }
  tensor.used_bytes = check_layout(tensor.name, as_const(layout));
  check_size(tensor, buffer);
  check_alignment(tensor, buffer.GuaranteedBaseOffsetAlignment);
  if (!is_input && overlaps_itself(as_const(layout))) {
    fail<ValueError>(field(tensor, Field::kStrides), "must give every element a place of its own",
                     to_text({layout.rank, layout.strides}));
  }
  return tensor;
}

}  // namespace dmlcpu::directml
