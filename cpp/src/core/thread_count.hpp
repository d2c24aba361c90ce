// How many threads the process may use, where nobody has set a number.
#pragma once

#include "dmlcpu/runtime.hpp"

namespace dmlcpu {

struct ThreadCount {
  int count;
  ThreadSource source;
};

/// What OpenMP's runtime says; all 0 without one.
struct OpenMPThreads {
  int number;         ///< for the calling thread
  int number_before;  ///< when the library was loaded
  int processors;     ///< that the runtime counted then
  bool binds;         ///< whether it has bound the threads that use it to some of them
};

/// The first of these that there is: DMLCPU_NUM_THREADS; OpenMP's number, where somebody has set
/// it; OMP_NUM_THREADS; the fewest of the processors, those of the calling thread's affinity, and
/// the time that its control groups give it, rounded up. The variables are read when the library is
/// loaded, the machine at the first call.
ThreadCount default_threads(const OpenMPThreads& openmp);

/// The last of these, with the control groups below `root`, and `affinity` processors in the place
/// of the calling thread's affinity if it is not 0.
ThreadCount machine_threads(const char* root, int affinity = 0);

}  // namespace dmlcpu
