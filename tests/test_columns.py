"""One test per limit of columns: what is a lane, how lanes are packed, and how large a tile, a pass, a
period, a block and a split are.

Random data misses them: few shapes have an edge of each kind, and in those the element that decides
is seldom at the edge. Here every column has its own position, so that each edge has some.
"""

import numpy as np
import pytest

import dmlcpu

import data
from data import TUNING, near

DTYPES = [np.dtype(name) for name in ("uint8", "float16", "float32", "int64")]
DIRECTIONS = ("increasing", "decreasing")

some_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def check(view, axes=0):
    """Each result has its only extreme at another position; then some have a NaN after it; then all
    tie with the last position, and with the first."""
    axes = (axes,) if isinstance(axes, int) else axes
    moved = np.moveaxis(view, axes, range(-len(axes), 0))
    kept, box = moved.shape[: -len(axes)], moved.shape[-len(axes) :]
    count = int(np.prod(box))
    results = np.arange(np.prod(kept, dtype=int)).reshape(kept)
    want = (results * 7 + count // 2) % count

    def put(positions, value):
        at = np.broadcast_arrays(*np.unravel_index(positions, box), results)[:-1]
        moved[(*np.indices(kept), *at)] = value

    def assert_found(first, last, **options):
        for direction, wanted in ((0, first), (1, last)):
            got = dmlcpu.argmax(view, axes, keepdims=False, axis_direction=direction, **options)
            np.testing.assert_array_equal(got, np.broadcast_to(wanted, kept), str(view.shape))

    view[...] = 0
    put(want, 1)
    assert_found(want, want)
    if view.dtype.kind == "f" and count > 1:
        nans = (want + 1 + results % 3) % count
        have = (results % 5 == 2) & (nans != want)
        put(nans, np.where(have, np.nan, moved[(*np.indices(kept), *np.unravel_index(nans, box))]))
        found = np.where(have, nans, want)
        assert_found(found, found)
        assert_found(want, want, nan_policy="omit")
        put(nans, nans == want)
    put(count - 1, 1)
    assert_found(want, count - 1)
    put(0, 1)
    assert_found(0, count - 1)


def views(shape, dtype):
    """Contiguous, reversed, with a gap after each row, and every other element."""
    yield np.zeros(shape, dtype)
    yield np.zeros(shape, dtype)[::-1, ..., ::-1]
    yield np.zeros((*shape[:-1], shape[-1] + 3), dtype)[..., :-3]
    yield np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]


