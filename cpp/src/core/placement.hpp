// Keeps the threads of one parallel region on processors of their own.
#pragma once

#include <atomic>
#include <cstdint>

namespace dmlcpu {

/// A runtime's sleeping threads may wake up on the processor of the thread that woke them, though
/// others are idle: Linux in a virtual machine takes a halted processor for one that the hypervisor
/// has taken away, and avoids it. Two threads then share a processor until the load balancer moves
/// one of them; if one is spinning while it waits for the other, the other does not run. So a
/// thread that starts where another of its region has started moves to any other processor that it
/// may use.
///
/// A thread moves by setting its own affinity to the free ones of the processors that it may use,
/// and back. Linux cannot set an affinity only if it is still what it was. So a thread keeps away
/// from affinities that others set: it moves only while its affinity is what the process began
/// with, does not take back what somebody set in between, and once anybody is seen to set
/// affinities no thread of the process moves any more. What remains is the first such change, if it
/// falls into the microsecond between two system calls of a thread that moves. A helper that
/// wakes the thread from a free processor leaves no such gap, but Linux often keeps the thread
/// where it was until the next tick.
///
/// Afterwards the thread has the same set as before, but an explicit one: if a container's set is
/// widened later, the thread stays in the old one.
///
/// Does nothing outside Linux, or where the environment variable DMLCPU_PLACEMENT is 0. The
/// caller's own thread, number 0, never moves.
class ThreadPlacement {
 public:
  /// Called once by each of the region's threads as it starts. Thread 0 is the one that woke the
  /// others; it may step back for a moment to let them leave.
  void arrive(int thread, int threads);

  /// Whether threads move at all.
  static bool moves();

 private:
  static constexpr int kProcessors = 1024;
  static constexpr int kWordBits = 64;

  void leave_taken() const;

  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> taken_[kProcessors / kWordBits]{};
};

}  // namespace dmlcpu
