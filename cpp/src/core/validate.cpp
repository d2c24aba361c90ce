#include "core/validate.hpp"
#include "core/shapes.hpp"

#include <limits>

#include "core/error.hpp"
#include "core/overlap.hpp"

namespace dmlcpu {
namespace {

std::uint64_t largest_index(DataType type) {
  switch (type) {
    case DataType::kInt32:
      return std::numeric_limits<std::int32_t>::max();
    case DataType::kUInt32:
      return std::numeric_limits<std::uint32_t>::max();
    default:
      return std::numeric_limits<std::int64_t>::max();
  }
}

/// Adds |stride| * (size - 1) * element size to `bytes`; false when 64 bits do not hold it.
bool add_extent(std::int64_t size, std::int64_t stride, std::int64_t element_size,
                std::int64_t* bytes) {
  std::int64_t steps = 0;
  return stride != std::numeric_limits<std::int64_t>::min() &&
         !__builtin_mul_overflow(stride < 0 ? -stride : stride, size - 1, &steps) &&
         !__builtin_mul_overflow(steps, element_size, &steps) &&
         !__builtin_add_overflow(*bytes, steps, bytes);
}

/// Sizes in bytes up to this are added and doubled, here and there, without a look at the sum.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

void check_rank(const char* name, int rank) {
  if (rank < 0 || rank > kMaxRank) {
    fail<ValueError>(name, text("must have at most ", kMaxRank, " dimensions"), rank);
  }
}

}  // namespace

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

void check_layout(const char* name, const ConstTensor& tensor) {
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
    if (__builtin_mul_overflow(total, size == 0 ? 1 : size, &total) ||
        !add_extent(size == 0 ? 1 : size, tensor.strides[d], element_size, &bytes) ||
        total > kMostBytes || bytes > kMostBytes) {
      fail<ValueError>(name, "must have sizes and strides of at most 2^60 bytes",
                       "shape " + to_text(shape_of(tensor)));
    }
  }
}

void check_pointer(const char* name, const ConstTensor& tensor) {
  if (element_count(tensor) > 0) check_pointer(name, tensor.type, tensor.data);
}

void check_pointer(const char* name, DataType type, const void* data) {
  if (data == nullptr) fail<ValueError>(name, "must point at its elements", "null");
  // Sizes of elements are powers of two.
  if ((reinterpret_cast<std::uintptr_t>(data) & (info(type).size - 1)) != 0) {
    fail<ValueError>(name, "must be aligned to its elements", "an unaligned pointer");
  }
}

void check_index_type(const char* name, DataType type) {
  if (!is_index_type(type)) {
    fail<TypeError>(name, "must be uint32, int32, uint64 or int64", info(type).name);
  }
}

void check_same_type(const char* name, const Tensor& output, const ConstTensor& input) {
  if (output.type != input.type) {
    fail<TypeError>(name, text("must have the input's dtype ", info(input.type).name),
                    info(output.type).name);
  }
}

bool holds_index(DataType type, std::int64_t index) {
  return index < 0 || static_cast<std::uint64_t>(index) <= largest_index(type);
}

void check_index_capacity(const char* name, DataType type, std::int64_t extent,
                          const char* type_name) {
  if (!holds_index(type, extent - 1)) {
    fail<ValueError>(name, text("must hold the index ", extent - 1),
                     type_name == nullptr ? info(type).name : type_name);
  }
}

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

void check_disjoint(const char* name, const Tensor& output, const char* other_name,
                    const ConstTensor& other) {
  if (overlap(as_const(output), other)) {
    fail<ValueError>(name, text("must not overlap ", other_name), "shared memory");
  }
}

ConstTensor as_const(const Tensor& tensor) {
  return {tensor.data, tensor.type, tensor.rank, tensor.sizes, tensor.strides};
}

}  // namespace dmlcpu
