// How the operators run: threads and instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dmlcpu/export.hpp"

namespace dmlcpu {

/// Whether the library was built with OpenMP; without it every call runs on the calling thread.
///
/// ```
/// if (!dmlcpu::has_openmp()) assert(dmlcpu::num_threads() == 1);
/// ```
DMLCPU_API bool has_openmp();

/// The most threads that a call made now on this thread would use: this thread's override, else the
/// number set for the process, else OpenMP's own (OMP_NUM_THREADS, omp_set_num_threads).
DMLCPU_API int num_threads();

/// Sets the number for the process; 0 returns to OpenMP's own. Throws ValueError when negative.
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

namespace detail {

/// Nothing of the standard library crosses the shared library's boundary: its layout depends on the
/// caller's compiler and switches.
DMLCPU_API int instruction_set_count();
DMLCPU_API const char* instruction_set_name(int index);
DMLCPU_API const char* current_instruction_set();
DMLCPU_API void use_instruction_set(const char* name, std::size_t length);

}  // namespace detail

/// The names of the instruction sets that were built and that this machine has, smallest first.
inline std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names(static_cast<std::size_t>(detail::instruction_set_count()));
  for (std::string_view& name : names) {
    name = detail::instruction_set_name(static_cast<int>(&name - names.data()));
  }
  return names;
}

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
