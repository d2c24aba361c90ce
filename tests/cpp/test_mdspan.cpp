// Views of std::mdspan; where the standard library has none, of a stand-in with what views read of
// it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if __cplusplus > 202002L && __has_include(<mdspan>)
#include <mdspan>
#endif

#ifndef __cpp_lib_mdspan
#define __cpp_lib_mdspan 202207L
namespace std {

template <class Index, size_t kRank>
struct dextents {
  static constexpr size_t rank() { return kRank; }
  array<Index, kRank> sizes;
};

struct layout_stride {
  template <class Sizes>
  struct mapping {
    Sizes sizes;
    array<int, Sizes::rank()> strides;
  };
};

template <class T>
struct default_accessor {};

template <class T, class Sizes, class Layout = layout_stride, class Accessor = default_accessor<T>>
class mdspan {
 public:
  mdspan(T* data, const layout_stride::mapping<Sizes>& mapping) : data_(data), mapping_(mapping) {}
  T* data_handle() const { return data_; }
  int extent(size_t d) const { return mapping_.sizes.sizes[d]; }
  int stride(size_t d) const { return mapping_.strides[d]; }
  static constexpr bool is_strided() { return true; }

 private:
  T* data_;
  layout_stride::mapping<Sizes> mapping_;
};

}  // namespace std
#endif

#include "check.hpp"
#include "dmlcpu/dmlcpu.hpp"

using dmlcpu::View;

int main() {
  using Sizes = std::dextents<int, 2>;
  using Mapping = std::layout_stride::mapping<Sizes>;
  const float matrix[] = {1, 2, 3, 3, 0, 4};  // 2 x 3
  const std::mdspan<const float, Sizes, std::layout_stride> transposed(
      matrix, Mapping{Sizes{3, 2}, std::array{1, 3}});
  std::int64_t at[3] = {9, 9, 9};
  const std::mdspan<std::int64_t, Sizes, std::layout_stride> indices(
      at, Mapping{Sizes{3, 1}, std::array{1, 1}});
  const View view(transposed);
  static_assert(std::is_same_v<decltype(view), const View<const float>>);
  CHECK(view.tensor().rank == 2 && view.tensor().sizes[0] == 3 && view.tensor().strides[1] == 3);
  dmlcpu::argmax(view, {1}, View(indices));
  CHECK(at[0] == 1 && at[1] == 0 && at[2] == 1);
  dmlcpu::argmin<float, std::int64_t>(transposed, {1}, indices);
  CHECK(at[0] == 0 && at[1] == 1 && at[2] == 0);
  return check::failures;
}
