// Sizes, strides and axes of run-time rank and of every integer type. Compiled with every warning
// on; the exit status tells what failed.
#include <dmlcpu/dmlcpu.hpp>

#include <array>
#include <vector>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

namespace {

constexpr float kMatrix[] = {1, 2, 3, 3, 0, 4, 2, 5, 2};  // 3 x 3

/// Whether the view is the matrix, and argmax along the axes what it should be.
bool is_right(const dmlcpu::View<const float>& matrix, const dmlcpu::AxisList& axes) {
  std::uint32_t at[3] = {9, 9, 9};
  dmlcpu::argmax<float, std::uint32_t>(matrix, axes, {at, {3}});
  return at[0] == 2 && at[1] == 2 && at[2] == 1;
}

template <class I>
bool takes() {
  const I rows = 3;
  const std::vector<I> sizes = {3, 3};
  const std::vector<I> strides = {3, 1};
  const std::array<I, 1> axes = {1};
  const I array[] = {3, 3};
  const I rank = 2;
  return is_right({kMatrix, {rows, rows}}, {rank - rank + 1}) &&
         is_right({kMatrix, {rows, 3}, {rows, 1}}, axes) && is_right({kMatrix, sizes}, {1}) &&
         is_right({kMatrix, sizes, strides}, std::vector<I>{1}) &&
         is_right({kMatrix, {sizes.data(), rank}}, {axes.data(), axes.size()}) &&
         is_right({kMatrix, {array, rank}, {strides.data(), strides.size()}}, {1}) &&
         is_right({kMatrix, array, strides}, {1});
}

}  // namespace

int main() {
  if (!takes<int>() || !takes<unsigned>() || !takes<long>() || !takes<unsigned long>()) return 1;
  if (!takes<long long>() || !takes<unsigned long long>() || !takes<std::size_t>()) return 2;
  if (!takes<short>() || !takes<unsigned short>() || !takes<std::ptrdiff_t>()) return 3;
  const std::size_t rows = 3;
  const std::size_t columns = 3;
  std::uint32_t at[3] = {9, 9, 9};
  dmlcpu::argmax<float, std::uint32_t>({kMatrix, {rows, columns}}, {1}, {at, {rows, 1}});
  if (at[0] != 2 || at[2] != 1) return 4;
  float values[3] = {};
  const std::size_t k = 1;
  dmlcpu::top_k<float, std::uint32_t>({kMatrix, {rows, columns}}, k, -1, {values, {rows, k}},
                                      {at, {rows, k}});
  if (values[0] != 3 || values[2] != 5) return 5;
  // Nothing in braces is every axis, an empty list none.
  dmlcpu::argmax<float, std::uint32_t>({kMatrix, {rows, columns}}, {}, {at, {}});
  if (at[0] != 7) return 6;
  dmlcpu::argmax<float, std::uint32_t>({kMatrix, {rows}}, std::vector<int>(), {at, {rows}});
  if (at[0] != 0 || at[1] != 0 || at[2] != 0) return 7;
#if defined(__cpp_lib_span)
  const std::array<std::size_t, 2> sizes = {rows, columns};
  const std::array<int, 1> axes = {1};
  if (!is_right({kMatrix, std::span(sizes)}, std::span(axes))) return 8;
  if (!is_right({kMatrix, std::span<const std::size_t>(sizes)}, {1})) return 9;
#endif
  return 0;
}
