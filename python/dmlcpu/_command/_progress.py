"""A progress bar on a terminal."""

import sys
import time
from collections.abc import Iterator

__all__ = ["follow"]

_DELAY = 1.0  # seconds before it appears
_INTERVAL = 0.1  # seconds from one look to the next
_WIDTH = 30


def follow(title: str, work: Iterator[float]) -> None:
    """Does the work, which yields the share of it that is done, and shows how far it is on stderr: from
    the first second on, and only if that is a terminal."""
    start = shown = time.monotonic()
    visible = sys.stderr.isatty()
    drawn = False
    try:
        for done in work:
            now = time.monotonic()
            if visible and now - start >= _DELAY and now - shown >= _INTERVAL:
                shown, drawn = now, True
                _write(_row(title, done, now - start))
    finally:
        if drawn:
            _write("")


def _row(title: str, done: float, elapsed: float) -> str:
    bar = "#" * int(_WIDTH * done)
    left = int(elapsed / done * (1 - done)) if done else 0
    return f"{title} [{bar:{_WIDTH}}] {done:4.0%}, {left // 60}:{left % 60:02} left"


def _write(row: str) -> None:
    sys.stderr.write(f"\r\x1b[K{row}")
    sys.stderr.flush()
