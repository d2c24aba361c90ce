"""Long rows: where their vectors begin, and how the extreme that was found is found again.

Vectors are read from their own boundary on, so the first overlaps the second and the last the one
before. Random data in NumPy's own arrays misses these edges: the arrays begin at few addresses, and an
element that is read twice, or not at all, is seldom the one that decides.
"""

import numpy as np
import pytest

import dmlcpu

import data
from data import TUNING, near

VECTORS = (16, 32, 64)  # bytes, of the instruction sets
ALIGN_FROM = TUNING.kAlignFromVectors
BLOCK_BYTES = TUNING.kArgBlockBytes
ONE_PASS_BYTES = TUNING.kArgOnePassBytes


def sizes(dtype):
    """Rows around the smallest that is read from a vector boundary on, and four vectors more; the longest
    that is searched in one pass; rows of several blocks."""
    ends = [bytes_ * (ALIGN_FROM + more) for bytes_ in VECTORS for more in (0, 4)]
    elements = {end // dtype.itemsize for end in [*ends, BLOCK_BYTES, ONE_PASS_BYTES]}
    return sorted({n + d for n in elements for d in (-1, 0, 1)})


def starts(dtype):
    """Where rows begin, in elements after the begin of a cache line: at the first and last elements of
    the line, and of the vectors in it."""
    line = 64 // dtype.itemsize
    edges = {bytes_ // dtype.itemsize + d for bytes_ in (0, *VECTORS) for d in (-1, 0, 1)}
    return sorted({edge % line for edge in edges})


def from_address(x, start, better=None):
    """A copy that begins `start` elements after the begin of a cache line, between better elements:
    NaNs or the largest."""
    if better is None:
        better = data.special_values(x.dtype)[-1]
    memory = np.full(len(x) + 3 * 64, better, x.dtype)
    first = -memory.ctypes.data % 64 // x.dtype.itemsize + start
    memory[first : first + len(x)] = x
    return memory[first : first + len(x)]


def near_edges(size, start, dtype):
    """The row's ends, the first vector boundaries after its start, the last ones before its end."""
    places = {0, 1, size - 2, size - 1}
    for bytes_ in VECTORS:
        width = bytes_ // dtype.itemsize
        first = -start % width
        last = first + (size - first) // width * width
        places |= {first - 1, first, first + 1, first + width, last - width, last - 1, last}
    return sorted(place for place in places if 0 <= place < size)


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
def test_rows_from_any_address(instruction_set, dtype):
    """Each place near an edge has the extreme alone, then together with all places after it; in a single
    row, which is searched in two passes, and in two."""
    for size in sizes(dtype):
        for start in starts(dtype):
            places = near_edges(size, start, dtype)
            for count in (1, 2):
                x = from_address(np.zeros(count * size, dtype), start).reshape(count, size)
                for n, place in enumerate(places):
                    x[:, place] = 1
                    assert (dmlcpu.argmax(x, 1) == place).all(), (size, start)
                    assert (dmlcpu.argmax(x[:, ::-1], 1) == size - 1 - place).all(), (size, start)
                    x[:, places[n:]] = 1
                    assert (dmlcpu.argmax(x, 1) == place).all(), (size, start)
                    last = dmlcpu.argmax(x, 1, axis_direction=1)
                    assert (last == places[-1]).all(), (size, start)
                    x[...] = 0


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
@pytest.mark.parametrize("start", [0, 1])
def test_nans_are_passed_over(instruction_set, dtype, start):
    """One number among NaNs: the worst one, with which comparing by value begins, so that it has to
    be told from nothing at all, or a better one, at each edge."""
    for size in sizes(dtype):
        for operator, best in ((dmlcpu.argmax, np.inf), (dmlcpu.argmin, -np.inf)):
            row = from_address(np.full(size, np.nan, dtype), start, better=best)
            assert operator(row, nan_policy="omit").item() == 0
            for place in near_edges(size, start, dtype):
                for number in (-best, 0):
                    row[place] = number
                    assert operator(row, nan_policy="omit").item() == place, size
                    last = operator(row, axis_direction=1, nan_policy="omit").item()
                    assert last == place, size
                    backward = operator(row[::-1], nan_policy="omit").item()
                    assert backward == size - 1 - place, size
                row[place] = np.nan


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
def test_keys_of_many_bit_patterns(instruction_set, dtype):
    """Zeros have two bit patterns and NaNs many: the first, or last, of any is the answer."""
    with np.errstate(invalid="ignore"):  # comparing bfloat16's NaNs
        special = data.special_values(dtype)
        nans = special[np.isnan(special)]
    cases = [
        (np.array([0.0, -0.0], dtype), -1, dmlcpu.argmax),
        (np.array([-0.0, 0.0], dtype), 1, dmlcpu.argmin),
        (nans, 1, dmlcpu.argmax),
        (nans, 1, dmlcpu.argmin),
    ]
    for size in sizes(dtype):
        for place in near_edges(size, 1, dtype):
            for values, other, operator in cases:
                row = from_address(np.full(size, other, dtype), 1)
                equals = row[place::3]
                equals[:] = np.resize(values, len(equals))
                assert operator(row).item() == place, (size, values)
                last = place + 3 * (len(equals) - 1)
                assert operator(row, axis_direction=1).item() == last, (size, values)


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
def test_ties_across_rows_of_one_reduction(instruction_set, dtype):
    """In Fortran order a later row in memory may hold the first of equal elements, or an earlier one
    the last."""
    for size in sizes(dtype):
        x = np.zeros((size, 4), dtype, order="F")
        x[size - 1, 0] = x[2, 1] = x[3, 2] = x[2, 3] = 1
        for view in (x, x[:, ::-1], x[::-1], x[::-1, ::-1]):
            equals = np.flatnonzero(np.ascontiguousarray(view).ravel())
            assert dmlcpu.argmax(view).item() == equals[0], size
            assert dmlcpu.argmax(view, axis_direction=1).item() == equals[-1], size
            inverse = np.equal(view, 0).astype(dtype)
            assert dmlcpu.argmin(inverse).item() == equals[0], size
            assert dmlcpu.argmin(inverse, axis_direction=1).item() == equals[-1], size


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
def test_every_place_of_short_rows(instruction_set, dtype):
    """Of a row by itself the extreme is looked for a vector, or four, at a time, the last of which
    overlap those before: each place of each row has the extreme alone, then with all places after it."""
    for n in near(
        *(bytes_ * count // dtype.itemsize for bytes_ in VECTORS for count in (1, 4, 5, 8))
    ):
        row = from_address(np.zeros(n, dtype), 1)
        for place in range(n):
            row[place] = 1
            assert dmlcpu.argmax(row).item() == place, n
            assert dmlcpu.argmax(row[::-1]).item() == n - 1 - place, n
            row[place:] = 1
            assert dmlcpu.argmax(row).item() == place, n
            backward = dmlcpu.argmax(row[::-1], axis_direction=1).item()
            assert backward == n - 1 - place, n
            row[:] = 0
