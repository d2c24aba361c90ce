"""How calls run: threads and instruction sets."""

from contextlib import AbstractContextManager, ContextDecorator
from typing import SupportsIndex

from dmlcpu import _core

__all__ = [
    "get_instruction_set",
    "get_num_threads",
    "instruction_sets",
    "num_threads",
    "set_num_threads",
    "thread_count",
    "use_instruction_set",
]


def thread_count(count: SupportsIndex, name: str = "count") -> int:
    """`count` as an int, after checking it; `name` is the argument's, for errors."""
    number = _core.as_int(count, name)
    if not 1 <= number <= 4096:
        raise ValueError(f"{name}: must be in [1, 4096], got {number}")
    return number


def set_num_threads(count: SupportsIndex | None) -> None:
    """Set the most threads that a call uses, for the process.

    `count` is from 1 to 4096. None returns to the number that the process may use: the variable
    ``DMLCPU_NUM_THREADS``, what threadpoolctl sets for OpenMP, ``OMP_NUM_THREADS``, else one per
    processor that the affinity and the container's limit (rounded up) leave to the process.
    `show_config` says which. Results never depend on it. In a forked child calls run on one thread
    whatever is set. Where the system starts no more threads, calls use those that there are.

    >>> import dmlcpu
    >>> dmlcpu.set_num_threads(1)
    >>> dmlcpu.get_num_threads()
    1
    >>> dmlcpu.set_num_threads(None)
    """
    _core.set_num_threads(0 if count is None else thread_count(count))


def get_num_threads() -> int:
    """The most threads that a call made now from this thread would use."""
    return _core.num_threads()


def num_threads(count: SupportsIndex) -> "_ThreadLimit":
    """Use up to `count` threads for calls inside the ``with`` block, or the decorated function.

    Inside, it takes the place of what `set_num_threads` says. It is a setting of the context (see
    `contextvars`): an asyncio task has its own, and passes it on to tasks that it starts, as
    ``copy_context().run`` does to what it calls; other threads keep theirs.

    >>> import dmlcpu
    >>> with dmlcpu.num_threads(1):
    ...     dmlcpu.get_num_threads()
    1
    """
    return _ThreadLimit(thread_count(count))


class _ThreadLimit(ContextDecorator, AbstractContextManager[None]):
    """One block of `num_threads`. The context variable holds all blocks that the context is in, so that
    blocks may end in any order, as those of interleaved generators do."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        variable = _core.thread_limits()
        variable.set((*variable.get(), self))

    def __exit__(self, *error: object) -> None:
        variable = _core.thread_limits()
        blocks = list(variable.get())
        # Another context, in which the garbage collector ends a generator, is not in the block.
        if self in blocks:
            del blocks[len(blocks) - 1 - blocks[::-1].index(self)]
            variable.set(tuple(blocks))


def instruction_sets() -> tuple[str, ...]:
    """The instruction sets that this build has kernels for and this machine can run, smallest first.

    On x86-64 processors these are of "x86-64-v2", "x86-64-v3" and "x86-64-v4", elsewhere "generic".
    """
    return _core.instruction_sets()


def get_instruction_set() -> str:
    """The instruction set in use: at first the environment variable ``DMLCPU_ISA``, else the largest."""
    return _core.instruction_set()


def use_instruction_set(name: str) -> None:
    """Use the named instruction set for all later calls in the process, "auto" for the largest.

    Results never depend on it. Raises ValueError for one that this build or this machine lacks.

    >>> import dmlcpu
    >>> dmlcpu.use_instruction_set(dmlcpu.instruction_sets()[0])
    >>> dmlcpu.use_instruction_set("auto")
    """
    if not isinstance(name, str):
        raise TypeError(f"name: must be a str, got {type(name).__name__}")
    _core.use_instruction_set(name)
