// The modes that plans of argmin and argmax have, for the test of what these visit.
#pragma once

#include <set>
#include <string>

#include "plan/arg_plan.hpp"

namespace arg_plan_modes {

using dmlcpu::ArgPlan;
using dmlcpu::ArgStrategy;
using dmlcpu::ColumnsPlan;
using dmlcpu::Packing;

/// Those that the plans had so far.
inline std::set<std::string> met;

/// The modes that random plans are to have.
inline const char* const kModes[] = {"fill",
                                     "rows",
                                     "rows in parts",
                                     "in place",
                                     "in place periods",
                                     "in place of several axes",
                                     "in place groups",
                                     "in place groups without gaps",
                                     "in place in parts",
                                     "strided",
                                     "strided periods",
                                     "strided of several axes",
                                     "strided groups",
                                     "strided groups without gaps",
                                     "strided in parts",
                                     "transposed",
                                     "transposed periods",
                                     "transposed of several axes",
                                     "transposed groups",
                                     "transposed groups in several tiles",
                                     "transposed in parts",
                                     "compared in registers",
                                     "reversed blocks",
                                     "periods that overlap",
                                     "parts that overlap",
                                     "several lanes of a result",
                                     "several lanes of several results",
                                     "several lanes without merging",
                                     "several lanes in groups without gaps",
                                     "several lanes transposed",
                                     "several lanes strided",
                                     "several lanes inside of reduced axes",
                                     "several lanes in parts",
                                     "lanes of several axes",
                                     "lanes of outer indices",
                                     "lanes of outer and inner indices",
                                     "lanes in the order of memory, not of indices",
                                     "a step that overlaps in the table",
                                     "a step that overlaps in the last period",
                                     "a step that overlaps outside of the kernel",
                                     "axes around a step that overlaps"};

/// Adds the modes of a plan.
inline void note(const ArgPlan& plan) {
  static const char* const packings[] = {"in place", "strided", "transposed",
                                         "compared in registers"};
  if (plan.strategy != ArgStrategy::kColumns) {
    met.insert(plan.strategy == ArgStrategy::kFill ? "fill" : "rows");
    if (plan.parts > 1) met.insert("rows in parts");
    return;
  }
  const ColumnsPlan& p = plan.columns;
  const auto& [data, walk, lanes, tiling] = p.columns;
  const std::string packing = packings[static_cast<int>(tiling.packing)];
  const bool dense = tiling.groups > 1 && lanes.group_stride == lanes.count * lanes.stride;
  met.insert(packing);
  if (plan.parts > 1) met.insert(packing + " in parts");
  if (plan.parts > 1 && plan.shared.size % plan.parts != 0) met.insert("parts that overlap");
  if (walk.period < walk.n) met.insert(packing + " periods");
  if (walk.last_skip > 0) met.insert("periods that overlap");
  if (p.walk.count > 1) met.insert(packing + " of several axes");
  if (lanes.groups > 1) met.insert(packing + " groups");
  if (tiling.groups < lanes.groups) met.insert(packing + " groups in several tiles");
  if (dense) met.insert(packing + " groups without gaps");
  if (has_blocks(tiling.packing) && p.input_offset < 0) met.insert("reversed blocks");
  if (!p.has_several()) return;
  const std::string several = "several lanes ";
  met.insert(several + "of a result");
  if (plan.tasks.results.size > 1) met.insert(several + "of several results");
  if (!plan.merges) met.insert(several + "without merging");
  if (dense) met.insert(several + "in groups without gaps");
  if (tiling.packing != Packing::kInPlace) met.insert(several + packing);
  if (plan.reduced.count > 0) met.insert(several + "inside of reduced axes");
  if (plan.parts > 1) met.insert(several + "in parts");
  if (p.lanes.count > 1) met.insert("lanes of several axes");
  bool outer = false;
  bool inner = false;
  for (int d = 0; d < p.lanes.count; ++d) {
    const dmlcpu::Axis& axis = p.lanes.axes[d];
    (walk.n > 1 && axis.strides[1] > p.indices.step ? outer : inner) = true;
    if ((axis.strides[0] < 0) != (lanes.stride < 0)) {
      met.insert("lanes in the order of memory, not of indices");
    }
  }
  if (outer) met.insert("lanes of outer indices");
  if (outer && inner) met.insert("lanes of outer and inner indices");
  if (p.cut.overlap() == 0) return;
  const std::string step = "a step that overlaps ";
  const bool outside = p.cut.find(plan.reduced) >= 0;
  met.insert(step + (outside                 ? "outside of the kernel"
                     : walk.last_offset != 0 ? "in the last period"
                                             : "in the table"));
  if (!outside && p.walk.count > 1) met.insert("axes around a step that overlaps");
}

}  // namespace arg_plan_modes
