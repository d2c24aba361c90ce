#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/shapes.hpp"
#include "core/validate.hpp"

namespace dmlcpu {

Shape output_shape(const GatherNdDescriptor& descriptor) {
  return output_shape(descriptor, kPlainNames);
}

Shape output_shape(const GatherNdDescriptor& descriptor, const ArgumentNames& names) {
  const ConstTensor& input = descriptor.input;
  const ConstTensor& indices = descriptor.indices;
  check_layout(names.input, input);
  check_layout(names.indices, indices);
  check_index_type(names.indices, indices.type);
  for (const auto& [name, tensor] :
       {std::pair{names.input, &input}, std::pair{names.indices, &indices}}) {
    if (tensor->rank == 0) fail<ValueError>(name, "must have at least 1 dimension", "0");
  }
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

void validate_layout(const GatherNdDescriptor& descriptor) {
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
}

void validate_memory(const GatherNdDescriptor& descriptor) {
  check_pointer("input", descriptor.input);
  check_pointer("indices", descriptor.indices);
  if (descriptor.output_is_new) return;
  check_pointer("out", as_const(descriptor.output));
  check_disjoint("out", descriptor.output, "input", descriptor.input);
  check_disjoint("out", descriptor.output, "indices", descriptor.indices);
}

}  // namespace dmlcpu
