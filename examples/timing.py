"""Timing of the examples' steps."""

import statistics
import time


def milliseconds(call, rounds=9, least=1e-3):
    """The median time of a call, after a first round that is not counted. A round repeats short calls,
    so that it takes at least `least` seconds."""
    times, repeats = [], 1
    for _ in range(rounds + 1):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - start) / repeats)
        repeats = max(1, round(least / times[-1]))
    return 1000 * statistics.median(times[1:])
