"""One test per limit of rows and of gather: the edges of lanes, blocks, chunks and digits.

Random data misses them: the element that decides is at a given edge in one of n cases, and an
off-by-one there changes nothing in the others. Here it is put there.
"""

import numpy as np
import pytest

import dmlcpu

import data
from data import TUNING, near, ones_at

DIRECTIONS = ("increasing", "decreasing")


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
@pytest.mark.parametrize("step", [1, -1, 2, 3, 4, 5])
def test_row_blocks_and_lanes(instruction_set, dtype, step):
    """A row's only extreme, and ties of two, at the edges of vectors, lane groups and blocks."""
    block = TUNING.kArgBlockBytes // dtype.itemsize
    lanes = [count // dtype.itemsize for count in (16, 32, 64, 128, 256)]
    for n in near(block, 2 * block, *lanes):
        edges = [p for p in near(1, *lanes, block, 2 * block) if p < n]
        edges += [p for p in (0, n - 1, n - 2) if p >= 0]
        for position in edges:
            x = data.in_layout(ones_at(n, [position], dtype), [0], [step], [1])
            for direction in DIRECTIONS:
                assert dmlcpu.argmax(x, axis_direction=direction) == position, (n, position)
                assert (
                    dmlcpu.argmin(x ^ 1 if dtype.kind in "iu" else 1 - x.astype(float), 0)
                    == position
                )
        x = data.in_layout(ones_at(n, edges, dtype), [0], [step], [1])
        assert dmlcpu.argmax(x) == min(edges)
        assert dmlcpu.argmax(x, axis_direction=1) == max(edges)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("bytes_before", [0, data.FAR_ROWS])
def test_blocks_of_long_rows(instruction_set, dtype, step, bytes_before):
    """Blocks of a long row double while it has 16, up to a limit: sizes at which they do, and the only
    extreme, or ties, at their edges. One thread, as several may split rows."""
    dtype = np.dtype(dtype)
    block = TUNING.kArgBlockBytes // dtype.itemsize
    while block <= TUNING.kArgMaxBlockBytes // dtype.itemsize:
        for n in near(4 * block, 16 * block):
            rows = 1 + -(-bytes_before // (n * dtype.itemsize))
            x = np.zeros((rows, n), dtype)[:, ::step]
            edges = near(block, 2 * block, 3 * block, 15 * block, n - 1)
            edges = [p for p in edges if p < n]

            def last_row(direction, x=x):
                with dmlcpu.num_threads(1):
                    return dmlcpu.argmax(x, axis=1, keepdims=False, axis_direction=direction)[-1]

            for position in edges:
                x[-1, position] = 1
                assert last_row(0) == position, (n, position)
                assert last_row(1) == position, (n, position)
                x[-1, position] = 0
            x[-1, edges] = 1
            assert last_row(0) == edges[0]
            assert last_row(1) == edges[-1]
        block *= 2


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_nan_anywhere_in_a_row(instruction_set, dtype, policy):
    """One NaN of either sign in a late block or step; -inf elsewhere, whose key is next to NaN's."""
    n = 2 * TUNING.kArgBlockBytes // dtype.itemsize + 7
    for position in (0, 1, n // 2, n - 8, n - 1):
        for sign in (1, -1):
            x = np.full(n, -np.inf).astype(dtype)
            x[position] = sign * np.nan
            other = 1 if position == 0 else 0
            for operator, values in ((dmlcpu.argmax, x), (dmlcpu.argmin, -x)):
                got = operator(values, nan_policy=policy)
                assert got == (position if policy == "propagate" else other)


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
def test_nans_next_to_infinity(instruction_set, dtype):
    """NaNs with the smallest and largest payloads: keys wrap just there, and all must tie."""
    infinities = np.array([np.inf, -np.inf]).astype(dtype)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        special = data.special_values(dtype)
        nans = special[np.isnan(special.astype(np.float64))]
    for count in (1, 100):  # a short row, and one of full vectors
        for nan in nans:
            x = np.array([*infinities, nan] * count, dtype)
            for operator, best in ((dmlcpu.argmax, 0), (dmlcpu.argmin, 1)):
                assert operator(x) == 2
                assert operator(x, axis_direction=1) == len(x) - 1
                assert operator(x, nan_policy="omit") == best
                assert operator(x[:, None].repeat(200, 1), 0)[0, 7] == 2
            assert dmlcpu.top_k(x[:3], 3).indices.tolist() == [2, 0, 1]
            assert dmlcpu.top_k(x[:3], 3, nan_policy="omit").indices.tolist() == [0, 1, 2]
            assert dmlcpu.top_k(x[:3], 3, axis_direction=0).indices.tolist() == [1, 0, 2]
        x = nans.repeat(count)
        assert dmlcpu.argmax(x) == 0
        assert dmlcpu.argmin(x, axis_direction=1) == len(x) - 1
        indices = dmlcpu.top_k(x, len(x)).indices
        assert indices.tolist() == list(range(len(x)))


def assert_gathers(x, indices, batch_dims, want):
    """Checked while copying, checked before, and clipped."""
    options = {"batch_dims": batch_dims}
    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, **options), want)
    out = np.zeros_like(want)
    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, out=out, **options), want)
    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, mode="clip", **options), want)


