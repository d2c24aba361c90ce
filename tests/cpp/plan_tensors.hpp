// Descriptors of argmin and argmax without memory, for tests of their plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "check.hpp"
#include "core/text.hpp"
#include "dmlcpu/typed.hpp"
#include "ops/problem.hpp"
#include "plan/arg_plan.hpp"
#include "plan/candidates.hpp"

namespace plan_tensors {

/// A contiguous input of these sizes, whose axes are reduced.
inline dmlcpu::ArgDescriptor descriptor(std::initializer_list<std::int64_t> sizes,
                                        std::initializer_list<std::int64_t> axes,
                                        dmlcpu::DataType type = dmlcpu::DataType::kFloat32) {
  dmlcpu::ArgDescriptor d;
  d.input = dmlcpu::View<const float>(nullptr, sizes).tensor();
  d.input.type = type;
  d.axes = dmlcpu::AxisList(axes);
  d.output.type = dmlcpu::DataType::kUInt32;
  return d;
}

/// The same of an input of these strides.
inline dmlcpu::ArgDescriptor strided(std::initializer_list<std::int64_t> sizes,
                                     std::initializer_list<std::int64_t> strides,
                                     std::initializer_list<std::int64_t> axes,
                                     dmlcpu::DataType type = dmlcpu::DataType::kFloat32) {
  dmlcpu::ArgDescriptor d = descriptor(sizes, axes, type);
  std::copy(strides.begin(), strides.end(), d.input.strides.begin());
  return d;
}

/// The machine of all these plans, whatever the tests run on.
inline const dmlcpu::Machine machine = dmlcpu::machine_of("x86-64-v3", dmlcpu::Family::kAmd);

/// The problem, with a contiguous output.
inline dmlcpu::ArgProblem problem(dmlcpu::ArgDescriptor d, const dmlcpu::Tensor* values = nullptr) {
  d.output = dmlcpu::View<std::uint32_t>(nullptr, output_shape(d)).tensor();
  return problem_of(d, values);
}

/// The plan of the candidate that is chosen.
inline dmlcpu::ArgPlan plan_of(const dmlcpu::ArgDescriptor& d, int threads = 1,
                               const dmlcpu::Tensor* values = nullptr) {
  return plan_arg(problem(d, values), machine, threads);
}

/// Which candidate a plan is of: "fill", "rows of 600", "in place, 6 x 8" for 6 groups of 8
/// results. Of results with several lanes also the reduced axes that these are, outermost first:
/// "in place, 6 x 3, some of 900 x 5 each".
inline std::string summary_of(const dmlcpu::ArgPlan& plan) {
  static const char* const packings[] = {"in place", "strided", "transposed", "in registers"};
  if (plan.strategy == dmlcpu::ArgStrategy::kFill) return "fill";
  if (plan.strategy == dmlcpu::ArgStrategy::kRows) return dmlcpu::text("rows of ", plan.n.size);
  const dmlcpu::ColumnsPlan& columns = plan.columns;
  std::string lanes;
  for (int d = 0; d < columns.lanes.count; ++d) {
    const bool is_cut = d == 0 && columns.cut.size > 0;
    lanes += dmlcpu::text(d == 0 ? ", " : " x ", is_cut ? "some of " : "",
                          is_cut ? columns.cut.size : columns.lanes.axes[d].size);
  }
  return dmlcpu::text(packings[static_cast<int>(columns.columns.tiling.packing)], ", ",
                      plan.tasks.groups.size, " x ", plan.tasks.results.size, lanes,
                      lanes.empty() ? "" : " each");
}

/// The plan of the first candidate whose summary begins with `text`; none without such a candidate.
inline std::optional<dmlcpu::ArgPlan> find_plan(const dmlcpu::ArgDescriptor& d,
                                                const std::string& text, int threads = 1) {
  const dmlcpu::ArgProblem of = problem(d);
  const int count = static_cast<int>(enumerate(of).size());
  for (int number = 0; number < count; ++number) {
    dmlcpu::ArgPlan plan = plan_arg(of, machine, threads, number);
    if (summary_of(plan).rfind(text, 0) == 0) return plan;
  }
  return std::nullopt;
}
inline bool has_candidate(const dmlcpu::ArgDescriptor& d, const std::string& text) {
  return find_plan(d, text).has_value();
}

/// The same of a candidate that there must be, whatever it costs.
inline dmlcpu::ArgPlan forced(const dmlcpu::ArgDescriptor& d, const std::string& text,
                              int threads = 1) {
  const auto plan = find_plan(d, text, threads);
  check::that(plan.has_value(), ("no candidate: " + text).c_str(), __FILE__, __LINE__);
  return plan.value_or(dmlcpu::ArgPlan());
}

}  // namespace plan_tensors
