"""The four operators: names, defaults, documentation.

These are declarations: the extension module makes of each a function that binds arguments as Python
would, and then runs the operator without running Python code. Type checkers read _operators.pyi.
"""

from __future__ import annotations  # help() shows the annotations as written

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from dmlcpu import _core
from dmlcpu._types import AxisDirection, AxisDirectionLike, TopK

__all__ = ["argmax", "argmin", "gather_nd", "top_k"]

Axis = SupportsIndex | Iterable[SupportsIndex] | None
NanPolicy = Literal["propagate", "omit"]


@_core.native_argmin
def argmin(
    input: npt.ArrayLike,
    axis: Axis = None,
    *,
    axis_direction: AxisDirectionLike = AxisDirection.INCREASING,
    keepdims: bool = True,
    index_dtype: npt.DTypeLike = np.uint32,
    nan_policy: NanPolicy = "propagate",
    out: Any = None,
) -> npt.NDArray[Any]:
    """The index of the smallest element of each subset of `input` along `axis`.

    DirectML's ``DML_ARGMIN_OPERATOR_DESC``; ties and several axes as there, NaN as documented here.

    Parameters
    ----------
    input
        A tensor of 0 to 8 dimensions of float32, float16, float64, bfloat16 (of ``ml_dtypes``),
        int8 to int64, uint8 to uint64 or bool, with any strides; it is read where it is. An array,
        an object with ``__dlpack__`` on the CPU, the buffer protocol or ``__array_interface__``,
        or what `numpy.asarray` takes. Masked arrays and those of pandas, pyarrow and polars are
        read in their own element type; they must have no nulls (NaN is none), also in lists.
        PyTorch's tensors with the negative bit are copied; those that wrap others are refused.
    axis
        The axis or axes to reduce, in any order; None for all. Negative ones count from the end.
        ``()`` reduces nothing and gives index 0 everywhere. A 0-dimensional input counts as
        having one axis of size 1.
    axis_direction
        Which of equal elements is found: INCREASING the first, DECREASING the last. -0.0 equals
        +0.0. An `AxisDirection`, 0 or 1, or "increasing" or "decreasing" in any case.
    keepdims
        Whether reduced axes stay in the result's shape, with size 1.
    index_dtype
        uint32, int32, uint64 or int64; or uint8, int8, uint16 or int16. One that does not hold
        every index of the reduced extent is a ValueError.
    nan_policy
        "propagate": NaN counts as smaller than every number, and equal to NaN. "omit": NaNs are
        passed over; a subset of NaNs alone gives its first index, or with DECREASING its last.
    out
        Where to write the result: an array, or an object that shares writable memory by DLPack (as
        PyTorch's tensors do), the buffer protocol or ``__array_interface__``. It has the result's
        shape and `index_dtype`, any strides whose elements do not overlap, and shares no memory
        with `input`.

    Returns
    -------
    numpy.ndarray
        Indices that count in row-major order over the reduced axes, in the order in which `input`
        has them. If `out` is given, it is that object.

    Raises
    ------
    TypeError
        An argument of the wrong type, or an array of another dtype or with nulls.
    numpy.exceptions.AxisError
        An axis out of range.
    ValueError
        Any other bad value: a repeated axis, an empty reduced axis, an `index_dtype` too small for
        the largest index, an `out` that does not fit. Nothing has been written to `out`.

    Examples
    --------
    >>> import numpy as np, dmlcpu
    >>> x = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], dtype=np.float32)
    >>> dmlcpu.argmin(x, axis=1)
    array([[0],
           [1],
           [0]], dtype=uint32)
    >>> dmlcpu.argmin(x, axis=(0, 1))
    array([[4]], dtype=uint32)
    >>> dmlcpu.argmin([1, 2, 3, 2, 1], axis_direction="decreasing")
    array([4], dtype=uint32)
    """


def _with_sections_of_argmin(declaration: Callable[..., Any]) -> Callable[..., Any]:
    """Puts argmin's sections, from parameters to errors, before the examples of a docstring."""
    if argmin.__doc__ and declaration.__doc__:  # not under python -OO
        _, start, rest = argmin.__doc__.partition("Parameters\n")
        sections = start + rest.partition("Examples\n")[0]
        sections = sections.replace("counts as smaller than", "counts as larger than")
        declaration.__doc__ = declaration.__doc__.replace("Examples\n", sections + "Examples\n")
    return declaration


@_core.native_argmax
@_with_sections_of_argmin
def argmax(
    input: npt.ArrayLike,
    axis: Axis = None,
    *,
    axis_direction: AxisDirectionLike = AxisDirection.INCREASING,
    keepdims: bool = True,
    index_dtype: npt.DTypeLike = np.uint32,
    nan_policy: NanPolicy = "propagate",
    out: Any = None,
) -> npt.NDArray[Any]:
    """The index of the largest element of each subset of `input` along `axis`.

    DirectML's ``DML_ARGMAX_OPERATOR_DESC``; ties and several axes as there, NaN as documented here.

    Examples
    --------
    >>> import numpy as np, dmlcpu
    >>> x = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], dtype=np.float32)
    >>> dmlcpu.argmax(x, axis=0)
    array([[1, 2, 1]], dtype=uint32)
    >>> dmlcpu.argmax(x, axis=0, keepdims=False, index_dtype=np.int64)
    array([1, 2, 1])
    >>> dmlcpu.argmax(x)
    array([[7]], dtype=uint32)
    >>> import array
    >>> dmlcpu.argmax(x, axis=1, keepdims=False, out=array.array("I", [0, 0, 0]))
    array('I', [2, 2, 1])
    >>> dmlcpu.argmax([1.0, np.nan, 3.0]), dmlcpu.argmax([1.0, np.nan, 3.0], nan_policy="omit")
    (array([1], dtype=uint32), array([2], dtype=uint32))
    """


