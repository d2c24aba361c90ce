"""The examples of DirectML's reference pages, literally, and the choices where it is silent."""

import numpy as np
import pytest

import dmlcpu
from dmlcpu import AxisDirection

X = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.float32)


@pytest.mark.parametrize(
    ("operator", "axes", "want"),
    [
        (dmlcpu.argmin, [0], [[0, 1, 2]]),
        (dmlcpu.argmin, [1], [[0], [1], [0]]),
        (dmlcpu.argmin, [0, 1], [[4]]),
        (dmlcpu.argmax, [0], [[1, 2, 1]]),
        (dmlcpu.argmax, [1], [[2], [2], [1]]),
        (dmlcpu.argmax, [0, 1], [[7]]),
    ],
)
def test_arg_examples(operator, axes, want):
    got = operator(X, axes)
    assert got.dtype == np.uint32
    assert got.tolist() == want


@pytest.mark.parametrize(
    ("operator", "values"), [(dmlcpu.argmin, [1, 2, 3, 2, 1]), (dmlcpu.argmax, [3, 2, 1, 2, 3])]
)
def test_arg_ties(operator, values):
    assert operator(values).tolist() == [0]
    assert operator(values, axis_direction=AxisDirection.DECREASING).tolist() == [4]


def test_arg_index_counts_in_tensor_order_whatever_the_order_of_axes():
    x = np.zeros((2, 3, 4, 5), np.int16)
    x[:, 2, :, 4] = 1
    for axes in [(1, 3), (3, 1), (-1, -3)]:
        got = dmlcpu.argmax(x, axes)
        assert got.shape == (2, 1, 4, 1)
        assert (got == 14).all()


def test_arg_without_axes_gives_index_0():
    assert dmlcpu.argmax(X, ()).tolist() == [[0] * 3] * 3


TOP_K_1 = np.array([[[[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]]]], np.float32)
TOP_K_2 = np.array([[[[1, 2, 2, 3], [3, 4, 5, 5], [6, 6, 6, 6]]]], np.float32)


@pytest.mark.parametrize(
    ("x", "axis", "k", "direction", "values", "indices"),
    [
        (TOP_K_1, 3, 2, 1, [[11, 10], [9, 8], [7, 6]], [[3, 2], [2, 3], [3, 2]]),
        (TOP_K_1, 2, 2, 1, [[4, 5, 10, 11], [3, 2, 9, 8]], [[2, 2, 0, 0], [1, 1, 1, 1]]),
        (
            TOP_K_2, 3, 3, 1, [[3, 2, 2], [5, 5, 4], [6, 6, 6]], [[3, 1, 2], [2, 3, 1], [0, 1, 2]],
        ),
        (
            TOP_K_2, 3, 3, 0, [[1, 2, 2], [3, 4, 5], [6, 6, 6]], [[0, 1, 2], [0, 1, 2], [0, 1, 2]],
        ),
    ],
)  # fmt: skip
def test_top_k_examples(x, axis, k, direction, values, indices):
    got = dmlcpu.top_k(x, k, axis=axis, axis_direction=direction)
    assert got.values.tolist() == [[values]]
    assert got.indices.tolist() == [[indices]]
    assert got.indices.dtype == np.uint32


def test_top_k_defaults_and_result_type():
    got = dmlcpu.top_k([[1, 3, 2]], 2)
    assert isinstance(got, dmlcpu.TopK)
    assert isinstance(got, tuple)
    assert got.values.tolist() == [[3, 2]]


@pytest.mark.parametrize(
    ("x", "indices", "batch_dims", "want"),
    [
        ([[0, 1], [2, 3]], [[1], [0]], 0, [[2, 3], [0, 1]]),
        ([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[0, 1], [1, 0]], 0, [[2, 3], [4, 5]]),
        ([[0, 1], [2, 3]], [[0, 0], [-1, -2]], 0, [0, 2]),
        ([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[1], [0]], 1, [[2, 3], [4, 5]]),
    ],
)
def test_gather_nd_examples(x, indices, batch_dims, want):
    assert dmlcpu.gather_nd(x, indices, batch_dims=batch_dims).tolist() == want


