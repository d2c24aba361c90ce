#include "ops/validate.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/overlap.hpp"
#include "core/shapes.hpp"

namespace dmlcpu {
namespace {

/// Sizes in bytes up to this are added and doubled, here and there, without a look at the sum.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

void check_rank(const char* name, int rank) {
  if (rank < 0 || rank > kMaxRank) {
    fail<ValueError>(name, text("must have at most ", kMaxRank, " dimensions"), rank);
  }
}

/// The axis in [0, rank). Throws AxisError.
int normalize_axis(std::int64_t axis, int rank) {
  const int axes = rank == 0 ? 1 : rank;
  if (axis < -axes || axis >= axes) {
    fail<AxisError>("axis",
                    text("must be in [", -axes, ", ", axes - 1, "] (input has ", rank,
                         rank == 1 ? " dimension)" : " dimensions)"),
                    axis);
  }
  return static_cast<int>(axis < 0 ? axis + axes : axis);
}

/// Empty tensors need no pointer.
void check_pointer(const char* name, const ConstTensor& tensor) {
  if (element_count(tensor) > 0) check_pointer(name, tensor.type, tensor.data);
}

/// That argmin and argmax can write indices of the type.
void check_arg_index_type(const char* name, DataType type) {
  if (!is_arg_index_type(type)) {
    fail<TypeError>(name, "must be int8 to int64 or uint8 to uint64", info(type).name);
  }
}

/// That top-k can write indices of the type, and gather read them.
void check_index_type(const char* name, DataType type) {
  if (!is_index_type(type)) {
    fail<TypeError>(name, "must be uint32, int32, uint64 or int64", info(type).name);
  }
}

/// That an output has the type of the input's elements.
void check_same_type(const char* name, const Tensor& output, const ConstTensor& input) {
  if (output.type != input.type) {
    fail<TypeError>(name, text("must have the input's dtype ", info(input.type).name),
                    info(output.type).name);
  }
}

/// Whether an index type holds an index.
bool holds_index(DataType type, std::int64_t index) {
  const std::size_t bits = 8 * info(type).size - (is_signed_index(type) ? 1 : 0);
  return index < 0 || bits > 62 || index >> bits == 0;
}

/// That the output has this shape, and elements that do not overlap.
void check_output(const char* name, const Tensor& output, const Shape& shape) {
  check_rank(name, output.rank);
  bool same = output.rank == shape.rank;
  for (int d = 0; same && d < shape.rank; ++d) same = output.sizes[d] == shape.sizes[d];
  if (!same) {
    fail<ValueError>(name, "must have shape " + to_text(shape), to_text(shape_of(output)));
  }
  check_layout(name, as_const(output));
  if (overlaps_itself(as_const(output))) {
    fail<ValueError>(name, "must have elements that do not overlap",
                     "strides that address an element twice");
  }
}

}  // namespace

// --- argmin and argmax -------------------------------------------------------------------------

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

void validate(const ArgDescriptor& descriptor) {
  const bool is_new = descriptor.output_is_new;
  const Shape shape = is_new ? Shape{} : output_shape(descriptor);
  check_arg_index_type("index_dtype", descriptor.output.type);
  const std::int64_t count = element_count(descriptor.input);
  // What is reduced is at most everything, unless a kept axis is empty.
  if (count == 0 || !holds_index(descriptor.output.type, count - 1)) {
    check_index_capacity("index_dtype", descriptor.output.type, reduced_count(descriptor));
  }
  if (!is_new) check_output("out", descriptor.output, shape);
  check_pointer("input", descriptor.input);
  if (is_new) return;
  check_pointer("out", as_const(descriptor.output));
  check_disjoint("out", descriptor.output, "input", descriptor.input);
}

// --- top-k -------------------------------------------------------------------------------------

int search_axis(const TopKDescriptor& descriptor) {
  return normalize_axis(descriptor.axis, descriptor.input.rank);
}

Shape output_shape(const TopKDescriptor& descriptor) { return output_shape(descriptor, {}); }

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
  if (shape.rank > 0) {
    shape.sizes[axis] = descriptor.results == TopKResults::kLast ? 1 : descriptor.k;
  }
  return shape;
}

