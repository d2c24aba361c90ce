"""NumPy's ways of taking elements, as gathers of dmlcpu's."""

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import asarray, ascontiguousarray, intp, ndarray

from dmlcpu import _operators

__all__ = ["gather", "gather_along_axis"]


def _as_indices(indices: Any) -> npt.NDArray[Any]:
    at = asarray(indices, None if isinstance(indices, ndarray) else intp)
    return at if at.dtype.char in "ilqILQ" else at.astype(intp, casting="safe")


def gather(a: npt.NDArray[Any], indices: Any, axis: int | None, out: Any, mode: Any) -> Any:
    # First what may be objects whose code resizes the array.
    if type(mode) is not str:
        raise TypeError
    at = _as_indices(indices)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = range(a.ndim)[axis]
    if mode == "clip":  # without dmlcpu's counting from the end
        at = asarray(np.maximum(at.astype(intp, copy=False), 0))
    elif mode == "wrap" and a.shape[axis] > 0:
        at, mode = asarray(at.astype(intp, copy=False) % a.shape[axis]), "raise"
    if axis > 0:
        # The same in every batch, by strides of 0. numpy.broadcast_to takes ten times as long.
        at = at if at.flags.c_contiguous else at.copy()
        strides = (0,) * axis + at.strides
        at = ndarray(a.shape[:axis] + at.shape, at.dtype, at, 0, strides)
    found = _operators.gather_nd(a, at[..., None], batch_dims=axis, mode=mode, out=out)
    return found if out is not None or found.ndim else found[()]


def gather_along_axis(arr: npt.NDArray[Any], indices: npt.NDArray[Any], axis: Any) -> Any:
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    if arr.ndim != indices.ndim:
        raise ValueError(f"indices: must have {arr.ndim} dimensions, got {indices.ndim}")
    axis, last = range(arr.ndim)[index(axis)], arr.ndim - 1
    # All axes but the last are batches.
    rows, at = arr.swapaxes(axis, last), _as_indices(indices).swapaxes(axis, last)
    if rows.shape[:last] != at.shape[:last]:
        batches = np.broadcast_shapes(rows.shape[:last], at.shape[:last])
        rows = np.broadcast_to(rows, batches + rows.shape[last:])
        at = np.broadcast_to(at, batches + at.shape[last:])
    found = _operators.gather_nd(rows, at[..., None], batch_dims=last)
    return found if axis == last else ascontiguousarray(found.swapaxes(axis, last))
