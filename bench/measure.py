"""Timing contestants against each other in one process."""

import time

import numpy as np


def same_answer(workload, tensors, got, want):
    """Whether two libraries found the same elements; which of equal ones is each library's choice."""
    x = tensors[0]
    if workload.operator == "gather_nd":
        return np.array_equal(np.asarray(got), np.asarray(want))
    if workload.operator == "top_k":
        return np.array_equal(np.asarray(got[0]), np.asarray(want[0]))
    axis = workload.options["axis"]
    axes = tuple(range(x.ndim)) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    last = np.moveaxis(x, axes, range(-len(axes), 0))
    last = last.reshape(*last.shape[: last.ndim - len(axes)], -1)
    got, want = (np.asarray(a).astype(np.int64)[..., None] for a in (got, want))
    return np.array_equal(np.take_along_axis(last, got, -1), np.take_along_axis(last, want, -1))


def seconds_of(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def race(calls, rounds, rest=0.05, least=0.01):
    """Seconds per call of each contestant, a list with one entry per round.

    Rounds are interleaved. Before each measurement the process rests, since some libraries' idle
    threads spin for a while after a call, and one call is not counted. Short calls are repeated for
    `least` seconds.
    """
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, int(least / max(seconds_of(call, 1), 1e-7)))
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(rest)
            call()
            seconds[name].append(seconds_of(call, repeats[name]))
    return seconds


def read_bandwidth(threads, megabytes=64):
    """Bytes per second that `threads` threads read from memory: sums over a large array."""
    from concurrent.futures import ThreadPoolExecutor

    parts = [np.ones(megabytes * 2**17 // threads) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        return (
            2**20
            * megabytes
            / min(seconds_of(lambda: list(pool.map(np.max, parts)), 1) for _ in range(15))
        )