void validate(const TopKDescriptor& descriptor) {
  const bool are_new = descriptor.outputs_are_new;
  const Shape shape = are_new ? Shape{} : output_shape(descriptor);
  const bool has_values = wants_values(descriptor);
  const bool has_indices = wants_indices(descriptor);
  if (has_indices) {
    check_index_type("index_dtype", descriptor.indices.type);
    check_index_capacity("index_dtype", descriptor.indices.type,
                         axis_size(descriptor.input, search_axis(descriptor)));
  }
  if (has_values) check_same_type("out[0]", descriptor.values, descriptor.input);
  if (are_new) return check_pointer("input", descriptor.input);
  if (has_values) check_output("out[0]", descriptor.values, shape);
  if (has_indices) check_output("out[1]", descriptor.indices, shape);
  check_pointer("input", descriptor.input);
  if (has_values) check_pointer("out[0]", as_const(descriptor.values));
  if (has_indices) check_pointer("out[1]", as_const(descriptor.indices));
  if (has_values) check_disjoint("out[0]", descriptor.values, "input", descriptor.input);
  if (has_indices) check_disjoint("out[1]", descriptor.indices, "input", descriptor.input);
  if (has_values && has_indices) {
    check_disjoint("out[0]", descriptor.values, "out[1]", as_const(descriptor.indices));
  }
}

// --- gather ------------------------------------------------------------------------------------

Shape output_shape(const GatherNdDescriptor& descriptor) { return output_shape(descriptor, {}); }

Shape output_shape(const GatherNdDescriptor& descriptor, const ArgumentNames& names) {
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  check_layout(names.input, input);
  check_layout(names.indices, indices);
  check_index_type(names.indices, indices.type);
  if (input.rank == 0) fail<ValueError>(names.input, "must have at least 1 dimension", "0");
  if (indices.rank == 0) fail<ValueError>(names.indices, "must have at least 1 dimension", "0");
  const int most = std::min(input.rank, indices.rank) - 1;
  if (descriptor.batch_dims < 0 || descriptor.batch_dims > most) {
    const std::string limit =
        text("the ", input.rank, " dimensions of input and the ", indices.rank, " of indices");
    fail<ValueError>(names.batch_dims,
                     text("must be in [0, ", most, "] (below ",
                          names.batch_limit == nullptr ? limit : names.batch_limit, ")"),
                     descriptor.batch_dims);
  }
  const int batch = static_cast<int>(descriptor.batch_dims);
  for (int d = 0; d < batch; ++d) {
    if (indices.sizes[d] != input.sizes[d]) {
      fail<ValueError>(names.indices,
                       text("must have the batch dimensions of ", names.input, " ",
                            to_text({batch, input.sizes})),
                       to_text({batch, indices.sizes}));
    }
  }
  const std::int64_t tuple = indices.sizes[indices.rank - 1];
  if (tuple < 1 || tuple > input.rank - batch) {
    fail<ValueError>(names.indices,
                     text("must ", names.tuple_size, " in [1, ", input.rank - batch, "] (",
                          names.tuple_limit, ")"),
                     tuple);
  }
  const int trailing = batch + static_cast<int>(tuple);
  const int rank = indices.rank - 1 + input.rank - trailing;
  if (rank > kMaxRank) {
    fail<ValueError>(names.indices, text("must give a result of at most ", kMaxRank, " dimensions"),
                     rank);
  }
  Shape shape{rank, {}};
  std::int64_t bytes = element_bytes(input);
  const int leading = indices.rank - 1;
  for (int d = 0; d < rank; ++d) {
    shape.sizes[d] = d < leading ? indices.sizes[d] : input.sizes[trailing + d - leading];
    if (shape.sizes[d] != 0 && __builtin_mul_overflow(bytes, shape.sizes[d], &bytes)) {
      fail<ValueError>(names.indices, "must give a result whose bytes fit 64 bits",
                       "shape " + to_text(shape));
    }
  }
  return shape;
}

