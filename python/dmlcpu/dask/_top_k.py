"""top_k of chunks, and how their results are combined."""

from __future__ import annotations  # help() shows the annotations as written

import operator
from functools import partial
from typing import Any, Literal, NamedTuple, SupportsIndex

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.core import flatten

import dmlcpu
from dmlcpu._types import AxisDirection, AxisDirectionLike, TopK
from dmlcpu.dask._blocks import blockwise
from dmlcpu.dask._common import (
    aligned,
    as_dask,
    blocks_of,
    direction_of,
    empty,
    fan_in,
    limited,
    reduce,
    stand_in,
    thread_limit,
    without_empty_chunks,
)

__all__ = ["top_k"]

Array = npt.NDArray[Any]
Pair = tuple[Array, Array]


class Selection(NamedTuple):
    """A call, as tasks know it."""

    k: int
    axis: int
    options: tuple[tuple[str, Any], ...]
    threads: int | None

    def of(self, x: Array) -> Pair:
        """The first k of `x`, or all if it has fewer."""
        x = aligned(x)
        k = min(self.k, x.shape[self.axis] if x.ndim else 1)
        with limited(self.threads):
            return tuple(dmlcpu.top_k(x, k, axis=self.axis, **dict(self.options)))


def top_k(
    input: Any,
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = AxisDirection.DECREASING,
    index_dtype: npt.DTypeLike = np.uint32,
    nan_policy: Literal["propagate", "omit"] = "propagate",
    threads: int | None = 1,
    split_every: int | None = None,
) -> TopK[da.Array, da.Array]:
    """The `k` largest or smallest elements along an axis, sorted, and their indices, as Dask arrays.

    Parameters, results and errors are those of `dmlcpu.top_k`, whatever the chunks: equal elements come
    in ascending order of their index in the whole axis, in both directions. `input`, `threads` and
    `split_every` are as for `argmin`; errors come when it is called.

    Each chunk gives its first `k` elements alone; where chunks split `axis`, these are combined in a
    tree. Values and indices that are computed together are found once:

    >>> import dask, dask.array as da, numpy as np, dmlcpu.dask
    >>> x = da.from_array(np.array([[1, 2, 2, 3], [3, 4, 5, 5]]), chunks=(1, 2))
    >>> found = dmlcpu.dask.top_k(x, 3)
    >>> values, indices = dask.compute(*found)
    >>> values
    array([[3, 2, 2],
           [5, 5, 4]])
    >>> indices
    array([[3, 1, 2],
           [2, 3, 1]], dtype=uint32)

    Returns
    -------
    TopK
        A named tuple of two Dask arrays, `values` and `indices`, of `input`'s shape with `k` elements, in
        one chunk, along `axis`.
    """
    x, threads, count = as_dask(input, "input"), thread_limit(threads), fan_in(split_every)
    options = dict(axis_direction=axis_direction, index_dtype=index_dtype, nan_policy=nan_policy)
    axis = _checked_axis(x, k, axis, options)
    k, index_dtype = operator.index(k), np.dtype(index_dtype)
    options |= dict(axis_direction=direction_of(axis_direction), index_dtype=index_dtype)
    selection = Selection(k, axis, tuple(options.items()), threads)
    axes = tuple(range(x.ndim))
    x = without_empty_chunks(x, axes[axis : axis + 1])
    token = "dmlcpu-topk"  # letters alone, or progress bars would show less
    if x.ndim > 0 and x.numblocks[axis] > 1:
        parts = blocks_of(partial(_candidates, selection), x, token)
        combine = partial(_combined, selection)

        def item(number: int, dtype: npt.DTypeLike) -> Any:
            return reduce(
                parts, (axis,), combine, partial(_finished, selection, number), keepdims=True,
                count=count, token=token, dtype=dtype, size=k,
            )  # fmt: skip
    else:
        pairs = blockwise(
            selection.of, axes, x, axes, token=token, dtype=x.dtype, meta=empty(x.ndim, x.dtype)
        )

        def item(number: int, dtype: npt.DTypeLike) -> Any:
            return blockwise(
                operator.itemgetter(number), axes, pairs, axes, token=f"{token}-item", dtype=dtype,
                adjust_chunks={axis: (k,)} if axes else None, meta=empty(x.ndim, dtype),
            )  # fmt: skip

    return TopK(item(0, x.dtype), item(1, index_dtype))


def _checked_axis(x: Any, k: Any, axis: Any, options: dict[str, Any]) -> int:
    """The axis, counted from the front, after the core has checked the call on arrays without memory."""
    dmlcpu.top_k(stand_in((1,) * x.ndim, x.dtype), 1, axis=axis, **options)
    number = range(max(x.ndim, 1))[operator.index(axis)]
    # Without results, unless the call is an error.
    shape = list(x.shape)
    if x.ndim > 0 and x.shape[number] > 0:
        shape = [size if a == number else 0 for a, size in enumerate(shape)]
        shape += [0] * (x.ndim == 1)
    dmlcpu.top_k(stand_in(shape, x.dtype), k, axis=number, **options)
    return number


def _candidates(selection: Selection, x: Array, starts: tuple[int, ...]) -> Pair:
    """A chunk's first k elements and their indices in the whole array."""
    values, indices = selection.of(x)
    indices += indices.dtype.type(starts[selection.axis])
    return values, indices


def _combined(selection: Selection, blocks: Any, axis: Any, keepdims: Any) -> Pair:
    """The first k of several chunks' results.

    Equal elements are in ascending order of index within each of them, and so from one to the next; so
    that their order by position among all of them is that by index.
    """
    parts: list[Pair] = list(flatten([blocks]))
    if len(parts) == 1:
        return parts[0]
    values, indices = (np.concatenate([part[i] for part in parts], selection.axis) for i in (0, 1))
    best, at = selection.of(values)
    with limited(selection.threads):
        return best, dmlcpu.numpy.take_along_axis(indices, at, selection.axis)


def _finished(selection: Selection, number: int, blocks: Any, axis: Any, keepdims: Any) -> Array:
    return _combined(selection, blocks, axis, keepdims)[number]
