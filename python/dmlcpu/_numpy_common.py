"""What dmlcpu.numpy's functions share: what they take, and NumPy's own functions behind them."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy import asarray, memmap, ndarray

from dmlcpu import _core as _extension

__all__ = ["CODES", "NoValue", "is_date", "is_plain", "or_numpys", "plainer"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

NoValue: Any = np._NoValue
# The codes of dmlcpu's element types; E is bfloat16.
CODES = "?bBhHiIlLqQefdE"


def or_numpys(numpys: _Function) -> Callable[[Callable[..., Any]], _Function]:
    """A decorator of a function that returns NotImplemented for calls that are left to NumPy's.

    NumPy's function gets the arguments as the caller gave them, and may pass them on to another library.
    """
    return lambda door: _extension.with_fallback(door, numpys)


def is_plain(a: Any, axis: Any, out: Any) -> bool:
    """Whether dmlcpu takes the types of these, and means the same by them as NumPy."""
    return (
        type(a) is ndarray
        and a.dtype.char in CODES
        and (axis is None or type(axis) is int)
        and (out is None or type(out) is ndarray)
    )


def plainer(a: Any, axis: Any) -> tuple[Any, Any] | None:
    """The same in types that dmlcpu may take; None where it takes none or already has them."""
    if type(a) in (list, tuple, memmap):
        return asarray(a), axis
    return (a, int(axis)) if isinstance(axis, np.integer) else None


def is_date(a: Any) -> bool:
    """Whether an array holds dates or durations, which are 64-bit integers."""
    return type(a) is ndarray and a.dtype.kind in "mM" and a.dtype.isnative
