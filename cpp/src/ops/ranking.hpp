// From the descriptors' options to the kernels' ranking.
#pragma once

#include "kernels/kernel_table.hpp"

namespace dmlcpu {

inline Ranking ranking(bool largest, bool nan_first) {
  if (largest) return nan_first ? Ranking::kLargestNanFirst : Ranking::kLargestNanLast;
  return nan_first ? Ranking::kSmallestNanFirst : Ranking::kSmallestNanLast;
}

}  // namespace dmlcpu
