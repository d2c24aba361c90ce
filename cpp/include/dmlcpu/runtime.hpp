/// @file
/// How the operators run: threads and instruction sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dmlcpu/export.hpp"

namespace dmlcpu {

/// Whether the library was built with OpenMP.
///
/// ```
/// if (!dmlcpu::has_openmp()) assert(!dmlcpu::uses_openmp());
/// ```
DMLCPU_API bool has_openmp();

/// Whether calls run on OpenMP's threads: if the library was built with it, and DMLCPU_THREADS was
/// "openmp" when it was loaded. Else they run on the library's own threads, which take a call's
/// tasks one by one, so that it never waits for a thread that has not begun.
///
/// ```
/// if (dmlcpu::uses_openmp()) assert(dmlcpu::has_openmp());
/// ```
DMLCPU_API bool uses_openmp();

/// The most threads that a call made now on this thread would use, see ThreadSource.
///
/// ```
/// const dmlcpu::ScopedThreads serial(1);
/// assert(dmlcpu::num_threads() == 1);
/// ```
DMLCPU_API int num_threads();

/// Where the number that num_threads() returns comes from; the first of these that there is.
enum class ThreadSource : std::uint8_t {
  kFork,            ///< a forked child: one thread
  kOverride,        ///< exchange_thread_override()
  kProcess,         ///< set_num_threads()
  kVariable,        ///< DMLCPU_NUM_THREADS
  kOpenMP,          ///< omp_set_num_threads()
  kOpenMPVariable,  ///< OMP_NUM_THREADS
  kQuota,           ///< the time that the process' control groups give it, rounded up
  kAffinity,        ///< the processors that the process may use
  kProcessors,      ///< those of the machine
};

/// What the number of a call made now on this thread comes from.
///
/// ```
/// const dmlcpu::ScopedThreads serial(1);
/// assert(dmlcpu::thread_source() == dmlcpu::ThreadSource::kOverride);
/// ```
DMLCPU_API ThreadSource thread_source();

/// Whether other programs were seen to take the processors from this library's threads. Short calls
/// use one thread then, until it is no longer seen.
///
/// ```
/// if (dmlcpu::uses_openmp()) assert(!dmlcpu::is_contended());
/// ```
DMLCPU_API bool is_contended();

/// How many processors' time Linux's control groups let the process use, 0 if all. `root` is the
/// folder that has /proc and /sys.
///
/// ```
/// assert(dmlcpu::cpu_quota("/") >= 0);
/// ```
DMLCPU_API double cpu_quota(const char* root);

/// The OpenMP specification that the library was built for, by its year and month: 201511 is 4.5.
/// 0 without OpenMP.
///
/// ```
/// assert((dmlcpu::openmp_version() > 0) == dmlcpu::has_openmp());
/// ```
DMLCPU_API int openmp_version();

/// Sets the number for the process; 0 returns to what it is by itself. Throws ValueError when
/// negative.
///
/// ```
/// dmlcpu::set_num_threads(1);
/// assert(dmlcpu::num_threads() == 1);
/// dmlcpu::set_num_threads(0);
/// ```
DMLCPU_API void set_num_threads(int count);

/// Sets the calling thread's override and returns the one before; 0 means none.
/// Throws ValueError when negative.
///
/// ```
/// const int before = dmlcpu::exchange_thread_override(1);
/// assert(dmlcpu::exchange_thread_override(before) == 1);
/// ```
DMLCPU_API int exchange_thread_override(int count);

/// The calling thread's override as long as this lives.
///
/// ```
/// {
///   const dmlcpu::ScopedThreads serial(1);
///   assert(dmlcpu::num_threads() == 1);
/// }
/// ```
class ScopedThreads {
 public:
  /// Throws ValueError when negative; 0 means none.
  explicit ScopedThreads(int count) : before_(exchange_thread_override(count)) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): a count that was in force is not negative.
  ~ScopedThreads() { exchange_thread_override(before_); }
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int before_;
};

