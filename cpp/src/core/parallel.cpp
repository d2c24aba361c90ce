#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/error.hpp"
#include "core/keep_loaded.hpp"
#include "core/placement.hpp"
#include "core/text.hpp"
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

#if defined(_OPENMP)
/// Whether this process was forked off. If its parent, through this library or any other, had run a
/// parallel region, the runtime's worker threads exist in its tables but not in the process, and
/// the next region would wait for them forever.
std::atomic<bool> workers_lost{false};

/// A function of the runtime.
void (*runtime_function())() { return reinterpret_cast<void (*)()>(&omp_get_thread_num); }

/// The runtime's threads outlive the plugin that this library may be a part of.
[[maybe_unused]] const bool runtime_kept = (keep_loaded(runtime_function()), true);

#ifdef DMLCPU_HAS_ATFORK
[[maybe_unused]] const int atfork_registered =
    pthread_atfork(nullptr, nullptr, [] { workers_lost = true; });
#endif

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
#endif

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

std::size_t detail::openmp_file([[maybe_unused]] char* text, [[maybe_unused]] std::size_t size) {
#ifdef _OPENMP
  const char* const file = object_file(runtime_function());
  return file == nullptr ? 0 : copy_text(file, text, size);
#else
  return 0;
#endif
}

int num_threads() {
#ifdef _OPENMP
  if (workers_lost.load(std::memory_order_relaxed)) return 1;
  if (thread_override > 0) return thread_override;
  const int count = process_threads.load(std::memory_order_relaxed);
  return count > 0 ? count : omp_get_max_threads();
#else
  return 1;
#endif
}

ThreadSource thread_source() {
#ifdef _OPENMP
  if (workers_lost.load(std::memory_order_relaxed)) return ThreadSource::kFork;
  if (thread_override > 0) return ThreadSource::kOverride;
  return process_threads.load(std::memory_order_relaxed) > 0 ? ThreadSource::kProcess
                                                             : ThreadSource::kOpenMP;
#else
  return ThreadSource::kNoOpenMP;
#endif
}

bool threads_move() { return has_openmp() && ThreadPlacement::moves(); }

void set_num_threads(int count) {
  check_thread_count(count);
  process_threads = count;
}

int exchange_thread_override(int count) {
  check_thread_count(count);
  return std::exchange(thread_override, count);
}

void set_grain_bytes(std::int64_t bytes) { grain_bytes = bytes > 0 ? bytes : tuning::kGrainBytes; }

int threads_for_bytes(std::int64_t bytes, std::int64_t least_grains) {
  const std::int64_t grain = grain_bytes.load(std::memory_order_relaxed);
  if (bytes < least_grains * grain) return 1;
  return static_cast<int>(std::min<std::int64_t>(num_threads(), bytes / grain));
}

#ifdef DMLCPU_THREAD_SANITIZER
// The compiler's own code reads the region's variables before happens_after().
__attribute__((no_sanitize("thread")))
#endif
void run_tasks(int threads, std::int64_t tasks, TaskFunction function, void* context) {
#ifdef _OPENMP
  // The plan may be older than what num_threads() says now.
  const int used =
      threads == 1 ? 1 : static_cast<int>(std::min<std::int64_t>({threads, num_threads(), tasks}));
  if (used > 1) {
    ThreadPlacement placement;
    happens_before(&placement);
#pragma omp parallel num_threads(used)
    {
      happens_after(&placement);
      const int worker = omp_get_thread_num();
      placement.arrive(worker, omp_get_num_threads());
#pragma omp for schedule(dynamic, 1) nowait
      for (std::int64_t task = 0; task < tasks; ++task) function(context, task, worker);
      happens_before(&placement);
    }
    happens_after(&placement);
    return;
  }
#endif
  static_cast<void>(threads);
  for (std::int64_t task = 0; task < tasks; ++task) function(context, task, 0);
}

}  // namespace dmlcpu
