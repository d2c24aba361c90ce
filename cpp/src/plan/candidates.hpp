// Every way to plan an argmin or argmax that may be the fastest on some machine.
#pragma once

#include <array>
#include <cstdint>

#include "plan/columns_plan.hpp"

namespace dmlcpu {

struct LaneChoices {
  static constexpr int kMost = 24;
  std::array<LaneChoice, kMost> all;
  int count = 0;
};

/// The ways in which lanes can be chosen where elements are compared, whatever they cost. A plan's
/// candidates are rows, number 0, then columns of each of these.
LaneChoices enumerate_lanes(std::int64_t element_size, const Axes& kept, const Axes& reduced);

/// The number that force_candidate() was called with, -1 at first.
int forced_candidate();

}  // namespace dmlcpu
