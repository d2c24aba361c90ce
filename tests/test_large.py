"""More than 2^32 elements. Zeros that were never written take address space but no memory."""

import numpy as np
import pytest

import dmlcpu

pytestmark = pytest.mark.slow

MANY = 2**32 + 12345


@pytest.fixture(scope="module")
def zeros():
    x = np.zeros(MANY, np.int8)
    x[[MANY - 100, MANY - 7]] = 1
    x[[5, 2**32 + 1]] = -1
    return x


def test_one_row(zeros):
    got = dmlcpu.argmax(zeros, index_dtype=np.uint64)
    assert got.tolist() == [MANY - 100]
    got = dmlcpu.argmax(zeros, axis_direction="decreasing", index_dtype=np.int64)
    assert got.tolist() == [MANY - 7]
    assert dmlcpu.argmin(zeros, axis_direction=1, index_dtype=np.int64).tolist() == [2**32 + 1]


def test_columns(zeros):
    x = zeros[: 2**32 + 2**10].reshape(-1, 2**10)
    got = dmlcpu.argmin(x, 0, keepdims=False)
    assert got[5] == 0
    assert got[1] == 2**22
    assert got[[0, 2, 3]].tolist() == [0, 0, 0]


def test_several_axes_of_overlapping_windows():
    memory = np.zeros(2**18, np.uint8)
    memory[-1] = 1
    x = np.lib.stride_tricks.as_strided(memory, (2**17, 2**17), (1, 1))[:, : 2**16 + 2]
    memory[2**17 + 2**16] = 7
    got = dmlcpu.argmax(x, index_dtype=np.int64, keepdims=False)
    assert got == (2**17 - 1) * (2**16 + 2) + 2**16 + 1


def test_top_k(zeros):
    values, indices = dmlcpu.top_k(zeros, 3, index_dtype=np.uint64)
    assert values.tolist() == [1, 1, 0]
    assert indices.tolist() == [MANY - 100, MANY - 7, 0]
    values, indices = dmlcpu.top_k(zeros, 3, axis_direction="increasing", index_dtype=np.int64)
    assert values.tolist() == [-1, -1, 0]
    assert indices.tolist() == [5, 2**32 + 1, 0]


def test_gather(zeros):
    indices = np.array([[MANY - 7], [-7], [5], [2**32 + 1], [2**32]])
    assert dmlcpu.gather_nd(zeros, indices).tolist() == [1, 1, -1, -1, 0]
    pairs = zeros[: MANY - 1].reshape(-1, 2)
    assert dmlcpu.gather_nd(pairs, [[2**31]]).tolist() == [[0, -1]]


@pytest.fixture(scope="module")
def corners():
    """Numbers around the beginning, the middle and the end of what 32 bits count; zeros elsewhere."""
    memory = np.zeros(2**32 + 1, np.uint8)
    at = [0, 1, 2, 2**31 - 2, 2**31 - 1, 2**31, 2**32 - 4, 2**32 - 3, 2**32 - 2, 2**32 - 1, 2**32]
    memory[at] = np.arange(1, len(at) + 1)
    return memory


@pytest.mark.parametrize("index_dtype", ["u4", "i4", "u8", "i8"])
def test_gather_where_offsets_just_fit_32_bits(corners, instruction_set, index_dtype):
    """Offsets are computed in 32 bits up to the range that they count, and not beyond."""
    strided = np.lib.stride_tricks.as_strided
    rows = corners[: 2**32 - 2].reshape(2, 2**31 - 1)
    tensors = [rows, rows[::-1], rows[:, ::-1], rows[::-1, ::-1]]
    for distance in (2**32 - 3, 2**32 - 2, 2**32 - 1):  # ranges of 2**32 - 2 to 2**32
        square = strided(corners, (2, 2), (distance, 1))
        tensors += [square, square[::-1], square[:, ::-1], square[::-1, ::-1]]
    for x in tensors:
        columns = sorted({0, 1, x.shape[1] - 2, x.shape[1] - 1})
        indices = np.array([(row, column) for row in (0, 1) for column in columns] * 5, index_dtype)
        want = x[tuple(indices.T.astype(np.int64))]
        assert want.any()
        np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices), want)
        np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, mode="clip"), want)
    for x in (corners[: 2**32 - 2 : 2], corners[2**32 - 2 :: -2]):
        indices = np.array([[0], [1], [2**30 - 1], [2**30], [len(x) - 1]], index_dtype)
        want = x[indices[:, 0].astype(np.int64)]
        np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices), want)
        np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices, mode="clip"), want)
