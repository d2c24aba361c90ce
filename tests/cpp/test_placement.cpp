// Threads of a region keep off each other's processors, and keep their affinity.
#include "core/placement.hpp"

#include "check.hpp"
#include "core/parallel.hpp"
#include "dmlcpu/runtime.hpp"

#ifdef __linux__
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

using dmlcpu::ThreadPlacement;

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

/// Where a thread goes that starts on `shared`, which another has taken and keeps busy, and may use
/// `allowed`.
int arrives_at(int shared, const std::vector<int>& allowed) {
  ThreadPlacement placement;
  int processor = -1;
  std::atomic<bool> taken{false};
  std::atomic<bool> done{false};
  std::thread busy([&] {
    limit_to({shared});
    placement.arrive(1, 3);
    taken = true;
    while (!done) {
    }
  });
  while (!taken) sched_yield();
  std::thread([&] {
    limit_to({shared});
    limit_to(allowed);  // does not move a thread that is already there
    const cpu_set_t before = affinity();
    placement.arrive(2, 3);
    processor = sched_getcpu();
    const cpu_set_t after = affinity();
    CHECK(CPU_EQUAL(&before, &after));
  }).join();
  done = true;
  busy.join();
  return processor;
}

void test_leaves_a_taken_processor() {
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < 2) return;
  // The scheduler may move a thread again before it can look where it is.
  const auto moves = [&](int from) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      if (arrives_at(from, processors) != from) return true;
    }
    return false;
  };
  CHECK(moves(processors[0]));
  CHECK(moves(processors[1]));
}

void test_stays_where_there_is_no_other() {
  const int only = allowed_processors()[0];
  CHECK(arrives_at(only, {only}) == only);
}

void test_does_not_wait_for_threads_that_never_come() {
  ThreadPlacement placement;
  placement.arrive(0, 3);
}

/// Somebody sets the affinity of a thread that would move, over and over: each time it is what was
/// set. From here on no thread of this process moves.
void test_affinities_that_others_set() {
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < 2) return;
  std::atomic<pid_t> moving{0};
  std::atomic<bool> begun{false};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    moving = gettid();
    while (!begun) sched_yield();
    while (!done) {
      ThreadPlacement placement;
      // All but the last are taken, this thread's too, wherever it is.
      for (std::size_t p = 0; p + 1 < processors.size(); ++p) {
        std::thread([&] {
          limit_to({processors[p]});
          placement.arrive(1, 1000);
        }).join();
      }
      placement.arrive(2, 1000);
    }
  });
  while (moving == 0) sched_yield();
  for (int round = 0; round < 2000; ++round) {
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    CPU_SET(processors[0], &wanted);
    if (round % 2 == 0) CPU_SET(processors[1], &wanted);
    CHECK(sched_setaffinity(moving, sizeof wanted, &wanted) == 0);
    begun = round > 0;
    for (int look = 0; look < 5; ++look) {
      cpu_set_t now;
      CHECK(sched_getaffinity(moving, sizeof now, &now) == 0);
      CHECK(CPU_EQUAL(&wanted, &now));
      sched_yield();
    }
  }
  done = true;
  thread.join();
}

/// Run in a process of its own, where the environment variable is set.
int run_switched_off() {
  const std::vector<int> processors = allowed_processors();
  if (processors.size() < 2) return 0;
  int stayed = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    stayed += arrives_at(processors[0], {processors[0], processors[1]}) == processors[0];
  }
  // The scheduler may move a thread by itself, but not each time.
  return stayed > 0 ? 0 : 1;
}

void test_the_switch(const char* program) {
  setenv("DMLCPU_PLACEMENT", "0", 1);
  CHECK(std::system((std::string("\"") + program + "\" off").c_str()) == 0);
  unsetenv("DMLCPU_PLACEMENT");
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

int main(int count, char** arguments) {
  if (count > 1) return run_switched_off();
  test_the_switch(arguments[0]);
  test_leaves_a_taken_processor();
  test_stays_where_there_is_no_other();
  test_does_not_wait_for_threads_that_never_come();
  test_regions_leave_affinity_alone();
  test_affinities_that_others_set();
  return check::failures;
}

#else

int main() { return 0; }

#endif
