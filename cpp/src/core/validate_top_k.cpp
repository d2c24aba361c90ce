#include "core/error.hpp"
#include "core/shapes.hpp"
#include "core/validate.hpp"

namespace dmlcpu {

int search_axis(const TopKDescriptor& descriptor) {
  return normalize_axis(descriptor.axis, descriptor.input.rank);
}

Shape output_shape(const TopKDescriptor& descriptor) {
  return output_shape(descriptor, kPlainNames);
}

Shape output_shape(const TopKDescriptor& descriptor, const ArgumentNames& names) {
  const ConstTensor& input = descriptor.input;
  check_layout(names.input, input);
  const int axis = search_axis(descriptor);
  const std::int64_t size = axis_size(input, axis);
  if (size == 0) {
    fail<ValueError>(names.input, text("must not be empty along axis ", axis),
                     "shape " + to_text(shape_of(input)));
  }
  if (descriptor.k < 1 || descriptor.k > size) {
    fail<ValueError>(names.k, text("must be in [1, ", size, "] (the size of axis ", axis, ")"),
                     descriptor.k);
  }
  Shape shape = shape_of(input);
  if (shape.rank > 0) shape.sizes[axis] = descriptor.k;
  return shape;
}

void validate_layout(const TopKDescriptor& descriptor) {
  const bool are_new = descriptor.outputs_are_new;
  const Shape shape = are_new ? Shape{} : output_shape(descriptor);
  check_index_type("index_dtype", descriptor.indices.type);
  check_index_capacity("index_dtype", descriptor.indices.type,
                       axis_size(descriptor.input, search_axis(descriptor)));
  check_same_type("out[0]", descriptor.values, descriptor.input);
  if (are_new) return;
  check_output("out[0]", descriptor.values, shape);
  check_output("out[1]", descriptor.indices, shape);
}

void validate_memory(const TopKDescriptor& descriptor) {
  check_pointer("input", descriptor.input);
  if (descriptor.outputs_are_new) return;
  check_pointer("out[0]", as_const(descriptor.values));
  check_pointer("out[1]", as_const(descriptor.indices));
  check_disjoint("out[0]", descriptor.values, "input", descriptor.input);
  check_disjoint("out[1]", descriptor.indices, "input", descriptor.input);
  check_disjoint("out[0]", descriptor.values, "out[1]", as_const(descriptor.indices));
}

}  // namespace dmlcpu
