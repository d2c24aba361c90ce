"""gather_nd of chunks: each input chunk gets the tuples that fall in it."""

from __future__ import annotations  # help() shows the annotations as written

import math
import operator
from functools import partial
from typing import Any, Literal, SupportsIndex

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArraySliceDep
from dask.utils import parse_bytes

import dmlcpu
from dmlcpu import _core
from dmlcpu._arrays import as_array
from dmlcpu.dask._blocks import Starts, blockwise
from dmlcpu.dask._common import (
    aligned,
    as_dask,
    empty,
    fan_in,
    limited,
    only,
    stand_in,
    thread_limit,
)
from dmlcpu.dask._routes import Router, fail, joined, part_of, rows_of, tell_where

__all__ = ["gather_nd"]

Array = npt.NDArray[Any]
TOKEN = "dmlcpu-gathernd"  # letters alone, or progress bars would show less
# Input chunks whose slices a task joins, unless told otherwise. The result holds all of them anyway; a
# level of joins copies and mostly sends them once more.
JOINED = 64


def gather_nd(
    input: Any,
    indices: Any,
    *,
    batch_dims: SupportsIndex = 0,
    mode: Literal["raise", "clip"] = "raise",
    threads: int | None = 1,
    split_every: int | None = None,
) -> da.Array:
    """Slices of `input` at coordinates that are the last dimension of `indices`, as a Dask array.

    Parameters, result and errors are those of `dmlcpu.gather_nd`, whatever the chunks. `input` and
    `threads` are as for `argmin`; a task joins the slices of up to `split_every` input chunks.

    Each input chunk gets the tuples that fall in it, and gives their slices. Of an array of `indices`
    in memory, only chunks in which tuples fall have tasks; of a Dask array, whose tuples are seen when
    they are computed, each pair of chunks of both has two.

    Parameters
    ----------
    indices
        A Dask array of integers with known chunk sizes, or what `dmlcpu.gather_nd` takes.

    Returns
    -------
    dask.array.Array
        Its chunks are `input`'s along the batch and trailing dimensions, and between so large that they,
        and the chunks of tuples, have up to Dask's configured ``array.chunk-size``.

    Raises
    ------
    TypeError, ValueError
        As `dmlcpu.gather_nd` and `argmin`, when called.
    IndexError
        When computed: a coordinate out of range under "raise". The text names the first one of those in
        the same chunk of the result.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlcpu.dask
    >>> x = da.from_array(np.array([[0, 1], [2, 3], [4, 5]]), chunks=(2, 1))
    >>> dmlcpu.dask.gather_nd(x, [[2], [0]]).compute()
    array([[4, 5],
           [0, 1]])
    >>> at = da.from_array(np.array([[0, 1], [-1, 0]]), chunks=1)
    >>> dmlcpu.dask.gather_nd(x, at).compute()
    array([1, 4])
    """
    x, threads, count = as_dask(input, "input"), thread_limit(threads), fan_in(split_every, JOINED)
    indices = as_dask(indices, "indices") if isinstance(indices, da.Array) else _in_memory(indices)
    batch = _core.as_int(batch_dims, "batch_dims")
    _check(x, indices, batch, mode)
    length = indices.shape[-1]
    chunks = _chunks(x, indices, batch)
    if isinstance(indices, da.Array):
        indices = indices.rechunk((*chunks[: indices.ndim - 1], (length,)))
    if math.prod(x.numblocks[batch : batch + length]) == 1:
        return _by_blocks(x, indices, batch, mode, threads, chunks)
    return _routed(x, indices, batch, mode, threads, count, chunks)


def _in_memory(indices: Any) -> Array:
    array: npt.NDArray[Any] = as_array(indices, "indices")
    # An empty list counts as integers, as in the core.
    return array.astype(np.int64) if isinstance(indices, list) and array.size == 0 else array


def _check(x: Any, indices: Any, batch: int, mode: Any) -> None:
    """Lets the core check the call on arrays without memory, whose result is empty or one element."""
    sizes, tuples = list(x.shape), list(indices.shape)
    if 0 < batch < min(len(sizes), len(tuples)):
        if sizes[:batch] == tuples[:batch]:  # or the core will say so
            sizes[0] = tuples[0] = 0
    elif len(tuples) > 1:
        tuples[0] = 0
    elif tuples:
        sizes = [max(size, 1) if a < tuples[0] else 0 for a, size in enumerate(sizes)]
    dmlcpu.gather_nd(
        stand_in(sizes, x.dtype), stand_in(tuples, indices.dtype), batch_dims=batch, mode=mode
    )
    indexed = x.shape[batch : batch + indices.shape[-1]]
    if mode == "clip" and indices.size > 0 and 0 in indexed:
        raise ValueError(f"input: must not be empty along an indexed axis, got shape {x.shape}")


def _chunks(x: Any, indices: Any, batch: int) -> Any:
    """The result's: few along the tuples, as each takes a task or two of each chunk of `input`."""
    length = indices.shape[-1]
    before, after = x.chunks[:batch], x.chunks[batch + length :]
    # Where a tuple takes more bytes than its slice, the tuples are what has to fit.
    slice_bytes = math.prod(map(max, after)) * x.dtype.itemsize
    each = math.prod(map(max, before)) * max(slice_bytes, length * indices.dtype.itemsize)
    limit = parse_bytes(dask.config.get("array.chunk-size")) // max(each, 1)
    tuples = indices.shape[batch:-1]
    # Dask chooses none where there are no tuples.
    wanted = ("auto",) * len(tuples) if 0 not in tuples else tuples
    along = normalize_chunks(wanted, tuples, limit=max(limit, 1), dtype=np.uint8)
    return (*before, *along, *after)


