"""NumPy's functions that search, take and sort, by dmlcpu's operators.

`argmax`, `argmin`, `nanargmax`, `nanargmin`, `top_k`, `take`, `take_along_axis`, `sort`, `argsort`,
`partition` and `argpartition` have NumPy's parameters, results and errors. Every other name is NumPy's
own, so that a program changes one line:

>>> import dmlcpu.numpy as np
>>> x = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], dtype=np.float32)
>>> np.argmax(x, axis=1)
array([2, 2, 1])

dmlcpu takes arrays of its own element types, datetime64 and timedelta64, with any strides, read in place;
memory maps, whose results are plain arrays; and lists. NumPy's own function does the rest: other element
types (complex, longdouble, object, strings, records, another byte order), subclasses with a behaviour of
their own (masked arrays, `numpy.matrix`), arrays of other libraries, an `out` of another dtype or in the
input's memory, more than 8 dimensions. A call that dmlcpu refuses ends there too: errors are NumPy's.
It gets the arguments as they were given, so that functions of other libraries behind it do.
"""

from __future__ import annotations  # help() shows the annotations as written

from operator import index
from typing import Any, Literal

import numpy as _np
import numpy.typing as npt
from numpy import asarray, intp, memmap, ndarray

from dmlcpu import _core as _extension
from dmlcpu import _operators
from dmlcpu._arrays import as_array
from dmlcpu._numpy_common import CODES, NoValue, is_date, is_plain, or_numpys, plainer
from dmlcpu._numpy_gather import gather, gather_along_axis
from dmlcpu._numpy_sort import argpartition as argpartition
from dmlcpu._numpy_sort import argsort as argsort
from dmlcpu._numpy_sort import partition as partition
from dmlcpu._numpy_sort import sort as sort
from dmlcpu._types import AxisDirection, TopK
from dmlcpu._untraced import untraced

__all__ = sorted({*_np.__all__, "top_k"})

# Bound early: a program may put this module's functions in the place of NumPy's.
_np_take, _np_take_along_axis = _np.take, _np.take_along_axis

_NAT = _np.iinfo(_np.int64).min
# The types of outputs to which NumPy writes indices, by its letters for C's types: `long` has 64 bits on
# Linux, and 32 on Windows.
_INDEX_CODES = "".join(code for code in "bBhHiIlLqQ" if _np.dtype(code) != _np.uint64)


def __getattr__(name: str) -> Any:
    # With NumPy's __path__, the import system would load its submodules a second time.
    if name == "__path__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_np, name)


def __dir__() -> list[str]:
    return sorted({*dir(_np), *globals()})


@or_numpys(_np.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NoValue) -> Any:
    """The index of the largest element of `a`, or of each slice along `axis`.

    The first of equal elements; NaN and NaT come before all others, and -0.0 equals +0.0. `axis` is an
    int; None searches all elements in row-major order. The result is a `numpy.intp`, or an array of them
    without `axis`, which `keepdims` keeps with size 1; or `out`, an array of that shape, written in place
    if it is of dtype `intp`.

    Raises TypeError for an axis that is no int, such as a tuple, `numpy.exceptions.AxisError` for one out
    of range, ValueError for an empty axis to search and for an `out` of another shape.

    >>> import dmlcpu.numpy as np
    >>> np.argmax([[1, 5, 2], [7, 0, 7]], axis=0, keepdims=True)
    array([[1, 0, 1]])
    >>> print(np.argmax([1.0, np.nan, 3.0]), np.argmax(np.array(["2026", "NaT"], "datetime64[D]")))
    1 1
    """
    return _search(_operators.argmax, a, axis, out, keepdims)


@or_numpys(_np.argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NoValue) -> Any:
    """The index of the smallest element of `a`, or of each slice along `axis`.

    Parameters, result and errors are those of `argmax`: NaN and NaT come before all others.

    >>> import dmlcpu.numpy as np
    >>> np.argmin([[1, 5, np.nan], [7, 0, 7]], axis=1)
    array([2, 1])
    """
    return _search(_operators.argmin, a, axis, out, keepdims)


