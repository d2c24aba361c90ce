"""One test per internal limit: the edges of lanes, blocks, tiles, counters, chunks and digits.

Random data misses them: the element that decides stands at a given edge in one of n cases, and an
off-by-one there changes nothing in the others. Here it is put there.
"""

import numpy as np
import pytest

import dmlcpu

import data
from data import TUNING, near, ones_at

SWEEP_RUN_BYTES = TUNING.kSweepPrefetchLines * 64

DIRECTIONS = ("increasing", "decreasing")


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
@pytest.mark.parametrize("step", [1, -1, 2, 3, 4, 5])
def test_row_blocks_and_lanes(instruction_set, dtype, step):
    """A row's only extreme, and ties of two, at the edges of vectors, lane groups and blocks."""
    block = TUNING.kArgBlockBytes // dtype.itemsize
    lanes = [count // dtype.itemsize for count in (16, 32, 64, 128, 256)]
    for length in near(block, 2 * block, *lanes):
        edges = [p for p in near(1, *lanes, block, 2 * block) if p < length]
        edges += [p for p in (0, length - 1, length - 2) if p >= 0]
        for position in edges:
            x = data.in_layout(ones_at(length, [position], dtype), [0], [step], [1])
            for direction in DIRECTIONS:
                assert dmlcpu.argmax(x, axis_direction=direction) == position, (length, position)
                assert (
                    dmlcpu.argmin(x ^ 1 if dtype.kind in "iu" else 1 - x.astype(float), 0)
                    == position
                )
        x = data.in_layout(ones_at(length, edges, dtype), [0], [step], [1])
        assert dmlcpu.argmax(x) == min(edges)
        assert dmlcpu.argmax(x, axis_direction=1) == max(edges)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("bytes_before", [0, TUNING.kRowPrefetchLeastBytes])
def test_blocks_of_long_rows(instruction_set, dtype, step, bytes_before):
    """Blocks of a long row double while it has 16, of float 4 unless the input is large, up to a
    limit: lengths at which they do, and the only extreme, or ties, at their edges. One thread, as
    others may cut rows into parts."""
    dtype = np.dtype(dtype)
    block = TUNING.kArgBlockBytes // dtype.itemsize
    while block <= TUNING.kArgMaxBlockBytes // dtype.itemsize:
        for length in near(4 * block, 16 * block):
            rows = 1 + -(-bytes_before // (length * dtype.itemsize))
            x = np.zeros((rows, length), dtype)[:, ::step]
            edges = near(block, 2 * block, 3 * block, 15 * block, length - 1)
            edges = [p for p in edges if p < length]

            def last_row(direction, x=x):
                with dmlcpu.num_threads(1):
                    return dmlcpu.argmax(x, axis=1, keepdims=False, axis_direction=direction)[-1]

            for position in edges:
                x[-1, position] = 1
                assert last_row(0) == position, (length, position)
                assert last_row(1) == position, (length, position)
                x[-1, position] = 0
            x[-1, edges] = 1
            assert last_row(0) == edges[0]
            assert last_row(1) == edges[-1]
        block *= 2


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_nan_in_each_part_of_a_row(instruction_set, dtype, policy):
    """One NaN of either sign in a late block or tail; -inf elsewhere, which ranks next to it."""
    length = 2 * TUNING.kArgBlockBytes // dtype.itemsize + 7
    for position in (0, 1, length // 2, length - 8, length - 1):
        for sign in (1, -1):
            x = np.full(length, -np.inf).astype(dtype)
            x[position] = sign * np.nan
            other = 1 if position == 0 else 0
            for operator, values in ((dmlcpu.argmax, x), (dmlcpu.argmin, -x)):
                got = operator(values, nan_policy=policy)
                assert got == (position if policy == "propagate" else other)


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
def test_nans_next_to_infinity(instruction_set, dtype):
    """NaNs with the smallest and largest payloads: ranks wrap just there, and all must tie."""
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


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.float16, np.float32], ids=str)
def test_column_step_counter_wraps(instruction_set, dtype):
    """Steps are counted in the element's width: 256 or 65536 of them, then the counter starts over."""
    dtype = np.dtype(dtype)
    wrap = 2 ** (8 * dtype.itemsize) if dtype.itemsize < 4 else 1000
    rows = 2 * wrap + 3
    positions = [0, 1, 3, 4, 5, *near(wrap, 2 * wrap), rows - 1, rows - 2]
    columns = TUNING.kNarrowColumnsBytes // dtype.itemsize + 1  # wide enough not to be folded
    x = np.zeros((rows, columns), dtype)
    want = np.array(positions * columns)[:columns]
    x[want, np.arange(columns)] = 1
    for direction in DIRECTIONS:
        got = dmlcpu.argmax(x, 0, keepdims=False, axis_direction=direction)
        assert (got == want).all()
    x[...] = 1
    assert (dmlcpu.argmax(x, 0) == 0).all()
    assert (dmlcpu.argmax(x, 0, axis_direction=1) == rows - 1).all()


@pytest.mark.parametrize("columns", near(TUNING.kColumnTile, 2 * TUNING.kColumnTile))
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 9])
def test_column_tiles_and_step_groups(instruction_set, threads, rows, columns):
    """Columns around the tile, steps around the four that are swept at once."""
    x = np.zeros((rows, columns), np.int32)
    want = np.arange(columns) % rows
    x[want, np.arange(columns)] = 1
    for direction in DIRECTIONS:
        for view in (x, x[:, ::-1][:, ::-1], np.repeat(x, 2, 1)[:, ::2]):
            got = dmlcpu.argmax(view, 0, keepdims=False, axis_direction=direction)
            assert (got == want).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64], ids=str)