def _by_blocks(x: Any, indices: Any, batch: int, mode: Any, threads: Any, chunks: Any) -> Any:
    """Where the indexed axes have one chunk, which all tuples fall in."""
    between = indices.ndim - 1
    if not isinstance(indices, da.Array):
        indices = da.from_array(indices, chunks=(*chunks[:between], (indices.shape[-1],)))
    # Dask's names of axes: those of the result, then those that are indexed, then that of tuples.
    names = tuple(range(len(chunks) + indices.shape[-1] + 1))
    result, indexed = names[: len(chunks)], names[len(chunks) : -1]
    tuples = (*result[:between], names[-1])
    return blockwise(
        partial(_gathered, batch, mode, threads), result,
        x, (*result[:batch], *indexed, *result[between:]),
        indices, tuples, Starts(indices.chunks[:-1]), tuples[:-1],
        token=TOKEN, dtype=x.dtype, meta=empty(len(chunks), x.dtype),
    )  # fmt: skip


def _gathered(
    batch: int, mode: Any, threads: int | None, block: Any, indices: Any, starts: tuple[int, ...]
) -> Array:
    with limited(threads), tell_where((*starts, 0)):
        x: Array = aligned(only(block))
        return dmlcpu.gather_nd(x, aligned(only(indices), "indices"), batch_dims=batch, mode=mode)


class _Graph(dict[Any, Any]):
    """Tasks by key."""

    def __init__(self, token: str) -> None:
        self.token = token

    def name(self, kind: str = "") -> str:
        return "-".join(filter(None, (TOKEN, kind, self.token)))

    def add(self, kind: str, at: tuple[int, ...], *task: Any) -> tuple[Any, ...]:
        """Adds a task, a function and its arguments, and returns its key."""
        key = (self.name(kind), *at)
        self[key] = task
        return key

    def join(self, keys: list[Any], at: tuple[int, ...], count: int) -> list[Any]:
        """Up to `count` keys, of tasks that concatenate what those of `keys` give."""
        level = 0
        while len(keys) > count:
            groups = [keys[i : i + count] for i in range(0, len(keys), count)]
            keys = [
                self.add("join", (*at, level, number), np.concatenate, group)
                for number, group in enumerate(groups)
            ]
            level += 1
        return keys


def _routed(
    x: Any, indices: Any, batch: int, mode: Any, threads: Any, count: int, chunks: Any
) -> Any:
    """Where the indexed axes have several chunks: tuples are sorted by them.

    A task "route" sorts a block of tuples, "part" takes those of one chunk, "rows" gathers their
    slices, and the result's own task brings the slices to the tuples' order, after tasks "join" if
    there are many.
    """
    between, length = indices.ndim - 1, indices.shape[-1]
    indexed = batch + length
    lazy = isinstance(indices, da.Array)
    router = Router(batch, x.chunks[batch:indexed], mode, threads)
    graph = _Graph(tokenize(x.name, indices.name if lazy else indices, router, count))
    gather = partial(rows_of, indexed, threads)
    slices = ArraySliceDep((*chunks[:between], (length,)))
    trailing = list(np.ndindex(*map(len, chunks[between:])))
    for at in np.ndindex(*map(len, chunks[:between])):
        where = slices[(*at, 0)]
        try:
            if lazy:
                order, parts = _routed_later(graph, router, at, where, indices)
            else:
                order, parts = _routed_now(router, where, indices)
        except IndexError as error:
            for rest in trailing:
                graph.add("", (*at, *rest), fail, str(error))
            continue
        for rest in trailing:
            rows = [
                graph.add(
                    "rows", (*at, *chunk, *rest), gather, (x.name, *at[:batch], *chunk, *rest), part
                )
                for chunk, part in parts.items()
            ]
            rows = graph.join(rows, (*at, *rest), count)
            shape = tuple(sizes[i] for sizes, i in zip(chunks, (*at, *rest)))
            graph.add("", (*at, *rest), partial(joined, shape, between, x.dtype), order, rows)
    name = graph.name()
    layers = HighLevelGraph.from_collections(name, graph, [x, indices] if lazy else [x])
    return da.Array(layers, name, chunks, meta=empty(len(chunks), x.dtype))


def _routed_later(
    graph: _Graph, router: Router, at: tuple[int, ...], where: tuple[slice, ...], indices: Any
) -> tuple[Any, dict[tuple[int, ...], Any]]:
    """The keys of the tuples' order and of their parts by chunk."""
    sort = partial(router.route, [part.start for part in where])
    route = graph.add("route", at, sort, (indices.name, *at, 0))
    chunks = enumerate(np.ndindex(*map(len, router.chunks)))
    parts = {
        chunk: graph.add("part", (*at, *chunk), partial(part_of, i), route) for i, chunk in chunks
    }
    return graph.add("order", at, operator.attrgetter("order"), route), parts


def _routed_now(
    router: Router, where: tuple[slice, ...], indices: Array
) -> tuple[Array, dict[tuple[int, ...], Array]]:
    """The tuples' order and their parts by chunk, for chunks that have any."""
    route = router.route([part.start for part in where], indices[where])
    numblocks = tuple(map(len, router.chunks))
    used = np.flatnonzero(np.diff(route.bounds))
    chunks = zip(*(axis.tolist() for axis in np.unravel_index(used, numblocks)))
    return route.order, {chunk: part_of(i, route) for chunk, i in zip(chunks, used.tolist())}
