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
                                     "in place widened groups without gaps",
                                     "in place widened of several results",
                                     "in place widened of several results with a tail",
                                     "in place widened of several results backwards",
                                     "in place widened of several results without merging",
                                     "in place widened",
                                     "in place widened backwards",
                                     "in place widened without merging",
                                     "in place joined",
                                     "in place joined and widened",
                                     "several axes joined",
                                     "reversed axes joined",
                                     "joined groups",
                                     "joined inside of reduced axes",
                                     "joined in parts",
                                     "a tail apart",
                                     "a tail in outer reduced axes",
                                     "a tail in parts",
                                     "widened in several tiles",
                                     "widened by an outer axis",
                                     "in place in parts",
                                     "parts that overlap",
                                     "transposed",
                                     "transposed periods",
                                     "transposed of several axes",
                                     "transposed groups",
                                     "transposed groups in several tiles",
                                     "transposed widened",
                                     "transposed in parts",
                                     "reversed blocks",
                                     "transposed inside of reduced axes",
                                     "strided",
                                     "strided periods",
                                     "strided of several axes",
                                     "strided groups",
                                     "strided groups without gaps",
                                     "strided widened groups without gaps",
                                     "strided widened",
                                     "strided widened of several results",
                                     "strided widened with a tail",
                                     "strided in parts",
                                     "strided inside of reduced axes"};

/// Adds the modes of a plan.
inline void note(const ArgPlan& plan) {
  static const char* const packings[] = {"in place", "transposed", "strided"};
  if (plan.strategy != ArgStrategy::kColumns) {
    met.insert(plan.strategy == ArgStrategy::kFill ? "fill" : "rows");
    if (plan.parts > 1) met.insert("rows in parts");
    return;
  }
  const ColumnsPlan& p = plan.columns;
  const dmlcpu::Columns& c = p.columns;
  const std::string packing = packings[static_cast<int>(c.packing)];
  met.insert(packing);
  if (p.widened()) {
    const std::string widened =
        packing + " widened" + (plan.tasks.results.size > 1 ? " of several results" : "");
    met.insert(widened);
    if (c.tail >= 0) met.insert(widened + " with a tail");
    if (c.tail >= c.period) met.insert("a tail apart");
    if (c.tail >= 0 && plan.reduced.count > 0) met.insert("a tail in outer reduced axes");
    if (c.tail >= 0 && plan.parts > 1) met.insert("a tail in parts");
    if (p.columns.backwards) met.insert(widened + " backwards");
    if (!plan.merges) met.insert(widened + " without merging");
    if (c.lanes > c.tile_lanes) met.insert("widened in several tiles");
    if (p.columns.widened_step > p.columns.index_step) met.insert("widened by an outer axis");
  }
  if (p.joins()) {
    met.insert(p.widened() ? packing + " joined and widened" : packing + " joined");
    if (p.joined.count > 1) met.insert("several axes joined");
    if (p.index_offset != 0) met.insert("reversed axes joined");
    if (plan.tasks.groups.size > 1) met.insert("joined groups");
    if (plan.reduced.count > 0) met.insert("joined inside of reduced axes");
    if (plan.parts > 1) met.insert("joined in parts");
  }
  if (plan.parts > 1) {
    met.insert(packing + " in parts");
    if (plan.shared.size % plan.parts != 0) met.insert("parts that overlap");
  }
  if (c.period < c.n) met.insert(packing + " periods");
  if (p.walk.count > 1) met.insert(packing + " of several axes");
  if (plan.tasks.groups.size > 1) met.insert(packing + " groups");
  if (c.tile_groups < c.groups) met.insert(packing + " groups in several tiles");
  if (c.tile_groups > 1 && c.group_stride == c.lanes * c.lane_stride) {
    met.insert(packing + " groups without gaps");
    if (p.widened()) met.insert(packing + " widened groups without gaps");
  }
  if (c.packing == Packing::kTransposed && p.input_offset < 0) met.insert("reversed blocks");
  if (plan.reduced.count > 0) met.insert(packing + " inside of reduced axes");
}

}  // namespace arg_plan_modes
