"""Timing of the examples' steps."""

import statistics
import time


def milliseconds(call, rounds=9):
    """The median time of a call, after one that is not counted."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times[1:])
