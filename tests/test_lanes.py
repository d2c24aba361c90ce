"""Columns of which a result has several lanes, and reductions that threads split.

Random data misses what may go wrong. The last positions take some elements twice, lanes and positions are
counted in the element's width, and the lanes of a reversed axis are in the order of memory. Only an
element that decides, in each place or pair of places, shows all of that.
"""

import numpy as np
import pytest

import dmlcpu

import data
from data import TUNING, near

DIRECTIONS = (0, 1)


def test_bytes_of_256_lanes_and_positions(instruction_set, threads):
    """Lanes are numbered and positions counted in the width of the element: all there are of a byte,
    then more. The first of equals is in a last lane, the second in the first lane one position later."""
    for positions in near(256):
        for lanes in near(256):
            x = np.zeros((positions, 2, lanes, 3), np.uint8)[..., :2]
            step = np.arange(2 * 2).reshape(2, 2) * 61
            for place in (
                0,
                lanes - 1,
                positions * lanes // 2 // lanes * lanes - 1,
                x.size // 4 - lanes,
            ):
                x[...] = 0
                first = np.minimum(place + step * lanes, positions * lanes - 1)
                second = np.minimum((first // lanes + 1) * lanes, positions * lanes - 1)
                for at in (first, second):
                    i, j = np.divmod(at, lanes)
                    x[i, np.arange(2)[:, None], j, np.arange(2)] = 1
                for direction, want in zip(DIRECTIONS, (first, second)):
                    got = dmlcpu.argmax(x, (0, 2), axis_direction=direction, keepdims=False)
                    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32], ids=str)
def test_overlapping_windows(instruction_set, dtype):
    """Results one element apart, as are the elements of a reduced axis: all of it are lanes, in the order
    of memory if it is reversed."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(0)
    for n in (*near(256), 300, 700, 2047 // dtype.itemsize):
        for distinct in (2, 200):
            memory = rng.integers(0, distinct, 3 * (n + 10)).astype(dtype)
            strides = ((n + 7) * dtype.itemsize, dtype.itemsize, dtype.itemsize)
            x = np.lib.stride_tricks.as_strided(memory, (2, n, 4), strides)
            rows = x.reshape(2 * n, 4)
            first = dmlcpu.argmax(x, (0, 1), keepdims=False)
            np.testing.assert_array_equal(first, rows.argmax(0))
            last = dmlcpu.argmax(x, (0, 1), keepdims=False, axis_direction=1)
            np.testing.assert_array_equal(last, 2 * n - 1 - rows[::-1].argmax(0))


@pytest.mark.parametrize("dtype", [np.float64, np.int16], ids=str)
@pytest.mark.parametrize("columns", [3, 5])
def test_a_step_that_overlaps_after_several_periods(instruction_set, threads, dtype, columns):
    """More positions than a table of offsets holds, the last of which do not fill the lanes: the only
    extreme, and two that tie, around the last ones."""
    dtype = np.dtype(dtype)
    count = data.positions_in_lanes(dtype.itemsize * columns)
    for walked in (TUNING.kWalkRows - 1, TUNING.kWalkRows, 2 * TUNING.kWalkRows + 9):
        for left in (0, 1, count - 1):
            n = walked * count + left
            step = -(-n // -(-n // count))
            x = np.zeros((n, columns), dtype)
            for back in near(left + 1, step, step + left, n % step + 1):
                at = (n - back - np.arange(columns) * step) % n
                x[at, np.arange(columns)] = 1
                assert (dmlcpu.argmax(x, 0, keepdims=False) == at).all()
                assert (dmlcpu.argmax(x, 0, keepdims=False, axis_direction=1) == at).all()
                backward = dmlcpu.argmax(x[::-1], 0, keepdims=False)
                assert (backward == n - 1 - at).all()
                x[-1] = 1
                assert (dmlcpu.argmax(x, 0, keepdims=False) == at).all()
                assert (dmlcpu.argmax(x, 0, keepdims=False, axis_direction=1) == n - 1).all()
                assert (dmlcpu.argmax(x[::-1], 0, keepdims=False) == 0).all()
                x[...] = 0


@pytest.mark.parametrize(
    "shape", [(16 * 64 + 1,), (1003, 3), (900, 2, 5), (7, 1999), (4001, 20)], ids=str
)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32], ids=str)
def test_parts_that_overlap(instruction_set, threads, shape, dtype):
    """Threads share an axis that the number of parts does not divide: the last part takes some elements
    of the one before. What decides is at each end of a part that some number of threads has."""
    n = shape[0]
    parts = range(2, 3 * TUNING.kTasksPerThread + 1)
    ends = {part * -(-n // count) for count in parts for part in range(count + 1)}
    ends |= {n - -(-n // count) for count in parts}
    for place in sorted({place for end in ends for place in near(end) if place < n}):
        x = np.zeros(shape, dtype)
        x[place] = 1
        assert (dmlcpu.argmax(x, 0) == place).all(), place
        assert (dmlcpu.argmax(x, 0, axis_direction=1) == place).all(), place
        x[-1] = 1
        assert (dmlcpu.argmax(x, 0) == place).all(), place
        assert (dmlcpu.argmax(x, 0, axis_direction=1) == n - 1).all(), place


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64], ids=str)
def test_lanes_of_several_axes(instruction_set, threads, dtype):
    """Reduced axes whose positions are lanes, in any order of memory: two extremes
    that tie, in each pair of places around their ends, of which the index decides, not the memory."""
    for shape in ((3, 2, 700), (5, 4, 37), (20, 90), (7, 600), (2, 3, 5, 60)):
        for order in ("F", "C"):
            x = np.zeros((2, *shape), dtype)[:, ..., ::-1]
            if order == "F":
                x = np.zeros((2, *shape[::-1]), dtype).transpose(0, *range(len(shape), 0, -1))
            axes = tuple(range(1, x.ndim))
            n = x[0].size
            ends = sorted({at % n for side in (0, n // 2, n) for at in near(side, side + shape[0])})
            for first in ends:
                for second in ends:
                    for at in (first, second):
                        x[(slice(None), *np.unravel_index(at, shape))] = 1
                    got = dmlcpu.argmax(x, axes, keepdims=False)
                    assert (got == min(first, second)).all(), (shape, order, first, second)
                    got = dmlcpu.argmax(x, axes, axis_direction=1, keepdims=False)
                    assert (got == max(first, second)).all(), (shape, order, first, second)
                    x[...] = 0
