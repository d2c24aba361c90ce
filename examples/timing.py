"""Timing of the examples' steps."""

import os
import sys
import time


def milliseconds(call, rounds=9, least=1e-3):
    """The least time of a call, which other programs disturbed least, after a first round that is not
    counted. A round repeats short calls, so that it takes at least `least` seconds."""
    times, repeats = [], 1
    for _ in range(rounds + 1):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - start) / repeats)
        repeats = max(1, round(least / times[-1]))
    return 1000 * min(times[1:])


def note_load():
    """Prints a note if others use the processors as well."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0
    if load > os.cpu_count():
        print(
            f"note: load average {load:.1f} on {os.cpu_count()} processors: times are of what it leaves",
            file=sys.stderr,
        )
