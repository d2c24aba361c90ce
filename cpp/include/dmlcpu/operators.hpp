/// @file
/// The operators as descriptors: fill one in, have the output's shape computed, run it.
///
/// Every run() validates its whole descriptor (but for new outputs, see below) before it writes
/// anything, throws one of the types of error.hpp when a rule is broken, and is safe to call from
/// many threads at once as long as their outputs do not overlap. Results never depend on the number
/// of threads or the instruction set.
///
/// An output is new when it was made for this call: contiguous memory of its own, of the shape that
/// output_shape() gave for the rest of the descriptor, that nobody has seen. Where a caller says
/// so, run() checks neither the output nor what output_shape() has checked, and gather_nd, which
/// saves a pass over the indices, may have written to it when IndexError is thrown. Saying so of
/// any other output, or without having called output_shape(), is undefined behaviour.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "dmlcpu/export.hpp"
#include "dmlcpu/lists.hpp"
#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// DML_AXIS_DIRECTION. For argmin and argmax it decides ties, for top-k the order.
enum class AxisDirection : std::uint8_t { kIncreasing = 0, kDecreasing = 1 };

/// How NaNs are ordered; DirectML's reference is silent.
enum class NanPolicy : std::uint8_t {
  kPropagate,  ///< arg: a NaN beats every number. top-k: they count as larger than +infinity.
  kOmit,       ///< arg: NaNs are passed over. top-k: they come last in both directions.
};

/// Which results of top-k are written; DirectML has both. The tensor of what is not wanted is not
/// looked at.
enum class TopKResults : std::uint8_t {
  kBoth,
  kValues,
  kIndices,
  kLast,  ///< both of the k-th alone: the outputs have one element along the axis
};

/// What gather does with an index out of range; DirectML's reference is silent.
enum class IndexMode : std::uint8_t {
  kRaise,  ///< throw IndexError, nothing is written
  kClip,   ///< clamp to [0, size - 1], after negative indices have been wrapped
};

/// DML_ARGMIN_OPERATOR_DESC and DML_ARGMAX_OPERATOR_DESC.
///
/// Writes, for each subset of `input` along `axes`, the row-major index of its smallest or largest
/// element; the index counts over the reduced axes in the tensor's order, whatever the order of
/// `axes`. Equal elements (-0 equals +0): kIncreasing gives the first, kDecreasing the last. A
/// subset of NaNs alone gives the tie rule's index.
struct ArgDescriptor {
  ConstTensor input;  ///< any element type, rank 0 to 8
  AxisList axes;      ///< negative axes count from the end; no axis gives index 0 everywhere
  bool largest = true;
  bool keep_dims = true;  ///< reduced axes stay in the output's shape, with size 1
  AxisDirection axis_direction = AxisDirection::kIncreasing;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  Tensor output;               ///< uint8 to uint64 or int8 to int64, where every index fits
  bool output_is_new = false;  ///< see the file's head
};

/// DML_TOP_K1_OPERATOR_DESC.
///
/// Writes the k largest (kDecreasing, largest first) or smallest (kIncreasing, smallest first)
/// elements along `axis`, and their indices. Equal elements (-0 equals +0, NaN equals NaN) come
/// in ascending order of index in both directions, each with its own bits.
struct TopKDescriptor {
  ConstTensor input;       ///< any element type, rank 0 to 8
  std::int64_t axis = -1;  ///< negative counts from the end
  std::int64_t k = 1;      ///< 1 to the size of `axis`
  AxisDirection axis_direction = AxisDirection::kDecreasing;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  Tensor values;   ///< the input's element type and shape, with k elements along `axis`
  Tensor indices;  ///< uint32, int32, uint64 or int64; the shape of `values`
  bool outputs_are_new = false;  ///< see the file's head
  TopKResults results = TopKResults::kBoth;
};

