// How Python calls the library: with its context's number of threads, and with or without its lock.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "core/tuning.hpp"
#include "dmlcpu/operators.hpp"
#include "dmlcpu/runtime.hpp"

namespace dmlcpu::python {

/// The context variable that holds the `num_threads` blocks which a context is in, a tuple, the
/// innermost last. Calls read it once this function was called; until then there is no block.
const pybind11::object& thread_limits();

/// Whether thread_limits() was called.
extern std::atomic<bool> thread_limits_used;

/// As long as this lives, the calling thread uses the number of threads of its Python context, if
/// it has one.
class ContextThreads {
 public:
  ContextThreads() {
    if (thread_limits_used.load(std::memory_order_relaxed)) read_context();
  }

 private:
  void read_context();

  std::optional<ScopedThreads> limit_;
};

/// Where the next call on this thread writes its plan instead of running; null if it runs.
extern thread_local std::string* plan_wanted;

/// Takes the lock again after PyEval_SaveThread().
void take_lock(PyThreadState* state);

/// Calls body(), which touches `bytes` bytes, and lets other Python threads run during it, unless
/// it is over in no time. Whatever body() throws is derived from std::exception.
template <class Body>
void call(std::int64_t bytes, Body&& body) {
  const ContextThreads threads;
  if (bytes < tuning::kReleaseLockBytes) {
    body();
    return;
  }
  // Not by a destructor: Python may end a thread that takes the lock, which no destructor allows.
  PyThreadState* const state = PyEval_SaveThread();
  std::exception_ptr error;
  try {
    body();
  } catch (const std::exception&) {
    error = std::current_exception();
  }
  take_lock(state);
  if (error) std::rethrow_exception(error);
}

/// Runs a descriptor whose tensors have `bytes` bytes, or plans it alone.
template <class Descriptor>
void run_or_plan(std::int64_t bytes, const Descriptor& descriptor) {
  if (plan_wanted != nullptr) {
    const ContextThreads threads;
    *std::exchange(plan_wanted, nullptr) = plan_text(descriptor);
    return;
  }
  call(bytes, [&descriptor] { run(descriptor); });
}

}  // namespace dmlcpu::python
