"""Coordinates at the edges of their axis, of 32 bits and of their dtype."""

import numpy as np
import pytest

import dmlcpu

from data import TUNING

COUNT = 2 * TUNING.kGatherTupleBlock + 13  # two blocks of tuples and a rest
DTYPES = ["u4", "i4", "u8", "i8"]


def coordinates(size, dtype):
    """Where a comparison of too few bits, or of the wrong sign, fails; no random ones are there."""
    edges = {edge + step for edge in (-size, 0, size) for step in (-2, -1, 0, 1)}
    edges |= {
        sign * 2**bits + step for bits in (31, 32, 63) for sign in (-1, 1) for step in (-1, 0, 1)
    }
    edges |= {2**32 + size - 1, 2**32 + size, -(2**32) + 1, 2**64 - 1, 2**64 - size}
    limits = np.iinfo(dtype)
    return sorted(edge for edge in edges if limits.min <= edge <= limits.max)


def layouts(column, others):
    """Tuples of the coordinate alone, contiguous and not, and beside another one, which is in range."""
    single = column[:, None]
    padded = np.zeros((COUNT, 3), column.dtype)
    padded[:, 1] = column
    yield single, 0
    yield padded[:, 1:2], 0
    yield np.stack([column, others], 1), 0
    yield np.stack([others, column], 1), 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 2, 5, 2**31 - 1, 2**31])
def test_edges(instruction_set, size, dtype):
    small = min(size, 5)
    values = np.arange(small, dtype=np.uint8) + 7
    low = 0 if dtype[0] == "u" else -size
    for at in (0, COUNT - 1):
        for coordinate in coordinates(size, dtype):
            column = np.zeros(COUNT, dtype)
            column[at] = coordinate
            others = (np.arange(COUNT) % 3).astype(dtype)
            for indices, axis in layouts(column, others):
                pair = indices.shape[1] == 2
                shape = [3, 3] if pair else [1]
                shape[axis] = size
                # All elements along a long axis are the same one.
                x = values if small == size else np.uint8(7)
                x = x.reshape([-1 if d == axis else 1 for d in range(len(shape))])
                x = np.broadcast_to(x, shape)
                in_range = low <= coordinate < size
                wrapped = coordinate + size * (coordinate < 0)
                clipped = min(max(wrapped, 0), size - 1)
                want = np.full(COUNT, 7)
                want[at] = 7 + clipped if small == size else 7
                got = dmlcpu.gather_nd(x, indices, mode="clip")
                np.testing.assert_array_equal(got, want, str((coordinate, axis)))
                out = np.full(COUNT, 99, np.uint8)
                if in_range:
                    np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices), want)
                    dmlcpu.gather_nd(x, indices, out=out)
                    np.testing.assert_array_equal(out, want)
                    continue
                offender = rf"got {coordinate} at position \({at}, {axis}\)$"
                with pytest.raises(IndexError, match=offender):
                    dmlcpu.gather_nd(x, indices)
                with pytest.raises(IndexError, match=offender):
                    dmlcpu.gather_nd(x, indices, out=out)
                assert (out == 99).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_narrow_integers(dtype):
    """They are copied, from any layout, and mean what they would as wider ones."""
    info = np.iinfo(dtype)
    x = np.arange(2 * (int(info.max) + 1), dtype=np.int32).reshape(-1, 2)
    rows = np.array([0, 1, info.max, info.min, -1 if info.min else 7], dtype)
    want = x[rows.astype(np.int64)]
    padded = np.zeros((5, 3), dtype)
    padded[::-1, 1] = rows
    unaligned = np.frombuffer(b"\0" + rows.tobytes(), dtype, offset=1)
    for indices in (rows[:, None], padded[::-1, 1:2], unaligned[:, None], [[row] for row in rows]):
        np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices), want)
    small = x[: info.max] if info.min else x[: info.max // 2]
    with pytest.raises(IndexError, match=rf", got {info.max} at position \(2, 0\)$"):
        dmlcpu.gather_nd(small, rows[:, None])
    clipped = dmlcpu.gather_nd(small, rows[2:3, None], mode="clip")
    np.testing.assert_array_equal(clipped, small[-1:])
    # The indices are read before anything is written.
    both = np.array([[1], [0]], np.int8)
    assert dmlcpu.gather_nd(np.int8([5, 7]), both, out=both[:, 0]).tolist() == [7, 5]


@pytest.mark.parametrize("empty", [[], (), [[]], [(), []], [range(0)]])
def test_empty_lists_are_of_integers(empty):
    """They have no dtype, and hold no tuples of a known size: their shape is what is wrong."""
    with pytest.raises(
        ValueError, match=r"^indices: must have a last dimension in \[1, 2\] .*got 0$"
    ):
        dmlcpu.gather_nd(np.eye(3), empty)


def test_no_tuples():
    x = np.eye(3)
    assert dmlcpu.gather_nd(x, np.empty((0, 1), int)).shape == (0, 3)
    assert dmlcpu.gather_nd(x, [np.empty((0, 2), int)]).shape == (1, 0)
    assert dmlcpu.gather_nd(x, [np.empty((0, 2))]).shape == (1, 0)  # as NumPy takes x[[...]]
    text = "^indices: must be of dtype int8 to int64 or uint8 to uint64, got "
    for wrong in (np.empty((0, 2)), np.empty(0), memoryview(np.empty((0, 2)))):
        with pytest.raises(TypeError, match=text + "float64$"):
            dmlcpu.gather_nd(x, wrong)
    with pytest.raises(TypeError, match=text + "complex128$"):
        dmlcpu.gather_nd(x, [np.empty((0, 2), complex)])


@pytest.mark.parametrize("columns", [1, 1000])
def test_empty_axes_have_no_index(columns):
    """Nothing is read of an input without elements."""
    x = np.lib.stride_tricks.as_strided(np.empty(0), (0, columns))
    out = np.full((3, columns), 7.0)
    for options in ({}, {"out": out}):
        with pytest.raises(IndexError, match="must be empty for axis 0, of size 0, got 2 at "):
            dmlcpu.gather_nd(x, [[2], [0], [-1]], **options)
    assert (out == 7).all()
