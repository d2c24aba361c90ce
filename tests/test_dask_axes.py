"""The axes of dmlcpu.dask's argmin and argmax are read as the core reads them: once, and no further."""

import itertools

import numpy as np
import pytest
from numpy.exceptions import AxisError

da = pytest.importorskip("dask.array")

import dmlcpu
import dmlcpu.dask

X = np.random.default_rng(0).random((4, 5, 6), np.float32)
CHUNKED = da.from_array(X, chunks=(2, 3, 6))
NAMES = ("argmin", "argmax")


class Once:
    """An iterable that gives its axes to the first that asks."""

    def __init__(self, axes):
        self.axes = iter(axes)

    def __iter__(self):
        axes, self.axes = self.axes, iter(())
        return axes


class Sequence:
    """Iterable by its items alone."""

    def __init__(self, axes):
        self.axes = axes

    def __getitem__(self, index):
        return self.axes[index]


@pytest.mark.parametrize("name", NAMES)
def test_spellings_of_axes(name):
    eager, lazy = getattr(dmlcpu, name), getattr(dmlcpu.dask, name)
    makers = [
        list,
        set,
        dict.fromkeys,
        np.array,
        iter,
        Once,
        Sequence,
        lambda axes: (a for a in axes),
    ]
    for axes in [(0,), (1,), (0, 2), (2, 1), (-1, 0, 1)]:
        for make in makers:
            assert np.array_equal(lazy(CHUNKED, make(axes)).compute(), eager(X, axes))
    for axis in (1, np.int8(1), np.array(1), np.array([1])):
        assert np.array_equal(lazy(CHUNKED, axis).compute(), eager(X, 1))
    assert np.array_equal(lazy(CHUNKED, Once([])).compute(), eager(X, ()))


@pytest.mark.parametrize("name", NAMES)
def test_wrong_axes(name):
    """With the core's errors."""

    class Raises:
        def __iter__(self):
            raise OSError("told")

    makers = [
        *(itertools.count, object, Raises),
        *(
            lambda: itertools.repeat(1),
            lambda: itertools.repeat("0"),
            lambda: Once([3]),
            lambda: (0, 0),
        ),
        *(
            lambda: True,
            lambda: "0",
            lambda: 1.0,
            lambda: [None],
            lambda: map(int, ["x"]),
            lambda: 3,
        ),
        *(lambda size=size: itertools.chain([0] * size, [None]) for size in (8, 20)),
        lambda: 10**30,
    ]
    for make in makers:
        with pytest.raises((AxisError, TypeError, ValueError, OSError)) as wanted:
            getattr(dmlcpu, name)(X, make())
        with pytest.raises(type(wanted.value)) as caught:
            getattr(dmlcpu.dask, name)(CHUNKED, make())
        assert str(caught.value) == str(wanted.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index_dtype", ["uint8", "int8", "uint16", "int16"])
def test_narrow_indices(name, index_dtype):
    eager, lazy = getattr(dmlcpu, name), getattr(dmlcpu.dask, name)
    for axis in (None, 0, 1, 2, (0, 2)):
        want = eager(X, axis, index_dtype=index_dtype)
        got = lazy(CHUNKED, axis, index_dtype=index_dtype)
        assert got.dtype == want.dtype == index_dtype
        assert np.array_equal(got.compute(), want)
    most = np.iinfo(index_dtype).max + 1
    x = np.zeros((most + 1, 2), np.uint8)
    x[most - 1] = 1
    chunked = da.from_array(x, chunks=(100, 1))
    assert lazy(chunked[:most], 0, index_dtype=index_dtype).compute()[0, 0] == (
        most - 1 if name == "argmax" else 0
    )
    text = f"^index_dtype: must hold the index {most}, got {index_dtype}$"
    for shape in (x.shape, (most + 1, 0)):
        with pytest.raises(ValueError, match=text):
            lazy(da.zeros(shape, chunks=(100, 1)), 0, index_dtype=index_dtype)
