"""Timing calls against each other in one process, in interleaved rounds."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dmlcpu._command._timing import repeats_of, seconds_of, turn

LEAST = 0.01  # seconds that a turn takes
REST = 0.05  # seconds before a turn, in which others' idle threads stop spinning


def compare(calls, rounds, least=LEAST, rest=REST):
    """Seconds per call of each competitor, a list with one entry per round; short calls are repeated."""
    repeats = {}
    for name, call in calls.items():
        time.sleep(rest)
        repeats[name] = repeats_of(call, least)
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            seconds[name].append(turn(call, repeats[name], rest))
    return seconds


def quick_seconds(call, rest):
    """Seconds of a call after a rest, roughly: of one call, or of the fastest of some short ones."""
    time.sleep(rest)
    first = seconds_of(call, 1)
    return first if first > 0.01 else min(first, *(seconds_of(call, 1) for _ in range(4)))


def medians_of(seconds):
    return {competitor: statistics.median(times) for competitor, times in seconds.items()}


class Reading:
    """Calls that read all of an array with some threads, as fast as NumPy does."""

    def __init__(self, count):
        self.count = count
        self.pool = ThreadPoolExecutor(count)

    def of(self, size):
        # Ones: memory of zeros may never have been made, and would be read from one page.
        slices = np.array_split(np.ones(size, np.uint8), self.count)
        # Maxima of bytes cost the least of what NumPy reads by whole vectors.
        return lambda: list(self.pool.map(np.max, slices))