/// DML_GATHER_ND_OPERATOR_DESC, and with batch_dims > 0 DML_GATHER_ND1_OPERATOR_DESC.
///
/// The last dimension of `indices`, of size t, holds coordinates into `input` after its first
/// `batch_dims` dimensions, which both tensors share. The output's shape is
/// `indices.sizes[0 .. last) + input.sizes[batch_dims + t ..)`. Signed indices from -n to -1 count
/// from the end.
struct GatherNdDescriptor {
  ConstTensor input;    ///< any element type, rank 1 to 8
  ConstTensor indices;  ///< uint32, int32, uint64 or int64, rank 1 to 8
  std::int64_t batch_dims = 0;
  IndexMode mode = IndexMode::kRaise;
  Tensor output;               ///< the input's element type
  bool output_is_new = false;  ///< see the file's head
};

// A tensor of rank 0 counts as having one axis of size 1 where an operator takes an axis.

/// The shape that the descriptor's output needs (top-k: both outputs). Looks at no tensor's
/// pointer, and at the output tensors not at all. Throws for every broken rule that concerns the
/// rest.
///
/// ```
/// dmlcpu::ArgDescriptor argmax;
/// argmax.input.rank = 2;
/// argmax.input.sizes = {3, 4};
/// argmax.axes = {1};
/// argmax.keep_dims = false;
/// assert(dmlcpu::output_shape(argmax).rank == 1);
/// assert(dmlcpu::output_shape(argmax).sizes[0] == 3);
/// ```
DMLCPU_API Shape output_shape(const ArgDescriptor& descriptor);
DMLCPU_API Shape output_shape(const TopKDescriptor& descriptor);
DMLCPU_API Shape output_shape(const GatherNdDescriptor& descriptor);

/// Runs the operator. Throws before anything is written when a rule is broken; not so of new
/// outputs.
///
/// ```
/// const double x[] = {5, 1, 4, 2};
/// double smallest[2];
/// std::uint32_t at[2];
/// dmlcpu::TopKDescriptor top_k;
/// top_k.input = dmlcpu::View<const double>(x, {4}).tensor();
/// top_k.k = 2;
/// top_k.axis_direction = dmlcpu::AxisDirection::kIncreasing;
/// top_k.values = dmlcpu::View<double>(smallest, {2}).tensor();
/// top_k.indices = dmlcpu::View<std::uint32_t>(at, {2}).tensor();
/// run(top_k);
/// assert(smallest[0] == 1 && smallest[1] == 2 && at[0] == 1 && at[1] == 3);
/// ```
DMLCPU_API void run(const ArgDescriptor& descriptor);
DMLCPU_API void run(const TopKDescriptor& descriptor);
DMLCPU_API void run(const GatherNdDescriptor& descriptor);

namespace detail {

/// Writes the first `size` characters of the text and returns how many it has.
DMLCPU_API std::size_t plan_text(const ArgDescriptor& descriptor, char* text, std::size_t size);
DMLCPU_API std::size_t plan_text(const TopKDescriptor& descriptor, char* text, std::size_t size);
DMLCPU_API std::size_t plan_text(const GatherNdDescriptor& descriptor, char* text,
                                 std::size_t size);

}  // namespace detail

/// How run() would do a valid descriptor, with as many threads as a call made now: the strategy,
/// the tiles of the loops, the threads. A text for people, of no fixed form. Reads no element and
/// throws what run() does.
///
/// ```
/// const float x[] = {1, 7, 3};
/// std::uint32_t index = 0;
/// dmlcpu::ArgDescriptor argmax;
/// argmax.input = dmlcpu::View<const float>(x, {3}).tensor();
/// argmax.axes = {0};
/// argmax.output = dmlcpu::View<std::uint32_t>(&index, {1}).tensor();
/// assert(dmlcpu::plan_text(argmax).find("rows") == 0);
/// ```
template <class Descriptor>
std::string plan_text(const Descriptor& descriptor) {
  std::string text(detail::plan_text(descriptor, nullptr, 0), '\0');
  // The number of threads may have changed between the two.
  text.resize(std::min(text.size(), detail::plan_text(descriptor, text.data(), text.size())));
  return text;
}

}  // namespace dmlcpu
