#include "core/error.hpp"
#include "core/shapes.hpp"
#include "core/validate.hpp"

namespace dmlcpu {

unsigned reduced_axes(const ArgDescriptor& descriptor) {
  const int rank = descriptor.input.rank;
  if (descriptor.axes.all) return (1U << rank) - 1;
  unsigned axes = 0;
  for (int i = 0; i < descriptor.axes.count; ++i) {
    const int axis = normalize_axis(descriptor.axes.values[i], rank);
    if ((axes >> axis & 1U) != 0) {
      fail<ValueError>("axis", "must not repeat an axis", text("axis ", axis, " more than once"));
    }
    axes |= 1U << axis;
  }
  return axes & ((1U << rank) - 1);
}

std::int64_t reduced_count(const ArgDescriptor& descriptor) {
  const unsigned axes = reduced_axes(descriptor);
  std::int64_t count = 1;
  for (int d = 0; d < descriptor.input.rank; ++d) {
    if ((axes >> d & 1U) != 0) count *= descriptor.input.sizes[d];
  }
  return count;
}

Shape output_shape(const ArgDescriptor& descriptor) {
  const ConstTensor& input = descriptor.input;
  check_layout("input", input);
  const unsigned axes = reduced_axes(descriptor);
  Shape shape;
  for (int d = 0; d < input.rank; ++d) {
    const bool reduced = (axes >> d & 1U) != 0;
    if (reduced && input.sizes[d] == 0) {
      fail<ValueError>("input", "must not be empty along a reduced axis",
                       "shape " + to_text(shape_of(input)));
    }
    if (!reduced) shape.sizes[shape.rank++] = input.sizes[d];
    if (reduced && descriptor.keep_dims) shape.sizes[shape.rank++] = 1;
  }
  return shape;
}

void validate_layout(const ArgDescriptor& descriptor) {
  const bool is_new = descriptor.output_is_new;
  const Shape shape = is_new ? Shape{} : output_shape(descriptor);
  check_index_type("index_dtype", descriptor.output.type);
  const std::int64_t count = element_count(descriptor.input);
  // What is reduced is at most everything, unless a kept axis is empty.
  if (count == 0 || !holds_index(descriptor.output.type, count - 1)) {
    check_index_capacity("index_dtype", descriptor.output.type, reduced_count(descriptor));
  }
  if (!is_new) check_output("out", descriptor.output, shape);
}

void validate_memory(const ArgDescriptor& descriptor) {
  check_pointer("input", descriptor.input);
  if (descriptor.output_is_new) return;
  check_pointer("out", as_const(descriptor.output));
  check_disjoint("out", descriptor.output, "input", descriptor.input);
}

}  // namespace dmlcpu
