// The operators in two steps: planned once, run on any memory of that layout.
#pragma once

#include <string>
#include <variant>

#include "plan/arg_plan.hpp"
#include "plan/gather_nd_plan.hpp"
#include "plan/top_k_plan.hpp"

namespace dmlcpu {

/// The number of the Ordering of these options.
inline int ordering(bool largest, bool nan_first) { return 2 * largest + nan_first; }

/// top-k with k = 1 is run as an argmin or argmax.
using TopKProgram = std::variant<ArgPlan, TopKColumnsPlan, TopKPlan>;

/// Plan a descriptor whose layout is valid, for as many threads as its size is worth; argmin and
/// argmax with `values`, if not null, that one element of each of its rows is written to. Their
/// plan is valid until the calling thread plans the next one.
const ArgPlan& plan(const ArgDescriptor& descriptor, const Tensor* values = nullptr);
TopKProgram plan(const TopKDescriptor& descriptor);
GatherNdPlan plan(const GatherNdDescriptor& descriptor);

/// That plan as text, with the problem's candidates.
std::string plan_text_of(const ArgDescriptor& descriptor, const Tensor* values);

/// Run what was planned on valid memory; the descriptor's own pointers are not looked at. Gather
/// throws IndexError, which calls the indices `name`.
void run_planned(const ArgDescriptor& descriptor, const ArgPlan& plan, const void* input,
                 void* output, void* values = nullptr);
void run_planned(const TopKDescriptor& descriptor, const TopKProgram& program, const void* input,
                 void* values, void* indices);
void run_planned(const GatherNdDescriptor& descriptor, const GatherNdPlan& plan, const void* input,
                 const void* indices, void* output, const char* name = "indices");

}  // namespace dmlcpu
