/// @file
/// The operators as functions on typed memory.
///
/// Element types are float, double, Float16, BFloat16, the compiler's _Float16 and __bf16 where it
/// has them (std::float16_t and std::bfloat16_t of C++23), bool and the integers of 8 to 64 bits;
/// index types those of 32 and 64 bits, of argmin and argmax all integers. Views are a pointer,
/// sizes and, unless the elements are contiguous in row-major order, strides, all in elements; rank
/// 0 to 8.
///
/// Name the element and index types, as the examples do: then braces become views. Without them
/// they are those of the views, which have theirs from their pointers:
///
/// ```
/// float x[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};
/// std::uint32_t at[3];
/// const dmlcpu::View matrix(x, {3, 3});
/// dmlcpu::argmax(matrix, {1}, dmlcpu::View(at, {3}));
/// assert(at[0] == 2 && at[1] == 2 && at[2] == 1);
/// ```
///
/// Views to write to are views to read from.
///
/// Of every function: inputs are read where they are, whatever their strides. Outputs must have the
/// shape that is said, elements that do not overlap, and share no memory with an input. All of that
/// is checked before anything is written, so a call that throws has written nothing: TypeError or
/// ValueError (both std::invalid_argument), AxisError or IndexError (both std::out_of_range), with
/// a text "argument: requirement, got actual value", where arguments have their names in Python
/// ("out" is the output); or std::bad_alloc. Calls may be made from many
/// threads at once as long as their outputs do not overlap. Results never depend on the number of
/// threads or the instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if __cplusplus > 202002L && defined(__has_include)
#if __has_include(<mdspan>)
#include <mdspan>
#endif
#endif

#include "dmlcpu/element_types.hpp"
#include "dmlcpu/error.hpp"
#include "dmlcpu/lists.hpp"
#include "dmlcpu/operators.hpp"
#include "dmlcpu/runtime.hpp"
#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// A typed view of somebody else's memory, with sizes and strides in elements, outermost dimension
/// first: braces, a pointer and a count, a std::vector or another list of integers (lists.hpp), a
/// Shape; or a std::mdspan, where there is one. Throws ValueError for more than kMaxRank
/// dimensions, or strides of another number.
///
/// ```
/// const float x[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};
/// const std::size_t rows = 3;
/// const int shape[] = {3, 3};
/// const int rank = 2;
/// assert(dmlcpu::View<const float>(x, {rows, 3}).tensor().strides[0] == 3);
/// assert(dmlcpu::View<const float>(x, {shape, rank}).tensor().strides[0] == 3);
/// const dmlcpu::View<const float> transposed(x, shape, {1, 3});
/// assert(transposed.tensor().strides[0] == 1);
/// ```
template <class T>
class View {
 public:
  using Element = std::remove_const_t<T>;

  /// Contiguous in row-major order.
  View(T* data, const ExtentList& sizes) {
    if (sizes.count > kMaxRank) throw ValueError("sizes: must be at most 8, got more");
    tensor_.data = data;
    tensor_.type = data_type_of<Element>();
    tensor_.rank = sizes.count;
    // Unsigned: the operators refuse sizes whose product wraps, but here it may.
    std::uint64_t stride = 1;
    for (auto d = static_cast<std::size_t>(sizes.count); d-- > 0;) {
      tensor_.sizes[d] = sizes.values[d];
      tensor_.strides[d] = static_cast<std::int64_t>(stride);
      stride *= static_cast<std::uint64_t>(sizes.values[d]);
    }
  }

  /// Strides may be 0 to broadcast, or negative; `data` is the element at coordinates 0.
  View(T* data, const ExtentList& sizes, const ExtentList& strides) : View(data, sizes) {
    if (strides.count != sizes.count) {
      detail::fail_value("strides: must be as many as sizes", strides.count);
    }
    std::copy_n(strides.values.begin(), strides.count, tensor_.strides.begin());
  }

#ifdef __cpp_lib_mdspan
  /// A view of what a std::mdspan of any strides views.
  template <class Sizes, class Layout>
  View(const std::mdspan<T, Sizes, Layout>& span) {  // NOLINT(google-explicit-constructor)
    static_assert(Sizes::rank() <= kMaxRank, "at most 8 dimensions");
    if (!span.is_strided()) throw ValueError("layout: must have strides, got one without");
    tensor_.data = span.data_handle();
    tensor_.type = data_type_of<Element>();
    tensor_.rank = static_cast<int>(Sizes::rank());
    for (std::size_t d = 0; d < Sizes::rank(); ++d) {
      tensor_.sizes[d] = static_cast<std::int64_t>(span.extent(d));
      tensor_.strides[d] = static_cast<std::int64_t>(span.stride(d));
    }
  }
#endif

