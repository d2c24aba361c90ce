#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/keep_loaded.hpp"
#include "core/pool.hpp"
#include "core/text.hpp"
#include "core/thread_count.hpp"
#include "core/tuning.hpp"
#include "dmlcpu/runtime.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef DMLCPU_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define DMLCPU_HAS_ATFORK 1
#endif

namespace dmlcpu {
namespace {

std::atomic<int> process_threads{0};
std::atomic<std::int64_t> grain_bytes{tuning::kGrainBytes};
thread_local int thread_override = 0;

/// Whether this process was forked off. Its parent's workers do not exist in it; those of OpenMP's
/// runtime are still in its tables, and the next region would wait for them forever.
std::atomic<bool> workers_lost{false};

#ifdef DMLCPU_HAS_ATFORK
[[maybe_unused]] const int atfork_registered =
    pthread_atfork(nullptr, nullptr, [] { workers_lost = true; });
#endif

#ifdef _OPENMP
/// A function of the runtime.
void (*runtime_function())() { return reinterpret_cast<void (*)()>(&omp_get_thread_num); }

/// The value of a variable, empty if there is none. For when the library is loaded: later another
/// thread may change the environment.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view{} : value;
}

/// Whether OpenMP's runtime binds threads to processors: the one that loaded it to the first.
const bool openmp_binds = [] {
  const std::string_view bind = variable("OMP_PROC_BIND");
  if (bind == "false" || bind == "FALSE") return false;
  return !bind.empty() || !variable("OMP_PLACES").empty() || !variable("GOMP_CPU_AFFINITY").empty();
}();

/// Where it does, the library's own threads would all be on the caller's processor.
const bool openmp_wanted = [] {
  const std::string_view threads = variable("DMLCPU_THREADS");
  return threads == "openmp" || (openmp_binds && threads.empty());
}();

/// What the runtime says before this process can have called it by way of this library.
const int openmp_number = omp_get_max_threads();
const int openmp_processors = omp_get_num_procs();

/// What a thread did before happens_before(), others see after happens_after(). ThreadSanitizer is
/// told, because it does not see how the threads of an OpenMP runtime wait for each other.
void happens_before([[maybe_unused]] void* event) {
#ifdef DMLCPU_THREAD_SANITIZER
  __tsan_release(event);
#endif
}
void happens_after([[maybe_unused]] void* event) {
#ifdef DMLCPU_THREAD_SANITIZER
  __tsan_acquire(event);
#endif
}

#ifdef DMLCPU_THREAD_SANITIZER
// The compiler's own code reads the region's variables before happens_after().
__attribute__((no_sanitize("thread")))
#endif
void run_on_openmp(int threads, std::int64_t tasks, TaskFunction function, void* context) {
  // The runtime's threads outlive the plugin that this library may be a part of.
  [[maybe_unused]] static const bool kept = (keep_loaded(runtime_function()), true);
  int region = 0;
  happens_before(&region);
#pragma omp parallel num_threads(threads)
  {
    happens_after(&region);
    const int worker = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t task = 0; task < tasks; ++task) function(context, task, worker);
    happens_before(&region);
  }
  happens_after(&region);
}
#endif

ThreadCount thread_count() {
  if (workers_lost.load(std::memory_order_relaxed)) return {1, ThreadSource::kFork};
  if (thread_override > 0) return {thread_override, ThreadSource::kOverride};
  const int count = process_threads.load(std::memory_order_relaxed);
  if (count > 0) return {count, ThreadSource::kProcess};
#ifdef _OPENMP
  return default_threads({omp_get_max_threads(), openmp_number, openmp_processors, openmp_binds});
#else
  return default_threads({});
#endif
}

void check_thread_count(int count) {
  if (count < 0) fail<ValueError>("num_threads", "must be at least 0", count);
}

}  // namespace

bool has_openmp() { return openmp_version() > 0; }

int openmp_version() {
#ifdef _OPENMP
  return _OPENMP;
#else
  return 0;
#endif
}

bool uses_openmp() {
#ifdef _OPENMP
  return openmp_wanted;
#else
  return false;
#endif
}

std::size_t detail::openmp_file([[maybe_unused]] char* text, [[maybe_unused]] std::size_t size) {
#ifdef _OPENMP
  const char* const file = object_file(runtime_function());
  return file == nullptr ? 0 : copy_text(file, text, size);
#else
  return 0;
#endif
}

int num_threads() { return thread_count().count; }

ThreadSource thread_source() { return thread_count().source; }

bool is_contended() { return !uses_openmp() && pool_is_contended(); }

void set_num_threads(int count) {
  check_thread_count(count);
  process_threads = count;
}

int exchange_thread_override(int count) {
  check_thread_count(count);
  return std::exchange(thread_override, count);
}

bool is_forked_child() { return workers_lost.load(std::memory_order_relaxed); }

void set_grain_bytes(std::int64_t bytes) { grain_bytes = bytes > 0 ? bytes : tuning::kGrainBytes; }

int threads_for_bytes(std::int64_t bytes, std::int64_t least_grains) {
  const std::int64_t grain = grain_bytes.load(std::memory_order_relaxed);
  if (bytes < least_grains * grain) return 1;
  return static_cast<int>(std::min<std::int64_t>(num_threads(), bytes / grain));
}

void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context) {
  // The plan may be older than what num_threads() says now.
  const int used =
      threads == 1 ? 1 : static_cast<int>(std::min<std::int64_t>({threads, num_threads(), tasks}));
  if (used <= 1) {
    for (std::int64_t task = 0; task < tasks; ++task) function(context, task, 0);
    return;
  }
#ifdef _OPENMP
  if (openmp_wanted) return run_on_openmp(used, tasks, function, context);
#endif
  run_on_pool(used, tasks, function, context);
}

}  // namespace dmlcpu
