"""dmlcpu.numpy beside NumPy: results, their types, and errors' types."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmlcpu
import dmlcpu.numpy as door

import data
import reference

SETTINGS = settings(max_examples=300, deadline=None)
SEARCHES = ["argmax", "argmin", "nanargmax", "nanargmin"]
NAMES = [*SEARCHES, "take", "take_along_axis"]
# What dmlcpu reads, dates that it reads as integers, and what only NumPy does.
OTHER_DTYPES = [">f4", ">i8", "g", "F", "D", "O", "S3", "U2", "i4,f4"]
# Before version 2, NumPy does not take these as indices; dmlcpu does.
UINT64 = "i8" if np.__version__.startswith("1.") else "u8"
DATES = ["M8[D]", "m8[ns]", ">M8[s]"]


def outcome(function, args, kwargs):
    """The result, or the type of the error."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error)


def assert_same(got, want):
    assert type(got) is type(want), (got, want)
    if not hasattr(want, "tobytes"):  # an error, or an object
        assert got == want
    else:
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert got.tobytes() == want.tobytes()


def compare(name, args, kwargs, out=None):
    """Calls NumPy's function and this module's, with an `out` each, on what both leave alone."""
    copies = [None, None] if out is None else [out.copy(), out.copy()]
    results = []
    for function, copy in zip([getattr(np, name), getattr(door, name)], copies):
        given = kwargs if copy is None else kwargs | {"out": copy}
        results.append(outcome(function, args, given))
        assert copy is None or results[-1] is copy or isinstance(results[-1], type)
    want, got = results
    assert_same(got, want)
    if out is not None:
        assert copies[1].tobytes() == copies[0].tobytes()
    return got


def filled(rng, dtype, shape):
    """Few distinct values, NaN or NaT among them, of any dtype."""
    numbers = rng.integers(0, 4, shape)
    dtype = np.dtype(dtype)
    if dtype in data.DTYPES:
        return data.random_values(rng, dtype, shape, distinct=5)
    if dtype.kind in "mM":
        numbers = np.where(numbers == 3, np.iinfo(np.int64).min, numbers * rng.integers(1, 3))
        return numbers.view(dtype.newbyteorder("=")).astype(dtype)
    x = numbers.astype(dtype)
    if dtype.kind in "fc":
        x[numbers == 3] = np.nan
    return x


@st.composite
def arrays(draw, dtypes, max_rank=4, min_rank=0):
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(st.lists(st.integers(0, 4), min_size=min_rank, max_size=max_rank))
    x = np.asarray(filled(np.random.default_rng(draw(st.integers(0, 2**32))), dtype, shape))
    if draw(st.booleans()) or x.dtype not in data.DTYPES:
        return x.transpose(draw(st.permutations(range(x.ndim))))
    layouts = [view for _, view in data.some_layouts(x)]
    return draw(st.sampled_from(layouts))


def axes(ndim):
    """Mostly good ones."""
    odd = [
        -ndim - 1,
        ndim,
        2**70,
        (0,),
        [0],
        True,
        1.0,
        "0",
        np.int8(0),
        np.array(0),
        np.array([0]),
    ]
    good = st.none() | st.integers(-max(ndim, 1), max(ndim, 1) - 1)
    return good | good | good | st.sampled_from(odd)


def outs(draw, shape, dtype):
    """None, or an array that may fit, of the result's shape or another, in some layout."""
    dtype = draw(st.sampled_from([dtype, dtype, dtype, np.int16, np.float64, np.uint64]))
    shape = (*shape, 2) if draw(st.integers(0, 9)) == 0 else shape
    out = np.full(shape, 7).astype(dtype)
    return draw(st.sampled_from([None, None, out, np.asfortranarray(out)]))


ALL_DTYPES = [*data.DTYPES, *DATES, *OTHER_DTYPES]


@SETTINGS
@given(
    name=st.sampled_from(SEARCHES),
    call=st.data(),
    x=arrays(data.DTYPES + DATES) | arrays(ALL_DTYPES),
)
def test_searches(name, call, x):
    if name.startswith("nan"):
        # Of NaNs and infinities NumPy finds a NaN; of bfloat16 it finds NaN like argmax.
        if x.dtype.name == "bfloat16":
            x = x.astype(np.float32)
        if x.dtype.kind in "fc":
            x = np.where(np.isinf(x), x.dtype.type(9), x)
    kwargs = {}
    if call.draw(st.booleans()):
        kwargs["axis"] = call.draw(axes(x.ndim))
    if call.draw(st.booleans()):
        kwargs["keepdims"] = call.draw(st.sampled_from([True, False, 1, 0, np.True_, "x"]))
    found = outcome(getattr(np, name), (x,), kwargs)
    out = None if isinstance(found, type) else outs(call.draw, found.shape, np.intp)
    compare(name, (x,), kwargs, out)


