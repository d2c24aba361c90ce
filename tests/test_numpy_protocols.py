"""dmlcpu.numpy beside NumPy with arrays of other libraries, which get what the caller gave."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmlcpu.numpy as door

from scripts import run_python

SETTINGS = settings(max_examples=100, deadline=None)
SEARCHES = ["argmax", "argmin", "nanargmax", "nanargmin"]
NAMES = [*SEARCHES, "take", "take_along_axis"]
# Parameters in their order, and how many of them a call may give by position.
PARAMETERS = dict.fromkeys(SEARCHES, (["a", "axis", "out", "keepdims"], 3)) | {
    "take": (["a", "indices", "axis", "out", "mode"], 5),
    "take_along_axis": (["arr", "indices", "axis"], 3),
}
OPERANDS = dict.fromkeys(SEARCHES, ("a",)) | {
    "take": ("a", "indices"),
    "take_along_axis": ("arr", "indices"),
}
PLAIN = np.arange(6.0).reshape(2, 3)
VALUES = {
    "axis": [None, 0, -1, np.int8(0), (0, 1)],
    "out": [None, np.zeros(3, np.intp)],
    "keepdims": [True, False, np._NoValue],
    "indices": [[1, 2], 0, np.array([[1, 0]])],
    "mode": ["raise", "wrap", "clip", 1],
}


def outcome(function):
    """The result, or the error."""
    try:
        return function()
    except Exception as error:
        return error


class Recording:
    """Says what NumPy hands it: the function, arguments by position, and those by name."""

    def __array_function__(self, function, types, args, kwargs):
        return function, args, kwargs


class RecordingSubclass(np.ndarray):
    """The same as an array, as those that have units are."""

    __array_function__ = Recording.__array_function__


RECORDING = [Recording(), PLAIN.view(RecordingSubclass)]


def same_calls(got, want):
    """Whether both name the same function, with the same objects given in the same way."""
    return (
        got[0] is want[0]
        and [*map(id, got[1])] == [*map(id, want[1])]
        and {k: id(v) for k, v in got[2].items()} == {k: id(v) for k, v in want[2].items()}
    )


@SETTINGS
@given(call=st.data(), name=st.sampled_from(NAMES), recording=st.sampled_from(RECORDING))
def test_what_the_caller_gave_is_handed_on(call, name, recording):
    """In whichever argument the other library's array is."""
    parameters, by_position = PARAMETERS[name]
    # Those that NumPy asks for a protocol.
    asked = {"argmax": ["a", "out"], "argmin": ["a", "out"], "take": ["a", "out"]}.get(name)
    where = call.draw(st.sets(st.sampled_from(asked or OPERANDS[name]), min_size=1))
    values = {
        p: recording if p in where else call.draw(st.sampled_from(VALUES.get(p, [PLAIN])))
        for p in parameters
    }
    last = call.draw(st.integers(0, by_position))
    needed = {*where, *OPERANDS[name]}
    named = {
        p: v for p, v in list(values.items())[last:] if p in needed or call.draw(st.booleans())
    }
    args = list(values.values())[:last]
    want, got = (getattr(module, name)(*args, **named) for module in (np, door))
    assert want[0] is getattr(np, name)
    assert same_calls(got, want), (got, want)


CALLS = [
    *itertools.product(SEARCHES, [(), (0,), (-1,)], [{}, {"axis": 1}, {"keepdims": True}]),
    *itertools.product(["take"], [([1, 0],), ([1, 0], 1), (1,)], [{}, {"axis": 0}, {"mode": "clip"}]),
    ("take_along_axis", (np.array([[1, 0, 1]]), 0), {}),
    ("take_along_axis", (np.array([[1], [0]]),), {"axis": 1}),
]  # fmt: skip


def foreign_arrays():
    """What makes an array of another library, where it is installed; and how to see what is in one."""
    x = np.array([[1.0, 5.0, 2.0], [5.0, 0.0, 7.0]])

    def dask():
        da = pytest.importorskip("dask.array")
        return da.from_array(x, chunks=2)

    def sparse():
        return pytest.importorskip("sparse").COO(x)

    def xarray():
        return pytest.importorskip("xarray").DataArray(x)

    def quantity():
        return pytest.importorskip("astropy.units").Quantity(x, "m")

    def pint():
        return pytest.importorskip("pint").Quantity(x, "m")

    def series():
        return pytest.importorskip("pandas").Series(x[0])

    return [dask, sparse, xarray, quantity, pint, series]


