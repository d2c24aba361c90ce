#include <string>

#include "core/error.hpp"
#include "core/validate.hpp"
#include "directml/read.hpp"

namespace dmlcpu::directml {

Described<TopKDescriptor> read_top_k(const Fields& fields, LevelCheck& levels) {
  Described<TopKDescriptor> described{read_tensors(fields, 2, levels), {}};
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

}  // namespace dmlcpu::directml
