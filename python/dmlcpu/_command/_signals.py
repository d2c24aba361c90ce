"""Signals that end a program, as an exception."""

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

__all__ = ["Interrupted", "ignored", "interruptible"]

_NUMBERS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Interrupted(BaseException):
    """A signal, whose number it holds, ends the command; what was begun is removed on the way out."""


def interruptible() -> AbstractContextManager[None]:
    """Raises Interrupted for the first of the signals; those after it do not disturb the way out."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for other in _NUMBERS:
            signal.signal(other, signal.SIG_IGN)
        raise Interrupted(number)

    return _handled(interrupt)


def ignored() -> AbstractContextManager[None]:
    """Nothing of this block is left undone because of a signal."""
    return _handled(signal.SIG_IGN)


@contextmanager
def _handled(handler: object) -> Iterator[None]:
    # Only the main thread is told of signals. Those that are ignored already stay so, as under nohup.
    main = threading.current_thread() is threading.main_thread()
    before = {
        number: signal.getsignal(number)
        for number in (_NUMBERS if main else [])
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        for number in before:
            signal.signal(number, handler)  # type: ignore[arg-type]
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
