// gather in two steps: planned once, run on any memory of that layout.
#pragma once

#include "plan/gather_nd_plan.hpp"

namespace dmlcpu {

/// Plans a descriptor whose layout is valid, for as many threads as its size is worth.
GatherNdPlan plan(const GatherNdDescriptor& descriptor);

/// Runs what was planned on valid memory; the descriptor's own pointers are not looked at. Throws
/// IndexError, which calls the indices `name`.
void run_planned(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
                 const void* indices, void* output, const char* name = "indices");

}  // namespace dmlcpu