def test_gather_nd_shapes():
    """The reference's own example of sizes, and of the one with batch dimensions."""
    x = np.arange(3 * 4 * 5 * 6 * 7).reshape(3, 4, 5, 6, 7)
    assert dmlcpu.gather_nd(x, np.zeros((1, 2, 3), np.int64)).shape == (1, 2, 6, 7)
    x = np.arange(12).reshape(3, 2, 2)
    indices = np.ones((3, 2, 2), np.uint32)
    assert dmlcpu.gather_nd(x, indices, batch_dims=1).tolist() == [[3, 3], [7, 7], [11, 11]]


NAN = np.nan


@pytest.mark.parametrize(
    ("values", "policy", "first", "last"),
    [
        ([1, NAN, 3, NAN], "propagate", 1, 3),
        ([1, NAN, 3, NAN], "omit", 2, 2),
        ([NAN, -np.inf, NAN], "omit", 1, 1),
        ([NAN, NAN, NAN], "omit", 0, 2),
        ([NAN, NAN, NAN], "propagate", 0, 2),
        ([0.0, -0.0], "propagate", 0, 1),
    ],
)
def test_arg_nan_policy(values, policy, first, last):
    for sign, operator in [(1, dmlcpu.argmax), (-1, dmlcpu.argmin)]:
        x = sign * np.array(values)
        for direction, want in [("increasing", first), ("decreasing", last)]:
            got = operator(x, axis_direction=direction, nan_policy=policy, keepdims=False)
            assert got == want


@pytest.mark.parametrize(
    ("direction", "policy", "want"),
    [
        ("decreasing", "propagate", [1, 3, 2, 0]),
        ("increasing", "propagate", [0, 2, 1, 3]),
        ("decreasing", "omit", [2, 0, 1, 3]),
        ("increasing", "omit", [0, 2, 1, 3]),
    ],
)
def test_top_k_nan_policy(direction, policy, want):
    x = np.array([1, NAN, np.inf, -NAN])
    got = dmlcpu.top_k(x, 4, axis_direction=direction, nan_policy=policy)
    assert got.indices.tolist() == want
    assert got.values.tobytes() == x[want].tobytes()


def test_top_k_zeros_keep_their_bits():
    x = np.array([-0.0, 0.0, -0.0], np.float16)
    for direction in ("increasing", "decreasing"):
        got = dmlcpu.top_k(x, 3, axis_direction=direction)
        assert got.indices.tolist() == [0, 1, 2]
        assert got.values.tobytes() == x.tobytes()


@pytest.mark.parametrize("direction", [0, AxisDirection.INCREASING, "increasing", "Increasing"])
def test_axis_direction_spellings(direction):
    assert dmlcpu.argmax([7, 7], axis_direction=direction) == 0
    assert dmlcpu.top_k([7, 5], 1, axis_direction=direction).values == 5


def test_zero_dimensional():
    for operator in (dmlcpu.argmin, dmlcpu.argmax):
        got = operator(3.5)
        assert got.shape == ()
        assert got == 0
        assert operator(3.5, 0) == 0
    values, indices = dmlcpu.top_k(np.float32(3.5), 1)
    assert values.shape == indices.shape == ()
    assert values == np.float32(3.5)
    assert indices == 0


@pytest.mark.parametrize("keepdims", [True, False])
def test_empty_results(keepdims):
    got = dmlcpu.argmax(np.zeros((0, 3), np.float32), 1, keepdims=keepdims)
    assert got.shape == ((0, 1) if keepdims else (0,))
    assert dmlcpu.argmax(np.zeros((0, 3)), ()).shape == (0, 3)
    values, indices = dmlcpu.top_k(np.zeros((3, 0, 2)), 2, axis=0)
    assert values.shape == indices.shape == (2, 0, 2)
    x = np.zeros((4, 0, 5), np.int8)
    assert dmlcpu.gather_nd(x, np.zeros((2, 1), int)).shape == (2, 0, 5)
    assert dmlcpu.gather_nd(x, np.zeros((0, 2), int)).shape == (0, 5)
    assert dmlcpu.gather_nd(x, np.zeros((7, 0, 1), int)).shape == (7, 0, 0, 5)
