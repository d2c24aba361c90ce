// Keeps the threads of one parallel region on processors of their own.
#pragma once

#include <atomic>
#include <cstdint>

namespace dmlcpu {

/// A runtime's sleeping threads may wake up on the processor of the thread that woke them, though
/// others idle: Linux in a virtual machine takes a halted processor for one that the hypervisor has
/// taken away, and passes it over. The threads then share one processor until the load balancer
/// comes round, and while the first waits for the others by spinning it keeps them from it; a call
/// of 0.1 ms took 4 to 6 ms. So a thread that starts where another of its region has started moves
/// to any other processor that it may use.
///
/// It never sets an affinity of a thread that is not its own: whoever sets one at the same moment
/// would lose what was set. A thread moves by sleeping until a helper thread, which lives only for
/// that and has tied itself to a free processor, wakes it: Linux leaves a thread where it is woken.
///
/// Does nothing outside Linux, or where the environment variable DMLCPU_PLACEMENT is 0. The
/// caller's own thread, number 0, never moves.
class ThreadPlacement {
 public:
  /// Called once by each of the region's threads as it starts. Thread 0 is the one that woke the
  /// others; it may step back for a moment to let them leave.
  void arrive(int thread, int threads);

 private:
  static constexpr int kProcessors = 1024;
  static constexpr int kWordBits = 64;

  /// Marks a processor as taken by one thread; false if another has it.
  bool take(int processor);
  void leave_taken() const;

  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> taken_[kProcessors / kWordBits]{};
};

}  // namespace dmlcpu
