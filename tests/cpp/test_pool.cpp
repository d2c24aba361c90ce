// The library's own threads: every task runs once, a call never waits for a worker that has not
// begun, and short calls back off where processors are contended. Delays are injected, so that
// nothing here depends on how fast the machine is.
#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/thread_tuning.hpp"

#ifdef __linux__
#include <sched.h>
#endif
#ifdef __unix__
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

namespace {

template <class Body>
void run_on_pool(int threads, std::int64_t tasks, const Body& body) {
  dmlcpu::run_on_pool(
      threads, tasks,
      [](void* context, std::int64_t task, int worker) {
        (*static_cast<const Body*>(context))(task, worker);
      },
      const_cast<Body*>(&body));
}

/// A gate that threads wait at while it is shut.
class Gate {
 public:
  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --waiting_;
    changed_.notify_all();
  }
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void shut() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == 0; });
    open_ = false;
  }
  void wait_for(int threads) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= threads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

/// Every task once, no worker number twice at a time.
void check_tasks(int threads, std::int64_t tasks) {
  const std::vector<std::atomic<int>> times(static_cast<std::size_t>(tasks));
  const std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
  auto& counts = const_cast<std::vector<std::atomic<int>>&>(times);
  auto& workers = const_cast<std::vector<std::atomic<int>>&>(busy);
  std::atomic<bool> good{true};
  run_on_pool(threads, tasks, [&](std::int64_t task, int worker) {
    if (worker < 0 || worker >= threads) {
      good = false;
      return;
    }
    if (workers[static_cast<std::size_t>(worker)].fetch_add(1) != 0) good = false;
    counts[static_cast<std::size_t>(task)].fetch_add(1);
    workers[static_cast<std::size_t>(worker)].fetch_sub(1);
  });
  CHECK(good);
  CHECK(std::all_of(counts.begin(), counts.end(), [](const auto& n) { return n == 1; }));
}

void test_every_task_runs_once() {
  for (int threads : {2, 3, 8}) {
    for (std::int64_t tasks : {1, 2, 3, 7, 8, 100, 5000}) {
      for (int round = 0; round < 20; ++round) check_tasks(threads, tasks);
    }
  }
}

/// What tasks wrote is seen after the call, without another synchronisation.
void test_results_are_visible() {
  std::vector<std::int64_t> results(1000);
  for (std::int64_t round = 1; round < 200; ++round) {
    run_on_pool(4, 1000, [&](std::int64_t task, int) {
      results[static_cast<std::size_t>(task)] = round * task;
    });
    bool good = true;
    for (std::int64_t i = 0; i < 1000; ++i) {
      good = good && results[static_cast<std::size_t>(i)] == round * i;
    }
    CHECK(good);
  }
}

