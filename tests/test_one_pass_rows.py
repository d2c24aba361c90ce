"""Rows that are searched in one pass.

Random data misses what may go wrong. Only the number of the four vectors that have the extreme is kept,
for each lane: of elements that tie, the first one's lane may be higher than that of a later one, and what
is before a vector boundary or after the last four is seen twice. Only an element that decides, in each
place or pair of places, shows all of that.
"""

import numpy as np
import pytest

import dmlcpu

import data
from data import TUNING, near

VECTORS = (16, 32, 64)  # bytes, of the instruction sets
DIRECTIONS = (0, 1)
some_dtypes = pytest.mark.parametrize("dtype", data.DTYPES, ids=str)


def sizes(dtype):
    """Rows around the shortest that are not transposed, those from a vector boundary on, with and without
    elements after their last four vectors, and the shortest and longest that are searched in one pass."""
    vectors = [size * (TUNING.kAlignFromVectors + more) for size in VECTORS for more in (0, 4)]
    passes = (TUNING.kArgOnePassLeastBytes, TUNING.kArgOnePassBytes)
    ends = (end // dtype.itemsize for end in [*vectors, *passes])
    return near(data.least_row(dtype), *ends)


def places(n, dtype):
    """The edges of lanes, vectors and positions, from either end, and whatever is every so far apart."""
    edges = near(*(count * 16 // dtype.itemsize for count in (1, 2, 4, 8, 16)))
    near_ends = {0, *edges, *(n - 1 - edge for edge in edges), n - 1, *range(0, n, n // 60 + 1)}
    return np.array(sorted(place for place in near_ends if 0 <= place < n))


def views(x):
    """The same rows contiguous, reversed, with a gap after each, upside down, and from an odd address."""
    rows, n = x.shape
    yield np.ascontiguousarray(x)
    for axes, steps, pads in (((0, 1), (1, -1), (0, 0)), ((0, 1), (-1, 1), (0, 3))):
        yield data.in_layout(x, axes, steps, pads)
    memory = np.empty(rows * n + 1, x.dtype)
    memory[1:] = x.ravel()
    yield memory[1:].reshape(rows, n)


def assert_found(x, first, last=None, **options):
    """Where each row's largest element is, and each row's smallest of the inverse; of all rows together,
    and of one by itself."""
    last = first if last is None else last
    for view in views(x):
        for direction, want in zip(DIRECTIONS, (first, last)):
            got = dmlcpu.argmax(view, 1, axis_direction=direction, keepdims=False, **options)
            np.testing.assert_array_equal(got, want, str((x.shape, view.strides)))
            if x.dtype.kind in "iuf":
                inverse = ~view if x.dtype.kind in "iu" else -view
                got = dmlcpu.argmin(inverse, 1, axis_direction=direction, keepdims=False, **options)
                np.testing.assert_array_equal(got, want, str((x.shape, view.strides)))
    middle = len(x) // 2
    assert dmlcpu.argmax(x[middle], **options).item() == np.broadcast_to(first, len(x))[middle]


@some_dtypes
def test_the_only_extreme(instruction_set, threads, dtype):
    for n in sizes(dtype):
        at = places(n, dtype)
        x = np.zeros((len(at), n), dtype)
        x[np.arange(len(at)), at] = 1
        assert_found(x, at)


@some_dtypes
def test_the_first_and_the_last_of_equals(instruction_set, threads, dtype):
    """All later places hold the extreme as well; then all elements do."""
    for n in sizes(dtype):
        at = places(n, dtype)
        x = np.zeros((len(at), n), dtype)
        for row, place in enumerate(at):
            x[row, at[at >= place]] = 1
        assert_found(x, at, at[-1])
        x[...] = 1
        assert_found(x, 0, n - 1)


@some_dtypes
def test_every_pair_that_ties(instruction_set, dtype):
    """Two equal elements, in every pair of places of a short row and of one from a vector boundary on."""
    aligned = 32 * (TUNING.kAlignFromVectors + 2) // dtype.itemsize
    for n in (data.least_row(dtype) + 5, min(aligned, 300)):
        first, last = np.triu_indices(n, 1)
        x = np.zeros((len(first), n), dtype)
        x[np.arange(len(first)), first] = 1
        x[np.arange(len(first)), last] = 1
        for view in (x, np.ascontiguousarray(x[:, ::-1])[:, ::-1]):
            for direction, want in zip(DIRECTIONS, (first, last)):
                got = dmlcpu.argmax(view, 1, axis_direction=direction, keepdims=False)
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
def test_nan_anywhere(instruction_set, dtype):
    """A single NaN is found, or passed over, wherever it is; infinities of both signs, whose sum is NaN
    too, are not mistaken for one."""
    for n in sizes(dtype):
        at = places(n, dtype)
        rows = np.arange(len(at))
        x = np.random.default_rng(n).random((len(at), n)).astype(dtype)
        x[:, ::7] = -0.0
        x[:, n // 2] = 2
        others = at != n // 2
        for sign in (1, -1):
            y = x.copy()
            y[rows, at] = sign * np.nan
            assert_found(y, at)
            for view in views(y[others]):
                got = dmlcpu.argmax(view, 1, nan_policy="omit", keepdims=False)
                np.testing.assert_array_equal(got, n // 2)
        y = x.copy()
        y[:, 0] = -np.inf
        y[rows, at] = np.inf
        assert_found(y, at)
        assert_found(y, at, nan_policy="omit")
        # One number among NaNs: the worst there is.
        y[...] = np.nan
        y[rows, at] = -np.inf
        assert_found(y, at, nan_policy="omit")
        y[...] = np.nan
        assert_found(y, 0, n - 1, nan_policy="omit")


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
@pytest.mark.parametrize("columns", [1, 3])
def test_values_keep_their_bits(instruction_set, dtype, columns):
    """Zeros of either sign have one key, as NaNs of any payload have: the element that is found is
    written, be it in any lane, in the last positions or in what they read twice."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        special = data.special_values(dtype)
        nans = special[np.isnan(special.astype(np.float64))]
    zeros = np.array([0.0, -0.0], dtype)
    word = np.dtype(f"u{dtype.itemsize}")
    for n in sizes(dtype):
        at = places(n, dtype)
        for pool, other, direction in ((nans, 1, 1), (zeros, -1, 1), (zeros, 1, 0)):
            x = np.full((len(at), n, columns), other, dtype)
            for row, place in enumerate(at):
                # Another of them at every later place, so that a wrong one shows.
                x[row, at[at >= place]] = np.resize(
                    np.roll(pool, row), (columns, (at >= place).sum())
                ).T
            for view in (x, np.ascontiguousarray(x[:, ::-1])[:, ::-1]):
                got = dmlcpu.top_k(view, 1, axis=1, axis_direction=direction)
                assert (got.indices == at[:, None, None]).all(), n
                want = np.take_along_axis(
                    x, np.broadcast_to(at[:, None, None], got.values.shape), 1
                )
                assert (got.values.view(word) == want.view(word)).all(), (n, direction)
