#include "plan/candidates.hpp"

#include <algorithm>
#include <atomic>

#include "dmlcpu/runtime.hpp"
#include "plan/columns_lanes.hpp"
#include "plan/costs.hpp"
#include "plan/price.hpp"
#include "plan/tuning.hpp"

namespace dmlcpu {
namespace {

std::atomic<int> forced{-1};

/// Calls body(candidate) for each.
template <class Body>
class Enumerator {
 public:
  Enumerator(const ArgProblem& problem, Body& body)
      : of_(problem.element_size, problem.kept, problem.reduced), body_(body) {}

  void run() {
    body_(Candidate{true, {}});
    // A lane for each result: lanes that are nearest in memory, or an axis that is transposed.
    if (of_.inside >= 0) add_beside(1, {of_.inside, of_.inside - 1});
    if (of_.outer >= 0) add({of_.outer, of_.inside});
    const int longest_kept = longest(of_.kept, true, of_.inside);
    if (longest_kept != of_.outer) add({longest_kept, of_.inside});
    // Several lanes for each result: reduced axes whose elements follow the results, or each other.
    if (of_.inside >= 0) {
      add_following({of_.inside, longest(of_.kept, false, of_.inside)});
    }
    add_following({-1, longest(of_.kept, false)});
    add_longest();
  }

 private:
  Axis results_of(const LaneChoice& choice) const {
    return choice.results < 0 ? kUnitAxis : of_.kept.axes[choice.results];
  }

  void add(const LaneChoice& lanes) { body_(Candidate{false, lanes}); }

  /// Adds the choice, and once more with each kept axis that repeats its lanes without a gap as
  /// groups.
  void add_beside(std::int64_t lanes, LaneChoice choice) {
    add(choice);
    const Axis results = results_of(choice);
    const std::int64_t apart = lanes_apart(results);
    const int first = choice.groups;
    for (int d = of_.kept.count - 1; d >= 0; --d) {
      const Axis& axis = of_.kept.axes[d];
      if (d == choice.results || d == first || axis.strides[0] != lanes * results.size * apart) {
        continue;
      }
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
      const std::int64_t lanes = per_result * results.size;
      std::int64_t last = 0;
      choice.cut_axis = d;
      for (const std::int64_t bytes : {tuning::kLanesBytes / 2, tuning::kLanesBytes}) {
        // Two for each result at least, unless the lanes so far have more bytes.
        const std::int64_t in_bytes = bytes / (lanes * of_.element_size);
        choice.cut = std::min(in_bytes == 1 ? 2 : in_bytes, of_.most_times(lanes, per_result));
        if (choice.cut >= 2 && choice.cut < axis.size && choice.cut != last) add(choice);
        last = choice.cut;
      }
      choice.cut_axis = -1;
      choice.cut = 0;
      per_result *= axis.size;
      if (of_.most_times(per_result * results.size, per_result) < 1) return;
      ++choice.whole;
      add_beside(per_result, choice);
    }
  }

  /// Positions of the longest reduced axis, side by side or not; all of them only if positions of
  /// other axes are left to walk.
  void add_longest() {
    const int axis = longest(of_.reduced, true);
    // Lanes that follow each other may be listed already.
    const bool follows = axis == of_.reduced.count - 1 && stride_of(of_.reduced.axes[axis]) == 1 &&
                         of_.inside == longest(of_.kept, false);
    const std::int64_t some = tuning::kLanesBytes / of_.element_size;
    const std::int64_t most = std::min(of_.reduced.axes[axis].size, of_.most_times(1, 1));
    if (some <= most && !follows) add({-1, of_.inside, 0, axis, some});
    const bool is_whole = most == of_.reduced.axes[axis].size;
    if (some != most && of_.reduced.count > 1 && !(follows && is_whole)) {
      add({-1, of_.inside, 0, axis, most});
    }
  }

  const LanesOf of_;
  Body& body_;
};

template <class Body>
void for_candidates(const ArgProblem& problem, Body body) {
  if (problem.reduced.count > 0 && problem.results > 0) Enumerator<Body>(problem, body).run();
}

}  // namespace

std::vector<Candidate> enumerate(const ArgProblem& problem) {
  std::vector<Candidate> all;
  for_candidates(problem, [&](const Candidate& candidate) { all.push_back(candidate); });
  return all;
}

Candidate choose(const ArgProblem& problem, const Machine& machine, int number, int threads) {
  Cheapest<Candidate> cheapest(number);
  for_candidates(problem, [&](const Candidate& candidate) {
    cheapest.tell(candidate,
                  [&] { return price(problem, candidate, machine, threads).nanoseconds; });
  });
  return cheapest.best();
}

int forced_candidate() { return forced.load(std::memory_order_relaxed); }

void force_candidate(int number) { forced.store(number, std::memory_order_relaxed); }

}  // namespace dmlcpu
