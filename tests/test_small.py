"""argmin and argmax of a few elements, which are run without a plan, and of a few more.

Random data of the other tests is mostly larger. Here every shape of up to three small axes meets
every set of axes, layout and direction, with ties.
"""

import itertools

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

import data
import reference
from data import TUNING

DIRECTIONS = ("increasing", "decreasing")


def check(x, axes):
    for largest, direction in itertools.product((False, True), DIRECTIONS):
        function = dmlcpu.argmax if largest else dmlcpu.argmin
        expected = reference.arg(x, axes, largest=largest, direction=direction)
        found = function(x, axes, axis_direction=direction)
        np.testing.assert_array_equal(found, expected, err_msg=f"{x.shape} {x.strides} {axes}")
        out = np.full((*expected.shape, 2), 77, np.uint32)[..., 0]
        function(x, axes, axis_direction=direction, out=out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("sizes", list(itertools.product((1, 2, 3), repeat=3)), ids=str)
def test_small_shapes(sizes):
    """Ties of three values, in every layout."""
    x = data.random_values(np.random.default_rng(0), np.dtype(np.float32), sizes, distinct=3)
    for _, view in data.some_layouts(x):
        for axes in data.subsets(range(3)):
            check(view, axes)


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(2, 16), (3, 11), (16, 2), (11, 3), (8, 4)], ids=str)
def test_around_the_limit(instruction_set, dtype, shape):
    x = data.random_values(np.random.default_rng(1), dtype, shape)
    for _, view in data.some_layouts(x):
        for axes in ((0,), (1,), (0, 1), ()):
            check(view, axes)


@pytest.mark.parametrize(
    ("shape", "axis", "unplanned"),
    [
        ((3, 3), 0, True),
        ((3, 3), None, True),
        ((1, 2, 1, 4), (0, 3), True),
        ((2, TUNING.kUnplannedElements // 2), 1, True),
        ((2, TUNING.kUnplannedElements // 2 + 1), 1, False),
        ((1, TUNING.kUnplannedElements + 1), 1, True),  # one row, of any size
        ((2, 3, 2), 1, False),  # results that no one stride walks
        ((2, 3, 2), (0, 2), False),  # elements of a result likewise
    ],
)
def test_what_needs_no_plan(shape, axis, unplanned):
    plan = _core.plan_text(dmlcpu.argmax, np.zeros(shape, np.float32), axis)
    assert plan.startswith("rows without a plan") == unplanned


@pytest.mark.parametrize("axis", [0, None, (0, 1)], ids=str)
def test_broadcast_rows_are_not_read_element_by_element(axis):
    """Read element by element, this row would take minutes."""
    x = np.broadcast_to(np.float32(1), (2**40, 1))
    with dmlcpu.num_threads(1):
        for direction, found in zip(DIRECTIONS, (0, 2**40 - 1)):
            got = dmlcpu.argmax(x, axis, axis_direction=direction, index_dtype=np.int64)
            assert got.tolist() == [[found]]


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("index_dtype", [np.uint32, np.int64])
def test_axes_of_size_1_around_the_inner_size(more, index_dtype):
    """The innermost axis or, if that is short, the longest one is walked; in several orders of the
    axes, of views that no one stride walks. Random shapes seldom have such an axis."""
    inner = TUNING.kFillInnerSize + more
    x = np.arange(3.0 * 100 * 2 * inner).reshape(3, 1, 100, 2 * inner)
    with dmlcpu.num_threads(1):
        for view in (x[::2, :, ::2, :inner], x[:, :, ::-1, ::2], x.transpose(3, 1, 0, 2)):
            got = dmlcpu.top_k(view, 1, axis=1, index_dtype=index_dtype)
            np.testing.assert_array_equal(got.values, view)
            np.testing.assert_array_equal(got.indices, np.zeros(view.shape, index_dtype))
            out = np.full((*view.shape, 2), 77, index_dtype)
            dmlcpu.argmax(view, 1, out=out[..., 0], index_dtype=index_dtype)
            assert (out[..., 0] == 0).all()
            assert (out[..., 1] == 77).all()
    plan = _core.plan_text(dmlcpu.top_k, x[::2, :, ::2, :inner], 1, axis=1)
    assert f"rows {inner if more >= 0 else 50} by" in plan
