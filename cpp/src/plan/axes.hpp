// Loop axes: the simplest loops that visit the same elements.
#pragma once

#include <array>
#include <cstdint>

#include "dmlcpu/tensor.hpp"

namespace dmlcpu {

/// For a at least 0 and b at least 1.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// One loop over up to three operands that advance together, each by its own stride.
struct Axis {
  std::int64_t size;
  std::array<std::int64_t, 3> strides;

  bool operator!=(const Axis& other) const {
    return size != other.size || strides != other.strides;
  }
};

/// The axis of one position.
inline constexpr Axis kUnitAxis{1, {}};

/// Nested loops, outermost first.
struct Axes {
  std::array<Axis, kMaxRank + 1> axes;  // not initialised from `count` on
  int count = 0;

  Axes() = default;
  /// Plans are copied as they are made, with few axes.
  Axes(const Axes& other) { *this = other; }
  Axes& operator=(const Axes& other) {
    count = other.count;
    for (int d = 0; d < count; ++d) axes[d] = other.axes[d];
    return *this;
  }

  bool operator!=(const Axes& other) const {
    if (count != other.count) return true;
    for (int d = 0; d < count; ++d) {
      if (axes[d] != other.axes[d]) return true;
    }
    return false;
  }

  void push(const Axis& axis) { axes[count++] = axis; }
  /// The innermost axis; one of one position where there is none, as below.
  const Axis& last() const { return count > 0 ? axes[count - 1] : kUnitAxis; }
  Axis pop() { return count > 0 ? axes[--count] : kUnitAxis; }
  /// Removes and returns the axis at `position`. Outside of [0, count) it removes nothing, and
  /// returns kUnitAxis.
  Axis take(int position);
};

/// Rewrites the loops to as few as visit the same tuples of elements: axes of size 1 go, the
/// strides of operand `by` descend (axes that broadcast it, stride 0, are outermost), and
/// neighbours that advance every operand like one longer axis are merged.
void simplify(Axes& axes, int by = 0);

/// Where part number `part` begins if `total` items are split evenly into `parts`. Small work is
/// one part: a division would take longer than the rest of its bookkeeping.
inline std::int64_t start_of_part(std::int64_t total, std::int64_t part, std::int64_t parts) {
  return parts == 1 ? total * part : total * part / parts;
}

/// The number of the longest axis other than `excluded`, of equal ones the innermost; if `moves`,
/// of those that do not broadcast the first operand. -1 if there is none.
int longest(const Axes& axes, bool moves, int excluded = -1);

/// The number of the axis that has this stride in the second operand, the innermost, or -1.
int with_step(const Axes& axes, std::int64_t step);

/// The number of positions the loops visit.
std::int64_t iteration_count(const Axes& axes);

/// The operands' offsets at one position.
using Offsets = std::array<std::int64_t, 3>;

/// Starts at the axis' last position and walks backwards; adds to the offsets of the first one.
void reverse(Axis& axis, Offsets& offsets);

/// Reverses the axes along which the first operand descends.
void ascend(Axes& axes, Offsets& offsets);

/// A position of nested loops that can be set anywhere and stepped cheaply.
class Odometer {
 public:
  explicit Odometer(const Axes& axes, std::int64_t position = 0);

  const Offsets& offsets() const { return offsets_; }
  /// Along one of the axes.
  std::int64_t at(int axis) const { return at_[axis]; }

  /// Steps to the next position, after the last one to the first.
  void next() {
    for (int d = axes_->count - 1; d >= 0; --d) {
      const Axis& axis = axes_->axes[d];
      if (++at_[d] < axis.size) {
        for (int s = 0; s < 3; ++s) offsets_[s] += axis.strides[s];
        return;
      }
      at_[d] = 0;
      for (int s = 0; s < 3; ++s) offsets_[s] -= axis.strides[s] * (axis.size - 1);
    }
  }

 private:
  const Axes* axes_;
  std::array<std::int64_t, kMaxRank + 1> at_;  // only for the axes there are
  Offsets offsets_{};
};

}  // namespace dmlcpu