void validate(const GatherNdDescriptor& descriptor) {
  const bool is_new = descriptor.output_is_new;
  const Shape shape = is_new ? Shape{} : output_shape(descriptor);
  check_same_type("out", descriptor.output, descriptor.input);
  if (descriptor.mode == IndexMode::kClip && element_count(descriptor.indices) > 0) {
    const int batch = static_cast<int>(descriptor.batch_dims);
    for (int d = batch; d < batch + tuple_length(descriptor); ++d) {
      if (descriptor.input.sizes[d] == 0) {
        fail<ValueError>("input", "must not be empty along an indexed axis",
                         "shape " + to_text(shape_of(descriptor.input)));
      }
    }
  }
  if (!is_new) check_output("out", descriptor.output, shape);
  check_pointer("input", descriptor.input);
  check_pointer("indices", descriptor.indices);
  if (is_new) return;
  check_pointer("out", as_const(descriptor.output));
  check_disjoint("out", descriptor.output, "input", descriptor.input);
  check_disjoint("out", descriptor.output, "indices", descriptor.indices);
}

// --- shared ------------------------------------------------------------------------------------

std::int64_t check_layout(const char* name, const ConstTensor& tensor) {
  check_rank(name, tensor.rank);
  const std::int64_t element_size = element_bytes(tensor);
  std::int64_t total = element_size;  // bytes of all elements
  std::int64_t bytes = element_size;  // bytes from the first to the last
  for (int d = 0; d < tensor.rank; ++d) {
    const std::int64_t size = tensor.sizes[d];
    if (size < 0) {
      fail<ValueError>(name, "must have sizes of at least 0", to_text(shape_of(tensor)));
    }
    // Zero sizes count as 1, so that the product of any of the sizes fits too.
    const std::int64_t counted = size == 0 ? 1 : size;
    const std::int64_t stride = tensor.strides[d];
    std::int64_t extent = 0;
    if (__builtin_mul_overflow(total, counted, &total) ||
        stride == std::numeric_limits<std::int64_t>::min() ||
        __builtin_mul_overflow(stride < 0 ? -stride : stride, counted - 1, &extent) ||
        __builtin_mul_overflow(extent, element_size, &extent) ||
        __builtin_add_overflow(bytes, extent, &bytes) || total > kMostBytes || bytes > kMostBytes) {
      fail<ValueError>(name, "must have sizes and strides of at most 2^60 bytes",
                       "shape " + to_text(shape_of(tensor)));
    }
  }
  return bytes;
}

void check_pointer(const char* name, DataType type, const void* data) {
  if (data == nullptr) fail<ValueError>(name, "must point at its elements", "null");
  // Sizes of elements are powers of two.
  if ((reinterpret_cast<std::uintptr_t>(data) & (info(type).size - 1)) != 0) {
    fail<ValueError>(name, "must be aligned to its elements", "an unaligned pointer");
  }
}

void check_index_capacity(const char* name, DataType type, std::int64_t extent,
                          const char* type_name) {
  if (!holds_index(type, extent - 1)) {
    fail<ValueError>(name, text("must hold the index ", extent - 1),
                     type_name == nullptr ? info(type).name : type_name);
  }
}

void check_disjoint(const char* name, const Tensor& output, const char* other_name,
                    const ConstTensor& other) {
  if (overlap(as_const(output), other)) {
    fail<ValueError>(name, text("must not overlap ", other_name), "shared memory");
  }
}

ConstTensor as_const(const Tensor& tensor) {
  return {tensor.data, tensor.type, tensor.rank, tensor.sizes, tensor.strides};
}

void detail::fail_value(const char* requirement, std::int64_t actual) {
  throw ValueError(text(requirement, ", got ", actual));
}

}  // namespace dmlcpu
