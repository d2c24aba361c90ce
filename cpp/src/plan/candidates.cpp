#include "plan/candidates.hpp"

#include <atomic>

#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"
#include "plan/columns_lanes.hpp"

namespace dmlcpu {
namespace {

std::atomic<int> forced{-1};

bool same(const LaneChoice& a, const LaneChoice& b) {
  return a.results == b.results && a.groups == b.groups && a.whole == b.whole && a.cut == b.cut &&
         a.longest == b.longest;
}

/// Collects the choices, without repeating one.
class Enumerator {
 public:
  explicit Enumerator(LanesOf of) : of_(of) {
    // A lane for each result: lanes that are nearest in memory, or an axis that is transposed.
    if (of_.inside >= 0) add_beside(1, {of_.inside, of_.inside - 1, 0, 0, false});
    for (const int outer : {of_.outer, of_.longest_but(of_.inside, true)}) {
      if (outer >= 0) add({outer, of_.inside, 0, 0, false});
    }
    // Several lanes for each result: reduced axes whose elements follow the results, or each other.
    if (of_.inside >= 0)
      add_following({of_.inside, of_.longest_but(of_.inside, false), 0, 0, false});
    add_following({-1, of_.longest_but(-1, false), 0, 0, false});
    add_longest();
  }

  const LaneChoices& all() const { return all_; }

 private:
  Axis results_of(const LaneChoice& choice) const {
    return choice.results < 0 ? kUnitAxis : of_.kept.axes[choice.results];
  }

  void add(const LaneChoice& lanes) {
    for (int c = 0; c < all_.count; ++c) {
      if (same(all_.all[c], lanes)) return;
    }
    if (all_.count < LaneChoices::kMost) all_.all[all_.count++] = lanes;
  }

  /// Adds the choice, and once more with each kept axis that repeats its lanes without a gap as
  /// groups.
  void add_beside(std::int64_t lanes, LaneChoice choice) {
    add(choice);
    const Axis results = results_of(choice);
    const std::int64_t apart = lanes_apart(results);
    for (int d = of_.kept.count - 1; d >= 0; --d) {
      const Axis& axis = of_.kept.axes[d];
      if (d == choice.results || axis.strides[0] != lanes * results.size * apart) continue;
      choice.groups = d;
      add(choice);
    }
  }

  /// Adds choices of whole reduced axes, while these follow and fit, and of positions of the next
  /// one.
  void add_following(LaneChoice choice) {
    const Axis results = results_of(choice);
    const std::int64_t apart = lanes_apart(results);
    std::int64_t per_result = 1;
    for (int d = of_.reduced.count - 1; d >= 0 && apart <= tuning::kPackedStride; --d) {
      const Axis& axis = of_.reduced.axes[d];
      if (stride_of(axis) != per_result * results.size * apart) return;
      for (const std::int64_t bytes : {tuning::kWidenedBytes / 2, tuning::kWidenedBytes}) {
        const std::int64_t lanes = per_result * results.size;
        choice.cut = std::min(bytes / (lanes * of_.element_size), of_.most() / lanes);
        if (choice.cut >= 2 && choice.cut < axis.size) add(choice);
      }
      choice.cut = 0;
      per_result *= axis.size;
      if (per_result * results.size > of_.most()) return;
      ++choice.whole;
      add_beside(per_result, choice);
    }
  }

  /// Positions of the longest reduced axis, side by side or not.
  void add_longest() {
    const int axis = longest(of_.reduced, true);
    if (axis < 0) return;
    const std::int64_t size = of_.reduced.axes[axis].size;
    for (const std::int64_t count :
         {tuning::kWidenedBytes / of_.element_size, std::min(size, of_.most())}) {
      if (count > 1 && count <= size) add({-1, of_.inside, 0, count, true});
    }
  }

  LanesOf of_;
  LaneChoices all_;
};

}  // namespace

LaneChoices enumerate_lanes(std::int64_t element_size, const Axes& kept, const Axes& reduced) {
  return Enumerator(LanesOf(element_size, kept, reduced)).all();
}

int forced_candidate() { return forced.load(std::memory_order_relaxed); }

void force_candidate(int number) { forced.store(number, std::memory_order_relaxed); }

}  // namespace dmlcpu
