// From the descriptors' options to the kernels' ordering.
#pragma once

#include "kernels/interface.hpp"

namespace dmlcpu {

inline Ordering ordering(bool largest, bool nan_first) {
  if (largest) return nan_first ? Ordering::kLargestNanFirst : Ordering::kLargestNanLast;
  return nan_first ? Ordering::kSmallestNanFirst : Ordering::kSmallestNanLast;
}

}  // namespace dmlcpu
