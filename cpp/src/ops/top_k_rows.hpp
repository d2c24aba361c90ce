// top-k of rows: the rows of a call one after the other, or each in parts for all threads.
#pragma once

#include "interface/top_k.hpp"
#include "ops/for_tasks.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {

/// A call's memory, and the kernels of its element type and order.
struct TopKCall : Memory {
  const TopKElementKernels& element;
  const TopKWidthKernels& width;
};

/// Runs a plan of rows. Allocates everything before it writes the first row.
void run_rows(const TopKCall& call, const TopKPlan& plan);

}  // namespace dmlcpu
