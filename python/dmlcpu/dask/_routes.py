"""In tasks: tuples sorted by the input chunk that they fall in, and their slices in the tuples' order."""

import ast
import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import dmlcpu
from dmlcpu._arrays import as_array
from dmlcpu.dask._common import aligned, limited, stand_in

__all__ = ["Route", "Router", "fail", "joined", "part_of", "rows_of", "tell_where"]

Array = npt.NDArray[Any]


class Route(NamedTuple):
    """A block of tuples, sorted by chunk."""

    order: Array  # sorted: the tuple's number
    flat: Array  # sorted: the row-major index among the batch's and the chunk's indexed axes
    bounds: Array  # the tuples of chunk i are those from bounds[i] to bounds[i + 1]


class Router(NamedTuple):
    """A call, as tasks know it."""

    batch: int
    chunks: tuple[tuple[int, ...], ...]  # of the indexed axes of the whole input
    mode: str
    threads: int | None

    def route(self, starts: Sequence[int], tuples: Array) -> Route:
        """Sorts a block of the indices, which begins at `starts`."""
        tuples = aligned(tuples, "indices")
        batches = tuples.shape[: self.batch]
        if self.mode == "raise":
            # The core checks, on an input of one element's memory.
            sizes = stand_in((*batches, *map(sum, self.chunks)), np.uint8)
            with limited(self.threads), tell_where(starts):
                dmlcpu.gather_nd(sizes, tuples, batch_dims=self.batch)
        count, each = math.prod(tuples.shape[:-1]), math.prod(tuples.shape[self.batch : -1])
        rows = tuples.reshape(count, len(self.chunks))
        chunk = np.zeros(count, np.int64)
        flat = np.arange(math.prod(batches)).repeat(each)
        for a, sizes in enumerate(map(np.array, self.chunks if count else ())):
            ends = sizes.cumsum()
            coordinates = _wrapped(rows[:, a], ends[-1])
            which = np.searchsorted(ends, coordinates, side="right")
            chunk = chunk * len(sizes) + which
            flat = flat * sizes[which] + (coordinates - (ends - sizes)[which])
        chunks = math.prod(map(len, self.chunks))
        # NumPy sorts 16 bits by digits.
        order = np.argsort(chunk.astype(np.min_scalar_type(chunks)), kind="stable")
        largest = math.prod(batches) * math.prod(map(max, self.chunks))
        bounds = np.zeros(chunks + 1, np.int64)
        np.cumsum(np.bincount(chunk, minlength=chunks), out=bounds[1:])
        return Route(
            order.astype(_index_type(count)), flat[order].astype(_index_type(largest)), bounds
        )


def _wrapped(coordinates: Array, size: int) -> Array:
    """As int64 in [0, size - 1]: negative ones counted from the end, others clamped."""
    if coordinates.dtype.kind == "u":
        coordinates = np.minimum(coordinates, np.uint64(size - 1))
    coordinates = coordinates.astype(np.int64)
    return np.asarray(np.clip(coordinates + size * (coordinates < 0), 0, size - 1))


def _index_type(size: int) -> type[np.integer[Any]]:
    return np.uint32 if size <= 2**32 else np.int64


def part_of(number: int, route: Route) -> Array:
    """The tuples of a chunk, as row-major indices; a copy, which does not keep the others in memory."""
    begin, end = route.bounds[number : number + 2].tolist()
    part: Array = np.array(route.flat[begin:end])
    return part


def rows_of(indexed: int, threads: int | None, block: Array, part: Array) -> Array:
    """The slices of a chunk, whose first `indexed` axes the indices count over."""
    block = as_array(block, "input")
    sizes, trailing, part = block.shape[:indexed], block.shape[indexed:], aligned(part)
    with limited(threads):
        if block.flags.c_contiguous and block.size > 0 and not block.dtype.hasobject:
            # As bytes, whose alignment does not matter: a chunk is not copied for a few of its slices.
            rows = block.reshape(math.prod(sizes), math.prod(trailing)).view(np.uint8)
            found = dmlcpu.gather_nd(rows, part[:, None]).view(block.dtype)
            return found.reshape(len(part), *trailing)
        tuples = np.stack(np.unravel_index(part, sizes), axis=-1)
        return dmlcpu.gather_nd(aligned(block), tuples)


def joined(
    shape: tuple[int, ...], indexed: int, dtype: npt.DTypeLike, order: Array, rows: list[Array]
) -> Array:
    """A block of the result, of the slices of all chunks: the tuples' axes come before `indexed`."""
    if len(rows) == 1 and len(rows[0]) == len(order):
        return rows[0].reshape(shape)  # all in one chunk, so that sorting has moved none
    result = np.empty((len(order), *shape[indexed:]), dtype)
    first = 0
    for part in rows:
        result[order[first : first + len(part)]] = part
        first += len(part)
    return result.reshape(shape)


def fail(text: str) -> None:
    """For a block of the result whose tuples are known to be wrong when the graph is built."""
    raise IndexError(text)


@contextlib.contextmanager
def tell_where(starts: Sequence[int]) -> Iterator[None]:
    """Errors about a block of the indices name the position in all of them."""
    try:
        yield
    except IndexError as error:
        text, found, position = str(error).rpartition(" at position ")
        at = tuple(map(sum, zip(starts, ast.literal_eval(position))))
        raise IndexError(text + found + str(at)) from None