GATHER_CHUNKS = (
    TUNING.kGatherChunk,
    TUNING.kGatherChunk + TUNING.kGatherAhead,
    2 * TUNING.kGatherChunk,
)


@pytest.mark.parametrize("count", near(*GATHER_CHUNKS))
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8])
def test_gather_chunks(instruction_set, threads, count, length):
    """Tuples around the chunk whose offsets are computed at a time, and those that are kept for the next
    one; each tuple names a different slice."""
    x = np.arange(9 * 11 * 13 * 2, dtype=np.int32).reshape(9, 11, 13, 2)
    if length > 3:
        x = x.ravel()[: 4**4 * 3**2].reshape(4, 2, 2, 3, 3, 4, 2, 2)
    rng = np.random.default_rng(0)
    indices = np.stack([rng.integers(-size, size, count) for size in x.shape[:length]], -1)
    assert_gathers(x, indices, 0, x[tuple(indices.T)])


@pytest.mark.parametrize("count", near(*GATHER_CHUNKS))
@pytest.mark.parametrize("length", [1, 2])
def test_gather_chunks_of_a_batch(instruction_set, threads, count, length):
    """Each tuple of a chunk has a matrix of the input of its own, in which its coordinates count."""
    x = np.arange(count * 5 * 23, dtype=np.int32).reshape(count, 5, 23)
    rng = np.random.default_rng(0)
    indices = np.stack([rng.integers(-size, size, count) for size in (5, 23)[:length]], -1)
    assert_gathers(x, indices, 1, x[(np.arange(count), *indices.T)])


@pytest.mark.parametrize("index_dtype", ["u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
def test_gather_elements(instruction_set, threads, itemsize, index_dtype):
    """Single elements, checked and copied one by one: tuples of each length, around the loop's unrolling,
    one of them negative or out of range."""
    rng = np.random.default_rng(0)
    shape = (3, 5, 2, 4, 3, 2, 2, 3)
    for length in range(1, 9):
        x = rng.integers(0, 256, shape[:length]).astype(f"u{itemsize}")
        for count in [*range(1, 10), *near(TUNING.kGatherTupleBlock)]:
            columns = [rng.integers(0, size, count) for size in x.shape]
            indices = np.stack(columns, -1).astype(index_dtype)
            assert_gathers(x, indices, 0, x[tuple(columns)])
            axis = count % length
            for at in {0, count // 2, count - 1}:
                wrong = indices.copy()
                if index_dtype[0] == "i":
                    wrong[at, axis] = -x.shape[axis]
                    assert_gathers(x, wrong, 0, x[tuple(wrong.astype(np.int64).T)])
                wrong[at, axis] = x.shape[axis]
                offender = rf"got {x.shape[axis]} at position \({at}, {axis}\)$"
                with pytest.raises(IndexError, match=offender):
                    dmlcpu.gather_nd(x, wrong)
                out = np.full(count, 77, x.dtype)
                with pytest.raises(IndexError, match=offender):
                    dmlcpu.gather_nd(x, wrong, out=out)
                assert (out == 77).all()
                wrong[at, axis] = x.shape[axis] - 1
                want = x[tuple(wrong.astype(np.int64).T)]
                wrong[at, axis] = np.iinfo(index_dtype).max
                np.testing.assert_array_equal(dmlcpu.gather_nd(x, wrong, mode="clip"), want)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 100])
@pytest.mark.parametrize("count", [1, 3, TUNING.kGatherChunk + 1])
def test_gather_rows_of_a_batch(instruction_set, threads, rows, count):
    """Rows of few tuples share a task."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1000, (rows, 6, 2), np.int16)
    indices = rng.integers(-6, 6, (rows, count, 1))
    assert_gathers(x, indices, 1, np.take_along_axis(x, indices % 6, 1))
    assert_gathers(x[..., 0], indices, 1, np.take_along_axis(x[..., 0], indices[..., 0] % 6, 1))


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("elements", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 100])
def test_gather_slice_sizes(instruction_set, itemsize, elements):
    """Slices around every size that has a copy loop of its own; the bytes after a slice must stay."""
    dtype = np.dtype(f"u{itemsize}")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, (40, elements), np.uint8).astype(dtype)
    indices = rng.integers(0, 40, (TUNING.kGatherChunk + TUNING.kGatherAhead + 9, 1))
    wide = np.full((len(indices), elements + 1), 77, dtype)
    dmlcpu.gather_nd(x, indices, out=wide[:, :elements])
    np.testing.assert_array_equal(wide[:, :elements], x[indices[:, 0]])
    assert (wide[:, elements] == 77).all()
    got = dmlcpu.gather_nd(x[:, ::-1], indices)
    np.testing.assert_array_equal(got, x[indices[:, 0], ::-1])
