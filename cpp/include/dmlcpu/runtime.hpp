// How the operators run: threads and instruction sets.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace dmlcpu {

/// Whether the library was built with OpenMP; without it every call runs on the calling thread.
bool has_openmp();

/// The most threads that a call made now on this thread would use: this thread's override, else the
/// number set for the process, else OpenMP's own (OMP_NUM_THREADS, omp_set_num_threads).
int num_threads();

/// Sets the number for the process; 0 returns to OpenMP's own. Throws ValueError when negative.
void set_num_threads(int count);

/// Sets the calling thread's override and returns the one before; 0 means none.
/// Throws ValueError when negative.
int exchange_thread_override(int count);

/// Sets the bytes of work that each thread should have at least, for the process; 0 returns to the
/// tuned value. Tests make it 1, so that small tensors run on many threads.
void set_grain_bytes(std::int64_t bytes);

/// The names of the instruction sets that were built and that this machine has, smallest first.
std::vector<std::string_view> instruction_sets();

/// The name of the instruction set in use.
std::string_view instruction_set();

/// Switches all later calls in the process to the named set, "auto" for the largest.
/// Throws ValueError when there is no such set or the machine lacks it.
void use_instruction_set(std::string_view name);

}  // namespace dmlcpu
