// All four operators on a matrix from a .npy file: where each row has its extremes; the three
// largest elements in each column; and the rows in which the first column is largest.
#include <cstdint>
#include <dmlcpu/dmlcpu.hpp>
#include <iostream>
#include <vector>

#include "npy.hpp"

namespace {

void describe(const Matrix& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const std::int64_t n = matrix.rows;
  const std::int64_t m = matrix.columns;
  const float* x = matrix.elements.data();

  // Where each row is smallest and largest.
  std::vector<std::uint32_t> lowest(rows);
  std::vector<std::uint32_t> highest(rows);
  dmlcpu::argmin<float, std::uint32_t>({x, {n, m}}, {1}, {lowest.data(), {n, 1}});
  dmlcpu::argmax<float, std::uint32_t>({x, {n, m}}, {1}, {highest.data(), {n, 1}});

  // The largest of each column, by strides: the matrix is read as its transpose.
  const std::int64_t k = n < 3 ? n : 3;
  std::vector<float> values(static_cast<std::size_t>(m * k));
  std::vector<std::int64_t> at(static_cast<std::size_t>(m * k));
  dmlcpu::top_k<float, std::int64_t>({x, {m, n}, {1, m}}, k, -1, {values.data(), {m, k}},
                                     {at.data(), {m, k}});

  // The rows in which the first column is largest.
  std::vector<float> best(static_cast<std::size_t>(k * m));
  dmlcpu::gather_nd<float, std::int64_t>({x, {n, m}}, {at.data(), {k, 1}}, {best.data(), {k, m}});

  for (std::size_t r = 0; r < rows; ++r) {
    std::cout << "row " << r << ": smallest at " << lowest[r] << ", largest at " << highest[r]
              << "\n";
  }
  for (std::int64_t i = 0; i < k; ++i) {
    std::cout << "first column, number " << i + 1 << " is " << values[static_cast<std::size_t>(i)]
              << " in row " << at[static_cast<std::size_t>(i)] << ":";
    for (std::int64_t c = 0; c < m; ++c)
      std::cout << " " << best[static_cast<std::size_t>(i * m + c)];
    std::cout << "\n";
  }
}

}  // namespace

int main(int count, char** arguments) { return run_on_npy(count, arguments, describe); }