@or_numpys(_np.nanargmax)
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NoValue) -> Any:
    """The index of the largest element of `a` that is not NaN, or of each slice along `axis`.

    Parameters, result and errors are those of `argmax`; a slice of NaNs alone is a ValueError too. NaN is
    passed over beside -infinity as well, where NumPy's result "cannot be trusted". NaT is not passed
    over, as by NumPy.

    >>> import dmlcpu.numpy as np
    >>> np.nanargmax([[np.nan, -np.inf], [2, 3]], axis=1)
    array([1, 1])
    >>> np.nanargmax([[np.nan, np.nan], [2, 3]], axis=1)
    Traceback (most recent call last):
    ValueError: All-NaN slice encountered
    """
    return _search_but_nan(True, a, axis, out, keepdims)


@or_numpys(_np.nanargmin)
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NoValue) -> Any:
    """The index of the smallest element of `a` that is not NaN, or of each slice along `axis`.

    Parameters, result and errors are those of `nanargmax`.

    >>> import dmlcpu.numpy as np
    >>> np.nanargmin([[np.nan, 4], [2, 3]], axis=0)
    array([1, 1])
    """
    return _search_but_nan(False, a, axis, out, keepdims)


@untraced
def top_k(
    a: npt.ArrayLike,
    k: int,
    /,
    *,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,
    mode: Literal["largest", "smallest"] | None = None,
) -> TopK:
    """The `k` largest or smallest elements along an axis, the best first, and their indices.

    `k` is from 0 to the size of `axis`. `mode`, the name in NumPy 2.6 and the array API, decides instead
    of `largest` if it is given. `sorted=False` allows any order; the result is sorted all the same.

    Returns a `dmlcpu.TopK` of `values`, of `a`'s dtype, and `indices`, `intp`; both have `a`'s shape with
    `k` elements along `axis`. Equal elements come by ascending index, and -0.0 equals +0.0; NaN and NaT
    come last, largest or smallest. `a` is what `dmlcpu.top_k` reads, or an array of elements that
    NumPy sorts, which it does where dmlcpu cannot.

    Raises TypeError for an argument of another type and for an `a` with nulls, such as masked elements;
    `numpy.exceptions.AxisError` for an axis out of range, also of an `a` without dimensions; ValueError
    for a `k` out of range, another `mode`, an axis of None.

    >>> import dmlcpu.numpy as np
    >>> np.top_k([1.0, 4.0, np.nan, 4.0], 2)
    TopK(values=array([4., 4.]), indices=array([1, 3]))
    >>> np.top_k([3, 1, 2], 2, largest=False).indices
    array([1, 2])
    """
    if mode is not None:
        if not isinstance(mode, str) or mode not in ("largest", "smallest"):
            raise ValueError(f'mode: must be "largest" or "smallest", got {mode!r}')
        largest = mode == "largest"
    if axis is None:
        raise ValueError("axis: must be an int, got None")
    array: Any = a
    if not isinstance(a, ndarray) or isinstance(a, (memmap, _np.ma.MaskedArray)):
        array = as_array(a, "a")
    k, axis, ndim = _extension.as_int(k, "k"), _extension.as_axis(axis), array.ndim
    if not -ndim <= axis < ndim:
        raise _np.exceptions.AxisError(f"axis: must be in [{-ndim}, {ndim}), got {axis}")
    axis %= ndim
    if not 0 <= k <= array.shape[axis]:
        raise ValueError(
            f"k: must be in [0, {array.shape[axis]}] (the size of axis {axis}), got {k}"
        )
    if k == 0:
        return _top_k_by_sorting(_np_take(array, [], axis), 0, axis, largest)
    # NaT is the smallest of the integers: last among the largest.
    dates = is_date(array) and (largest or not _has_nat(array))
    try:
        best = _top_k(array.view(_np.int64) if dates else array, k, axis, largest)
    except (TypeError, ValueError):
        return _top_k_by_sorting(array, k, axis, largest)
    if type(array) is not ndarray:  # a subclass may have units, which NumPy's function keeps
        return TopK(_np_take_along_axis(array, best.indices, axis), best.indices)
    return TopK(best.values.view(array.dtype), best.indices) if dates else best


