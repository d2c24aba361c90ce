#include "core/thread.hpp"

#include <csignal>
#include <new>
#include <system_error>

namespace dmlcpu {

#ifdef DMLCPU_HAS_PTHREADS

namespace {

struct Entry {
  void (*function)(void*);
  void* argument;
};

void* enter(void* argument) {
  const Entry entry = *static_cast<Entry*>(argument);
  delete static_cast<Entry*>(argument);
  entry.function(entry.argument);
  return nullptr;
}

}  // namespace

bool Thread::start(void (*function)(void*), void* argument) {
  auto* const entry = new (std::nothrow) Entry{function, argument};
  if (entry == nullptr) return false;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A program's handlers of faults, and its memory maps of files that others cut, need these.
  for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, tuning::kWorkerStackBytes);
  const bool started = pthread_create(&handle_, &attributes, enter, entry) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) delete entry;
  return started;
}

void Thread::join() { pthread_join(handle_, nullptr); }

#else

bool Thread::start(void (*function)(void*), void* argument) {
  try {
    handle_ = std::thread(function, argument);
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Thread::join() { handle_.join(); }

#endif

void Thread::keep_off_this_processor() {
#ifdef __linux__
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t others;
  if (sched_getaffinity(0, sizeof others, &others) != 0) return;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0 || CPU_EQUAL(&others, &allowed_)) return;
  pthread_setaffinity_np(handle_, sizeof others, &others);
  allowed_ = others;
#endif
}

}  // namespace dmlcpu
