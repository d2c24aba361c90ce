// top-k in two steps: planned once, run on any memory of that layout.
#pragma once

#include <variant>

#include "plan/arg_plan.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {

/// k = 1 is run as an argmin or argmax.
using TopKProgram = std::variant<ArgPlan, TopKColumnsPlan, TopKPlan>;

/// Plans a descriptor whose layout is valid, for as many threads as its size is worth.
TopKProgram plan(const TopKDescriptor& descriptor);

/// Runs what was planned on valid memory; the descriptor's own pointers are not looked at.
void run_planned(const TopKDescriptor& descriptor, const TopKProgram& program, const void* input,
                 void* values, void* indices);

}  // namespace dmlcpu
