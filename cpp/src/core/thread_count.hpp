// How many threads the process may use, where nobody has set a number.
#pragma once

#include "dmlcpu/runtime.hpp"

namespace dmlcpu {

struct ThreadCount {
  int count;
  ThreadSource source;
};

/// The first of these that there is: DMLCPU_NUM_THREADS; `openmp`, OpenMP's number, where somebody
/// has set it; OMP_NUM_THREADS; the fewest of the processors, those of the process' affinity, and
/// the time that its control groups give it, rounded up. `openmp_processors` are what OpenMP counts
/// by itself. The variables are read when the library is loaded, the machine at the first call.
ThreadCount default_threads(int openmp, int openmp_processors);

/// The last of these, with the control groups below `root`.
ThreadCount machine_threads(const char* root);

}  // namespace dmlcpu