@pytest.mark.parametrize("make", foreign_arrays(), ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore")  # as NumPy's functions give them
def test_arrays_of_other_libraries(make):
    x = make()
    for name, args, kwargs in CALLS:
        want = outcome(functools.partial(getattr(np, name), x, *args, **kwargs))
        got = outcome(functools.partial(getattr(door, name), x, *args, **kwargs))
        assert type(got) is type(want), (name, args, kwargs, got, want)
        if isinstance(want, Exception):
            continue
        got, want = (np.asarray(r.todense() if hasattr(r, "todense") else r) for r in (got, want))
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist()


def test_errors_name_numpys_own_requirements():
    """What no function takes is refused as by NumPy, whoever's array it is."""
    for a in [*RECORDING, PLAIN]:
        for args, kwargs in [
            ((), {}),
            ((a,), {"dim": 0}),
            ((a, 0, None, True), {}),
            ((a,), {"a": a}),
        ]:
            for name in SEARCHES:
                for function in (getattr(np, name), getattr(door, name)):
                    with pytest.raises(TypeError):
                        function(*args, **kwargs)


EMPTY = """
    import itertools, numpy as np, dmlcpu.numpy as dn
    class Sub(np.ndarray): pass
    arrays = [
        np.empty((0, 0)), np.empty((2, 0, 0), complex), np.empty((0, 0), "O"), np.empty((0, 3), "U3"),
        np.empty((0, 0)).view(Sub), np.ma.empty((0, 0)), np.empty((0, 0), "M8[s]"), [[], []],
        np.empty((0, 0)).view(np.recarray), np.empty((3, 0), ">f4"), np.empty((0,) * 9), [],
    ]
    forms = [[1], 0, [[-1, 5]], np.array([True]), np.uint8(3), np.array([2**62]), []]
    for a, mode, at in itertools.product(arrays, ["wrap", 1, b"wrap"], forms):
        shape = np.shape(a)
        for axis in [None, *range(-len(shape), len(shape))]:
            size = np.size(a) if axis is None else shape[axis]
            ends = ((), ()) if axis is None else (shape[:axis], shape[axis % len(shape) + 1:])
            fits = np.empty((*ends[0], *np.shape(at), *ends[1]), np.asarray(a).dtype)
            for out in (None, fits, np.empty(9, int)):
                try:
                    dn.take(a, at, axis, out, mode)
                except IndexError:
                    assert np.size(at) and size == 0
                except (ValueError, TypeError):
                    assert out is not None or not np.size(at)
                else:
                    assert size > 0 or not np.size(at)
"""


def test_nothing_is_taken_from_empty_axes():
    """NumPy's own function may take 0 off an index for ever."""
    run_python(EMPTY, timeout=60)


@pytest.mark.parametrize("dtype", ["f4", "D", "O", ">i4", "U2", "M8[s]"])
@pytest.mark.parametrize("cls", [np.ndarray, np.recarray, np.ma.MaskedArray])
def test_wrapping_takes_no_time(dtype, cls):
    """NumPy's takes the size off an index until it fits."""
    x = np.arange(6).astype(dtype).reshape(2, 3).view(cls)
    at = np.array([2**62, -(2**62), 5, -1])
    for mode, axis in itertools.product(["wrap", 1], [None, 0, 1]):
        size = x.size if axis is None else x.shape[axis]
        want = np.take(x, [int(i) % size for i in at], axis)
        for out in (None, np.empty(want.shape, x.dtype)):
            got = door.take(x, at, axis, out, mode)
            assert type(got) is type(want if out is None else out)
            assert got.tolist() == want.tolist()
    x, at = np.ma.array([1j, 2, 3], mask=[0, 1, 0]), np.ma.array([4, -(2**62)], mask=[0, 1])
    assert door.take(x, at, mode="wrap").mask.tolist() == [True, True]