void test_many_callers_at_once() {
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([c] {
      for (int round = 0; round < 100; ++round) check_tasks(2 + c % 3, 1 + 13 * c + round % 7);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

/// A caller keeps its workers when another call takes one that is done already: whichever worker
/// that is, the first call waits for those that still have a task.
void test_callers_that_share_workers() {
  constexpr int kThreads = 4;
  std::set<std::thread::id> workers;
  for (std::set<std::thread::id> left; workers.empty() || !left.empty();) {
    std::mutex mutex;
    std::condition_variable changed;
    int begun = 0;
    bool is_held = true;
    std::atomic<bool> caller_is_done{false};
    std::atomic<bool> returned{false};
    const std::thread::id free = left.empty() ? std::thread::id() : *left.begin();
    std::thread caller([&] {
      run_on_pool(kThreads, kThreads, [&](std::int64_t, int worker) {
        std::unique_lock<std::mutex> lock(mutex);
        ++begun;
        changed.notify_all();
        changed.wait(lock, [&] { return begun == kThreads; });
        if (worker > 0) workers.insert(std::this_thread::get_id());
        if (std::this_thread::get_id() == free) return;
        if (worker == 0) {
          changed.wait(lock, [&] { return caller_is_done.load(); });
        } else {
          changed.wait(lock, [&] { return !is_held; });
        }
      });
      returned = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (free != std::thread::id()) check_tasks(2, 2);  // takes the free one
    {
      const std::lock_guard<std::mutex> lock(mutex);
      caller_is_done = true;
      changed.notify_all();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(!returned);
    {
      const std::lock_guard<std::mutex> lock(mutex);
      is_held = false;
      changed.notify_all();
    }
    caller.join();
    CHECK(returned);
    if (free == std::thread::id()) {
      left = workers;
    } else {
      left.erase(free);
    }
  }
  CHECK(workers.size() >= kThreads - 1);
}

/// Tasks that take long enough for callers to sleep, of callers that share workers: none returns
/// before its tasks are done, and none sleeps for ever.
void test_callers_that_wait() {
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([c] {
      for (int round = 0; round < 400; ++round) {
        const std::int64_t tasks = 4 + (round + c) % 9;
        const auto done = std::make_shared<std::atomic<std::int64_t>>(0);
        run_on_pool(4, tasks, [&, counted = done](std::int64_t task, int) {
          const auto pause = std::chrono::microseconds(50 * ((task + round) % 4));
          std::this_thread::sleep_for(pause);
          counted->fetch_add(1);
        });
        CHECK(*done == tasks);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

/// A task may make a call of its own.
void test_nested_calls() {
  std::atomic<int> inner{0};
  run_on_pool(3, 6, [&](std::int64_t, int) {
    run_on_pool(3, 6, [&](std::int64_t, int) { inner.fetch_add(1); });
  });
  CHECK(inner == 36);
}

Gate gate;

/// Workers that are woken, but get no processor: stopped before they begin. The call does all tasks
/// itself; when they go on at last they find nothing.
void test_a_call_does_not_wait_for_workers_that_have_not_begun() {
  gate.shut();
  dmlcpu::set_pool_hook([] { gate.pass(); });
  for (int round = 0; round < 5; ++round) {
    std::set<int> workers;
    run_on_pool(4, 40, [&](std::int64_t, int worker) { workers.insert(worker); });
    CHECK(workers == std::set<int>{0});
  }
  // One task: few tasks wake workers at once.
  std::atomic<int> done{0};
  run_on_pool(2, 2, [&](std::int64_t, int) { done.fetch_add(1); });
  CHECK(done == 2);
  dmlcpu::set_pool_hook(nullptr);
  gate.open();
  check_tasks(4, 100);
}

/// A worker that has begun a task is waited for, however long that takes.
void test_a_call_waits_for_tasks_that_have_begun() {
  gate.shut();
  std::atomic<bool> begun{false};
  std::atomic<bool> done{false};
  std::thread opener([&] {
    gate.wait_for(1);
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  std::atomic<int> tasks_done{0};
  run_on_pool(2, 2, [&](std::int64_t, int worker) {
    if (worker == 1) {
      gate.pass();
      done = true;
    } else {
      // The caller leaves the other task to the worker; were there none it would hang here.
      while (!begun) std::this_thread::yield();
    }
    tasks_done.fetch_add(1);
  });
  CHECK(done);
  CHECK(tasks_done == 2);
  opener.join();
}

/// Short calls use no worker where processors are contended.
void test_short_calls_back_off() {
  check_tasks(3, 30);
  std::atomic<int> by_workers{0};
  dmlcpu::set_pool_hook(nullptr);
  dmlcpu::fix_contention(true);
  CHECK(dmlcpu::pool_is_contended());
  for (int round = 0; round < 1000; ++round) {
    run_on_pool(3, 30, [&](std::int64_t, int worker) { by_workers.fetch_add(worker != 0); });
  }
  CHECK(by_workers == 0);
  dmlcpu::fix_contention(false);
  CHECK(!dmlcpu::pool_is_contended());
}

/// Long ones keep their workers, from the second task on.
void test_long_calls_use_contended_processors() {
  dmlcpu::fix_contention(true);
  std::atomic<bool> begun{false};
  run_on_pool(2, 3, [&](std::int64_t task, int worker) {
    if (worker == 1) begun = true;
    if (worker == 1) return;
    if (task == 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(dmlcpu::tuning::kShortContendedRest));
    } else {
      while (!begun) std::this_thread::yield();
    }
  });
  CHECK(begun);
  dmlcpu::fix_contention(false);
}

#ifdef __linux__
/// Those of workers change, where they wake.
void test_affinity_of_the_caller_stays() {
  cpu_set_t before;
  cpu_set_t after;
  CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // workers sleep
    check_tasks(3, 4);
  }
  CHECK(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}
#endif

#ifdef __unix__
/// Workers do not handle the program's signals.
void test_signals_go_to_other_threads() {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  check_tasks(3, 30);
  // Only a worker could take it now, and it would end the process.
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  kill(getpid(), SIGUSR1);
  check_tasks(3, 30);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  int signal = 0;
  sigwait(&blocked, &signal);
  CHECK(signal == SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// A forked child ends without its parent's workers, and without waiting for them.
void test_forked_child_exits() {
  check_tasks(3, 30);
  const pid_t child = fork();
  if (child == 0) std::exit(dmlcpu::is_forked_child() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
#endif

}  // namespace

int main() {
  // With what is seen of this machine, then with processors that are not contended.
  test_many_callers_at_once();
  test_callers_that_wait();
  dmlcpu::fix_contention(false);
  test_every_task_runs_once();
  test_results_are_visible();
  test_many_callers_at_once();
  test_callers_that_share_workers();
  test_callers_that_wait();
  test_nested_calls();
  gate.open();
  test_a_call_does_not_wait_for_workers_that_have_not_begun();
  test_a_call_waits_for_tasks_that_have_begun();
  test_short_calls_back_off();
  test_long_calls_use_contended_processors();
#ifdef __linux__
  test_affinity_of_the_caller_stays();
#endif
#ifdef __unix__
  test_signals_go_to_other_threads();
  test_forked_child_exits();
#endif
  return check::failures;
}
