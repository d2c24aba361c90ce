// Descriptors of argmin and argmax without memory, random ones and those of long shapes, for the
// test of what their plans visit.
#pragma once

#include <algorithm>
#include <vector>

#include "plan/tuning.hpp"
#include "plan_tensors.hpp"
#include "random.hpp"

namespace arg_plan_cases {

using dmlcpu::ArgDescriptor;
using dmlcpu::DataType;
using rng::random;

namespace tuning = dmlcpu::tuning;

struct Case {
  ArgDescriptor descriptor;
  bool has_values = false;
  dmlcpu::Tensor values;
  std::int64_t lowest = 0;  ///< offsets of the tensor's elements
  std::int64_t highest = 0;

  std::int64_t element_size() const {
    return static_cast<std::int64_t>(info(descriptor.input.type).size);
  }
};

inline std::int64_t random_size(std::int64_t most) {
  static const std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 65, 130, 300};
  return std::max<std::int64_t>(1, std::min(sizes[random(16)], most));
}

/// A tensor in some memory order, with gaps, reversed, strided, overlapping or broadcast axes.
inline Case random_case() {
  static const DataType types[] = {DataType::kUInt8, DataType::kFloat16, DataType::kFloat32,
                                   DataType::kFloat64};
  Case c;
  ArgDescriptor& d = c.descriptor;
  d.input.type = types[random(4)];
  d.input.rank = static_cast<int>(1 + random(6));
  d.keep_dims = random(2) == 0;
  if (random(3) == 0) d.axis_direction = dmlcpu::AxisDirection::kDecreasing;
  std::int64_t left = random(4) == 0 ? 20000 : 2000;
  std::vector<int> order;
  for (int axis = 0; axis < d.input.rank; ++axis) {
    d.input.sizes[axis] = random_size(left);
    left /= d.input.sizes[axis];
    order.push_back(axis);
  }
  for (int axis = 0; axis < d.input.rank; ++axis) {
    std::swap(d.input.sizes[axis], d.input.sizes[random(d.input.rank)]);
  }
  if (random(3) != 0) std::shuffle(order.begin(), order.end(), rng::engine);
  const bool gaps = random(2) == 0;
  std::int64_t stride = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    if (gaps && random(3) == 0) stride *= 1 + random(4);
    if (gaps && random(3) == 0) stride += random(5);
    d.input.strides[*axis] = random(5) == 0 ? -stride : stride;
    stride *= d.input.sizes[*axis];
    if (random(12) == 0) d.input.strides[*axis] = 0;
    // As of sliding windows, whose elements are visited several times.
    if (random(12) == 0) d.input.strides[*axis] = 1 + random(9);
  }
  d.axes.all = false;
  for (int axis = 0; axis < d.input.rank; ++axis) {
    if (random(2) == 0) d.axes.values[d.axes.count++] = axis;
    const std::int64_t span = (d.input.sizes[axis] - 1) * d.input.strides[axis];
    (span < 0 ? c.lowest : c.highest) += span;
  }
  const dmlcpu::Shape shape = output_shape(d);
  d.output.type = DataType::kUInt32;
  d.output.rank = shape.rank;
  d.output.sizes = shape.sizes;
  std::int64_t step = random(2) == 0 ? 1 : 2;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    d.output.strides[axis] = random(4) == 0 ? -step : step;
    step *= shape.sizes[axis];
  }
  if (d.axes.count == 1 && d.keep_dims && random(2) == 0) {
    c.has_values = true;
    c.values = dmlcpu::View<float>(nullptr, shape).tensor();
  }
  return c;
}

/// Shapes that random ones seldom are.
inline std::vector<Case> long_cases() {
  using plan_tensors::descriptor;
  std::vector<Case> all;
  const auto add = [&all](ArgDescriptor d) {
    for (const auto direction :
         {dmlcpu::AxisDirection::kIncreasing, dmlcpu::AxisDirection::kDecreasing}) {
      d.axis_direction = direction;
      Case c;
      c.descriptor = d;
      const dmlcpu::Shape shape = output_shape(d);
      c.descriptor.output = dmlcpu::View<std::uint32_t>(nullptr, shape).tensor();
      for (int axis = 0; axis < d.input.rank; ++axis) {
        c.highest += (d.input.sizes[axis] - 1) * d.input.strides[axis];
      }
      c.has_values = d.axes.count == 1;
      c.values = dmlcpu::View<float>(nullptr, shape).tensor();
      all.push_back(c);
    }
  };
  // More steps than a table holds, the last of which overlaps.
  for (const std::int64_t walked : {tuning::kWalkRows - 1, tuning::kWalkRows, std::int64_t{2500}}) {
    add(descriptor({walked * 11 + 5, 3}, {0}, DataType::kFloat64));
  }
  // A step that overlaps inside of an axis that has periods of it.
  ArgDescriptor inside = descriptor({900, 307, 3}, {0, 1}, DataType::kFloat64);
  inside.input.strides[0] = 930;
  add(inside);
  // Overlapping windows: an axis of contiguous elements beside a kept one, whole as lanes.
  ArgDescriptor windows = descriptor({3, 700, 4}, {0, 1}, DataType::kUInt8);
  windows.input.strides = {800, 1, 1};
  add(windows);
  return all;
}

}  // namespace arg_plan_cases