def index_arrays(draw, shape, n):
    low, high = draw(st.sampled_from([(-n, n), (-n, n), (0, n), (-3 * n - 1, 3 * n + 1)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(low, max(high, low + 1), shape)
    dtype = draw(st.sampled_from(["i8", "i8", "i4", "u4", UINT64, "i1", "u2", "?", "f4", ">i8"]))
    # NumPy's "wrap" takes the size off an index until it fits, of the largest for minutes.
    return abs(values).astype(dtype) if dtype == "u4" else values.astype(dtype)


@SETTINGS
@given(call=st.data(), x=arrays(data.DTYPES) | arrays(ALL_DTYPES))
def test_take(call, x):
    axis = call.draw(axes(x.ndim))
    n = x.shape[axis] if type(axis) is int and -x.ndim <= axis < x.ndim else x.size
    shape = call.draw(st.lists(st.integers(0, 3), max_size=3))
    indices = index_arrays(call.draw, shape, n)
    indices = call.draw(st.sampled_from([indices, indices.T, indices.tolist()]))
    mode = call.draw(st.sampled_from(["raise", "raise", "wrap", "clip", "clip", "never", 2]))
    if mode == "wrap" and x.size == 0:
        mode = "clip"  # NumPy takes 0 off a negative index for ever
    kwargs = {"axis": axis, "mode": mode}
    found = outcome(np.take, (x, indices), kwargs)
    out = None if isinstance(found, type) else outs(call.draw, np.shape(found), x.dtype)
    compare("take", (x, indices), kwargs, out)


@SETTINGS
@given(call=st.data(), x=arrays(data.DTYPES) | arrays(ALL_DTYPES))
def test_take_along_axis(call, x):
    axis = call.draw(axes(x.ndim))
    shape = list(x.shape)
    for d in range(x.ndim):
        shape[d] = call.draw(st.sampled_from([shape[d], shape[d], shape[d], 1, 3]))
    if axis is None:
        shape = [5]
    n = x.shape[axis] if type(axis) is int and -x.ndim <= axis < x.ndim else x.size
    indices = index_arrays(call.draw, shape, n)
    compare("take_along_axis", (x, indices, axis), {})


@SETTINGS
@given(
    call=st.data(), x=arrays(data.DTYPES, min_rank=1) | arrays(DATES, min_rank=1),
    largest=st.booleans(), named=st.booleans(),
)  # fmt: skip
def test_top_k(call, x, largest, named):
    axis = call.draw(st.integers(-x.ndim, x.ndim - 1))
    k = call.draw(st.integers(0, x.shape[axis]))
    order = {"mode": "largest" if largest else "smallest"} if named else {"largest": largest}
    got = door.top_k(x, k, axis=axis, **order)
    assert type(got) is dmlcpu.TopK
    key = x
    if x.dtype.kind in "mM":  # as float64 with NaN for NaT
        key = np.where(np.isnat(x), np.nan, x.astype(x.dtype.newbyteorder("=")).view(np.int64))
    direction = "decreasing" if largest else "increasing"
    _, indices = reference.top_k(key, k, axis=axis, direction=direction, nan_policy="omit")
    assert_same(got.indices, indices.astype(np.intp))
    assert_same(got.values, np.take_along_axis(x, indices.astype(np.intp), axis))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["g", "F", "D", ">f4", ">M8[s]", "f4", "M8[s]", "O", "S2", "U2"])
def test_top_k_of_every_dtype(dtype, largest):
    """By NumPy's sorting, where dmlcpu has no order: ties by index, NaN last.

    NumPy's sorting is stable anyway for up to 16 elements.
    """
    rng = np.random.default_rng(0)
    x = filled(rng, dtype, (3, 61, 4))
    got = door.top_k(x, 59, axis=1, largest=largest)
    assert got.values.dtype == x.dtype
    for i, j in np.ndindex(3, 4):
        row = x[i, :, j]
        places = [p for p in range(61) if row[p] == row[p]]
        places.sort(key=lambda p: row[p].real if row.dtype.kind == "c" else row[p], reverse=largest)
        places += [p for p in range(61) if row[p] != row[p]]
        assert got.indices[i, :, j].tolist() == places[:59]
        assert_same(got.values[i, :, j].copy(), row[places[:59]])


class Named(np.ndarray):
    """A subclass whose results have what it has."""

    def __array_finalize__(self, obj):
        self.name = getattr(obj, "name", None)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_subclasses_behave_as_with_numpy(name, axis):
    x = np.array([[1.0, 5.0, 2.0], [5.0, 0.0, 7.0]])
    at = np.array([[1, 0, 1]])
    extra = {"take": (at,), "take_along_axis": (at[0] if axis is None else at,)}.get(name, ())
    named = x.view(Named)
    named.name = "x"
    masked = np.ma.array(x, mask=[[0, 1, 0], [0, 0, 1]])
    for a in (x.view(np.matrix), masked, named, x.view(np.recarray)):
        want = outcome(getattr(np, name), (a, *extra), {"axis": axis})
        got = outcome(getattr(door, name), (a, *extra), {"axis": axis})
        assert type(got) is type(want)
        assert repr(got) == repr(want)
        assert getattr(got, "name", None) == getattr(want, "name", None)


def test_subclasses_in_top_k():
    named = np.array([1.0, 5.0, 2.0]).view(Named)
    named.name = "x"
    assert door.top_k(named, 2).values.name == "x"
    assert door.top_k(np.array([[1, 5, 2]]).view(np.matrix), 1).values.tolist() == [[5]]
    assert door.top_k(np.ma.array([1, 5, 2]), 1).values.tolist() == [5]
    with pytest.raises(TypeError, match="^a: must have no nulls, got 1 in numpy.ma.MaskedArray"):
        door.top_k(np.ma.array([1, 5, 2], mask=[0, 1, 0]), 1)


def test_memory_maps_give_plain_arrays(tmp_path):
    x = np.memmap(tmp_path / "x", np.float32, "w+", shape=(2, 3))
    x[...] = [[1, 5, 2], [5, 0, 7]]
    for name, extra in zip(NAMES, [(), (), (), (), ([0, 1],), (np.array([[0, 1]]),)]):
        got = getattr(door, name)(x, *extra, axis=1)
        assert type(got) is np.ndarray
        assert got.tolist() == getattr(np, name)(x, *extra, axis=1).tolist()
    assert type(door.top_k(x, 1).values) is np.ndarray


def test_nan_functions_find_no_nan():
    """NumPy's, which puts infinity in the place of NaN, may."""
    x = np.array([[np.nan, -np.inf, np.nan], [np.nan, np.inf, -np.inf]])
    assert door.nanargmax(x, axis=1).tolist() == [1, 1]
    assert door.nanargmin(x, axis=1).tolist() == [1, 2]
    assert door.nanargmin([np.nan, np.inf]) == 1
    x = x.astype(data.FLOATS[-1])
    assert door.nanargmax(x, axis=1).tolist() == [1, 1]
    with pytest.raises(ValueError, match="^All-NaN slice encountered$"):
        door.nanargmax(x[:, :1], axis=1)


@pytest.mark.parametrize("name", [*SEARCHES, "take"])
def test_inputs_that_are_no_arrays(name):
    extra = {"take": ([0],)}.get(name, ())
    for a in ([3, 1, 2], (3.0, np.nan), [[1, 2], [3, 4]], 5, np.float32(5), [], "ab", ["b", "a"],
              [1, None], [[1], [2, 3]], range(4), None, [np.datetime64("NaT"), 3]):  # fmt: skip
        assert_same(
            outcome(getattr(door, name), (a, *extra), {}),
            outcome(getattr(np, name), (a, *extra), {}),
        )


def test_out_in_the_memory_of_the_input():
    for name, extra in (("argmax", ()), ("take", ([1, 0],))):
        a, b = (np.array([[4, 1], [2, 3]]) for _ in range(2))
        want = getattr(np, name)(a, *extra, 1 if name == "argmax" else None, a[0])
        got = getattr(door, name)(b, *extra, 1 if name == "argmax" else None, b[0])
        assert b.tolist() == a.tolist()
        assert_same(got, want)


def test_many_dimensions_and_odd_memory():
    x = np.arange(512, dtype=np.float32).reshape((2,) * 9) % 7
    packed = np.zeros(5, "u1,f4")["f1"]
    packed[...] = [1, 5, np.nan, 5, 0]
    assert not packed.flags.aligned
    for name in SEARCHES:
        compare(name, (x,), {"axis": 3})
        compare(name, (packed,), {})
    compare("take", (x, [0, 1]), {"axis": 8})
    for indices in ([], [1.7], True, ["1"], np.array([1.7]), np.uint8(2), 2**64, None):
        compare("take", (np.arange(3), indices), {})
    compare("take", (packed, [-1, 1]), {})
    assert door.top_k(packed, 2).indices.tolist() == [1, 3]
    assert door.top_k(x, 1, axis=0).values.shape == (1, *(2,) * 8)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: door.top_k([1, 2], 3), ValueError, "k: must be in [0, 2] (the size of axis 0), got 3"),
        (lambda: door.top_k([1, 2], -1), ValueError,
         "k: must be in [0, 2] (the size of axis 0), got -1"),
        (lambda: door.top_k([1, 2], 1.0), TypeError, "k: must be an int, got float"),
        (lambda: door.top_k([1], 1, mode=np.array([1, 2])), ValueError,
         'mode: must be "largest" or "smallest", got array([1, 2])'),
        (lambda: door.top_k([1, 2], True), TypeError, "k: must be an int, got bool"),
        (lambda: door.top_k([1, 2], np.array([1])), TypeError, "k: must be an int, got numpy.ndarray"),
        (lambda: door.top_k([1, 2], 1, axis=np.array([1])), TypeError,
         "axis: must be an int, got numpy.ndarray"),
        (lambda: door.top_k([1, 2], 1, axis=None), ValueError, "axis: must be an int, got None"),
        (lambda: door.top_k([1, 2], 1, axis=(0,)), TypeError, "axis: must be an int, got tuple"),
        (lambda: door.top_k([[1, 2]], 1, axis=2), np.exceptions.AxisError,
         "axis: must be in [-2, 2), got 2"),
        (lambda: door.top_k(5, 1), np.exceptions.AxisError, "axis: must be in [0, 0), got -1"),
        (lambda: door.top_k([1, 2], 1, mode="most"), ValueError,
         'mode: must be "largest" or "smallest", got \'most\''),
        (lambda: door.top_k(None, 1), TypeError,
         "a: must be an array or convertible to one, got None"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match="^" + re.escape(text) + "$") as raised:
        call()
    assert type(raised.value) is error


def test_take_along_axis_makes_contiguous_arrays():
    """As NumPy does of contiguous indices."""
    rng = np.random.default_rng(0)
    for shape in [(3, 4), (2, 3, 4), (2, 1, 3, 2)]:
        x = rng.random(shape)
        for axis, order in itertools.product([None, *range(-len(shape), len(shape))], "CF"):
            at = np.zeros(5, int) if axis is None else x.argsort(axis)
            for some in (at, at[:1].copy(), at[..., :2].copy()):
                args = np.asarray(x, order=order), some, axis
                want = outcome(np.take_along_axis, args, {})
                if want is IndexError:  # of shapes that do not broadcast
                    continue
                got = door.take_along_axis(*args)
                assert (got == want).all()
                assert got.flags.c_contiguous
                assert want.flags.c_contiguous


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("shape", [(9,), (1,) * 8 + (9,)])  # NumPy sorts those of many dimensions
def test_top_k_of_booleans_of_other_bytes(shape, largest):
    m = np.array([0, 1, 2, 0, 255, 1, 0, 3, 0], np.uint8).view(bool).reshape(shape)
    found = door.top_k(m, 9, largest=largest)
    trues, falses = [1, 2, 4, 5, 7], [0, 3, 6, 8]
    assert found.indices.ravel().tolist() == (trues + falses if largest else falses + trues)
    taken = m.view(np.uint8).ravel()[found.indices.ravel()]
    assert np.array_equal(found.values.view(np.uint8).ravel(), taken)


def test_top_k_of_nothing():
    values, indices = door.top_k(np.ones((2, 0), np.float32), 0)
    assert values.shape == indices.shape == (2, 0)
    assert (values.dtype, indices.dtype) == (np.float32, np.intp)
    assert door.top_k(np.ones((2, 3)), 0, axis=0).values.shape == (0, 3)
    assert door.top_k(np.ones((0, 3)), 2, sorted=False).values.shape == (0, 2)
