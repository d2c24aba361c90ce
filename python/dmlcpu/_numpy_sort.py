"""NumPy's functions that sort, by dmlcpu's top-k of the smallest elements."""

from __future__ import annotations  # help() shows the annotations as written

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import intp, ndarray

from dmlcpu._numpy_common import is_date, is_plain, or_numpys, plainer
from dmlcpu._operators import top_k
from dmlcpu._parts import part_of_top_k

__all__ = ["argpartition", "argsort", "partition", "sort"]

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


@or_numpys(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """A sorted copy of `a`, along `axis`, an int; None flattens `a` first.

    NaN and NaT come last, and -0.0 equals +0.0. dmlcpu's sort is stable, whatever `kind`. NumPy's own
    function sorts where it takes less time: small arrays; elements of 32 and 64 bits unless `kind` or
    `stable` says that the sort be stable; rows of more than 64 integers of 8 or 16 bits if it says so.

    Raises `numpy.exceptions.AxisError` for an axis out of range, ValueError for another `kind`, for both
    `kind` and `stable` and for an `order` of what has no fields.

    >>> import dmlcpu.numpy as np
    >>> np.sort([[3.0, np.nan, 1.0], [2.0, 0.0, 2.0]])
    array([[ 1.,  3., nan],
           [ 0.,  2.,  2.]])
    """
    given = _given(a, axis, kind, order, stable)
    if given is None:
        return NotImplemented
    keys, axis, dates = given
    if not _sort_pays(keys, keys.shape[axis], kind in ("stable", "mergesort") or bool(stable)):
        return NotImplemented
    if not keys.flags.c_contiguous and keys.flags.f_contiguous:  # of the input's layout, as NumPy's
        return _restored(_all(keys.T, keys.ndim - 1 - axis, "values").T, dates)
    return _restored(_all(keys, axis, "values"), dates)


@or_numpys(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    """The indices, `intp`, that sort `a` along `axis`, an int; None flattens `a` first.

    NaN and NaT come last, -0.0 equals +0.0. Equal elements come by ascending index, whatever `kind`.

    Errors are those of `sort`.

    >>> import dmlcpu.numpy as np
    >>> np.argsort([[3.0, np.nan, 1.0], [2.0, 0.0, 2.0]])
    array([[2, 0, 1],
           [1, 0, 2]])
    """
    given = _given(a, axis, kind, order, stable)
    if given is None:
        return NotImplemented
    keys, axis, _ = given
    if keys.shape[axis] == 1:
        return np.zeros(keys.shape, intp)
    return _all(keys, axis, "indices")


@or_numpys(np.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """A copy of `a` with the elements at positions `kth` of `axis` where a sort would put them.

    No element before such a position is larger than the one that is there, and none after it smaller;
    otherwise the order is undefined. `kth` is an int or a sequence of ints, negative ones count from the
    end. `axis` and NaNs are those of `sort`.

    Raises ValueError for a `kth` out of range, TypeError for one that is no integer; otherwise as `sort`.

    >>> import dmlcpu.numpy as np
    >>> x = np.partition(np.arange(10000) % 5000, [1, 2])
    >>> x[:4]
    array([0, 0, 1, 1])
    """
    given = _partition(a, kth, axis, kind, order)
    if given is None:
        return NotImplemented
    keys, axis, dates, k, from_end = given
    return _restored(_exchanged(keys, axis, k, from_end, "values"), dates)


@or_numpys(np.argpartition)
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """The indices, `intp`, that partition `a`, as `partition` does.

    Parameters and errors are those of `partition`.

    >>> import dmlcpu.numpy as np
    >>> np.argpartition(np.arange(10000) % 5000, [1, 2])[:4]
    array([   0, 5000,    1, 5001])
    """
    given = _partition(a, kth, axis, kind, order)
    if given is None:
        return NotImplemented
    keys, axis, _, k, from_end = given
    return _exchanged(keys, axis, k, from_end, "indices")


# Whether dmlcpu takes less time than NumPy, whose unstable sorts of 32 and 64 bits use vectors, and whose
# stable sorts of 8-bit and 16-bit integers are radix sorts. The times are in docs/tuning.md.


def _sort_pays(keys: npt.NDArray[Any], n: int, stably: bool) -> bool:
    if keys.size < 1024:
        return False
    if not stably:
        return keys.itemsize <= 2
    return keys.itemsize > 2 or keys.dtype.kind not in "biu" or n <= 64


def _partition_pays(keys: npt.NDArray[Any], n: int, k: int) -> bool:
    if keys.itemsize <= 2:
        return keys.size >= 1 << 15 and 8 * k <= n
    return keys.size >= 1 << 18 and 128 * k <= n


def _given(
    a: Any, axis: Any, kind: Any, order: Any, stable: Any
) -> tuple[npt.NDArray[Any], int, Any] | None:
    """What is sorted, along which axis, and the dtype of dates that it stands for; None of what is left
    to NumPy."""
    if order is not None or (stable is not None and type(stable) is not bool):
        return None
    if kind not in _KINDS or (kind is not None and stable is not None):
        return None
    keys, dates = a, None
    if not is_plain(a, axis, None):
        if plain := plainer(a, axis):
            return _given(*plain, kind, order, stable)
        if not is_date(a) or not (axis is None or type(axis) is int):
            return None
        dates = a.dtype
    if axis is None:
        keys, axis = keys.reshape(-1), 0
    ndim = keys.ndim
    if not 0 < ndim <= 8 or not -ndim <= axis < ndim or not keys.size:
        return None
    if not keys.dtype.isnative or not keys.flags.aligned:
        return None
    # The smallest integer is NaT, which becomes the greatest.
    return keys if dates is None else keys.view(np.int64) - 1, axis % ndim, dates


def _restored(result: npt.NDArray[Any], dates: Any) -> npt.NDArray[Any]:
    """Sorted keys as elements."""
    if dates is None:
        return result
    result += 1
    return result.view(dates)


def _all(keys: npt.NDArray[Any], axis: int, results: str) -> Any:
    return part_of_top_k(keys, keys.shape[axis], axis, 0, intp, "omit", results)


def _partition(
    a: Any, kth: Any, axis: Any, kind: Any, order: Any
) -> tuple[npt.NDArray[Any], int, Any, int, bool] | None:
    """As of `_given`, then how many of the first elements are to be sorted, or of the last ones."""
    if kind != "introselect":
        return None
    positions = _positions(kth)
    given = _given(a, axis, None, order, None)
    if given is None or not positions:
        return None
    keys, axis, dates = given
    n = keys.shape[axis]
    if not -n <= min(positions) <= max(positions) < n:
        return None
    positions = [position % n for position in positions]
    first, last = max(positions) + 1, n - min(positions)
    k = min(first, last)
    if not _partition_pays(keys, n, k):
        return None
    return keys, axis, dates, k, last < first


def _positions(kth: Any) -> list[int]:
    """`kth` as ints; no ints if it is left to NumPy."""
    if isinstance(kth, ndarray):
        return kth.ravel().tolist() if kth.ndim <= 1 and kth.dtype.kind in "iu" else []
    try:
        many = kth if isinstance(kth, (list, tuple, range)) else [kth]
        return [] if bool in map(type, many) else [index(position) for position in many]
    except TypeError:
        return []


def _exchanged(
    keys: npt.NDArray[Any], axis: int, k: int, from_end: bool, results: str
) -> npt.NDArray[Any]:
    """The elements, or their indices, after the k smallest or largest changed places with those that were
    at the begin or the end of the axis."""
    rows = np.moveaxis(keys, axis, -1)
    policy: Any = "propagate" if from_end else "omit"  # NaN is greater than all numbers
    best = top_k(rows, k, axis_direction=int(from_end), index_dtype=intp, nan_policy=policy)
    n = rows.shape[-1]
    if results == "indices":
        result = np.empty(rows.shape, intp)
        result[...] = np.arange(n)
    else:
        result = rows.copy()
    # In each row as many of the best ones are outside of their places as others are inside.
    first = n - k if from_end else 0
    inside = (best.indices >= first) & (best.indices < first + k)
    kept = np.zeros(inside.shape, bool)
    at = np.nonzero(inside)
    kept[(*at[:-1], best.indices[at] - first)] = True
    *outer, place = np.nonzero(~kept)
    others = result[(*outer, place + first)]
    at = np.nonzero(~inside)
    result[(*at[:-1], best.indices[at])] = others
    found = getattr(best, results)
    result[..., first : first + k] = found[..., ::-1] if from_end else found
    return np.ascontiguousarray(np.moveaxis(result, -1, axis))
