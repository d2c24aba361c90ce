"""Columns of few rows, whose next columns are prefetched, and of one, which are not read."""

import numpy as np
import pytest

import dmlcpu

from data import FAR_COLUMNS, TUNING

TILE = TUNING.kTileElements


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("rows", [*range(1, 10), TUNING.kPassRows + 1, 2 * TUNING.kPassRows + 1])
def test_few_rows_tile_by_tile(instruction_set, threads, dtype, rows):
    """All rows of a vector of columns before the next vector, or some in each pass: the extreme is in
    each row alternately, so that every column of every vector and tile has its own answer. Random
    inputs of few rows are too small to be prefetched."""
    least = -(-FAR_COLUMNS // (rows * np.dtype(dtype).itemsize))
    for columns in (least - 1, least, least // TILE * TILE + TILE + 1):
        x = np.zeros((rows, columns), dtype)
        want = (np.arange(columns) * 7 + rows // 2) % rows
        x[want, np.arange(columns)] = 1
        assert (dmlcpu.argmax(x, 0, keepdims=False) == want).all()
        x[-1] = 1
        assert (dmlcpu.argmax(x, 0, keepdims=False) == want).all()
        assert (dmlcpu.argmax(x, 0, keepdims=False, axis_direction=1) == rows - 1).all()
        if np.dtype(dtype).kind == "f":
            x[rows // 3, [0, columns // 2, -1]] = np.nan
            want[[0, columns // 2, -1]] = rows // 3
            assert (dmlcpu.argmax(x, 0, keepdims=False) == want).all()


@pytest.mark.parametrize("index_dtype", ["uint32", "int64"])
def test_one_element_has_index_0(threads, index_dtype):
    """Whatever it is, wherever the results go: nothing but the results is written."""
    x = np.full((300_000, 1, 2), np.nan, np.float32)
    for view, axis in ((x, 1), (x, ()), (x[::-1, :, 1:], (1, 2)), (x.transpose(2, 0, 1), 2)):
        for direction in (0, 1):
            options = {"axis_direction": direction, "index_dtype": index_dtype}
            got = dmlcpu.argmin(view, axis, **options)
            assert not got.any()
            memory = np.full((*got.shape, 2), 7, index_dtype)
            dmlcpu.argmax(view, axis, out=memory[..., 1], nan_policy="omit", **options)
            assert not memory[..., 1].any()
            assert (memory[..., 0] == 7).all()
