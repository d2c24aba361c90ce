"""Empty outputs, at a place whose neighbours are not to change: any axis of an input may be empty."""

from itertools import chain, combinations, product

import numpy as np
import pytest

import dmlcpu

SHAPES = [shape for rank in (1, 2, 3) for shape in product((0, 1, 3), repeat=rank) if 0 in shape]
CANARY = 77


class Guard:
    """An empty output between words that nobody may write."""

    def __init__(self, shape, dtype):
        self.around = np.full(64, CANARY, dtype)
        self.output = np.ndarray(shape, dtype, self.around, 32 * self.around.itemsize)

    def check(self):
        assert (self.around == CANARY).all()


def subsets(rank):
    return chain.from_iterable(combinations(range(rank), count) for count in range(rank + 1))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("direction", [0, 1])
def test_argmin_and_argmax(shape, direction):
    x = np.zeros(shape, np.float32)
    for axes in subsets(len(shape)):
        kept = tuple(1 if d in axes else size for d, size in enumerate(shape))
        if 0 in kept and all(shape[d] for d in axes):
            guard = Guard(kept, np.uint32)
            dmlcpu.argmax(x, axes, axis_direction=direction, out=guard.output)
            guard.check()
            assert dmlcpu.argmin(x, axes, axis_direction=direction).shape == kept
        elif any(shape[d] == 0 for d in axes):
            with pytest.raises(ValueError, match="^input: must not be empty along a reduced axis"):
                dmlcpu.argmax(x, axes)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_top_k(shape):
    x = np.zeros(shape, np.int16)
    for axis, size in enumerate(shape):
        for k in range(1, size + 1):
            outputs = [s if d != axis else k for d, s in enumerate(shape)]
            values, indices = Guard(outputs, np.int16), Guard(outputs, np.uint32)
            dmlcpu.top_k(x, k, axis=axis, out=(values.output, indices.output))
            values.check()
            indices.check()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("tuples", [0, 2])
def test_gather(shape, tuples):
    x = np.zeros(shape, np.int16)
    for length in range(1, len(shape) + 1):
        outputs = (tuples, *shape[length:])
        indices = np.zeros((tuples, length), np.int64)
        if 0 in outputs and (tuples == 0 or 0 not in shape[:length]):
            guard = Guard(outputs, np.int16)
            dmlcpu.gather_nd(x, indices, out=guard.output)
            guard.check()
        elif tuples:
            with pytest.raises(IndexError, match="must be empty for axis"):
                dmlcpu.gather_nd(x, indices)


def test_kept_axis_empty_beside_more_than_indices_count():
    """What is reduced is more than the elements, of which there are none."""
    x = np.empty((0, 2**32 + 1), np.int8)
    for function in (dmlcpu.argmax, dmlcpu.argmin):
        with pytest.raises(ValueError, match="^index_dtype: must hold the index 4294967296"):
            function(x, 1)
        assert function(x, 1, index_dtype=np.int64).shape == (0, 1)
        assert function(x[:, 1:], 1).shape == (0, 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_clip_into_an_empty_axis(shape):
    """There is no coordinate to clip to, which only matters where there are indices."""
    x = np.zeros(shape, np.int16)
    for length in range(1, len(shape) + 1):
        none = np.zeros((2, 0, length), np.int64)
        found = dmlcpu.gather_nd(x, none, mode="clip")
        assert found.shape == (2, 0, *shape[length:])
        guard = Guard(found.shape, np.int16)
        dmlcpu.gather_nd(x, none, mode="clip", out=guard.output)
        guard.check()
        if 0 in shape[:length]:
            with pytest.raises(ValueError, match="^input: must not be empty along an indexed axis"):
                dmlcpu.gather_nd(x, np.zeros((2, length), np.int64), mode="clip")
