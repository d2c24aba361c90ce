// Threads of a region keep off each other's processors, and keep their affinity.
#include "core/spread.hpp"

#include "check.hpp"
#include "core/parallel.hpp"
#include "dmlcpu/runtime.hpp"

#ifdef __linux__
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

using dmlcpu::Spread;

namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

void limit_to(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int p : processors) CPU_SET(p, &set);
  CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

std::vector<int> allowed_processors() {
  const cpu_set_t set = affinity();
  std::vector<int> processors;
  for (int p = 0; p < CPU_SETSIZE; ++p) {
    if (CPU_ISSET(p, &set)) processors.push_back(p);
  }
  return processors;
}

/// Where a thread goes that starts on `shared`, which another has taken, and may use `allowed`.
int arrives_at(int shared, const std::vector<int>& allowed) {
  Spread spread;
  int processor = -1;
  std::thread([&] {
    limit_to({shared});
    spread.arrive(1, 3);
  }).join();
  std::thread([&] {
    limit_to({shared});
    limit_to(allowed);  // does not move a thread that is already there
    const cpu_set_t before = affinity();
    spread.arrive(2, 3);
    processor = sched_getcpu();
    const cpu_set_t after = affinity();
    CHECK(CPU_EQUAL(&before, &after));
  }).join();
  return processor;
}

void test_leaves_a_taken_processor() {
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < 2) return;
  const int first = processors[0];
  const int second = processors[1];
  // The scheduler may move a thread again before it can look where it is.
  const auto moves = [&](int from, int to) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      if (arrives_at(from, {first, second}) == to) return true;
    }
    return false;
  };
  CHECK(moves(first, second));
  CHECK(moves(second, first));
}

void test_stays_where_there_is_no_other() {
  const int only = allowed_processors()[0];
  CHECK(arrives_at(only, {only}) == only);
}

void test_does_not_wait_for_threads_that_never_come() {
  Spread spread;
  spread.arrive(0, 3);
}

/// More threads than processors too.
void test_regions_leave_affinity_alone() {
  const cpu_set_t before = affinity();
  dmlcpu::set_num_threads(5);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> run{0};
    dmlcpu::parallel_for(5, 20, [&](std::int64_t, int) {
      const cpu_set_t now = affinity();
      CHECK(CPU_EQUAL(&before, &now));
      ++run;
    });
    CHECK(run == 20);
  }
}

}  // namespace

int main() {
  test_leaves_a_taken_processor();
  test_stays_where_there_is_no_other();
  test_does_not_wait_for_threads_that_never_come();
  test_regions_leave_affinity_alone();
  return check::failures;
}

#else

int main() { return 0; }

#endif
