// Descriptors of argmin and argmax without memory, for tests of their plans.
#pragma once

#include <cstdint>

#include "dmlcpu/operators.hpp"
#include "plan/arg_plan.hpp"
#include "tensors.hpp"

namespace plan_tensors {

/// Strides of a contiguous tensor.
inline void set_contiguous(int rank, const dmlcpu::Extents& sizes, dmlcpu::Extents& strides) {
  std::int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= sizes[d];
  }
}

/// A contiguous input of these sizes, whose axes are reduced.
inline dmlcpu::ArgDescriptor descriptor(std::initializer_list<std::int64_t> sizes,
                                        std::initializer_list<std::int64_t> axes,
                                        dmlcpu::DataType type = dmlcpu::DataType::kFloat32) {
  dmlcpu::ArgDescriptor d;
  d.input.type = type;
  for (const std::int64_t size : sizes) d.input.sizes[d.input.rank++] = size;
  set_contiguous(d.input.rank, d.input.sizes, d.input.strides);
  d.axes = tensors::axes(axes);
  d.output.type = dmlcpu::DataType::kUInt32;
  return d;
}

/// The plan, with a contiguous output.
inline dmlcpu::ArgPlan plan_of(dmlcpu::ArgDescriptor d, int threads = 1,
                               const dmlcpu::Tensor* values = nullptr) {
  const dmlcpu::Shape shape = output_shape(d);
  d.output.rank = shape.rank;
  d.output.sizes = shape.sizes;
  set_contiguous(shape.rank, shape.sizes, d.output.strides);
  return plan_arg(d, values, threads);
}

}  // namespace plan_tensors