  /// A view to read from, of one to write to.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  View(const View<U>& other)  // NOLINT(google-explicit-constructor)
      : tensor_{other.tensor().data, other.tensor().type, other.tensor().rank, other.tensor().sizes,
                other.tensor().strides} {}

  using Pointer = std::conditional_t<std::is_const_v<T>, const void*, void*>;
  const BasicTensor<Pointer>& tensor() const { return tensor_; }

 private:
  BasicTensor<Pointer> tensor_;
};

/// @cond
template <class T>
View(T*, const ExtentList&) -> View<T>;
template <class T>
View(T*, const ExtentList&, const ExtentList&) -> View<T>;
/// @endcond

/// How argmin and argmax run.
struct ArgOptions {
  AxisDirection axis_direction = AxisDirection::kIncreasing;  ///< which of equal elements
  NanPolicy nan_policy = NanPolicy::kPropagate;
  int threads = 0;  ///< at most this many; 0 leaves it to runtime.hpp
};

/// How top_k runs.
struct TopKOptions {
  AxisDirection axis_direction = AxisDirection::kDecreasing;  ///< the largest, or the smallest
  NanPolicy nan_policy = NanPolicy::kPropagate;
  int threads = 0;
};

/// How gather_nd runs.
struct GatherNdOptions {
  std::int64_t batch_dims = 0;
  IndexMode mode = IndexMode::kRaise;
  int threads = 0;
};

namespace detail {

template <class T>
constexpr int kWritable = -1;  // no view
template <class T>
constexpr int kWritable<View<T>> = std::is_const_v<T> ? 0 : 1;

/// There are views to write to among these, from which views to read from cannot be deduced.
template <class... Views>
using IfWritable =
    std::enable_if_t<((kWritable<Views> >= 0) && ...) && ((kWritable<Views> == 1) || ...), int>;

template <class Descriptor>
void run_on(int threads, const Descriptor& descriptor) {
  if (threads == 0) return run(descriptor);
  const ScopedThreads scope(threads);
  run(descriptor);
}

template <class T, class Index>
void arg(bool largest, const View<const T>& input, const AxisList& axes, const View<Index>& output,
         const ArgOptions& options) {
  static_assert(is_arg_index_type(data_type_of<Index>()), "not an integer type");
  ArgDescriptor descriptor;
  descriptor.input = input.tensor();
  descriptor.axes = axes;
  descriptor.largest = largest;
  descriptor.keep_dims = output.tensor().rank == input.tensor().rank;
  descriptor.axis_direction = options.axis_direction;
  descriptor.nan_policy = options.nan_policy;
  descriptor.output = output.tensor();
  run_on(options.threads, descriptor);
}

}  // namespace detail

/// Writes the index of the smallest element of each subset of `input` along `axes` ({} for all):
/// row-major over the reduced axes, in the tensor's order. DirectML's ARGMIN.
///
/// `output` has the shape of `input`, its reduced axes of size 1 or left out. Equal elements (-0
/// equals +0): the first, with AxisDirection::kDecreasing the last. NaN counts as smaller than
/// every number; with NanPolicy::kOmit NaNs are passed over, and a subset of NaNs alone gives its
/// first, or last, index.
///
/// Throws AxisError for an axis out of range; ValueError for a repeated axis, an empty reduced
/// axis, an Index too small for the largest index, or an output that does not fit.
///
/// ```
/// const float x[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};  // 3 x 3
/// std::uint32_t at[3];
/// dmlcpu::argmin<float, std::uint32_t>({x, {3, 3}}, {1}, {at, {3, 1}});
/// assert(at[0] == 0 && at[1] == 1 && at[2] == 0);
/// ```
template <class T, class Index>
void argmin(const View<const T>& input, const AxisList& axes, const View<Index>& output,
            const ArgOptions& options = {}) {
  detail::arg(false, input, axes, output, options);
}

/// The same for the largest, DirectML's ARGMAX; NaN counts as larger than every number.
///
/// ```
/// const float x[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};  // 3 x 3
/// std::int64_t at;
/// dmlcpu::argmax<float, std::int64_t>({x, {3, 3}}, {}, {&at, {}});
/// assert(at == 7);
/// std::uint32_t of_column[3];  // by strides: the matrix as its transpose
/// dmlcpu::argmax<float, std::uint32_t>({x, {3, 3}, {1, 3}}, {-1}, {of_column, {3}});
/// assert(of_column[0] == 1 && of_column[1] == 2 && of_column[2] == 1);
/// ```
template <class T, class Index>
void argmax(const View<const T>& input, const AxisList& axes, const View<Index>& output,
            const ArgOptions& options = {}) {
  detail::arg(true, input, axes, output, options);
}

