"""Objects that are not plain NumPy arrays, as arrays."""

from collections import UserList, deque
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcpu import _libraries
from dmlcpu._untraced import Entry

__all__ = ["as_array", "as_output"]

# What lists hold that needs no look at each: NumPy knows the type, and it has no nulls.
_PLAIN = {int, float, complex, bool, str, bytes, np.ndarray, *np.sctypeDict.values()}


@Entry
def as_array(obj: Any, name: str) -> npt.NDArray[Any]:
    """An array that shares `obj`'s memory where it has any; called by the extension module."""
    requirement = "must be an array or convertible to one"
    if obj is None:
        raise TypeError(f"{name}: {requirement}, got None")
    try:
        array = np.asarray(_readable(obj))
        why = _why_objects(array) if array.dtype.kind == "O" else None
    except _libraries.UNREADABLE as error:
        raise _why_unreadable(name, requirement, obj, error) from error
    if why and not isinstance(obj, np.ndarray):
        raise TypeError(f"{name}: {requirement}, got {type(obj).__name__} ({why})")
    return array


@Entry
def as_output(obj: Any, name: str) -> npt.NDArray[Any]:
    """An array of `obj`'s own memory, to write to; called by the extension module."""
    requirement = "must be an array, or share its memory by DLPack, a buffer or __array_interface__"
    try:
        array = _libraries.memory(obj)
    except _libraries.UNREADABLE as error:
        raise _why_unreadable(name, requirement, obj, error) from error
    if array is None:
        raise TypeError(f"{name}: {requirement}, got {type(obj).__name__}")
    return array


def _why_unreadable(name: str, requirement: str, obj: Any, error: Exception) -> Exception:
    if isinstance(error, RecursionError):  # says nothing of the object's type
        raise error
    if isinstance(error, _libraries.Refused):
        return error.kind(f"{name}: {error}")
    return TypeError(f"{name}: {requirement}, got {type(obj).__name__} ({error})")


def _readable(obj: Any, depth: int = 64) -> Any:
    """`obj`, or what NumPy reads in its stead, without nulls; of a list, all that it holds.

    Lists are at most `depth` deep, which is NumPy's limit: one that holds itself has no end.
    """
    if isinstance(obj, (list, tuple, deque, UserList)):
        if _PLAIN.issuperset(map(type, obj)):
            return obj
        if depth == 0:
            raise ValueError("lists in lists, deeper than arrays have dimensions")
        return [item if type(item) in _PLAIN else _readable(item, depth - 1) for item in obj]
    if obj is None:
        raise _libraries.Refused("must have no nulls, got None (replace it or leave it out)")
    array = _libraries.read(obj)
    return obj if array is None else array


def _why_objects(array: npt.NDArray[Any]) -> str:
    for item in array.flat:
        if hasattr(type(item), "__len__"):
            len(item)  # NumPy takes what raises an error here as an object, and says nothing of it
    if array.ndim == 0:
        return "NumPy cannot read it"
    types = sorted({type(item).__name__ for item in array.flat})
    return "NumPy reads it as objects" + (", of type " + ", ".join(types) if types else "")
