// The client: a matrix of scores (a row for each sample, a column for each class) from a .npy
// file through three operators. Where a DirectML program asks a device for a compiled operator,
// binds resources and records a dispatch, this one compiles the same descriptor and dispatches on
// memory.
#include "descriptors.hpp"  // before <dmlcpu/directml.h>, as it may include <DirectML.h>

#include <dmlcpu/directml.h>

#include <cstdint>
#include <iostream>
#include <vector>

#include "npy.hpp"

namespace {

using dmlcpu::directml::CompiledOperator;

void classify(const Matrix& matrix) {
  const auto rows = static_cast<UINT>(matrix.rows);
  const auto classes = static_cast<UINT>(matrix.columns);
  const UINT count = rows < 2 ? rows : 2;
  const dmlcpu_input scores{matrix.elements.data(), matrix.elements.size() * sizeof(float)};

  // Compiled once; a server would keep them and dispatch for every batch.
  const BestClass best_class(rows, classes);
  const BestRows best_rows(rows, classes, count);
  const PickRows pick_rows(rows, classes, count);
  const CompiledOperator argmax(best_class.desc);
  const CompiledOperator top_k(best_rows.desc);
  const CompiledOperator gather(pick_rows.desc);

  std::vector<UINT> best(rows);
  argmax.dispatch({scores}, {{best.data(), best_class.best.size_in_bytes()}});

  std::vector<float> values(std::size_t{count} * classes);
  std::vector<UINT> indices(std::size_t{count} * classes);
  top_k.dispatch({scores}, {{values.data(), best_rows.values.size_in_bytes()},
                            {indices.data(), best_rows.indices.size_in_bytes()}});

  // The best rows of class 0, which the indices' first column holds.
  std::vector<UINT> of_first(count);
  for (UINT i = 0; i < count; ++i) of_first[i] = indices[std::size_t{i} * classes];
  std::vector<float> picked(std::size_t{count} * classes);
  gather.dispatch({scores, {of_first.data(), pick_rows.rows.size_in_bytes()}},
                  {{picked.data(), pick_rows.picked.size_in_bytes()}});

  for (UINT r = 0; r < rows; ++r) std::cout << "row " << r << ": class " << best[r] << "\n";
  for (UINT i = 0; i < count; ++i) {
    std::cout << "class 0, number " << i + 1 << " is row " << of_first[i] << ":";
    for (UINT c = 0; c < classes; ++c) std::cout << " " << picked[std::size_t{i} * classes + c];
    std::cout << "\n";
  }
}

}  // namespace

int main(int count, char** arguments) { return run_on_npy(count, arguments, classify); }
