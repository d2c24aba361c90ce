"""The operators slab by slab: so that a signal ends them soon, and progress is seen.

Each function does the work as it is iterated, and yields the share of it that is done. Inputs and
outputs are mapped files: a slab is read where it is and its results are written where they belong, so
that nothing is allocated that grows with the files, but for top-k's candidates of a long row.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["arg", "gather", "top_k"]

_Array = npt.NDArray[Any]
_Box = tuple[Any, ...]  # of slices; of an array without axes an ellipsis

# Enough that the threads' start and Python take no time; of a slow disk less than a second.
SLAB_BYTES = 2**26
# A slab of a searched axis has at least this many times k elements, so that candidates are few.
_CANDIDATES_SHARE = 16


def arg(
    function: Callable[..., _Array],
    inputs: Sequence[_Array],
    outputs: Sequence[_Array],
    options: dict[str, Any],
) -> Iterator[float]:
    """argmin or argmax."""
    (x,), (out,) = inputs, outputs
    axis = options["axis"]
    # An array without axes takes axis 0, as one of an element does.
    axes = range(max(x.ndim, 1))
    searched = {axes[a] for a in (axes if axis is None else axis)} & set(range(x.ndim))
    options = options | {"keepdims": True}
    out = out.reshape([1 if d in searched else size for d, size in enumerate(x.shape)])
    kept = _boxes(x, [d for d in range(x.ndim) if d not in searched], SLAB_BYTES)
    for number, box in enumerate(kept):
        slab = x[box]
        target = out[tuple(slice(None) if d in searched else s for d, s in enumerate(box))]
        parts = _boxes(slab, searched if target.size == 1 else (), SLAB_BYTES)
        if len(parts) == 1:
            function(slab, out=target, **options)
        else:
            found = []
            for part, within in enumerate(parts):
                found.append(_arg_of_box(function, slab, within, searched, options))
                yield (number + (part + 1) / len(parts)) / len(kept)
            # In the order of their indices the boxes' extremes tie as the elements of the whole would.
            found.sort(key=lambda pair: pair[0])
            values = np.array([value for _index, value in found], x.dtype)
            target[...] = found[int(function(values, **options | {"axis": None})[0])][0]
        yield (number + 1) / len(kept)


def _arg_of_box(
    function: Callable[..., _Array],
    slab: _Array,
    box: _Box,
    searched: set[int],
    options: dict[str, Any],
) -> tuple[int, Any]:
    """The index of a box's extreme over the searched axes of the slab, and the element."""
    part = slab[box]
    local = int(function(part, **options | {"index_dtype": np.uint64})[(0,) * part.ndim])
    # Kept axes have size 1 here.
    place = [s.start + i for s, i in zip(box, np.unravel_index(local, part.shape))]
    shape = [size if d in searched else 1 for d, size in enumerate(slab.shape)]
    return int(np.ravel_multi_index(place, shape)), slab[tuple(place)]


def top_k(
    function: Callable[..., Any],
    inputs: Sequence[_Array],
    outputs: Sequence[_Array],
    options: dict[str, Any],
) -> Iterator[float]:
    """top_k."""
    (x,), (values, indices) = inputs, outputs
    axis = range(max(x.ndim, 1))[options["axis"]]
    kept = _boxes(x, [d for d in range(x.ndim) if d != axis], SLAB_BYTES)
    least = _CANDIDATES_SHARE * options["k"] * x.itemsize
    for number, box in enumerate(kept):
        slab = x[box]
        targets = values[box], indices[box]
        single = slab.ndim > 0 and slab.size == slab.shape[axis]
        parts = _boxes(slab, [axis] if single else [], max(SLAB_BYTES, least))
        if len(parts) == 1:
            function(slab, out=targets, **options)
        else:
            found = []
            for part, within in enumerate(parts):
                k = min(options["k"], slab[within].size)
                best = function(slab[within], **options | {"k": k})
                found.append((best.values, best.indices.astype(np.uint64) + within[axis].start))
                yield (number + (part + 1) / len(parts)) / len(kept)
            candidates, places = (np.concatenate(arrays, axis) for arrays in zip(*found))
            best = function(candidates, **options)
            targets[0][...] = best.values
            targets[1][...] = np.take_along_axis(places, best.indices, axis)
        yield (number + 1) / len(kept)


def gather(
    function: Callable[..., _Array],
    inputs: Sequence[_Array],
    outputs: Sequence[_Array],
    options: dict[str, Any],
) -> Iterator[float]:
    """gather_nd."""
    (x, indices), (out,) = inputs, outputs
    # Indices of 8 and 16 bits are copied to int32.
    index_bytes = indices.size * max(indices.itemsize, 4)
    limit = SLAB_BYTES * out.nbytes // max(out.nbytes + index_bytes, 1)
    slabs = _boxes(out, range(indices.ndim - 1), limit)
    for number, box in enumerate(slabs):
        tuples = box[: indices.ndim - 1]
        try:
            function(x[box[: options["batch_dims"]]], indices[tuples], out=out[box], **options)
        except IndexError:
            # It names a position in the slab; the whole call fails at the same tuple.
            function(x, indices, out=out, **options)
            raise
        yield (number + 1) / len(slabs)


def _boxes(array: _Array, axes: Iterable[int], limit: int) -> list[_Box]:
    """Boxes that together are the whole array, of up to `limit` bytes if dividing `axes` makes them so
    small. The axis with the largest stride is divided first, so that files are read in order."""
    if array.ndim == 0:
        return [(...,)]
    steps = [max(size, 1) for size in array.shape]
    size = array.nbytes
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    for axis in [axis for axis in order if axis in set(axes)]:
        if size <= limit:
            break
        each = size // array.shape[axis]
        steps[axis] = max(1, limit // each)
        size = each * steps[axis]
    slices = [
        [slice(start, min(start + step, size)) for start in range(0, max(size, 1), step)]
        for size, step in zip(array.shape, steps)
    ]
    boxes = itertools.product(*(slices[axis] for axis in order))
    return [tuple(box[order.index(axis)] for axis in range(array.ndim)) for box in boxes]
