// The constants of the library's own threads, in nanoseconds where they are times.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmlcpu::tuning {

/// How many workers the library's own threads may be.
inline constexpr int kMostWorkers = 4096;

/// A worker's stack. Frames have at most 8 KiB; thread-local variables of all libraries are here
/// too.
inline constexpr std::size_t kWorkerStackBytes = 512 * 1024;

/// Nanoseconds that a worker spins after its last task, before it sleeps. Longer ones are awake for
/// the next call more often, and take more of the processors' time from others.
inline constexpr std::int64_t kSpin = 1'000'000;

/// A thread that spins, and misses more nanoseconds than this, lost its processor to another
/// thread. Interrupts take less, time slices of others more.
inline constexpr std::int64_t kPreempted = 250'000;

/// Nanoseconds of a probe: longer than a time slice of the system's scheduler.
inline constexpr std::int64_t kProbe = 4'000'000;

/// Nanoseconds that short calls use one thread after a thread lost its processor, at first and at
/// most. Shorter ones probe more often, longer ones see later that others have gone.
inline constexpr std::int64_t kLeastBackOff = 20'000'000;
inline constexpr std::int64_t kMostBackOff = 1'000'000'000;

/// A call wakes sleeping workers if more nanoseconds of work than this are left after its first
/// task: waking one takes some 50 us. Where processors are contended, workers are given tasks if
/// more is left than a worker that loses its processor may cost.
inline constexpr std::int64_t kShortRest = 100'000;
inline constexpr std::int64_t kShortContendedRest = 4'000'000;

/// It also wakes them if a call that would have used them ended less than this long ago: more calls
/// will follow, for which they will be awake.
inline constexpr std::int64_t kRecent = 1'000'000;

/// It also wakes them if a call that took longer than kLong ended less than kRecentLong ago:
/// another long call would lose the time of its first task, which it runs alone.
inline constexpr std::int64_t kLong = 500'000;
inline constexpr std::int64_t kRecentLong = 10'000'000;

/// Nanoseconds that a caller spins at least while it waits for workers, before it sleeps as well.
inline constexpr std::int64_t kShortWait = 20'000;

}  // namespace dmlcpu::tuning