def test_large_sweeps_run_by_run(instruction_set, dtype):
    """Sweeps that ask for what comes next go over the columns in runs: columns around whole runs,
    steps around the four that are swept at once. Smaller tensors are swept in one go."""
    dtype = np.dtype(dtype)
    run = SWEEP_RUN_BYTES // dtype.itemsize
    for columns in near(3 * run, 4 * run):
        least = -(-TUNING.kSweepPrefetchBytes // (columns * dtype.itemsize))
        for steps in range(least - 1, least + 5):
            x = np.zeros((steps, columns), dtype)
            want = (np.arange(columns) * 7 + steps // 2) % steps
            x[want, np.arange(columns)] = 1
            with dmlcpu.num_threads(1):
                assert (dmlcpu.argmax(x, 0, keepdims=False) == want).all()
                x[-1] = 1
                assert (dmlcpu.argmax(x, 0, keepdims=False) == want).all()
                if dtype.kind == "f":  # from there on by ranks
                    x[steps // 3, -1] = np.nan
                    want[-1] = steps // 3
                    assert (dmlcpu.argmax(x, 0, keepdims=False) == want).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 31])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_narrow_columns_are_folded(instruction_set, threads, columns, direction):
    """Few columns, many rows: several rows side by side, and the tail that fills no fold."""
    folds = -(-TUNING.kNarrowColumnsBytes // (4 * columns))
    for rows in [*near(folds, 2 * folds, 3 * folds), 5 * folds + folds // 2]:
        if rows < 2:
            continue
        for winner in {0, 1, folds - 1, folds, rows - 1, rows - 2, rows // 2}:
            if not 0 <= winner < rows:
                continue
            x = np.zeros((2, rows, columns), np.float32)
            x[:, winner] = 1
            want = np.full((2, columns), winner)
            for view in (x, np.ascontiguousarray(x[:, ::-1])[:, ::-1]):
                got = dmlcpu.argmax(view, 1, keepdims=False, axis_direction=direction)
                assert (got == want).all(), (rows, winner)
        got = dmlcpu.argmin(np.ones((rows, columns)), 0, axis_direction=direction)
        assert (got == (0 if direction == "increasing" else rows - 1)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=str)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.parametrize("columns", [1, 7, 31, 300])
def test_nan_in_each_step_of_columns(instruction_set, dtype, policy, columns):
    """A NaN in the first step, in a group of steps and behind the last group, in one column: all
    columns are then compared in another way, from that step on, and must keep their best."""
    rng = np.random.default_rng(0)
    wide = max(columns, 2)
    for steps in (2, 5, 6, 13):
        for step in range(steps):
            for column in {0, wide // 2, wide - 1}:
                x = rng.integers(-9, 9, (steps, wide)).astype(dtype)
                x[step, column] = np.nan
                for view in (x, x[::-1], np.asfortranarray(x)):
                    for name in ("argmax", "argmin"):
                        got = getattr(dmlcpu, name)(view, 0, nan_policy=policy, keepdims=False)
                        twin = getattr(np, name if policy == "propagate" else f"nan{name}")
                        np.testing.assert_array_equal(got, twin(view, 0))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_short_rows_become_columns(instruction_set, threads, dtype, order):
    """Rows around the length from which each is reduced by itself; in Fortran order, rows of a
    reduction over everything, whose lines all belong to one result."""
    limit = min(TUNING.kShortRowBytes // np.dtype(dtype).itemsize, TUNING.kShortRowElements)
    # Inputs of so many elements are asked for ahead.
    least = TUNING.kSweepPrefetchBytes // np.dtype(dtype).itemsize
    sizes = [(1300, length) for length in [2, 3, *near(limit)]]
    for rows, length in [*sizes, (least // 3 + 9, 3), (least // (limit - 1) + 9, limit - 1)]:
        want = np.arange(rows) % length
        x = np.zeros((rows, length), dtype)
        x[np.arange(rows), want] = 1
        got = dmlcpu.argmax(np.asarray(x, order=order), 1, keepdims=False)
        assert (got == want).all()
        for row in (0, 511, 512, 513, rows - 1):
            x[...] = 0
            x[row, length // 2] = 1
            view = np.asarray(x.T, order=order)
            assert dmlcpu.argmax(view) == length // 2 * rows + row
            assert dmlcpu.argmax(view, axis_direction=1) == length // 2 * rows + row
        x[...] = 0
        assert dmlcpu.argmax(x.T) == 0
        assert dmlcpu.argmax(x.T, axis_direction=1) == x.size - 1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("gap", [0, 1, 40])
def test_short_rows_are_turned_over(instruction_set, dtype, gap):
    """Every length around the sides of the squares that are turned over in registers, with and
    without a gap behind each row, in either direction; the last rows end where the memory does."""
    rng = np.random.default_rng(0)
    for length in range(2, 2 * 16 + 2):
        # The last as many as are asked for ahead, of which few lengths will do.
        many = TUNING.kSweepPrefetchBytes // (length * np.dtype(dtype).itemsize) + 9
        for rows in (2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 81, 97, many if length % 8 == 3 else 1):
            memory = rng.integers(0, 9, rows * (length + gap) - gap).astype(dtype)
            shape, strides = (rows, length), ((length + gap) * memory.itemsize, memory.itemsize)
            x = np.lib.stride_tricks.as_strided(memory, shape, strides)
            for view in (x, x[:, ::-1]):
                first = dmlcpu.argmax(view, 1, keepdims=False)
                np.testing.assert_array_equal(first, np.argmax(view, 1))
                last = dmlcpu.argmax(view, 1, keepdims=False, axis_direction=1)
                np.testing.assert_array_equal(length - 1 - last, np.argmax(view[:, ::-1], 1))


def test_work_is_cut_into_parts_that_tie(instruction_set, threads):
    """Equal extremes in every part that a thread could get: the first or last part must win."""
    for shape, axis in [
        ((100_000,), 0),
        ((40_000, 3), 0),
        ((3, 5, 7000), (0, 2)),
        ((2, 60_001), 1),
    ]:
        x = np.zeros(shape, np.int16)
        got = dmlcpu.argmax(x, axis)
        assert (got == 0).all()
        count = x.size // got.size
        assert (dmlcpu.argmin(x, axis, axis_direction=1) == count - 1).all()


def assert_gathers(x, indices, batch_dims, want):
    """Checked while copying, checked before, and clipped."""
    options = {"batch_dims": batch_dims}
    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, **options), want)
    out = np.zeros_like(want)
    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, out=out, **options), want)
    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, mode="clip", **options), want)


@pytest.mark.parametrize("count", near(TUNING.kGatherChunk, 2 * TUNING.kGatherChunk))
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8])
def test_gather_chunks(instruction_set, threads, count, length):
    """Tuples around the chunk whose offsets are computed at once, each naming a different slice."""
    x = np.arange(9 * 11 * 13 * 2, dtype=np.int32).reshape(9, 11, 13, 2)
    if length > 3:
        x = x.ravel()[: 4**4 * 3**2].reshape(4, 2, 2, 3, 3, 4, 2, 2)
    rng = np.random.default_rng(0)
    indices = np.stack([rng.integers(-size, size, count) for size in x.shape[:length]], -1)
    assert_gathers(x, indices, 0, x[tuple(indices.T)])


@pytest.mark.parametrize("count", near(TUNING.kGatherChunk, 2 * TUNING.kGatherChunk))
@pytest.mark.parametrize("length", [1, 2])
def test_gather_chunks_of_a_batch(instruction_set, threads, count, length):
    """Each tuple of a chunk reads from its own part of the input, counted from the cell's begin."""
    x = np.arange(count * 5 * 3, dtype=np.int32).reshape(count, 5, 3)
    rng = np.random.default_rng(0)
    indices = np.stack([rng.integers(-size, size, count) for size in (5, 3)[:length]], -1)
    assert_gathers(x, indices, 1, x[(np.arange(count), *indices.T)])


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("elements", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 100])
def test_gather_slice_sizes(instruction_set, itemsize, elements):
    """Slices around every size with a copy of its own; the bytes behind a slice must stay."""
    dtype = np.dtype(f"u{itemsize}")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, (40, elements), np.uint8).astype(dtype)
    indices = rng.integers(0, 40, (100, 1))
    wide = np.full((100, elements + 1), 77, dtype)
    dmlcpu.gather_nd(x, indices, out=wide[:, :elements])
    np.testing.assert_array_equal(wide[:, :elements], x[indices[:, 0]])
    assert (wide[:, elements] == 77).all()
    got = dmlcpu.gather_nd(x[:, ::-1], indices)
    np.testing.assert_array_equal(got, x[indices[:, 0], ::-1])
