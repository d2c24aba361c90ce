// A thread of the library's own, and what else it needs of the system.
#pragma once

#include "core/thread_tuning.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#define DMLCPU_HAS_PTHREADS 1
#else
#include <thread>
#endif

namespace dmlcpu {

/// Tells the processor that this thread spins.
inline void pause_thread() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Lets another thread have the processor.
inline void yield_thread() {
#ifdef DMLCPU_HAS_PTHREADS
  sched_yield();
#else
  std::this_thread::yield();
#endif
}

class Thread {
 public:
  /// Runs function(argument). Where there are POSIX threads, with a stack of kWorkerStackBytes, and
  /// with all signals blocked except those of its own faults. False if the system starts no more
  /// threads.
  bool start(void (*function)(void*), void* argument);

  /// Waits until it ends.
  void join();

  /// Has Linux not wake the sleeping thread on the processor of the calling one: in a virtual
  /// machine it may do so though others idle, as it takes a halted processor for one that the
  /// hypervisor has taken away. The thread keeps off until the next call, and within what the
  /// calling one may use. Nothing happens on other systems. One caller at a time.
  void keep_off_this_processor();

 private:
#ifdef DMLCPU_HAS_PTHREADS
  pthread_t handle_{};
#else
  std::thread handle_;
#endif
#ifdef __linux__
  cpu_set_t allowed_{};  ///< what it was told last
#endif
};

}  // namespace dmlcpu
