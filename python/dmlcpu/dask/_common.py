"""What the operators on chunks share: their arguments, and the tree in which results are combined."""

import contextlib
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.array.reductions import _tree_reduce
from dask.base import is_dask_collection
from dask.core import flatten

from dmlcpu._arrays import as_array
from dmlcpu._runtime import num_threads, thread_count
from dmlcpu._types import AxisDirection, AxisDirectionLike
from dmlcpu.dask._blocks import Starts, blockwise

__all__ = [
    "FAN_IN",
    "aligned",
    "as_dask",
    "axes_of",
    "blocks_of",
    "direction_of",
    "empty",
    "fan_in",
    "limited",
    "only",
    "reduce",
    "stand_in",
    "thread_limit",
    "without_empty_chunks",
]

Array = npt.NDArray[Any]

# Results that a task combines, unless told otherwise. More make fewer tasks and levels, which cost the
# scheduler time; fewer let results be combined sooner, and less memory hold them.
FAN_IN = 16


def as_dask(obj: Any, name: str) -> Any:
    """A Dask array of NumPy arrays with known chunk sizes; of what is in memory, a new one."""
    if not isinstance(obj, da.Array):
        if is_dask_collection(obj):
            raise TypeError(
                f"{name}: must be a dask.array.Array or an array in memory, got {type(obj).__name__}"
            )
        obj = da.asarray(as_array(obj, name))
    if not isinstance(obj._meta, np.ndarray):
        kind = type(obj._meta)
        raise TypeError(
            f"{name}: must be a Dask array of NumPy arrays, got one of {kind.__module__}.{kind.__name__}"
        )
    for axis, sizes in enumerate(obj.chunks):
        if any(math.isnan(size) for size in sizes):
            raise ValueError(
                f"{name}: must have known chunk sizes, got nan along axis {axis} "
                "(compute_chunk_sizes() finds them)"
            )
    return obj


def axes_of(axis: Any) -> Any:
    """`axis`, or what an iterable gives: read once, and no further than the core would, which takes up
    to 8 axes and checks the next."""
    if axis is None or isinstance(axis, (bool, str)):
        return axis
    if hasattr(axis, "__index__"):
        with contextlib.suppress(TypeError):  # arrays have it, but only those of one int are one
            return operator.index(axis)
    try:
        axes = iter(axis)
    except TypeError:
        return axis  # the core says what is wrong
    return tuple(itertools.islice(axes, 9))


def stand_in(shape: Iterable[int], dtype: npt.DTypeLike) -> Array:
    """An array of one element's memory, on which the core checks arguments before there are any data."""
    return np.broadcast_to(np.zeros((), dtype), tuple(shape))


def empty(ndim: int, dtype: npt.DTypeLike) -> Array:
    """What tells Dask the type of a result's blocks."""
    return np.empty((0,) * ndim, dtype)


def direction_of(direction: AxisDirectionLike) -> int:
    """One spelling for all of a direction that the core takes, so that equal calls have equal names."""
    if isinstance(direction, str):
        return int(AxisDirection[direction.upper()])
    return operator.index(direction)


def thread_limit(threads: Any) -> int | None:
    """`threads` if it is one, or None."""
    return None if threads is None else thread_count(threads, "threads")


def limited(threads: int | None) -> AbstractContextManager[None]:
    """In a task: the core uses at most `threads` threads; None leaves the worker's setting."""
    return contextlib.nullcontext() if threads is None else num_threads(threads)


def fan_in(split_every: Any, default: int = FAN_IN) -> int:
    """How many results a task combines."""
    if split_every is None:
        split_every = dask.config.get("split_every", default)
    count = None
    if not isinstance(split_every, bool):
        with contextlib.suppress(
            TypeError
        ):  # arrays have __index__, but only those of one int are one
            count = operator.index(split_every)
    if count is None:
        raise TypeError(f"split_every: must be None or an int, got {type(split_every).__name__}")
    if count < 2:
        raise ValueError(f"split_every: must be at least 2, got {count}")
    return count


def without_empty_chunks(x: Any, axes: Iterable[int]) -> Any:
    """The same array, whose chunks along axes that are not empty have elements."""
    filled = {a: tuple(size for size in x.chunks[a] if size) for a in axes if 0 in x.chunks[a]}
    return x.rechunk(filled) if filled else x


def blocks_of(function: Callable[..., Any], x: Any, token: str) -> Any:
    """What ``function(block, starts)`` gives for each block and where it begins in the array.

    It may be of any type: the Dask array's dtype says nothing.
    """
    axes = tuple(range(x.ndim))
    return blockwise(
        function, axes, x, axes, Starts(x.chunks), axes,
        token=token, dtype=x.dtype, meta=empty(x.ndim, x.dtype),
    )  # fmt: skip


def reduce(
    parts: Any,
    axes: tuple[int, ...],
    combine: Callable[..., Any],
    finish: Callable[..., Any],
    *,
    keepdims: bool,
    count: int,
    token: str,
    dtype: npt.DTypeLike,
    size: int = 1,
) -> Any:
    """The blocks along `axes` combined in a tree; each task takes up to about `count` of them.

    With several chunked axes, a task takes the root of `count` along each, at least 2. The result has
    `size` elements along `axes` that are kept. Calls that differ in `finish` and `dtype` alone share all
    tasks but the last.
    """
    most = max(parts.numblocks)
    chunked = max(1, sum(parts.numblocks[axis] > 1 for axis in axes))
    # Dask takes neither a float's nor a range's limit well: no more than there are.
    along_each = most if count >= most**chunked else int(count ** (1 / chunked) + 1e-9)
    tree = _tree_reduce(
        parts,
        finish,
        axes,
        keepdims,
        parts.dtype,
        dict.fromkeys(axes, max(2, along_each)),
        combine,
        name=token,
        concatenate=False,
    )
    chunks = tree.chunks
    if keepdims:
        chunks = tuple((size,) if a in axes else sizes for a, sizes in enumerate(chunks))
    return da.Array(tree.dask, tree.name, chunks, meta=empty(tree.ndim, dtype))


def aligned(block: Any, name: str = "input") -> Any:
    """A block as an array without nulls, aligned, as those that another worker sent may not be.

    What Dask says of a block's type is what whoever made it said: it may be any array in memory
    except a list, which Dask takes for a list of blocks.
    """
    array = block if type(block) is np.ndarray else as_array(block, name)
    return array if array.flags.aligned else array.copy()


def only(blocks: Any) -> Any:
    """What nested lists of one block hold: Dask gives lists along axes that the result lacks."""
    found = list(flatten([blocks]))
    if len(found) != 1:
        raise TypeError("input: must have blocks that are arrays, got lists")
    return found[0]
