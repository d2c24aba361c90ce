// Descriptors of argmin and argmax without memory, for tests of their plans.
#pragma once

#include <cstdint>

#include "dmlcpu/typed.hpp"
#include "ops/problem.hpp"
#include "plan/arg_plan.hpp"

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

/// The plan, with a contiguous output.
inline dmlcpu::ArgPlan plan_of(dmlcpu::ArgDescriptor d, int threads = 1,
                               const dmlcpu::Tensor* values = nullptr) {
  d.output = dmlcpu::View<std::uint32_t>(nullptr, output_shape(d)).tensor();
  return plan_arg(problem_of(d, values), threads);
}

}  // namespace plan_tensors