@or_numpys(_np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    """Elements of `a`, or its slices along `axis`, at `indices`, integers of any shape.

    The result has `a`'s dtype and shape, with that of `indices` in the place of `axis`, an int; None
    flattens `a` first. It is a scalar if it has no dimensions; or `out`, an array of that shape,
    written in place if it is of `a`'s dtype. `mode` says what an index means: "raise": negative ones
    count from the end; "wrap": all are taken modulo the size of the axis; "clip": all are clamped to
    the axis, negative ones to 0.

    Raises IndexError for an index out of range, under "wrap" for any into an empty axis; TypeError for
    indices or an axis that are no integers, `numpy.exceptions.AxisError` for an axis out of range,
    ValueError for another mode and for an `out` of another shape. Nothing has been written to `out` then.

    >>> import dmlcpu.numpy as np
    >>> np.take([[0, 1, 2], [3, 4, 5]], [2, -3], axis=1)
    array([[2, 0],
           [5, 3]])
    >>> np.take([3, 4, 5], [-1, 7], mode="clip"), np.take([3, 4, 5], [-1, 7], mode="wrap")
    (array([3, 5]), array([5, 4]))
    """
    return _take(a, indices, axis, out, mode)


@or_numpys(_np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Elements of each 1-D slice of `arr` along `axis`, at the indices in the same slice of `indices`.

    `indices` are integers, negative ones count from the end, with as many dimensions as `arr`. But for
    `axis`, which has in the result the size that it has in `indices`, both broadcast against each other.
    An `axis` of None flattens `arr`, and `indices` have one dimension. The result is C-contiguous.

    Raises IndexError for an index out of range, indices that are no integers and shapes that do not
    broadcast, ValueError for another number of dimensions, `numpy.exceptions.AxisError` for an axis
    out of range.

    >>> import dmlcpu.numpy as np
    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> np.take_along_axis(x, np.argmin(x, axis=1, keepdims=True), axis=1)
    array([[10],
           [40]])
    """
    array = asarray(arr) if type(arr) is memmap else arr
    dates = is_date(array)
    if dates:
        array = array.view(_np.int64)
    if not (is_plain(array, None, indices) and indices.dtype.kind in "iu"):
        return NotImplemented
    try:
        found = gather_along_axis(array, indices, axis)
    except (TypeError, ValueError, IndexError):
        return NotImplemented
    return found.view(arr.dtype) if dates else found


def _has_nat(dates: npt.NDArray[Any]) -> bool:
    numbers = dates.view(_np.int64)
    return numbers.size > 0 and bool(numbers.flat[argmin(numbers)] == _NAT)


def _top_k(a: Any, k: int, axis: int, largest: bool) -> TopK:
    return _operators.top_k(
        a,
        k,
        axis=axis,
        axis_direction=AxisDirection.DECREASING if largest else AxisDirection.INCREASING,
        index_dtype=intp,
        nan_policy="omit",
    )


def _search(core: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    # is_plain(), written out: the call would take an eighth of a small search.
    if (
        type(a) is ndarray
        and a.dtype.char in CODES
        and (axis is None or type(axis) is int)
        and (out is None or type(out) is ndarray)
    ):
        kept = keepdims is not NoValue and bool(keepdims)
        dtype = intp if out is None or out.dtype.char not in _INDEX_CODES else out.dtype
        try:
            found = core(a, axis, keepdims=kept, index_dtype=dtype, out=out)
            return found if out is not None or found.ndim else found[()]
        except (TypeError, ValueError):
            return NotImplemented
    if plain := plainer(a, axis):
        return _search(core, *plain, out, keepdims)
    # NaT is found first, as the smallest integer is in argmin.
    if is_date(a) and (core is _operators.argmin or not _has_nat(a)):
        return _search(core, a.view(_np.int64), axis, out, keepdims)
    return NotImplemented


def _search_but_nan(largest: bool, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    core = _operators.argmax if largest else _operators.argmin
    if not is_plain(a, axis, out):
        if plain := plainer(a, axis):
            return _search_but_nan(largest, *plain, out, keepdims)
        return _search(core, a, axis, out, keepdims) if is_date(a) else NotImplemented
    if a.dtype.kind in "biu":  # no NaN
        return _search(core, a, axis, out, keepdims)
    values: Any
    try:
        if axis is None:
            found = core(a, index_dtype=intp, nan_policy="omit")
            values = a.flat[found.item()]
        else:
            values, found = _top_k(a, 1, axis, largest)
    except (TypeError, ValueError):
        return NotImplemented
    if _np.count_nonzero(values != values):
        raise ValueError("All-NaN slice encountered")
    if keepdims is NoValue or not keepdims:
        found = found.squeeze(axis)
    if out is None:
        return found if found.ndim else found[()]
    if out.dtype.char not in _INDEX_CODES or out.shape != found.shape:
        return NotImplemented
    out[...] = found
    return out


def _top_k_by_sorting(array: npt.NDArray[Any], k: int, axis: int, largest: bool) -> TopK:
    # Any nonzero byte is True, but NumPy sorts bytes.
    keys: Any = array.view(_np.uint8) != 0 if array.dtype.kind == "b" else array
    if largest:  # of the reversed axis, so that ties stay in order when the result is reversed
        order = _np.argsort(_np.flip(keys, axis), axis=axis, kind="stable")
        order = array.shape[axis] - 1 - _np.flip(order, axis)
    else:
        order = _np.argsort(keys, axis=axis, kind="stable")
    is_nan = _np_take_along_axis(keys != keys, order, axis)
    nans_last = _np.argsort(is_nan, axis=axis, kind="stable")
    best = nans_last[(slice(None),) * axis + (slice(k),)]
    indices = _np_take_along_axis(order, best, axis)
    return TopK(_np_take_along_axis(array, indices, axis), indices)


def _take(a: Any, indices: Any, axis: Any, out: Any, mode: Any) -> Any:
    if (  # as in _search()
        type(a) is ndarray
        and a.dtype.char in CODES
        and (axis is None or type(axis) is int)
        and (out is None or type(out) is ndarray)
    ):
        try:
            return gather(a, indices, axis, out, mode)
        except (TypeError, ValueError, IndexError, OverflowError):
            pass
    elif plain := plainer(a, axis):
        return _take(plain[0], indices, plain[1], out, mode)
    elif is_date(a) and out is None:
        found = _take(a.view(_np.int64), indices, axis, None, mode)
        return found if found is NotImplemented else found.view(a.dtype)
    return _take_wrapped(a, indices, axis, out, mode)


def _take_wrapped(a: Any, indices: Any, axis: Any, out: Any, mode: Any) -> Any:
    """NumPy's take() under "wrap", with indices in range.

    NumPy's loop adds or subtracts the size of the axis until an index is in range, which takes years for
    large ones, and never ends where the axis is empty.
    """
    is_usual = isinstance(mode, str) and mode in ("raise", "clip")
    if is_usual or _has_protocol(a) or _has_protocol(out):
        return NotImplemented
    try:
        at = indices if isinstance(indices, ndarray) else asarray(indices, intp)
        size = _np.size(a) if axis is None else _np.shape(a)[index(axis)]
        wraps = _np_take((0, 1), 2, mode=mode) == 0  # there are several names of it
    except (TypeError, ValueError, IndexError, OverflowError):
        return NotImplemented
    if not wraps or at.dtype.kind not in "iub":
        return NotImplemented
    if size == 0 and at.size > 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return _np_take(a, at.astype(intp, copy=False) % max(size, 1), axis, out, mode)


def _has_protocol(obj: Any) -> bool:
    """Whether NumPy's function would call another library's function or method."""
    if isinstance(obj, (ndarray, _np.generic)):
        protocol = getattr(type(obj), "__array_function__", None)
        return protocol not in (None, ndarray.__array_function__)
    return hasattr(obj, "__array_function__") or hasattr(obj, "take")
