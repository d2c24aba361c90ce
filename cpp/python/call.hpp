// How Python calls the library: with its context's number of threads, and with or without its lock.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#if defined(__GLIBCXX__) && !defined(_WIN32)
#include <cxxabi.h>
#include <unistd.h>
#endif

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

/// Whether any call was planned alone: to find what is local to a thread takes a call itself.
extern std::atomic<bool> plans_used;

/// As long as this lives, the next call on this thread writes its plan to `text`.
class PlanWanted {
 public:
  explicit PlanWanted(std::string* text) : before_(std::exchange(plan_wanted, text)) {
    plans_used.store(true, std::memory_order_relaxed);
  }
  ~PlanWanted() { plan_wanted = before_; }
  PlanWanted(const PlanWanted&) = delete;
  PlanWanted& operator=(const PlanWanted&) = delete;

 private:
  std::string* before_;
};

/// Calls body(), which may take Python's lock, as Python code does now and then, and has nothing to
/// destroy. Where the interpreter is finalizing, Python ends a thread that takes the lock by
/// unwinding its stack, whose destructors would change reference counts without the lock. So it
/// waits here, which is what Python does by itself from 3.14 on. On Windows threads end without.
template <class Body>
auto with_lock(const Body& body) {
#if defined(__GLIBCXX__) && !defined(_WIN32)
  try {
    return body();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  return body();
#endif
}

/// A call of the library, from its first argument on. Arguments are objects of the caller's, which
/// may run any Python code when they are read: code that resizes, reshapes or retypes an array
/// whose pointer was taken would have the library read freed memory. So a call has two parts.
/// First, up to ready(), all that may run Python code: options, what is no array, arrays that other
/// libraries lend. Then pointers, types, sizes and strides of all arrays, and run(): nothing in
/// between runs Python code or makes an object that the garbage collector knows, except errors.
class Call {
 public:
  /// Takes the wanted plan, which is not that of a call that the arguments make.
  Call()
      : plan_(plans_used.load(std::memory_order_relaxed) ? std::exchange(plan_wanted, nullptr)
                                                         : nullptr) {}

  /// Whether the call is planned alone: it reads and writes no element.
  bool is_planned() const { return plan_ != nullptr; }

  /// Reads the context's number of threads, for a call that touches at least `bytes` bytes: the end
  /// of the first part.
  void ready(std::int64_t bytes) {
    threads_.emplace();
    bytes_ = bytes;
  }

  /// Calls body(), which touches `more` bytes than ready() was told, and lets other Python threads
  /// run during it, unless it is over in no time. Whatever body() throws is derived from
  /// std::exception.
  template <class Body>
  void run(Body&& body, std::int64_t more = 0) const {
    if (bytes_ + more < tuning::kReleaseLockBytes) return body();
    // Not by a destructor: Python may end a thread that takes the lock, which no destructor allows.
    PyThreadState* const state = PyEval_SaveThread();
    std::exception_ptr error;
    try {
      body();
    } catch (const std::exception&) {
      error = std::current_exception();
    }
    with_lock([state] { PyEval_RestoreThread(state); });
    if (error) std::rethrow_exception(error);
  }

  /// Runs a descriptor, or plans it alone.
  template <class Descriptor>
  void run_or_plan(const Descriptor& descriptor, std::int64_t more = 0) const {
    if (is_planned()) {
      *plan_ = plan_text(descriptor);
    } else {
      run([&descriptor] { dmlcpu::run(descriptor); }, more);
    }
  }

 private:
  std::string* plan_;
  std::optional<ContextThreads> threads_;
  std::int64_t bytes_ = 0;
};

}  // namespace dmlcpu::python
