// When processors count as contended, by times that are given: nothing here waits.
#include "core/contention.hpp"

#include <algorithm>

#include "check.hpp"

namespace {

using dmlcpu::Contention;
using dmlcpu::Nanoseconds;
using dmlcpu::tuning::kLeastBackOff;
using dmlcpu::tuning::kMostBackOff;

constexpr Nanoseconds kStart = 1'000'000'000;

/// Each time that a probe sees it again it holds for longer.
void test_it_holds_for_longer() {
  Contention contention;
  CHECK(contention.calm());
  CHECK(!contention.probe_is_due(0));
  Nanoseconds time = kStart;
  Nanoseconds wait = kLeastBackOff;
  for (int round = 0; round < 10; ++round) {
    contention.seen(time);
    CHECK(!contention.calm());
    CHECK(!contention.probe_is_due(time + wait - 1));
    CHECK(!contention.is_probing());
    CHECK(contention.probe_is_due(time + wait));
    CHECK(contention.is_probing());
    CHECK(!contention.calm());
    CHECK(!contention.probe_is_due(time + wait));
    // One that got lost is followed by another.
    CHECK(contention.probe_is_due(time + wait + kLeastBackOff));
    time += 2 * wait;
    wait = std::min(2 * wait, kMostBackOff);
  }
  contention.not_probed();
  CHECK(!contention.calm());
  CHECK(!contention.is_probing());
}

/// A probe that keeps its processor ends it.
void test_a_probe_ends_it() {
  Contention contention;
  contention.seen(kStart);
  CHECK(contention.probe_is_due(kStart + kLeastBackOff));
  contention.passed();
  CHECK(contention.calm());
}

/// Of several threads that see the same the first one counts.
void test_many_threads_see_it() {
  Contention contention;
  for (int thread = 0; thread < 6; ++thread) contention.seen(kStart);
  CHECK(contention.probe_is_due(kStart + kLeastBackOff));
}

/// Where nobody calls for as long as the next wait, the next call does not have it probed first.
void test_it_is_forgotten() {
  Contention contention;
  Nanoseconds time = kStart;
  for (Nanoseconds wait = kLeastBackOff; wait < kMostBackOff / 2; wait *= 2) {
    contention.seen(time);
    contention.forget(time + 3 * wait);
    CHECK(!contention.calm());
    contention.forget(time + 3 * wait + 1);
    CHECK(contention.calm());
    time += 3 * wait + 1;
  }
}

void test_after_a_long_calm_the_time_is_the_least() {
  Contention contention;
  for (int round = 0; round < 10; ++round) {
    contention.seen(kStart);
    CHECK(contention.probe_is_due(kStart + kMostBackOff));
  }
  contention.passed();
  const Nanoseconds later = kStart + 10 * kMostBackOff;
  contention.seen(later);
  CHECK(contention.probe_is_due(later + kLeastBackOff));
}

void test_fixed() {
  Contention contention;
  contention.fix(true);
  CHECK(!contention.calm());
  contention.forget(kStart * 1000);
  CHECK(!contention.probe_is_due(kStart * 1000));
  contention.passed();
  CHECK(!contention.calm());
  contention.fix(false);
  contention.seen(kStart);
  contention.not_probed();
  CHECK(contention.calm());
}

}  // namespace

int main() {
  test_it_holds_for_longer();
  test_a_probe_ends_it();
  test_many_threads_see_it();
  test_it_is_forgotten();
  test_after_a_long_calm_the_time_is_the_least();
  test_fixed();
  return check::failures;
}
