"""argmin and argmax of chunks, and how their results are combined."""

from __future__ import annotations  # help() shows the annotations as written

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, SupportsIndex

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.core import flatten

import dmlcpu
from dmlcpu._types import AxisDirection, AxisDirectionLike
from dmlcpu.dask._blocks import blockwise
from dmlcpu.dask._common import (
    aligned,
    as_dask,
    axes_of,
    blocks_of,
    direction_of,
    empty,
    fan_in,
    limited,
    only,
    reduce,
    stand_in,
    thread_limit,
    without_empty_chunks,
)

__all__ = ["argmax", "argmin"]

Array = npt.NDArray[Any]
Axis = SupportsIndex | Iterable[SupportsIndex] | None


class Search(NamedTuple):
    """A call, as tasks know it."""

    name: str  # of the core's function
    shape: tuple[int, ...]  # of the whole array
    axes: tuple[int, ...]  # reduced, ascending
    direction: int
    nan_policy: Literal["propagate", "omit"]
    index_dtype: np.dtype[Any]
    threads: int | None
    in_order: bool  # whether of two chunks one has the lower indices throughout

    def takes_one_pass(self, x: Array) -> bool:
        """Whether top_k of one element finds a chunk's values and indices at once.

        It finds the first of equal elements, and in ascending order NaNs last.
        """
        nan_first = self.nan_policy == "propagate" and x.dtype.kind not in "biu"
        ordered = self.name == "argmax" or not nan_first
        return len(self.axes) == 1 and self.direction == 0 and ordered

    def find(self, x: Array, axes: Any, *, index_dtype: Any = np.int64, **options: Any) -> Array:
        options |= dict(axis_direction=self.direction, nan_policy=self.nan_policy)
        found: Array = getattr(dmlcpu, self.name)(x, axes, index_dtype=index_dtype, **options)
        return found


def argmin(
    input: Any,
    axis: Axis = None,
    *,
    axis_direction: AxisDirectionLike = AxisDirection.INCREASING,
    keepdims: bool = True,
    index_dtype: npt.DTypeLike = np.uint32,
    nan_policy: Literal["propagate", "omit"] = "propagate",
    threads: int | None = 1,
    split_every: int | None = None,
) -> da.Array:
    """The index of the smallest element of each subset of `input` along `axis`, as a Dask array.

    `axis`, `axis_direction` (which of equal elements), `keepdims`, `index_dtype` and `nan_policy` are
    those of `dmlcpu.argmin`, and so is the result, whatever the chunks: indices count in row-major
    order over the reduced axes of the whole array.

    Each chunk gives, for each of its results, a value and an index in the whole array; where chunks
    split a reduced axis, these are combined in a tree.

    Parameters
    ----------
    input
        A `dask.array.Array` of 0 to 8 dimensions with known chunk sizes, of NumPy arrays of the element
        types of `dmlcpu.argmin`; or an array in memory.
    threads
        How many threads the core uses in a task; None for the worker's own setting.
    split_every
        Up to how many chunks' results a task combines, at least 2; with several chunked axes, its root
        along each of them. None for Dask's configuration ``split_every``, else 16.

    Returns
    -------
    dask.array.Array
        Lazy; its chunks are those of `input` along the axes that are kept.

    Raises
    ------
    TypeError, numpy.exceptions.AxisError, ValueError
        As `dmlcpu.argmin`, when called; and for unknown chunk sizes, blocks that are no NumPy arrays,
        and Dask collections that are no arrays. Arrays that turn out to have nulls are a TypeError when
        computed.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlcpu.dask
    >>> x = da.from_array(np.array([[1, 2, 3], [3, 0, 4], [2, 0, 2]]), chunks=(2, 2))
    >>> dmlcpu.dask.argmin(x, axis=1).compute()
    array([[0],
           [1],
           [1]], dtype=uint32)
    >>> dmlcpu.dask.argmin(x).compute()
    array([[4]], dtype=uint32)
    >>> dmlcpu.dask.argmin(x, axis_direction="decreasing", keepdims=False).compute().item()
    7
    """
    options = dict(axis_direction=axis_direction, index_dtype=index_dtype, nan_policy=nan_policy)
    return _arg("argmin", input, axis, options, keepdims, threads, split_every)


def argmax(
    input: Any,
    axis: Axis = None,
    *,
    axis_direction: AxisDirectionLike = AxisDirection.INCREASING,
    keepdims: bool = True,
    index_dtype: npt.DTypeLike = np.uint32,
    nan_policy: Literal["propagate", "omit"] = "propagate",
    threads: int | None = 1,
    split_every: int | None = None,
) -> da.Array:
    """The index of the largest element of each subset of `input` along `axis`, as a Dask array.

    Parameters, result and errors are those of `argmin`, with largest for smallest: under "propagate" NaN
    counts as larger than every number.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlcpu.dask
    >>> x = da.from_array(np.array([[1, 2, np.nan], [3, 0, 4]]), chunks=(1, 2))
    >>> dmlcpu.dask.argmax(x).compute(), dmlcpu.dask.argmax(x, nan_policy="omit").compute()
    (array([[2]], dtype=uint32), array([[5]], dtype=uint32))
    """
    options = dict(axis_direction=axis_direction, index_dtype=index_dtype, nan_policy=nan_policy)
    return _arg("argmax", input, axis, options, keepdims, threads, split_every)


