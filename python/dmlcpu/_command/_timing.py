"""Timing calls against each other in one process, in rounds in which they take turns."""

import time
from collections.abc import Callable
from typing import Any

__all__ = ["Call", "repeats_of", "seconds_of", "turn"]

Call = Callable[[], Any]


def seconds_of(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def repeats_of(call: Call, least: float) -> int:
    """How often a call is repeated so that a turn takes at least `least` seconds."""
    call()
    return max(1, int(least / max(seconds_of(call, 1), 1e-7)))


def turn(call: Call, repeats: int, rest: float) -> float:
    """Seconds per call, after a rest in which others' idle threads stop spinning, and one call that
    is not counted."""
    time.sleep(rest)
    call()
    return seconds_of(call, repeats)
