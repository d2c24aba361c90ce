// Whether somebody else uses the processors that the workers run on.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "core/thread_tuning.hpp"

namespace dmlcpu {

using Nanoseconds = std::int64_t;

inline Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What was seen of the processors. Contended from seen() on, for a time that doubles each time
/// that it ends by another seen(), and is the least again after a long calm; then a probe is due,
/// whose thread spins and calls seen() or passed(). Calls start probes, so it is also over where
/// none comes: see forget().
class Contention {
 public:
  bool calm() const { return state_.load(std::memory_order_relaxed) == kCalm; }

  /// A thread lost its processor. Of several that did at once the first one counts.
  void seen(Nanoseconds time) {
    if (is_fixed_.load(std::memory_order_relaxed)) return;
    if (state_.exchange(kContended, std::memory_order_relaxed) == kContended) return;
    const bool is_long_ago =
        time - until_.load(std::memory_order_relaxed) > 2 * tuning::kMostBackOff;
    const Nanoseconds wait =
        is_long_ago ? tuning::kLeastBackOff : wait_.load(std::memory_order_relaxed);
    until_.store(time + wait, std::memory_order_relaxed);
    wait_.store(std::min(2 * wait, tuning::kMostBackOff), std::memory_order_relaxed);
  }

  /// For the begin of a call. Calm if a probe has been due for longer than the next wait: of calls
  /// that are far apart each one would else use one thread for what the call before it saw.
  void forget(Nanoseconds time) {
    if (calm()) return;
    const Nanoseconds since = time - until_.load(std::memory_order_relaxed);
    if (since > wait_.load(std::memory_order_relaxed)) {
      state_.store(kCalm, std::memory_order_relaxed);
    }
  }

  /// Whether the caller is to start a probe.
  bool probe_is_due(Nanoseconds time) {
    if (calm() || time < until_.load(std::memory_order_relaxed)) return false;
    until_.store(time + tuning::kLeastBackOff, std::memory_order_relaxed);  // it may get lost
    state_.store(kProbing, std::memory_order_relaxed);
    return true;
  }

  bool is_probing() const { return state_.load(std::memory_order_relaxed) == kProbing; }

  /// The probe kept its processor.
  void passed() {
    if (is_fixed_.load(std::memory_order_relaxed)) return;
    wait_.store(std::max(wait_.load(std::memory_order_relaxed) / 2, tuning::kLeastBackOff),
                std::memory_order_relaxed);
    state_.store(kCalm, std::memory_order_relaxed);
  }

  /// The probe was given tasks instead; another one is due.
  void not_probed() {
    if (is_fixed_.load(std::memory_order_relaxed)) return;
    state_.store(kContended, std::memory_order_relaxed);
  }

  /// For tests: contended from now on, or calm, whatever is seen.
  void fix(bool contended) {
    is_fixed_.store(true, std::memory_order_relaxed);
    until_.store(std::numeric_limits<Nanoseconds>::max(), std::memory_order_relaxed);
    state_.store(contended ? kContended : kCalm, std::memory_order_relaxed);
  }

 private:
  enum : std::uint8_t { kCalm, kContended, kProbing };
  std::atomic<int> state_{kCalm};
  std::atomic<bool> is_fixed_{false};
  std::atomic<Nanoseconds> until_{0};
  std::atomic<Nanoseconds> wait_{tuning::kLeastBackOff};
};

}  // namespace dmlcpu
