"""Every wrong call: its type, its whole text, and that nothing was written to `out`."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from numpy.exceptions import AxisError

import dmlcpu

X = np.zeros((2, 3), np.float32)
ALL_DTYPES = (
    "float32, float16, float64, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
    "bool"
)
DIRECTION = 'must be AxisDirection.INCREASING (0, "increasing") or AxisDirection.DECREASING (1, "decreasing")'
INDEX_DTYPE = "index_dtype: must be uint32, int32, uint64 or int64, got "
INTEGERS = "int8 to int64 or uint8 to uint64"
ARG_INDEX_DTYPE = f"index_dtype: must be {INTEGERS}, got "


def read_only(x):
    x.setflags(write=False)
    return x


def unaligned(dtype, count):
    return np.zeros(count * np.dtype(dtype).itemsize + 1, np.uint8)[1:].view(dtype)


def repeated(shape, strides, dtype=np.uint32):
    return np.lib.stride_tricks.as_strided(np.zeros(64, dtype), shape, strides)


record_field = np.zeros(3, np.dtype([("a", "u1"), ("b", "f4")]))["b"]

# Wrong calls of argmin and argmax alike.
ARG = [
    (dict(axis=2), AxisError, "axis: must be in [-2, 1] (input has 2 dimensions), got 2"),
    (dict(axis=(0, -3)), AxisError, "axis: must be in [-2, 1] (input has 2 dimensions), got -3"),
    (dict(axis=10**30), AxisError, f"axis: must fit 64 bits, got {10**30}"),
    (dict(axis=(0, 0)), ValueError, "axis: must not repeat an axis, got axis 0 more than once"),
    (dict(axis=(1, -1)), ValueError, "axis: must not repeat an axis, got axis 1 more than once"),
    (dict(axis=(1,) * 20), ValueError, "axis: must not repeat an axis, got axis 1 more than once"),
    (dict(axis=1.0), TypeError, "axis: must be None, an int or an iterable of ints, got float"),
    (dict(axis="0"), TypeError, "axis: must be None, an int or an iterable of ints, got str"),
    (dict(axis=(0, None)), TypeError, "axis: must be None, an int or an iterable of ints, got NoneType"),
    (dict(axis=True), TypeError, "axis: must be None, an int or an iterable of ints, got bool"),
    (dict(keepdims=None), TypeError, "keepdims: must be a bool, got NoneType"),
    (dict(keepdims=1), TypeError, "keepdims: must be a bool, got int"),
    (dict(axis_direction=2), ValueError, f"axis_direction: {DIRECTION}, got 2"),
    (dict(axis_direction="up"), ValueError, f"axis_direction: {DIRECTION}, got 'up'"),
    (dict(axis_direction=None), TypeError, f"axis_direction: {DIRECTION}, got NoneType"),
    (dict(nan_policy="raise"), ValueError, "nan_policy: must be \"propagate\" or \"omit\", got 'raise'"),
    (dict(nan_policy=None), TypeError, 'nan_policy: must be "propagate" or "omit", got NoneType'),
    (dict(index_dtype=np.float16), TypeError, ARG_INDEX_DTYPE + "float16"),
    (dict(index_dtype=bool), TypeError, ARG_INDEX_DTYPE + "bool"),
    (dict(index_dtype=">u4"), TypeError, ARG_INDEX_DTYPE + ">u4 (not in this machine's byte order)"),
    (dict(index_dtype="nonsense"), TypeError, ARG_INDEX_DTYPE + "'nonsense'"),
    (dict(index_dtype={"names": ["a"]}), TypeError, ARG_INDEX_DTYPE + "{'names': ['a']}"),
    (dict(index_dtype=None), TypeError, ARG_INDEX_DTYPE + "None"),
    (dict(index_dtype=np.uint8, out=np.zeros((1, 1), np.int8)), TypeError, "out: must be of dtype uint8, got int8"),
    (dict(out=[0]), TypeError, "out: must be an array, or share its memory by DLPack, a buffer or __array_interface__, got list"),
    (dict(out=np.zeros((1, 1), np.int64)), TypeError, "out: must be of dtype uint32, got int64"),
    (dict(out=np.zeros((1, 1), ">u4")), TypeError, "out: must be of dtype uint32, got >u4 (not in this machine's byte order)"),
    (dict(out=np.zeros((1,), np.uint32)), ValueError, "out: must have shape (1, 1), got (1,)"),
    (dict(out=np.zeros((1, 1), np.uint32), keepdims=False), ValueError, "out: must have shape (), got (1, 1)"),
    (dict(out=np.ma.masked_array(np.zeros((1, 1), np.uint32))), TypeError, "out: must not be a masked array, got one"),
    (dict(out=read_only(np.zeros((1, 1), np.uint32))), ValueError, "out: must be writable, got a read-only array"),
    (dict(axis=1, out=repeated((2, 1), (0, 0))), ValueError, "out: must have elements that do not overlap, got strides that address an element twice"),
    (dict(axis=1, out=unaligned(np.uint32, 2).reshape(2, 1)), ValueError, "out: must be aligned to its elements of 4 bytes, got an unaligned array (copy() aligns it)"),
]  # fmt: skip


@pytest.mark.parametrize(("kwargs", "error", "text"), ARG)
@pytest.mark.parametrize("operator", [dmlcpu.argmin, dmlcpu.argmax])
def test_arg(operator, kwargs, error, text):
    with pytest.raises(error) as caught:
        operator(X, **kwargs)
    assert str(caught.value) == text
    assert type(caught.value) is error


try:
    np.asarray([[1, 2], [3]])
except ValueError as error:
    RAGGED = str(error)

# Windows has no floating-point type of more than 64 bits.
LONGEST = np.dtype(np.clongdouble if np.dtype(np.longdouble) == np.float64 else np.longdouble)
MASKED = np.ma.masked_array([1, 2, 3], [False, True, False])
FILL = "filled() fills, compressed() drops them"
INPUTS = [
    (np.zeros(3, complex), TypeError, f"input: must be of dtype {ALL_DTYPES}, got complex128"),
    (np.zeros(3, object), TypeError, f"input: must be of dtype {ALL_DTYPES}, got object"),
    (np.zeros(3, ">f4"), TypeError, f"input: must be of dtype {ALL_DTYPES}, got >f4 (not in this machine's byte order)"),
    (np.zeros(3, LONGEST), TypeError, f"input: must be of dtype {ALL_DTYPES}, got {LONGEST}"),
    (np.zeros(3, "m8[s]"), TypeError, f"input: must be of dtype {ALL_DTYPES}, got timedelta64[s]"),
    (np.zeros(3, ml_dtypes.float8_e5m2), TypeError, f"input: must be of dtype {ALL_DTYPES}, got float8_e5m2"),
    ("text", TypeError, f"input: must be of dtype {ALL_DTYPES}, got <U4"),
    (None, TypeError, "input: must be an array or convertible to one, got None"),
    ([[1, 2], [3]], TypeError, "input: must be an array or convertible to one, got list (" + RAGGED + ")"),
    (object(), TypeError, "input: must be an array or convertible to one, got object (NumPy cannot read it)"),
    ({1: 2}, TypeError, "input: must be an array or convertible to one, got dict (NumPy cannot read it)"),
    ([1, Fraction(1, 2)], TypeError, "input: must be an array or convertible to one, got list (NumPy reads it as objects, of type Fraction, int)"),
    (MASKED, TypeError, f"input: must have no nulls, got 1 in numpy.ma.MaskedArray ({FILL})"),
    ([MASKED, MASKED], TypeError, f"input: must have no nulls, got 1 in numpy.ma.MaskedArray ({FILL})"),
    (([0, 1], [0, (MASKED,)]), TypeError, f"input: must have no nulls, got 1 in numpy.ma.MaskedArray ({FILL})"),
    ([1, np.ma.masked], TypeError, f"input: must have no nulls, got 1 in numpy.ma.MaskedConstant ({FILL})"),
    ([1.0, None], TypeError, "input: must have no nulls, got None (replace it or leave it out)"),
    ([[1, 2], (3, None)], TypeError, "input: must have no nulls, got None (replace it or leave it out)"),
    (np.zeros((1,) * 9), ValueError, "input: must have at most 8 dimensions, got 9"),
    (unaligned(np.float32, 3), ValueError, "input: must be aligned to its elements of 4 bytes, got an unaligned array (copy() aligns it)"),
    (record_field, ValueError, "input: must be aligned to its elements of 4 bytes, got an unaligned array (copy() aligns it)"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "error", "text"), INPUTS)
@pytest.mark.parametrize(
    "call",
    [dmlcpu.argmin, dmlcpu.argmax, lambda x: dmlcpu.top_k(x, 1), lambda x: dmlcpu.gather_nd(x, [[0]])],
)  # fmt: skip
def test_input(call, x, error, text):
    with pytest.raises(error) as caught:
        call(x)
    assert str(caught.value) == text


def test_arg_empty_and_too_long():
    with pytest.raises(
        ValueError, match=r"^input: must not be empty along a reduced axis, got shape \(3, 0\)$"
    ):
        dmlcpu.argmax(np.zeros((3, 0)))
    long = np.broadcast_to(np.int8(1), (2**31 + 1,))
    with pytest.raises(
        ValueError, match="^index_dtype: must hold the index 2147483648, got int32$"
    ):
        dmlcpu.argmax(long, index_dtype=np.int32)
    long = np.broadcast_to(np.int8(1), (2**16, 2**16 + 1))
    with pytest.raises(
        ValueError, match="^index_dtype: must hold the index 4295032831, got uint32$"
    ):
        dmlcpu.argmin(long)
    with pytest.raises(
        ValueError, match="^index_dtype: must hold the index 2147483648, got int32$"
    ):
        dmlcpu.top_k(np.broadcast_to(np.int8(1), (2**31 + 1,)), 1, index_dtype=np.int32)


F = np.float32
VALUES, INDICES = np.zeros((2, 2), F), np.zeros((2, 2), np.uint32)
TOP_K = [
    (dict(k=0), ValueError, "k: must be in [1, 3] (the size of axis 1), got 0"),
    (dict(k=4), ValueError, "k: must be in [1, 3] (the size of axis 1), got 4"),
    (dict(k=3, axis=0), ValueError, "k: must be in [1, 2] (the size of axis 0), got 3"),
    (dict(k=-1), ValueError, "k: must be in [1, 3] (the size of axis 1), got -1"),
    (dict(k=10**30), ValueError, f"k: must fit 64 bits, got {10**30}"),
    (dict(k=np.array([1, 2])), TypeError, "k: must be an int, got numpy.ndarray"),
    (dict(k=np.array(1.0)), TypeError, "k: must be an int, got numpy.ndarray"),
    (dict(k=True), TypeError, "k: must be an int, got bool"),
    (dict(k=1.0), TypeError, "k: must be an int, got float"),
    (dict(k=None), TypeError, "k: must be an int, got NoneType"),
    (dict(k=1, axis=2), AxisError, "axis: must be in [-2, 1] (input has 2 dimensions), got 2"),
    (dict(k=1, axis=(1,)), TypeError, "axis: must be an int, got tuple"),
    (dict(k=1, axis_direction="down"), ValueError, f"axis_direction: {DIRECTION}, got 'down'"),
    (dict(k=1, nan_policy="drop"), ValueError, "nan_policy: must be \"propagate\" or \"omit\", got 'drop'"),
    (dict(k=1, index_dtype=np.uint8), TypeError, INDEX_DTYPE + "uint8"),
    (dict(k=1, index_dtype=np.int16), TypeError, INDEX_DTYPE + "int16"),
    (dict(k=1, index_dtype={"names": ["a"]}), TypeError, INDEX_DTYPE + "{'names': ['a']}"),
    (dict(k=2, out=VALUES), TypeError, "out: must be a pair (values, indices) of arrays, got numpy.ndarray"),
    (dict(k=2, out=(VALUES,)), TypeError, "out: must be a pair (values, indices) of arrays, got tuple of 1"),
    (dict(k=2, out=(VALUES, None)), TypeError, "out[1]: must be an array, or share its memory by DLPack, a buffer or __array_interface__, got NoneType"),
    (dict(k=2, out=(INDICES, INDICES)), TypeError, "out[0]: must be of dtype float32, got uint32"),
    (dict(k=2, out=(VALUES, VALUES)), TypeError, "out[1]: must be of dtype uint32, got float32"),
    (dict(k=1, out=(VALUES, INDICES)), ValueError, "out[0]: must have shape (2, 1), got (2, 2)"),
    (dict(k=2, out=(VALUES, INDICES[:1])), ValueError, "out[1]: must have shape (2, 2), got (1, 2)"),
    (dict(k=2, out=(read_only(VALUES.copy()), INDICES)), ValueError, "out[0]: must be writable, got a read-only array"),
    (dict(k=2, out=(VALUES, VALUES.view(np.uint32))), ValueError, "out[0]: must not overlap out[1], got shared memory"),
    (dict(k=2, out=(X[:, :2], INDICES)), ValueError, "out[0]: must not overlap input, got shared memory"),
]  # fmt: skip


@pytest.mark.parametrize(("kwargs", "error", "text"), TOP_K)
def test_top_k(kwargs, error, text):
    with pytest.raises(error) as caught:
        dmlcpu.top_k(X, **kwargs)
    assert str(caught.value) == text
    assert type(caught.value) is error


def test_top_k_empty():
    with pytest.raises(
        ValueError, match=r"^input: must not be empty along axis 1, got shape \(3, 0\)$"
    ):
        dmlcpu.top_k(np.zeros((3, 0)), 1)


Y = np.zeros((2, 3, 4), np.int32)
I = np.zeros((2, 1), np.int64)  # noqa: E741
GATHER = [
    (dict(indices=[[0.5]]), TypeError, "indices: must be of dtype int8 to int64 or uint8 to uint64, got float64"),
    (dict(indices=I.astype(bool)), TypeError, "indices: must be of dtype int8 to int64 or uint8 to uint64, got bool"),
    (dict(indices=I.astype(">i2")), TypeError, "indices: must be of dtype int8 to int64 or uint8 to uint64, got >i2 (not in this machine's byte order)"),
    (dict(indices=I.astype(complex)), TypeError, "indices: must be of dtype int8 to int64 or uint8 to uint64, got complex128"),
    (dict(indices=0), ValueError, "indices: must have at least 1 dimension, got 0"),
    (dict(indices=np.zeros((2, 0), int)), ValueError, "indices: must have a last dimension in [1, 3] (the dimensions of input after the batch dimensions), got 0"),
    (dict(indices=np.zeros((2, 4), int)), ValueError, "indices: must have a last dimension in [1, 3] (the dimensions of input after the batch dimensions), got 4"),
    (dict(indices=np.zeros((2, 3), int), batch_dims=1), ValueError, "indices: must have a last dimension in [1, 2] (the dimensions of input after the batch dimensions), got 3"),
    (dict(indices=np.zeros((3, 1), int), batch_dims=1), ValueError, "indices: must have the batch dimensions of input (2,), got (3,)"),
    (dict(indices=I, batch_dims=2), ValueError, "batch_dims: must be in [0, 1] (below the 3 dimensions of input and the 2 of indices), got 2"),
    (dict(indices=I, batch_dims=-1), ValueError, "batch_dims: must be in [0, 1] (below the 3 dimensions of input and the 2 of indices), got -1"),
    (dict(indices=I, batch_dims=0.0), TypeError, "batch_dims: must be an int, got float"),
    (dict(indices=I, mode="wrap"), ValueError, "mode: must be \"raise\" or \"clip\", got 'wrap'"),
    (dict(indices=I, mode=0), TypeError, 'mode: must be "raise" or "clip", got int'),
    (dict(indices=np.zeros((1,) * 8, int)), ValueError, "indices: must give a result of at most 8 dimensions, got 9"),
    (dict(indices=I, out=np.zeros((2, 3, 4), np.int64)), TypeError, "out: must be of dtype int32, got int64"),
    (dict(indices=I, out=np.zeros((2, 3), np.int32)), ValueError, "out: must have shape (2, 3, 4), got (2, 3)"),
    (dict(indices=I, out=Y), ValueError, "out: must not overlap input, got shared memory"),
    (dict(indices=I + 2), IndexError, "indices: must be in [-2, 1] for axis 0, of size 2, got 2 at position (0, 0)"),
    (dict(indices=[[1, -3], [0, -4]]), IndexError, "indices: must be in [-3, 2] for axis 1, of size 3, got -4 at position (1, 1)"),
    (dict(indices=np.array([[0, 3]], np.uint32)), IndexError, "indices: must be in [0, 2] for axis 1, of size 3, got 3 at position (0, 1)"),
    (dict(indices=np.array([[2**64 - 1]], np.uint64)), IndexError, f"indices: must be in [0, 1] for axis 0, of size 2, got {2**64 - 1} at position (0, 0)"),
    (dict(indices=np.array([[-(2**63)]])), IndexError, f"indices: must be in [-2, 1] for axis 0, of size 2, got {-(2**63)} at position (0, 0)"),
    (dict(indices=[[0], [4]], batch_dims=1), IndexError, "indices: must be in [-3, 2] for axis 1, of size 3, got 4 at position (1, 0)"),
]  # fmt: skip


@pytest.mark.parametrize(("kwargs", "error", "text"), GATHER)
def test_gather_nd(kwargs, error, text):
    with pytest.raises(error) as caught:
        dmlcpu.gather_nd(Y, **kwargs)
    assert str(caught.value) == text
    assert type(caught.value) is error


def test_gather_nd_other():
    wide = np.broadcast_to(np.int8(0), (2, 2**31, 2**20))
    many = np.broadcast_to(np.int64(0), (2**13, 1))
    with pytest.raises(
        ValueError,
        match=r"^indices: must give a result whose bytes fit 64 bits, got shape \(8192, 2147483648, 1048576\)$",
    ):
        dmlcpu.gather_nd(wide, many)
    with pytest.raises(ValueError, match="^input: must have at least 1 dimension, got 0$"):
        dmlcpu.gather_nd(1.0, I)
    with pytest.raises(
        IndexError,
        match=r"^indices: must be empty for axis 0, of size 0, got 0 at position \(0, 0\)$",
    ):
        dmlcpu.gather_nd(np.zeros((0, 3)), I)
    with pytest.raises(
        ValueError, match=r"^input: must not be empty along an indexed axis, got shape \(0, 3\)$"
    ):
        dmlcpu.gather_nd(np.zeros((0, 3)), I, mode="clip")
    indices = np.zeros((2, 1), np.int32)
    with pytest.raises(ValueError, match="^out: must not overlap indices, got shared memory$"):
        dmlcpu.gather_nd(np.zeros(3, np.int32), indices, out=indices[:, 0])


def test_first_offender_in_row_major_order_whatever_the_memory_order(threads, instruction_set):
    indices = np.asfortranarray(np.zeros((300, 40, 2), np.int64))
    indices[7, 30, 1] = 99
    indices[8, 0, 0] = -99
    with pytest.raises(IndexError, match=r"got 99 at position \(7, 30, 1\)$"):
        dmlcpu.gather_nd(np.zeros((5, 5)), indices)


def test_failed_gather_writes_nothing(threads, instruction_set):
    """The bad index is the last of many, so that chunks before it could have been copied."""
    indices = np.zeros((5000, 1), np.int32)
    indices[-1] = 5
    out = np.full((5000, 2), 7, np.int16)
    with pytest.raises(IndexError):
        dmlcpu.gather_nd(np.zeros((5, 2), np.int16), indices, out=out)
    assert (out == 7).all()


def test_failed_calls_write_nothing():
    out = np.full((1, 3), 7, np.uint32)
    with pytest.raises(ValueError, match="nan_policy"):
        dmlcpu.argmax(X, 0, out=out, nan_policy="none")
    values = np.full((2, 1), 7, F)
    with pytest.raises(ValueError, match="shape"):
        dmlcpu.top_k(X, 1, out=(values, out))
    assert (out == 7).all()
    assert (values == 7).all()


@pytest.mark.parametrize("operator", [dmlcpu.argmax, dmlcpu.top_k, dmlcpu.gather_nd])
def test_keywords_are_checked(operator):
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        operator(X, nothing=0)


@pytest.mark.parametrize("error", [ValueError, MemoryError, OSError, KeyboardInterrupt])
def test_errors_of_an_index_are_the_callers(error):
    """What __index__ raises, if that is not about the type, is no wrong argument."""

    class Index:
        def __index__(self):
            raise error("of __index__")

    x = np.zeros((2, 3))
    for call in (
        lambda: dmlcpu.argmax(x, Index()),
        lambda: dmlcpu.argmin(x, (0, Index())),
        lambda: dmlcpu.top_k(x, Index()),
        lambda: dmlcpu.top_k(x, 1, axis=Index()),
        lambda: dmlcpu.gather_nd(x, [[0]], batch_dims=Index()),
        lambda: dmlcpu.set_num_threads(Index()),
    ):
        with pytest.raises(error, match="^of __index__$"):
            call()
