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

/// How many of ten threads that start on a taken processor, and may use all, leave it. The
/// scheduler may move a thread before it can look where it is, either way.
int leave(int shared) {
  int left = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    left += arrives_at(shared, allowed_processors()) != shared;
  }
  return left;
}

void test_leaves_a_taken_processor() {
  CHECK(leave(allowed_processors()[0]) > 0);
  CHECK(leave(allowed_processors()[1]) > 0);
}

/// Run with DMLCPU_PLACEMENT=0.
void test_switched_off() { CHECK(leave(allowed_processors()[0]) < 10); }

void test_stays_where_there_is_no_other() {
  const int only = allowed_processors()[0];
  CHECK(arrives_at(only, {only}) == only);
}

void test_does_not_wait_for_threads_that_never_come() {
  ThreadPlacement placement;
  placement.arrive(0, 3);
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

/// Once a thread is seen whose affinity somebody has set, no thread moves.
void test_no_moves_beside_affinities_of_others() {
  const std::vector<int> processors = allowed_processors();
  CHECK(arrives_at(processors[0], {processors[0]}) == processors[0]);
  CHECK(leave(processors[0]) < 10);
}

/// Somebody sets the affinity of a thread that would move, over and over: each time it is what was
/// set.
void test_affinities_that_others_set() {
  const std::vector<int> processors = allowed_processors();
  std::atomic<pid_t> moving{0};
  std::atomic<bool> begun{false};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    moving = gettid();
    while (!begun) sched_yield();
    while (!done) {
      ThreadPlacement placement;
      for (int arrival = 1; arrival < 4; ++arrival) placement.arrive(arrival, 1000);
    }
  });
  while (moving == 0) sched_yield();
  for (int round = 0; round < 2000; ++round) {
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    CPU_SET(processors[static_cast<std::size_t>(round % 2)], &wanted);
    CHECK(sched_setaffinity(moving, sizeof wanted, &wanted) == 0);
    begun = true;
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

struct Test {
  const char* name;
  void (*run)();
};

constexpr Test kTests[] = {
    {"leaves", test_leaves_a_taken_processor},
    {"off", test_switched_off},
    {"stays", test_stays_where_there_is_no_other},
    {"never come", test_does_not_wait_for_threads_that_never_come},
    {"regions", test_regions_leave_affinity_alone},
    {"beside", test_no_moves_beside_affinities_of_others},
    {"set", test_affinities_that_others_set},
};

}  // namespace

/// Each test has a process of its own, as what a process has seen of affinities stays with it.
int main(int count, char** arguments) {
  if (allowed_processors().size() < 2) return 0;
  for (const Test& test : kTests) {
    const std::string name = test.name;
    if (count > 1 && name == arguments[1]) test.run();
    if (count > 1) continue;
    setenv("DMLCPU_PLACEMENT", name == "off" ? "0" : "1", 1);
    const std::string command = std::string("\"") + arguments[0] + "\" \"" + name + "\"";
    CHECK(std::system(command.c_str()) == 0);
  }
  return check::failures;
}

#else

int main() { return 0; }

#endif