@_core.native_top_k
def top_k(
    input: npt.ArrayLike,
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = AxisDirection.DECREASING,
    index_dtype: npt.DTypeLike = np.uint32,
    nan_policy: NanPolicy = "propagate",
    out: Sequence[Any] | None = None,
) -> TopK:
    """The `k` largest or smallest elements along an axis, sorted, and their indices.

    DirectML's ``DML_TOP_K1_OPERATOR_DESC``, with k up to and including the size of the axis.

    Parameters
    ----------
    input
        As for `argmin`.
    k
        How many, from 1 to the size of `axis`.
    axis
        The axis to search; negative ones count from the end.
    axis_direction
        DECREASING: the largest, largest first. INCREASING: the smallest, smallest first. In both
        directions equal elements come in ascending order of index; -0.0 equals +0.0.
    index_dtype
        uint32, int32, uint64 or int64.
    nan_policy
        "propagate": NaNs count as larger than +infinity, first when DECREASING and last when
        INCREASING. "omit": NaNs come last in both directions.
    out
        Where to write values and indices: any sequence of two arrays or objects as for `argmin`, of
        the result's shape, `input`'s dtype and `index_dtype`, with any strides whose elements do
        not overlap, sharing no memory with `input` or each other.

    Returns
    -------
    TopK
        A named tuple of `values`, each with its own bits, and `indices`, which count from the start
        of the axis. Both have `input`'s shape with `k` elements along `axis`. If `out` is given, they
        are its two objects.

    Raises
    ------
    TypeError, numpy.exceptions.AxisError, ValueError
        As for `argmin`; ValueError for a `k` out of range.

    Notes
    -----
    The values of a PyTorch tensor of bfloat16 are an array of ``ml_dtypes.bfloat16``, which PyTorch
    does not take. ``torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)`` is a tensor of the
    same memory; or pass tensors as `out`. PyTorch indexes with int64, not with uint32.

    Examples
    --------
    >>> import dmlcpu
    >>> values, indices = dmlcpu.top_k([[1, 2, 2, 3], [3, 4, 5, 5]], 3)
    >>> values
    array([[3, 2, 2],
           [5, 5, 4]])
    >>> indices
    array([[3, 1, 2],
           [2, 3, 1]], dtype=uint32)
    >>> dmlcpu.top_k([3.0, 1.0, 2.0], 2, axis_direction="increasing").values
    array([1., 2.])
    """


@_core.native_gather_nd
def gather_nd(
    input: npt.ArrayLike,
    indices: npt.ArrayLike,
    *,
    batch_dims: SupportsIndex = 0,
    mode: Literal["raise", "clip"] = "raise",
    out: Any = None,
) -> npt.NDArray[Any]:
    """Slices of `input` at coordinates that are the last dimension of `indices`.

    DirectML's ``DML_GATHER_ND_OPERATOR_DESC``, and with `batch_dims` ``DML_GATHER_ND1_OPERATOR_DESC``.

    Parameters
    ----------
    input
        As for `argmin`, with at least 1 dimension.
    indices
        Integers of any size, with at least 1 dimension; those of 8 and 16 bits are copied to int32,
        others are read where they are. Its last dimension, of size t, holds coordinates into the t
        dimensions of `input` after the first `batch_dims`.
        1 <= t <= input.ndim - batch_dims. Negative coordinates, from -n to -1, count from the end.
        An empty list counts as integers, but has t = 0, a ValueError: for no tuples, give an
        array, ``numpy.empty((0, t), int)``.
    batch_dims
        How many leading dimensions `input` and `indices` share.
    mode
        What happens to a coordinate out of range: "raise" is an error; "clip" clamps it to
        [0, n - 1] after negative ones were counted from the end (an axis of size 0 has no such
        coordinate, so that is a ValueError).
    out
        Where to write the result: an array or an object as for `argmin`, of the result's shape and
        `input`'s dtype, with any strides whose elements do not overlap, sharing no memory with
        `input` or `indices`.

    Returns
    -------
    numpy.ndarray
        Of shape ``indices.shape[:-1] + input.shape[batch_dims + t:]`` (where the first `batch_dims`
        dimensions are those of both). If `out` is given, it is that object.

    Raises
    ------
    TypeError
        An argument of the wrong type, or an array of another dtype or with nulls.
    IndexError
        A coordinate out of range under "raise"; the text names the first in row-major order.
    ValueError
        Any other bad value. Nothing has been written to `out` in any of these cases.

    Examples
    --------
    >>> import dmlcpu
    >>> dmlcpu.gather_nd([[0, 1], [2, 3]], [[1], [0]])
    array([[2, 3],
           [0, 1]])
    >>> dmlcpu.gather_nd([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[0, 1], [1, 0]])
    array([[2, 3],
           [4, 5]])
    >>> dmlcpu.gather_nd([[0, 1], [2, 3]], [[1], [-2]], batch_dims=1)
    array([1, 2])
    """
