"""Signals that end a program, as an exception."""

import contextvars
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from queue import SimpleQueue
from types import FrameType

__all__ = ["Interrupted", "aside", "ignored", "interruptible"]

_PATIENCE = 0.2  # seconds for the work that a signal ends

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


def aside(work: Iterator[float]) -> Generator[float]:
    """What `work` yields. Another thread does it, step by step: Python raises the exception of a signal
    in the main thread, and not within a long call.

    Who closes the iterator ends the work; a step that has begun and takes long goes on, in a thread that
    does not keep the process alive.
    """
    steps: SimpleQueue[float | BaseException | None] = SimpleQueue()
    is_wanted: SimpleQueue[bool] = SimpleQueue()

    def run() -> None:
        try:
            for done in work:
                steps.put(done)
                if not is_wanted.get():
                    return
            steps.put(None)
        except BaseException as error:
            steps.put(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # as many threads as the system allows
        yield from work
        return
    try:
        while (step := steps.get()) is not None:
            if isinstance(step, BaseException):
                raise step
            yield step
            is_wanted.put(True)
    finally:
        is_wanted.put(False)
        thread.join(_PATIENCE)
