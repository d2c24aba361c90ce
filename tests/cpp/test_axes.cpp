// Loop axes: what simplify() merges, orders and drops, and that an odometer visits every position.
#include "check.hpp"
#include "plan/axes.hpp"

using dmlcpu::Axes;
using dmlcpu::Odometer;
using dmlcpu::Offsets;

namespace {

Axes make(std::initializer_list<dmlcpu::Axis> list) {
  Axes axes;
  for (const auto& axis : list) axes.push(axis);
  return axes;
}

bool same(const dmlcpu::Axis& a, std::int64_t size, Offsets strides) {
  return a.size == size && a.strides == strides;
}

void test_contiguous_axes_merge_into_one() {
  Axes axes = make({{2, {12, 12, 0}}, {3, {4, 4, 0}}, {4, {1, 1, 0}}});
  simplify(axes);
  CHECK(axes.count == 1);
  CHECK(same(axes.axes[0], 24, {1, 1, 0}));
}

void test_any_order_of_contiguous_axes_merges() {
  Axes axes = make({{4, {1, 1, 0}}, {2, {12, 12, 0}}, {3, {4, 4, 0}}});
  simplify(axes);
  CHECK(axes.count == 1);
}

void test_axes_merge_only_if_every_operand_agrees() {
  Axes axes = make({{3, {4, 5, 0}}, {4, {1, 1, 0}}});
  simplify(axes);
  CHECK(axes.count == 2);
}

void test_size_1_axes_go_and_broadcast_ones_are_outermost() {
  Axes axes = make({{1, {99, 7, 0}}, {3, {4, 8, 0}}, {2, {0, 1, 0}}});
  simplify(axes);
  CHECK(axes.count == 2);
  CHECK(same(axes.axes[0], 2, {0, 1, 0}));
  CHECK(same(axes.axes[1], 3, {4, 8, 0}));
}

void test_negative_strides_merge() {
  Axes axes = make({{2, {-3, 3, 0}}, {3, {-1, 1, 0}}});
  simplify(axes);
  CHECK(axes.count == 1);
  CHECK(same(axes.axes[0], 6, {-1, 1, 0}));
}

void test_odometer_visits_positions_in_order_from_anywhere() {
  const Axes axes = make({{2, {100, 1, 0}}, {3, {10, 0, -1}}, {2, {1, 5, 2}}});
  for (std::int64_t start = 0; start < 12; ++start) {
    Odometer odometer(axes, start);
    for (std::int64_t p = start; p < start + 12; ++p, odometer.next()) {
      const std::int64_t i = p % 12 / 6;
      const std::int64_t j = p % 6 / 2;
      const std::int64_t k = p % 2;
      const Offsets want{100 * i + 10 * j + k, i + 5 * k, -j + 2 * k};
      CHECK(odometer.offsets() == want);
    }
  }
  CHECK(dmlcpu::iteration_count(axes) == 12);
  CHECK(dmlcpu::iteration_count(Axes{}) == 1);
}

}  // namespace

int main() {
  test_contiguous_axes_merge_into_one();
  test_any_order_of_contiguous_axes_merges();
  test_axes_merge_only_if_every_operand_agrees();
  test_size_1_axes_go_and_broadcast_ones_are_outermost();
  test_negative_strides_merge();
  test_odometer_visits_positions_in_order_from_anywhere();
  return check::failures == 0 ? 0 : 1;
}