/// Sets the bytes of work that each thread should have at least, for the process; 0 returns to the
/// tuned value. Tests make it 1, so that small tensors run on many threads.
///
/// ```
/// dmlcpu::set_grain_bytes(1);
/// dmlcpu::set_grain_bytes(0);
/// ```
DMLCPU_API void set_grain_bytes(std::int64_t bytes);

/// Forces a plan for the process: argmin and argmax run candidate `number` of the plans that could
/// do a call. A call that has fewer candidates, and every call after -1 was set, runs the plan that
/// the planner chooses. All candidates have the same results. Tests run each candidate, calibration
/// times them. plan_text() lists them by number, from 0 on.
///
/// ```
/// dmlcpu::force_candidate(0);
/// dmlcpu::force_candidate(-1);
/// ```
DMLCPU_API void force_candidate(int number);

/// The bytes of the L2 or L3 cache, `level` 2 or 3, by which calls are planned: as the processor
/// tells them, or typical ones. Throws ValueError for other levels.
///
/// ```
/// bool fits = 1000 * sizeof(float) <= dmlcpu::cache_bytes(2);
/// ```
DMLCPU_API std::int64_t cache_bytes(int level);

namespace detail {

/// Nothing of the standard library crosses the shared library's boundary: its layout depends on the
/// caller's compiler and switches.
DMLCPU_API int instruction_set_count();
DMLCPU_API const char* instruction_set_name(int index);
DMLCPU_API int built_instruction_set_count();
DMLCPU_API const char* current_instruction_set();
DMLCPU_API const char* instruction_set_source();
/// Writes the first `size` characters and returns how many there are.
DMLCPU_API std::size_t openmp_file(char* text, std::size_t size);
DMLCPU_API void use_instruction_set(const char* name, std::size_t length);

inline std::vector<std::string_view> first_instruction_sets(int count) {
  std::vector<std::string_view> names;
  names.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) names.emplace_back(instruction_set_name(i));
  return names;
}

}  // namespace detail

/// The file of the OpenMP runtime that the process has loaded; empty without OpenMP, and where the
/// system cannot say (Windows, statically linked programs).
///
/// ```
/// if (!dmlcpu::has_openmp()) assert(dmlcpu::openmp_file().empty());
/// ```
inline std::string openmp_file() {
  std::string file(detail::openmp_file(nullptr, 0), '\0');
  file.resize(std::min(file.size(), detail::openmp_file(file.data(), file.size())));
  return file;
}

/// The names of the instruction sets that were built and that this machine has, smallest first.
inline std::vector<std::string_view> instruction_sets() {
  return detail::first_instruction_sets(detail::instruction_set_count());
}

/// The names of all that were built, whatever this machine has, smallest first.
///
/// ```
/// assert(dmlcpu::built_instruction_sets().size() >= dmlcpu::instruction_sets().size());
/// ```
inline std::vector<std::string_view> built_instruction_sets() {
  return detail::first_instruction_sets(detail::built_instruction_set_count());
}

/// What chose the instruction set in use: "processor" (the largest that it has), "DMLCPU_ISA", or
/// "use_instruction_set".
///
/// ```
/// dmlcpu::use_instruction_set("auto");
/// assert(dmlcpu::instruction_set_source() == "processor");
/// ```
inline std::string_view instruction_set_source() { return detail::instruction_set_source(); }

/// The name of the instruction set in use.
inline std::string_view instruction_set() { return detail::current_instruction_set(); }

/// Switches all later calls in the process to the named set, "auto" for the largest.
/// Throws ValueError when there is no such set or the machine lacks it.
///
/// ```
/// dmlcpu::use_instruction_set(dmlcpu::instruction_sets().front());
/// assert(dmlcpu::instruction_set() == dmlcpu::instruction_sets().front());
/// dmlcpu::use_instruction_set("auto");
/// ```
inline void use_instruction_set(std::string_view name) {
  detail::use_instruction_set(name.data(), name.size());
}

}  // namespace dmlcpu
