"""How dmlcpu was built and runs here, and how a call would be done."""

import re
from collections.abc import Callable
from typing import Any, Literal, overload

from dmlcpu import _core, _operators

__all__ = ["Plan", "explain", "show_config"]

_FUNCTIONS = (_operators.argmax, _operators.argmin, _operators.top_k, _operators.gather_nd)


class Plan:
    """How a call would be done; what `dmlcpu.explain` returns. Its str is the plan."""

    text: str
    """The whole plan, a text for people."""
    threads: int
    """The most threads that the call would use."""
    scratch_bytes: int
    """The memory that it would allocate while it runs, besides its result."""

    __slots__ = ("scratch_bytes", "text", "threads")

    def __init__(self, text: str) -> None:
        self.text = text
        self.threads, self.scratch_bytes = (
            int(re.findall(rf"{name} (\d+)", text)[-1]) for name in ("threads", "scratch")
        )

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def explain(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Plan:
    """How a call of one of the operators would be done, without doing it.

    Parameters
    ----------
    function
        `dmlcpu.argmax`, `dmlcpu.argmin`, `dmlcpu.top_k` or `dmlcpu.gather_nd`.
    args, kwargs
        What it would be called with. No element is read, nothing is written to `out`, and no result
        is allocated.

    Returns
    -------
    Plan
        Its str says in a row each: the function and the instruction set; the strategy, that is which
        kernel runs on rows, columns or tuples of which sizes and strides (in elements), and the tiles
        that it takes at a time; the tasks that threads share and the parts of a split reduction,
        with the most threads; the bytes of scratch memory. Its attributes `threads` and
        `scratch_bytes` are these two numbers. For argmin and argmax it goes on with the candidates, a
        row each: the time that is expected on one thread, what the plan is, and how often it pays each
        cost; a star marks the one that was chosen.

    Raises
    ------
    TypeError
        `function` is none of the four.
    TypeError, numpy.exceptions.AxisError, ValueError
        As the call itself; but not IndexError for a gather index out of range, which only running it
        finds.

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcpu
    >>> logits = np.zeros((21, 512, 512), np.float32)
    >>> plan = dmlcpu.explain(dmlcpu.argmax, logits, axis=0)
    >>> print(plan)  # doctest: +ELLIPSIS
    argmax, ...
    columns in place, 21 positions in periods of 21, passes of ...
    1 groups by 0 of 262144 lanes by 1; tiles of 1 x ...
    tasks ..., parts 1, threads ...
    scratch ... bytes
    candidates
    ...
    >>> plan.scratch_bytes < logits.nbytes
    True
    """
    if not any(function is known for known in _FUNCTIONS):
        names = ", ".join(f"dmlcpu.{known.__name__}" for known in _FUNCTIONS[:-1])
        name = getattr(function, "__qualname__", type(function).__name__)
        raise TypeError(
            f"function: must be {names} or dmlcpu.{_FUNCTIONS[-1].__name__}, got {name}"
        )
    text = _core.plan_text(function, *args, **kwargs)
    return Plan(f"{function.__name__}, {_core.instruction_set()}\n{text.rstrip()}")


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...
def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Show how dmlcpu was built and how it runs in this process.

    ``python -m dmlcpu`` prints the same, and if the package cannot be imported, why.

    Parameters
    ----------
    mode
        "stdout" prints, "dicts" returns a dict of dicts instead, as ``numpy.show_config`` does.

    Returns
    -------
    dict or None
        With the sections "dmlcpu" (version, files), "build" (compiler, flags without the build
        machine's folders), "instruction sets" (built, supported by this machine, in use, and what
        chose it), "openmp" (specification, runtime and its file), "threads" (their number and what
        set it, processors, affinity, the container's limit, load average, whether processors are
        contended), "environment" (the variables that count; OpenMP and dmlcpu read them when they
        are loaded), "python", "numpy", "platform"; and "notes", a list of what may be amiss. None is
        what is unknown here or not set.

    Raises
    ------
    ValueError
        For another `mode`.

    Examples
    --------
    >>> import dmlcpu
    >>> config = dmlcpu.show_config("dicts")
    >>> config["instruction sets"]["in use"] == dmlcpu.get_instruction_set()
    True
    >>> config["threads"]["number"] == dmlcpu.get_num_threads()
    True
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f'mode: must be "stdout" or "dicts", got {mode!r}')
    from dmlcpu._diagnosis import _config

    config = _config.collect()
    if mode == "dicts":
        return config
    print(_config.as_text(config))
    return None