def _arg(
    name: str,
    input: Any,
    axis: Axis,
    options: dict[str, Any],
    keepdims: bool,
    threads: Any,
    split_every: Any,
) -> Any:
    x, threads, count = as_dask(input, "input"), thread_limit(threads), fan_in(split_every)
    axes = _checked_axes(name, x, axis, dict(options, keepdims=keepdims))
    x = without_empty_chunks(x, axes)
    chunked = [a for a in axes if x.numblocks[a] > 1]
    direction, nan_policy = direction_of(options["axis_direction"]), options["nan_policy"]
    search = Search(
        name,
        x.shape,
        axes,
        direction,
        nan_policy,
        np.dtype(options["index_dtype"]),
        threads,
        in_order=chunked == [a for a in axes if x.shape[a] > 1][:1],
    )
    token = f"dmlcpu-{name}"
    if not chunked:
        return _by_blocks(x, search, keepdims, token)
    parts = blocks_of(partial(_candidates, search), x, token)
    combine, finish = partial(_combined, search), partial(_finished, search)
    return reduce(
        parts, axes, combine, finish, keepdims=keepdims, count=count, token=token,
        dtype=search.index_dtype,
    )  # fmt: skip


def _checked_axes(name: str, x: Any, axis: Any, options: dict[str, Any]) -> tuple[int, ...]:
    """The reduced axes, ascending, after the core has checked the call on arrays without memory."""
    axis = axes_of(axis)
    find = getattr(dmlcpu, name)
    find(stand_in((1,) * x.ndim, x.dtype), axis, **options)
    given = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else [axis]
    axes = tuple(sorted(range(x.ndim)[a] for a in given)) if x.ndim else ()
    # Without results, unless the call is an error.
    is_empty = any(x.shape[a] == 0 for a in axes)
    shape = [size if a in axes or is_empty else 0 for a, size in enumerate(x.shape)]
    if axes:
        find(stand_in(shape, x.dtype), axes, **options)
    return axes


def _by_blocks(x: Any, search: Search, keepdims: bool, token: str) -> Any:
    """Where each result has its elements in one chunk."""
    axes = range(x.ndim)
    kept = tuple(a for a in axes if keepdims or a not in search.axes)
    return blockwise(
        partial(_found, search, keepdims), kept, x, tuple(axes), token=token, dtype=search.index_dtype,
        adjust_chunks={a: 1 for a in search.axes if keepdims}, meta=empty(len(kept), search.index_dtype),
    )  # fmt: skip


def _found(search: Search, keepdims: bool, block: Any) -> Array:
    with limited(search.threads):
        return search.find(
            aligned(only(block)), search.axes, keepdims=keepdims, index_dtype=search.index_dtype
        )


def _candidates(search: Search, x: Array, starts: tuple[int, ...]) -> tuple[Array, Array]:
    """Values of a chunk's results and their indices in the whole array; reduced axes stay with size 1."""
    axes, x = search.axes, aligned(x)
    with limited(search.threads):
        if search.takes_one_pass(x):
            values, found = dmlcpu.top_k(
                x, 1, axis=axes[0], axis_direction=int(search.name == "argmax"),
                nan_policy=search.nan_policy, index_dtype=np.int64,
            )  # fmt: skip
            at: Sequence[Array] = [found]
        else:
            found = search.find(x, axes)
            at = [found] if len(axes) == 1 else np.unravel_index(found, [x.shape[a] for a in axes])
            # Batches of the kept axes; the reduced ones are those that tuples index.
            kept = [a for a in range(x.ndim) if a not in axes]
            rows = x.transpose(*kept, *axes)
            tuples = np.stack(at, axis=-1).reshape(*rows.shape[: len(kept)], len(axes))
            values = dmlcpu.gather_nd(rows, tuples, batch_dims=len(kept)).reshape(found.shape)
    if values.dtype.kind == "b":  # NumPy may compare their bytes
        values = values.view(np.uint8) != 0
    indices = at[0] + starts[axes[0]]
    for a, position in zip(axes[1:], at[1:]):
        indices = indices * search.shape[a] + (position + starts[a])
    return values, indices.astype(search.index_dtype, copy=False)


def _combined(search: Search, blocks: Any, axis: Any, keepdims: Any) -> tuple[Array, Array]:
    """The best of several chunks' results: by value, then by index."""
    parts: list[tuple[Array, Array]] = list(flatten([blocks]))
    shape = parts[0][0].shape
    if len(parts) == 1:
        return parts[0]
    values, indices = (np.stack([part[i].reshape(-1) for part in parts]) for i in (0, 1))
    first = search.direction == AxisDirection.INCREASING
    with limited(search.threads):
        best = search.find(values, 0)
    value = np.take_along_axis(values, best, 0)
    if search.in_order:
        index = np.take_along_axis(indices, best, 0)
    else:
        with np.errstate(invalid="ignore"):  # signalling NaNs
            ties = (values == value) | ((values != values) & (value != value))
        worst = np.iinfo(indices.dtype).max if first else 0
        candidates = np.where(ties, indices, indices.dtype.type(worst))
        index = candidates.min(0) if first else candidates.max(0)
    return value.reshape(shape), index.reshape(shape)


def _finished(search: Search, blocks: Any, axis: Any, keepdims: bool) -> Array:
    indices = _combined(search, blocks, axis, True)[1]
    return indices if keepdims else indices.squeeze(search.axes)