@some_dtypes
def test_contiguous_elements_that_are_lanes(instruction_set, threads, dtype):
    """Kept elements around the width of a vector, narrower ones of which are groups of other lanes."""
    for width in near(32 // dtype.itemsize):
        for shape in ((3, 20, width), (40, 5, width), (300, 2, width)):
            for view in views(shape, dtype):
                check(view, 1)


@some_dtypes
@pytest.mark.parametrize("columns", [1, 2, 3, 7])
def test_several_lanes_of_a_result(instruction_set, threads, dtype, columns):
    """Few columns, many rows: positions are lanes as well, the last of which may not fill them."""
    count = data.positions_in_lanes(dtype.itemsize * columns)
    for rows in near(count, 2 * count, 3 * count, 5 * count + count // 2):
        if rows > 1:
            for shape in ((1, rows, columns), (2, rows, columns)):
                for view in views(shape, dtype):
                    check(view, 1)


@some_dtypes
def test_several_lanes_of_outer_axes(instruction_set, threads, dtype):
    """A gap after every few rows keeps the outer axis apart: at each of its positions a step overlaps,
    also where threads share it."""
    for columns in (1, 3, 5):
        count = data.positions_in_lanes(dtype.itemsize * columns)
        for rows in near(2 * count, 3 * count):
            for outer in (2, 3, 40):
                x = np.zeros((outer, rows + 2, columns), dtype)[:, :rows]
                check(x, (0, 1))
                check(x[::-1], (0, 1))
                check(x[:, ::-1], (0, 1))


@some_dtypes
def test_reduced_axes_that_are_lanes(instruction_set, threads, dtype):
    """If no kept axis fills vectors a reduced one does: all of it, or some positions of the only one."""
    fills = 64 // dtype.itemsize
    lanes = TUNING.kLanesBytes // dtype.itemsize
    for size in near(fills, 2 * lanes, 3 * lanes):
        if size > 1:
            check(np.zeros((3, 2, size, 2), dtype), (0, 2))
            check(np.zeros((size, 2, 3), dtype).T, (0, 2))
            check(np.zeros((size, 3), dtype)[:, ::2], 0)
            check(np.zeros((3, size, 5), dtype)[..., 1], 1)


@some_dtypes
def test_tiles(instruction_set, threads, dtype):
    """Columns around the width of tiles, in place and packed."""
    for columns in near(TUNING.kTileElements, 2 * TUNING.kTileElements):
        for rows in (1, 2, 5):
            for view in views((rows, columns), dtype):
                check(view)


@some_dtypes
def test_tiles_of_groups(instruction_set, threads, dtype):
    """Groups around those of a tile, whose lanes together are as many as the tile's elements."""
    lanes = 64 // dtype.itemsize
    for groups in near(TUNING.kTileElements // lanes, 2 * TUNING.kTileElements // lanes):
        check(np.zeros((groups, 3, lanes), dtype), 1)
    positions = 500  # fewer groups, whose elements one pass reads
    groups = TUNING.kGroupsBytes // (positions * lanes * dtype.itemsize)
    for count in near(groups, 2 * groups):
        check(np.zeros((count, positions, lanes), dtype), 1)


@some_dtypes
def test_passes(instruction_set, dtype):
    """Rows are read some at a time, if a tile of them is large: rows around those of a pass, widths
    around the limits. What is best after one pass meets the next one, ties and NaNs among them."""
    wide_rows = TUNING.kWideRowsBytes // dtype.itemsize
    with dmlcpu.num_threads(1):
        for columns in {TUNING.kTileElements, *near(wide_rows // 4, wide_rows, 4 * wide_rows)}:
            fits = TUNING.kHalfL1Bytes // (columns * dtype.itemsize)
            of_pass = max(fits // TUNING.kPassRows, 1) * TUNING.kPassRows
            for rows in near(fits, fits + of_pass, 3 * of_pass):
                check(np.zeros((rows, columns), dtype))


@some_dtypes
def test_wide_rows(instruction_set, dtype):
    """Rows that are wide enough are taken some at a time, the last of them again where they are fewer:
    widths around that limit, with a part of a vector left, and rows around those taken at once."""
    wide = TUNING.kWideRowsBytes // dtype.itemsize
    part = 16 // dtype.itemsize + 1
    for columns in (*near(wide), wide + part, 2 * wide - part):
        for rows in (*range(1, TUNING.kPassRows + 2), 2 * TUNING.kPassRows + 3):
            for view in (
                np.zeros((rows, columns), dtype),
                np.zeros((rows, 2 * columns), dtype)[::-1, columns:],
            ):
                check(view)
        check(np.zeros((3, TUNING.kPassRows + 3, columns), dtype), 1)


@some_dtypes
def test_periods(instruction_set, threads, dtype):
    """Positions around those of one table of offsets, along one axis and several: each new period is
    elsewhere in memory."""
    width = 70
    for rows in near(TUNING.kWalkRows, 2 * TUNING.kWalkRows):
        check(np.zeros((rows, width), dtype))
        check(np.zeros((width, 2 * rows), dtype).T[::2])
    for inner in near(16, TUNING.kWalkRows):
        x = np.zeros((19, 2, inner, 40), dtype)
        for view in (x, x[::-1], x[:, :, ::-1], x[..., ::2]):
            check(view, (0, 2))


def test_the_counter_of_positions_wraps(instruction_set):
    """Positions are counted in the element's width: 256 or 65536 of them, then the counter starts over.
    One more, and results are merged; fewer are written as they are."""
    for dtype in (np.dtype(name) for name in ("uint8", "int8", "uint16", "float16", "bool")):
        wrap = 2 ** (8 * dtype.itemsize)
        columns = TUNING.kLanesBytes // dtype.itemsize + 1
        for rows in (wrap - 1, wrap, wrap + 1, 2 * wrap + 3):
            edges = [0, 1, 3, 4, 5, *near(wrap, 2 * wrap), rows - 1, rows - 2]
            want = np.array([edge for edge in edges if edge < rows] * columns)[:columns]
            x = np.zeros((rows, columns), dtype)
            x[want, np.arange(columns)] = 1
            for direction in DIRECTIONS:
                got = dmlcpu.argmax(x, 0, keepdims=False, axis_direction=direction)
                assert (got == want).all()
            x[...] = 1
            assert (dmlcpu.argmax(x, 0) == 0).all()
            assert (dmlcpu.argmax(x, 0, axis_direction=1) == rows - 1).all()


@some_dtypes
def test_blocks_of_transposed_elements(instruction_set, threads, dtype):
    """Elements of a lane around the most that are transposed at once: longer ones have several
    periods, or none that divides them."""
    for groups in (1, 3, 5):
        for n in near(TUNING.kBlockElements // groups // 2, TUNING.kBlockElements // groups):
            check(np.zeros((40, n, groups), dtype), 1)
    for blocks in (2, 3, 9):
        for inner in (2, 7, 15, 120):
            x = np.zeros((blocks, 33, inner), dtype)
            check(x, (0, 2))
            check(x[::-1, :, ::-1], (0, 2))
            check(np.zeros((blocks, 33, inner + 1), dtype)[..., 1:], (0, 2))
            check(np.zeros((33, blocks, inner + 2), dtype)[..., 2:], (1, 2))


@some_dtypes
@pytest.mark.parametrize("n", [2, 5, 8, 31])
def test_tiles_of_transposed_rows(instruction_set, threads, dtype, n):
    """Rows around those of a tile, which the buffer holds as fours of vectors of 64 bytes, and the last
    tile, which may be short."""
    step = 4 * 64 // dtype.itemsize
    fits = TUNING.kTransposeBytes // (n * dtype.itemsize) // step * step
    for rows in near(fits, 2 * fits):
        check(np.zeros((rows, n), dtype), 1)
        check(np.zeros((rows, n + 1), dtype)[:, 1:], 1)


@some_dtypes
def test_rows_of_few_elements(instruction_set, dtype):
    """Contiguous rows of few elements are packed by loops over their positions, a tile at a time."""
    for n in near(2, TUNING.kPackedStride):
        tile = min(TUNING.kHalfL1Bytes // (n * dtype.itemsize), TUNING.kTileElements)
        for rows in near(tile, 2 * tile):
            check(np.zeros((rows, n), dtype), 1)
            check(np.zeros((rows, n), dtype)[:, ::-1], 1)


@some_dtypes
def test_strided_tiles(instruction_set, threads, dtype):
    """Lanes around those whose cache lines stay in L1, one to many lanes to a cache line, some
    positions of which are packed at a time."""
    for step in (2, 3, 64 // dtype.itemsize, 64 // dtype.itemsize + 1):
        apart = min(step * dtype.itemsize, 64)
        fits = min(TUNING.kHalfL1Bytes // apart, TUNING.kTileElements)
        packed = TUNING.kTransposeBytes // (fits * dtype.itemsize)
        for lanes in near(fits):
            for rows in {2, packed + 1}:
                x = np.zeros((rows, lanes * step), dtype)
                check(x[:, ::step])
    groups = np.zeros((30, 90, 50, 3), dtype)[:, :, ::7, ::2]
    check(groups, 1)
    check(groups, (0, 2))


@some_dtypes
def test_short_rows_are_columns(instruction_set, threads, dtype):
    """Rows around the size up to which they are transposed; in Fortran order, rows of a reduction over
    everything, whose rows all belong to one result."""
    limit = data.least_row(dtype)
    least = data.FAR_COLUMNS // dtype.itemsize  # inputs of this size are prefetched
    sizes = [(1300, n) for n in [2, 3, *near(limit)]]
    for rows, n in [*sizes, (least // 3 + 9, 3), (least // (limit - 1) + 9, limit - 1)]:
        for order in "CF":
            x = np.zeros((rows, n), dtype, order=order)
            x[np.arange(rows), np.arange(rows) % n] = 1
            assert (dmlcpu.argmax(x, 1, keepdims=False) == np.arange(rows) % n).all()
            for row in (0, 511, 512, 513, rows - 1):
                x[...] = 0
                x[row, n // 2] = 1
                for direction in DIRECTIONS:
                    got = dmlcpu.argmax(x.T, axis_direction=direction)
                    assert got == n // 2 * rows + row
            x[...] = 0
            assert dmlcpu.argmax(x.T) == 0
            assert dmlcpu.argmax(x.T, axis_direction=1) == x.size - 1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("gap", [0, 1, 40])
def test_squares_of_transposed_rows(instruction_set, dtype, gap):
    """Row sizes around the sides of the squares that registers transpose, with and without
    a gap after each row, in either direction; the last rows end where the memory does."""
    rng = np.random.default_rng(0)
    for n in range(2, 2 * 16 + 2):
        # The last number is of an input that is prefetched, of which few sizes will do.
        many = data.FAR_COLUMNS // (n * np.dtype(dtype).itemsize) + 9
        for rows in (2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 81, 97, many if n % 8 == 3 else 1):
            memory = rng.integers(0, 9, rows * (n + gap) - gap).astype(dtype)
            shape, strides = (rows, n), ((n + gap) * memory.itemsize, memory.itemsize)
            x = np.lib.stride_tricks.as_strided(memory, shape, strides)
            for view in (x, x[:, ::-1]):
                first = dmlcpu.argmax(view, 1, keepdims=False)
                np.testing.assert_array_equal(first, np.argmax(view, 1))
                last = dmlcpu.argmax(view, 1, keepdims=False, axis_direction=1)
                np.testing.assert_array_equal(n - 1 - last, np.argmax(view[:, ::-1], 1))


@some_dtypes
def test_prefetched_columns(instruction_set, dtype):
    """Inputs around the size from which they are prefetched, in place and transposed: what is
    prefetched past the end must not be waited for, nor counted."""
    least = data.FAR_COLUMNS // dtype.itemsize
    ahead = TUNING.kColumnsPrefetchAhead // dtype.itemsize
    distance = TUNING.kTransposePrefetchBytes // dtype.itemsize
    with dmlcpu.num_threads(1):
        for rows in (2, 9, 300):
            for columns in near(-(-least // rows)):
                check(np.zeros((rows, columns), dtype))
        for columns in near(ahead, 4 * ahead):
            check(np.zeros((least // columns + 1, columns), dtype))
        for n in (3, 20, distance // 100):
            if n < data.least_row(dtype):
                check(np.zeros((least // n + 1, n), dtype), 1)


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.parametrize("columns", [2, 7, 31, 300])
def test_nan_at_each_position_of_columns(instruction_set, dtype, policy, columns):
    """One NaN in a pass, before, between and after others, in one column: vectors with it are compared
    another way, and the columns beside it must keep their best."""
    rng = np.random.default_rng(0)
    for rows in (2, 5, 6, 13, TUNING.kPassRows + 1):
        for row in range(rows):
            for column in {0, columns // 2, columns - 1}:
                x = rng.integers(-9, 9, (rows, columns)).astype(dtype)
                x[row, column] = np.nan
                for view in (x, x[::-1], np.asfortranarray(x)):
                    numbers = view.astype(np.float32)
                    for name in ("argmax", "argmin"):
                        got = getattr(dmlcpu, name)(view, 0, nan_policy=policy, keepdims=False)
                        numpys = getattr(np, name if policy == "propagate" else f"nan{name}")
                        np.testing.assert_array_equal(got, numpys(numbers, 0))


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
def test_infinities_of_both_signs(instruction_set, dtype):
    """Their sum is NaN, as that of NaNs is, of which there are none."""
    for columns in (5, 64, 300):
        for rows in (2, 3, 2 * TUNING.kPassRows + 1):
            x = np.ones((rows, columns), dtype)
            want = np.arange(columns) % rows
            other = (want + 1) % rows
            x[want, np.arange(columns)] = np.inf
            x[other, np.arange(columns)] = -np.inf
            for view in (x, np.asfortranarray(x)):
                for policy in ("propagate", "omit"):
                    got = dmlcpu.argmax(view, 0, keepdims=False, nan_policy=policy)
                    assert (got == want).all()
                    got = dmlcpu.argmin(view, 0, keepdims=False, nan_policy=policy)
                    assert (got == other).all()


@some_dtypes
def test_columns_split_over_threads(instruction_set, threads, dtype):
    """Positions around those from which threads split them, tiles around the least width of a task:
    equal extremes in every split that a thread could get, the first or last of which must win."""
    least = TUNING.kMinPartPositions
    tile = TUNING.kLeastTileBytes // dtype.itemsize
    for rows in near(least, 2 * least, 3 * least, 12 * least):
        check(np.zeros((rows, 2 * tile + 1), dtype))
    for columns in near(tile, 2 * tile, 4 * tile, 12 * tile):
        for view in views((3, columns), dtype):
            check(view)


def test_splits_that_tie(instruction_set, threads):
    """All elements are equal, in reductions that threads split along rows, positions, lanes and outer
    axes."""
    whole = [((100_000,), 0), ((40_000, 3), 0), ((3, 5, 7000), (0, 2)), ((2, 60_001), 1)]
    for shape, axis in [*whole, ((5, 3, 600), (0, 2)), ((900, 3, 500), (0, 2))]:
        x = np.zeros(shape, np.int16)
        for view in (x, np.asfortranarray(x), x[::-1], np.zeros((*shape, 2), np.int16)[..., 1]):
            got = dmlcpu.argmax(view, axis)
            assert (got == 0).all()
            count = x.size // got.size
            assert (dmlcpu.argmin(view, axis, axis_direction=1) == count - 1).all()
