"""Objects that are not plain NumPy arrays, as arrays."""

from collections import UserList, deque
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcpu import _libraries

__all__ = ["as_array", "as_output"]

# What lists hold that needs no look at each: NumPy knows the type, and it has no nulls.
_PLAIN = {int, float, complex, bool, str, bytes, np.ndarray, *np.sctypeDict.values()}


def as_array(obj: Any, name: str) -> npt.NDArray[Any]:
    """An array that shares `obj`'s memory where it has any; called by the extension module."""
    requirement = "must be an array or convertible to one"
    if obj is None:
        raise TypeError(f"{name}: {requirement}, got None")
    try:
        array = np.asarray(_readable(obj))
    except _libraries.Refused as refusal:
        raise TypeError(f"{name}: {refusal}") from None
    except Exception as error:  # of whatever kind the object's library raises
        raise TypeError(f"{name}: {requirement}, got {type(obj).__name__} ({error})") from error
    if array.dtype.kind == "O" and not isinstance(obj, np.ndarray):
        why = _why_objects(array)
        raise TypeError(f"{name}: {requirement}, got {type(obj).__name__} ({why})")
    return array


def as_output(obj: Any, name: str) -> npt.NDArray[Any]:
    """An array of `obj`'s own memory, to write to; called by the extension module."""
    requirement = "must be an array, or share its memory by DLPack, a buffer or __array_interface__"
    try:
        array = _libraries.memory(obj)
    except _libraries.Refused as refusal:
        raise TypeError(f"{name}: {refusal}") from None
    except Exception as error:  # of whatever kind the object's library raises
        raise TypeError(f"{name}: {requirement}, got {type(obj).__name__} ({error})") from error
    if array is None:
        raise TypeError(f"{name}: {requirement}, got {type(obj).__name__}")
    return array


def _readable(obj: Any) -> Any:
    """`obj`, or what NumPy reads in its stead, without nulls; of a list, all that it holds."""
    if isinstance(obj, (list, tuple, deque, UserList)):
        if _PLAIN.issuperset(map(type, obj)):
            return obj
        return [item if type(item) in _PLAIN else _readable(item) for item in obj]
    if obj is None:
        raise _libraries.Refused("must have no nulls, got None (replace it or leave it out)")
    array = _libraries.read(obj)
    return obj if array is None else array


def _why_objects(array: npt.NDArray[Any]) -> str:
    if array.ndim == 0:
        return "NumPy cannot read it"
    types = sorted({type(item).__name__ for item in array.flat})
    return "NumPy reads it as objects" + (", of type " + ", ".join(types) if types else "")
