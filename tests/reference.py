"""What every operator gives, computed the plainest way: the reference implementations that tests
compare with.

Element by element in Python numbers, no tricks, nothing shared with the library.
"""

import itertools
import math

import numpy as np


def _numbers(x):
    """The elements as Python numbers, exactly."""
    if x.dtype.kind in "iub":
        return x.astype(object)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return x.astype(np.float64).astype(object)


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def _beats(a, b, largest, nan_policy):
    """Whether a comes strictly before b."""
    if _is_nan(a) or _is_nan(b):
        if _is_nan(a) and _is_nan(b):
            return False
        return _is_nan(a) == (nan_policy == "propagate")
    return a > b if largest else a < b


def arg(x, axes, *, largest, direction="increasing", keepdims=True, nan_policy="propagate"):
    """argmax if largest, else argmin, over a collection of axes; int64 indices."""
    numbers = _numbers(x)
    axes = sorted(axis % x.ndim for axis in axes)
    box = [x.shape[axis] for axis in axes]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    result = np.zeros([x.shape[axis] for axis in kept], np.int64)
    for outer in itertools.product(*(range(x.shape[axis]) for axis in kept)):
        best = None
        for index, inner in enumerate(itertools.product(*map(range, box))):
            at = dict(zip(kept, outer)) | dict(zip(axes, inner))
            value = numbers[tuple(at[axis] for axis in range(x.ndim))]
            if (
                best is None
                or _beats(value, best[0], largest, nan_policy)
                or (direction == "decreasing" and not _beats(best[0], value, largest, nan_policy))
            ):
                best = value, index
        result[outer] = best[1]
    if keepdims:
        result = result.reshape([1 if axis in axes else x.shape[axis] for axis in range(x.ndim)])
    return result


def top_k(x, k, *, axis=-1, direction="decreasing", nan_policy="propagate"):
    """(values, int64 indices)."""
    rows = np.moveaxis(x, axis, -1)
    numbers = _numbers(rows)
    indices = np.zeros((*rows.shape[:-1], k), np.int64)
    decreasing = direction == "decreasing"

    def key(value):
        if _is_nan(value):
            last = nan_policy == "omit" and decreasing
            return (-1 if last else 1, 0)
        return (0, value)

    for outer in np.ndindex(*rows.shape[:-1]):
        row = numbers[outer]
        # sorted() is stable, reversed or not: equal elements stay in ascending order of index.
        order = sorted(range(len(row)), key=lambda i: key(row[i]), reverse=decreasing)
        indices[outer] = order[:k]
    values = np.take_along_axis(rows, indices, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(indices, -1, axis)


def gather_nd(x, indices, *, batch_dims=0, mode="raise"):
    dtype = x.dtype
    if dtype == np.bool_:  # whose elements by themselves are the byte 0 or 1
        x = x.view(np.uint8)
    tuple_length = indices.shape[-1]
    axes = range(batch_dims, batch_dims + tuple_length)
    result = np.zeros(indices.shape[:-1] + x.shape[batch_dims + tuple_length :], x.dtype)
    for outer in np.ndindex(*indices.shape[:-1]):
        at = list(outer[:batch_dims])
        for axis, coordinate in zip(axes, indices[outer]):
            wrapped = int(coordinate) + (x.shape[axis] if coordinate < 0 else 0)
            if mode == "clip":
                wrapped = min(max(wrapped, 0), x.shape[axis] - 1)
            if not 0 <= wrapped < x.shape[axis]:
                raise IndexError
            at.append(wrapped)
        result[outer] = x[tuple(at)]
    return result.view(dtype)
