"""dmlcpu.numpy's functions that sort, beside NumPy's stable sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_numpy_door import ALL_DTYPES, DATES, SETTINGS, arrays, assert_same, axes, filled, outcome

import dmlcpu.numpy as door
from dmlcpu import _numpy_sort

import data

SORTS = ["sort", "argsort"]
PARTITIONS = ["partition", "argpartition"]
# NumPy sorts booleans by their bytes, and bfloat16 in no order where there are NaNs.
PLAIN = [dtype for dtype in data.DTYPES if dtype.kind != "b" and dtype.name != "bfloat16"]


def force(monkeypatch):
    """dmlcpu sorts also where NumPy takes less time."""
    for name in ("_sort_pays", "_partition_pays"):
        monkeypatch.setattr(_numpy_sort, name, lambda *args: True)


@pytest.fixture(autouse=True)
def _dmlcpu_does_it(monkeypatch):
    force(monkeypatch)


@SETTINGS
@given(
    name=st.sampled_from(SORTS),
    call=st.data(),
    x=arrays(PLAIN + DATES) | arrays([*PLAIN, *ALL_DTYPES[len(data.DTYPES) :]]),
)
def test_sorts(name, call, x):
    kwargs = {}
    if call.draw(st.booleans()):
        kwargs["axis"] = call.draw(axes(x.ndim))
    kwargs["kind"] = call.draw(st.sampled_from(["stable", "mergesort", "stable", "no", 3]))
    if call.draw(st.integers(0, 5)) == 0:
        kwargs["order"] = call.draw(st.sampled_from([None, "f0", ["f1"], "f2", 3]))
    got = outcome(getattr(door, name), (x,), kwargs)
    assert_same(got, outcome(getattr(np, name), (x,), kwargs))


@pytest.mark.parametrize("n", [2, 17, 100, 5000, pytest.param(70000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", [*PLAIN, *map(np.dtype, DATES[:2])], ids=str)
def test_rows_and_columns_of_any_length(dtype, n):
    rng = np.random.default_rng(n)
    for shape, axis in (((3, n), 1), ((n, 3), 0), ((1, n), -1)):
        x = filled(rng, dtype, shape)
        for y in (x, np.asfortranarray(x), x[::-1, ::-1]):
            want = np.sort(y, axis, kind="stable")
            for kind in (None, "quicksort", "stable"):
                assert_same(door.argsort(y, axis, kind), np.argsort(y, axis, kind="stable"))
                got = door.sort(y, axis, kind)
                assert_same(got, want)
            assert got.flags.f_contiguous == want.flags.f_contiguous


def test_nans_of_bfloat16_come_last():
    x = np.array([np.nan, 2, -0.0, -np.inf, 0.0, np.nan]).astype(data.FLOATS[-1])
    assert x.dtype.name == "bfloat16"
    assert door.argsort(x).tolist() == [3, 2, 4, 1, 0, 5]
    assert_same(door.sort(x), x[[3, 2, 4, 1, 0, 5]])


@pytest.mark.parametrize("name", [*SORTS, *PARTITIONS])
def test_lists_of_what_is_sorted(name):
    extra = (1,) if name in PARTITIONS else ()
    dates = [np.datetime64(text, "s") for text in ("2026", "NaT", "1970")]
    for a in (
        [3, 1, 2],
        (2.0, np.nan, 1.0),
        [[1, 0], [3, 4]],
        dates,
        [True, False, True],
        [],
        5,
        None,
    ):
        for axis in (-1, None):
            want = outcome(getattr(np, name), (a, *extra, axis), {})
            got = outcome(getattr(door, name), (a, *extra, axis), {})
            if name in SORTS and a == (2.0, np.nan, 1.0):
                # On aarch64 NumPy's own sort makes NaNs of other bits.
                np.testing.assert_array_equal(got, want)
            elif name in SORTS:
                assert_same(got, want)
            else:
                assert type(got) is type(want)


@pytest.mark.parametrize("kth", [[True, 1], np.array([1, 2]), np.uint8(1), range(3), [[1]], []])
def test_positions_of_every_type(kth):
    x = np.array([3, 1, 2, 5, 4])
    want = outcome(np.partition, (x, kth), {})
    got = outcome(door.partition, (x, kth), {})
    if isinstance(want, type):
        assert got is want
    else:
        assert_same(np.sort(got), np.sort(want))


def test_any_nonzero_byte_is_true():
    x = np.array([2, 0, 1, 255, 0], np.uint8).view(bool)
    assert door.argsort(x).tolist() == [1, 4, 0, 2, 3]
    assert door.sort(x).view(np.uint8).tolist() == [0, 0, 2, 1, 255]


def is_partitioned(x, order, kth, axis):
    """Whether indices are those of a partition of x."""
    rows, order = (np.moveaxis(a, axis, -1) for a in (x, order))
    ranks = np.argsort(np.argsort(rows, kind="stable"), kind="stable")
    ordered = np.sort(rows, kind="stable")
    ranks = np.take_along_axis(ranks, order, -1)
    assert (np.sort(ranks, -1) == np.arange(rows.shape[-1])).all()
    for k in np.ravel(kth):
        k = range(rows.shape[-1])[k]
        at = np.take_along_axis(rows, order, -1)
        same = (at[..., k] == ordered[..., k]) | (at[..., k] != at[..., k])
        # Of equal elements any may be on either side.
        below = _first_of(ordered, k)
        above = _last_of(ordered, k)
        assert same.all()
        assert (ranks[..., :k] <= above).all()
        assert (ranks[..., k:] >= below).all()
    return True


def _equal(ordered, k):
    pivot = ordered[..., k : k + 1]
    return (ordered == pivot) | ((ordered != ordered) & (pivot != pivot))


def _first_of(ordered, k):
    return np.argmax(_equal(ordered, k), -1)[..., None]


def _last_of(ordered, k):
    return ordered.shape[-1] - 1 - np.argmax(_equal(ordered, k)[..., ::-1], -1)[..., None]


@SETTINGS
@given(call=st.data(), x=arrays(PLAIN + DATES, min_rank=1))
def test_partitions(call, x):
    axis = call.draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    one = st.integers(-n - 1, n)
    kth = call.draw(
        one | st.lists(one, max_size=3) | st.sampled_from([True, 1.0, None, "1", [1.0]])
    )
    want = outcome(np.argpartition, (x, kth, axis), {})
    order = outcome(door.argpartition, (x, kth, axis), {})
    got = outcome(door.partition, (x, kth, axis), {})
    if isinstance(want, type):
        assert order is want
        assert got is outcome(np.partition, (x, kth, axis), {})
        return
    assert order.dtype == np.intp
    assert order.shape == got.shape == x.shape
    assert got.dtype == x.dtype
    if x.size:
        assert is_partitioned(x, order, kth, axis)
        rows = np.moveaxis(got, axis, -1)
        own = np.argsort(np.argsort(rows, kind="stable"), kind="stable")  # ranks of its elements
        ordered = np.sort(np.moveaxis(x, axis, -1), kind="stable")
        for k in np.ravel(kth):
            k = range(n)[k]
            assert (own[..., :k] <= _last_of(ordered, k)).all()
            assert (own[..., k:] >= _first_of(ordered, k)).all()
        assert np.array_equal(np.sort(rows, kind="stable"), ordered, equal_nan=x.dtype.kind != "i")


@pytest.mark.parametrize("kth", [0, 3, [7, 2], -1, [-1, -5], 50])
@pytest.mark.parametrize("axis", [0, 1, 2, None])
def test_partitions_of_longer_axes(kth, axis):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, (101, 103, 105)).astype(np.float32)
    x[rng.random(x.shape) < 0.01] = np.nan
    flat = x.ravel() if axis is None else x
    order = door.argpartition(x, kth, axis)
    assert is_partitioned(flat, order, kth, -1 if axis is None else axis)
    got = door.partition(x, kth, axis)
    at = np.take_along_axis(flat, order, -1 if axis is None else axis)
    last = -1 if axis is None else axis
    assert np.array_equal(np.sort(got, last), np.sort(at, last), equal_nan=True)


def test_small_sorts_are_stable_too(monkeypatch):
    monkeypatch.undo()
    for dtype in (np.float32, np.float64):  # which dmlcpu sorts, and NumPy
        x = (np.arange(150) % 3).astype(dtype)
        for kind in (None, "quicksort"):
            assert_same(door.argsort(x, kind=kind), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("name", ["sort", *PARTITIONS])
def test_the_doors_leave_to_numpy_what_it_does_sooner(monkeypatch, name):
    monkeypatch.undo()
    for function in ("part_of_top_k", "top_k"):
        monkeypatch.setattr(_numpy_sort, function, None)
    x = np.random.default_rng(0).permutation(200)
    extra = (7,) if name in PARTITIONS else ()
    for a in (x, x.tolist()):
        assert_same(getattr(door, name)(a, *extra), getattr(np, name)(x, *extra))
