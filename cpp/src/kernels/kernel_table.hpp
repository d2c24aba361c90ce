// The kernels' tables, one per instruction set.
//
// Compiled with every instruction set's own flags, as the interface headers are.
#pragma once

#include "dmlcpu/data_type.hpp"
#include "interface/arg.hpp"
#include "interface/gather.hpp"
#include "interface/top_k.hpp"

namespace dmlcpu {

/// The kernels of top-k, for each element type and order, or for each width of keys.
struct TopKKernels {
  TopKElementKernels element[kDataTypeCount][kOrderingCount];
  TopKWidthKernels width[4];  ///< of keys of 1, 2, 4 and 8 bytes
};

/// The kernels of one instruction set.
struct KernelTable {
  const char* name;
  const ArgKernels (*arg)[kOrderingCount];  ///< for each element type
  const TopKKernels* top_k;
  const GatherKernel* gather;  ///< for indices of 4 and 8 bytes
};

// The object files of each instruction set define these in its own namespace.
#define DMLCPU_DECLARE_TARGET(target)                                  \
  namespace target {                                                   \
  extern const ArgKernels arg_kernels[kDataTypeCount][kOrderingCount]; \
  extern const TopKKernels top_k_kernels;                              \
  extern const GatherKernel gather_kernels[2];                         \
  }

}  // namespace dmlcpu