/// Writes the k largest elements along `axis`, largest first, and their indices; with
/// AxisDirection::kIncreasing the smallest, smallest first. DirectML's TOP_K1.
///
/// `values` and `indices` have the shape of `input`, with k elements along `axis`; k is from 1 to
/// all of them. Equal elements (-0 equals +0) come in ascending order of index in both directions,
/// each with its own bits. NaNs count as larger than infinity; with NanPolicy::kOmit they come last
/// in both directions.
///
/// Throws AxisError for an axis out of range, ValueError for k, an Index too small for the axis, or
/// outputs that do not fit. Needs scratch memory for large k (docs/design.md).
///
/// ```
/// const int x[] = {1, 2, 2, 3, 3, 4, 5, 5};  // 2 x 4
/// int values[4];
/// std::uint32_t at[4];
/// dmlcpu::top_k<int, std::uint32_t>({x, {2, 4}}, 2, -1, {values, {2, 2}}, {at, {2, 2}});
/// assert(values[0] == 3 && values[1] == 2 && values[2] == 5 && values[3] == 5);
/// assert(at[0] == 3 && at[1] == 1 && at[2] == 2 && at[3] == 3);
/// ```
template <class T, class Index>
void top_k(const View<const T>& input, Integer k, Integer axis, const View<T>& values,
           const View<Index>& indices, const TopKOptions& options = {}) {
  static_assert(is_index_type(data_type_of<Index>()), "not an integer type of 32 or 64 bits");
  TopKDescriptor descriptor;
  descriptor.input = input.tensor();
  descriptor.axis = axis.value;
  descriptor.k = k.value;
  descriptor.axis_direction = options.axis_direction;
  descriptor.nan_policy = options.nan_policy;
  descriptor.values = values.tensor();
  descriptor.indices = indices.tensor();
  detail::run_on(options.threads, descriptor);
}

/// Writes the slices of `input` that the coordinate tuples in the last dimension of `indices`
/// address. DirectML's GATHER_ND, and with GatherNdOptions::batch_dims GATHER_ND1.
///
/// With t coordinates in a tuple, `output` has the shape `indices.sizes[0 .. last)` followed by
/// `input.sizes[batch_dims + t ..)`; the first `batch_dims` dimensions are those of both. Signed
/// coordinates from -n to -1 count from the end.
///
/// Throws IndexError for a coordinate out of range, which names the first in row-major order,
/// unless IndexMode::kClip clamps it; ValueError for shapes that do not fit each other.
///
/// ```
/// const float x[] = {0, 1, 2, 3};  // 2 x 2
/// const std::int64_t rows[] = {1, -2};
/// float y[4];
/// dmlcpu::gather_nd<float, std::int64_t>({x, {2, 2}}, {rows, {2, 1}}, {y, {2, 2}});
/// assert(y[0] == 2 && y[1] == 3 && y[2] == 0 && y[3] == 1);
/// ```
template <class T, class Index>
void gather_nd(const View<const T>& input, const View<const Index>& indices, const View<T>& output,
               const GatherNdOptions& options = {}) {
  static_assert(is_index_type(data_type_of<Index>()), "not an integer type of 32 or 64 bits");
  GatherNdDescriptor descriptor;
  descriptor.input = input.tensor();
  descriptor.indices = indices.tensor();
  descriptor.batch_dims = options.batch_dims;
  descriptor.mode = options.mode;
  descriptor.output = output.tensor();
  detail::run_on(options.threads, descriptor);
}

/// @cond
// The same of views to write to.

template <class V, class Index, detail::IfWritable<V> = 0>
void argmin(const V& input, const AxisList& axes, const View<Index>& output,
            const ArgOptions& options = {}) {
  argmin<typename V::Element, Index>(input, axes, output, options);
}

template <class V, class Index, detail::IfWritable<V> = 0>
void argmax(const V& input, const AxisList& axes, const View<Index>& output,
            const ArgOptions& options = {}) {
  argmax<typename V::Element, Index>(input, axes, output, options);
}

template <class V, class Index, detail::IfWritable<V> = 0>
void top_k(const V& input, Integer k, Integer axis, const View<typename V::Element>& values,
           const View<Index>& indices, const TopKOptions& options = {}) {
  top_k<typename V::Element, Index>(input, k, axis, values, indices, options);
}

template <class V, class Indices, detail::IfWritable<V, Indices> = 0>
void gather_nd(const V& input, const Indices& indices, const View<typename V::Element>& output,
               const GatherNdOptions& options = {}) {
  gather_nd<typename V::Element, typename Indices::Element>(input, indices, output, options);
}
/// @endcond

}  // namespace dmlcpu
