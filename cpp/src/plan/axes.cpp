#include "plan/axes.hpp"

#include <algorithm>
#include <cstdlib>

namespace dmlcpu {
namespace {

/// Broadcast axes sort as if their stride were the largest: 0 - 1 wraps around.
std::uint64_t sort_key(std::int64_t stride) { return std::abs(stride) - std::uint64_t{1}; }

bool continues(const Axis& outer, const Axis& inner) {
  for (int s = 0; s < 3; ++s) {
    if (outer.strides[s] != inner.strides[s] * inner.size) return false;
  }
  return true;
}

}  // namespace

Axis Axes::take(int position) {
  if (position < 0 || position >= count) return kUnitAxis;
  const Axis taken = axes[position];
  std::copy(axes.begin() + position + 1, axes.begin() + count, axes.begin() + position);
  --count;
  return taken;
}

int longest(const Axes& axes, bool moves, int excluded) {
  int best = -1;
  for (int d = axes.count - 1; d >= 0; --d) {
    const Axis& axis = axes.axes[d];
    if (d == excluded || (moves && axis.strides[0] == 0)) continue;
    if (best < 0 || axis.size > axes.axes[best].size) best = d;
  }
  return best;
}

int with_step(const Axes& axes, std::int64_t step) {
  int number = axes.count - 1;
  while (number >= 0 && axes.axes[number].strides[1] != step) --number;
  return number;
}

void reverse(Axis& axis, Offsets& offsets) {
  for (int s = 0; s < 3; ++s) {
    offsets[s] += axis.strides[s] * (axis.size - 1);
    axis.strides[s] = -axis.strides[s];
  }
}

void ascend(Axes& axes, Offsets& offsets) {
  for (int d = 0; d < axes.count; ++d) {
    if (axes.axes[d].strides[0] < 0) reverse(axes.axes[d], offsets);
  }
}

void simplify(Axes& stack, int by) {
  if (stack.count == 0 || (stack.count == 1 && stack.axes[0].size != 1)) return;
  const auto begin = stack.axes.begin();
  auto end = std::remove_if(begin, begin + stack.count, [](const Axis& a) { return a.size == 1; });
  // Insertion sort: stable, and allocates nothing, unlike std::stable_sort.
  for (auto it = begin; it != end; ++it) {
    for (auto at = it; at != begin && sort_key(at[-1].strides[by]) < sort_key(at->strides[by]);
         --at)
      std::iter_swap(at - 1, at);
  }
  stack.count = 0;
  for (auto it = begin; it != end; ++it) {
    const std::int64_t outer = continues(stack.last(), *it) ? stack.pop().size : 1;
    stack.push({outer * it->size, it->strides});
  }
}

std::int64_t iteration_count(const Axes& stack) {
  std::int64_t count = 1;
  for (int d = 0; d < stack.count; ++d) count *= stack.axes[d].size;
  return count;
}

Odometer::Odometer(const Axes& axes, std::int64_t position) : axes_(&axes) {
  for (int d = axes.count - 1; d >= 0; --d) {
    const Axis& axis = axes.axes[d];
    at_[d] = position % axis.size;
    position /= axis.size;
    for (int s = 0; s < 3; ++s) offsets_[s] += axis.strides[s] * at_[d];
  }
}

}  // namespace dmlcpu
