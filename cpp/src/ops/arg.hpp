// argmin and argmax in two steps: planned once, run on any memory of that layout.
#pragma once

#include <cstdint>

#include "plan/arg_plan.hpp"

namespace dmlcpu {

/// The number of the Ordering of these options.
inline int ordering(bool largest, bool nan_first) { return 2 * largest + nan_first; }

/// Plans a descriptor whose layout is valid, for as many threads as its size is worth; with
/// `values`, if not null, that one element of each of its rows is written to.
ArgPlan plan(const ArgDescriptor& descriptor, const Tensor* values = nullptr);

/// Runs what was planned on valid memory; the descriptor's own pointers are not looked at.
void run_planned(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input,
                 void* output, void* values = nullptr);

}  // namespace dmlcpu
