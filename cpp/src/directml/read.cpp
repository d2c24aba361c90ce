#include "directml/read.hpp"

namespace dmlcpu::directml {

Tensors read_tensors(const Fields& fields, std::size_t indices, LevelCheck& levels) {
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
  levels.check_data(input);
  levels.check_indices(all.tensors[indices]);
  for (std::size_t i = 1; i < count; ++i) {
    if (i != indices) check_same_type(all.tensors[i], input);
    check_same_dimensions(all.tensors[i], input);
  }
  return all;
}

}  // namespace dmlcpu::directml
