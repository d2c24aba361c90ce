"""Timing calls against each other in one process."""

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def threads():
    return int(os.environ["OMP_NUM_THREADS"])


def same_answer(workload, tensors, got, want):
    """Whether two libraries found the same elements; which of equal ones is each library's choice."""
    x = tensors[0]
    if workload.operator == "gather_nd":
        return np.array_equal(np.asarray(got), np.asarray(want))
    if workload.operator == "top_k":
        found = np.take_along_axis(x, np.asarray(got[1]), workload.options["axis"])
        return np.array_equal(np.asarray(got[0]), np.asarray(want[0])) and np.array_equal(
            found, np.asarray(want[0])
        )
    axis = workload.options["axis"]
    axes = tuple(range(x.ndim)) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    last = np.moveaxis(x, axes, range(-len(axes), 0))
    last = last.reshape(*last.shape[: last.ndim - len(axes)], -1)
    got, want = (np.asarray(a).astype(np.int64)[..., None] for a in (got, want))
    got, want = (np.take_along_axis(last, a, -1) for a in (got, want))
    return np.array_equal(got, want, equal_nan=x.dtype.kind == "f")


def seconds_of(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def repeats_of(call, least=0.01):
    """How often a call is repeated so that a measurement takes at least `least` seconds."""
    call()
    return max(1, int(least / max(seconds_of(call, 1), 1e-7)))


def turn(call, repeats, rest=0.05):
    """Seconds per call, after a rest in which others' idle threads stop spinning, and one call that
    is not counted."""
    time.sleep(rest)
    call()
    return seconds_of(call, repeats)


def quick_seconds(call, rest):
    """Seconds of a call after a rest, roughly: of one call, or of the fastest of some short ones."""
    time.sleep(rest)
    first = seconds_of(call, 1)
    return first if first > 0.01 else min(first, *(seconds_of(call, 1) for _ in range(4)))


def compare(calls, rounds, least=0.01, rest=0.05):
    """Seconds per call of each competitor, a list with one entry per round.

    Rounds are interleaved, short calls repeated. A competitor may be a pair: what to do before its
    turn, and the call.
    """
    competitors = {name: c if isinstance(c, tuple) else (None, c) for name, c in calls.items()}
    repeats = {}
    seconds = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, (prepare, call) in competitors.items():
            if prepare:
                prepare()
            if number == 0:
                time.sleep(rest)
                repeats[name] = repeats_of(call, least)
                continue
            seconds[name].append(turn(call, repeats[name], rest))
    return seconds


def medians_of(seconds):
    return {competitor: statistics.median(times) for competitor, times in seconds.items()}


def spread_of(times):
    """The interquartile range, as a share of the median."""
    if len(times) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(times, n=4)
    return (high - low) / middle


class Bandwidth:
    """Calls that read, or copy, all of an array with some threads, as fast as NumPy does."""

    def __init__(self, count):
        self.count = count
        self.pool = ThreadPoolExecutor(count)

    def read(self, x):
        # Maxima of bytes cost the least of what NumPy reads by whole vectors.
        slices = np.array_split(x.reshape(-1).view(np.uint8), self.count)
        return lambda: list(self.pool.map(np.max, slices))

    def copy(self, x):
        slices = np.array_split(x.reshape(-1).view(np.uint8), self.count)
        targets = np.array_split(np.empty(x.nbytes, np.uint8), self.count)
        for target in targets:
            target[...] = 0
        return lambda: list(self.pool.map(np.copyto, targets, slices))
