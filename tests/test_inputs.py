"""What counts as a tensor: objects that share memory, that are converted, and outputs."""

import array
import ctypes
from collections import UserList

import ml_dtypes
import numpy as np
import pytest

import dmlcpu

import data

DATA = np.array([[1, 5, 2], [9, 3, 4]], np.float32)


class Interface:
    """An object with nothing but __array_interface__."""

    def __init__(self, x):
        self.x = x
        self.__array_interface__ = x.__array_interface__


class Capsule:
    """An object with nothing but the DLPack protocol."""

    def __init__(self, x):
        self.x = x
        self.exported = 0

    def __dlpack__(self, **kwargs):
        self.exported += 1
        return self.x.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class Unexportable(Capsule):
    """One whose type DLPack cannot pass on, but that NumPy can convert."""

    def __dlpack__(self, **kwargs):
        raise BufferError("no such type")

    def __array__(self, dtype=None, copy=None):
        return self.x


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize(
    "wrap",
    [
        Interface, Capsule, Unexportable, memoryview, np.ndarray.tolist, bytearray,
        lambda x: x.view(Subclass),
        lambda x: array.array("f", x.ravel().tolist()),
        lambda x: (ctypes.c_float * 6)(*x.ravel().tolist()),
    ],
)  # fmt: skip
def test_inputs(wrap):
    wrapped = wrap(DATA)
    plain = np.asarray(wrapped.x if isinstance(wrapped, (Interface, Capsule)) else wrapped)
    assert dmlcpu.argmax(wrapped, keepdims=False) == plain.argmax()
    np.testing.assert_array_equal(dmlcpu.top_k(wrapped, 2).values, np.sort(plain)[..., :-3:-1])
    np.testing.assert_array_equal(dmlcpu.gather_nd(wrapped, [[1], [0]]), plain[[1, 0]])


def test_dlpack_is_used_and_memory_is_shared():
    wrapped = Capsule(DATA.copy())
    out = np.empty_like(DATA)
    dmlcpu.gather_nd(wrapped, [[0], [1]], out=out)
    assert wrapped.exported == 1
    with pytest.raises(ValueError, match="^out: must not overlap input, got shared memory$"):
        dmlcpu.gather_nd(wrapped, [[0], [1]], out=wrapped.x)


def test_read_only_input():
    x = DATA.copy()
    x.setflags(write=False)
    assert dmlcpu.argmax(x) == 3


def test_bfloat16_and_bool_come_out_as_they_went_in():
    x = np.array([1, 3, 2], ml_dtypes.bfloat16)
    values, _ = dmlcpu.top_k(x, 2)
    assert values.dtype == x.dtype
    assert values.tolist() == [3, 2]
    assert dmlcpu.gather_nd(x, [[2]]).dtype == x.dtype
    assert dmlcpu.top_k([True, False, True], 2, axis_direction=0).values.tolist() == [False, True]


def test_masked_arrays_without_masked_elements():
    x = np.ma.masked_array(np.array([1, 3, 2], np.int16), [False, True, False])
    x.mask = np.ma.nomask
    for masked in (x, np.ma.masked_array(x, [False] * 3)):
        assert dmlcpu.top_k(masked, 1).values.tolist() == [3]
        assert dmlcpu.top_k([masked, masked], 1).values.dtype == np.int16
        with pytest.raises(ValueError, match="^out: must not overlap input, got shared memory$"):
            dmlcpu.gather_nd(masked, [[0], [1], [2]], out=x.data)


def test_lists_of_arrays():
    """Of each kind that is converted, beside numbers and other lists."""
    x = np.array([1, 3], np.int8)
    for item in (x, x.view(Subclass), Interface(x), Capsule(x), Unexportable(x), memoryview(x)):
        for wrapped in ([item, x], (item, item), [item, np.int8([5, 4])]):
            assert dmlcpu.top_k(wrapped, 1).values.dtype == np.int8
            assert dmlcpu.argmax(wrapped, 1)[0] == 1
    assert dmlcpu.argmax([[1, np.float32(2)], [x[0], True]], 1).tolist() == [[1], [0]]
    itself = [1]
    itself.append(itself)
    with pytest.raises(TypeError, match="^input: must be an array or convertible to one, got list"):
        dmlcpu.argmax(itself)


def test_arrays_of_one_int_are_ints():
    assert dmlcpu.argmax(DATA, np.array(1)).tolist() == [[1], [0]]
    assert dmlcpu.argmax(DATA, np.array([1])).tolist() == [[1], [0]]
    assert dmlcpu.argmax(DATA, np.array([1, 0])).tolist() == [[3]]
    assert dmlcpu.top_k(DATA, np.int8(1), axis=np.array(0)).indices.tolist() == [[1, 0, 1]]
    dmlcpu.set_num_threads(np.int64(1))
    dmlcpu.set_num_threads(None)


def test_numpy_bool_for_keepdims():
    assert dmlcpu.argmax(DATA, keepdims=np.True_).shape == (1, 1)


def test_other_byte_order_of_single_bytes_is_no_matter():
    assert dmlcpu.argmax(np.array([1, 3, 2], ">i1")) == 1


@pytest.mark.parametrize("dtype", ["l", "q", "L", "Q", "i", "I"])
def test_c_integer_types_of_equal_size(dtype):
    x = np.array([1, 3, 2], dtype)
    assert dmlcpu.argmax(x) == 1
    if x.itemsize >= 4:
        assert dmlcpu.argmax(x, index_dtype=dtype).dtype == x.dtype
        assert dmlcpu.gather_nd(x, np.array([[2]], dtype)).tolist() == [2]


def test_out_between_the_elements_of_the_input():
    """Interleaved arrays share a range of addresses, but no element."""
    both = np.zeros((4, 8), np.uint32)
    both[:, ::2] = [[1, 4, 3, 2]] * 4
    out = both[:, 1:2]
    assert dmlcpu.argmax(both[:, ::2], 1, out=out) is out
    assert both[:, 1].tolist() == [1] * 4
    assert both[:, 3].tolist() == [0] * 4
    with pytest.raises(ValueError, match="overlap input"):
        dmlcpu.argmax(both[:, ::2], 1, out=both[:, 2:3])
    with pytest.raises(ValueError, match="overlap input"):
        dmlcpu.argmax(both.view(np.uint8)[:, ::3], 1, out=both[:, 1:2])


def test_out_with_crossing_strides():
    """Rows 3 apart, columns 2 apart: elements 0, 2, 3, 5 do not overlap, though the axes cross."""
    memory = np.zeros(6, np.uint32)
    out = np.lib.stride_tricks.as_strided(memory, (2, 2, 1), (12, 8, 4))
    dmlcpu.argmax(np.array([[[0, 1], [1, 0]], [[0, 1], [0, 1]]]), 2, out=out)
    assert memory.tolist() == [1, 0, 0, 1, 0, 1]
    out = np.lib.stride_tricks.as_strided(memory, (2, 3), (8, 4))
    with pytest.raises(ValueError, match="^out: must have elements that do not overlap"):
        dmlcpu.argmax(np.zeros((2, 3, 4)), 2, keepdims=False, out=out)


def test_aligned_copy_of_an_unaligned_array():
    x = np.frombuffer(b"\0" + np.array([1, 3, 2], np.float32).tobytes(), np.float32, offset=1)
    with pytest.raises(ValueError, match="aligned"):
        dmlcpu.argmax(x)
    assert dmlcpu.argmax(x.copy()) == 1


@pytest.mark.parametrize("dtype", [d for d in data.DTYPES if d.itemsize > 1], ids=str)
def test_strides_of_parts_of_elements(dtype):
    """From an aligned element on; NumPy leaves the strides of axes of one element undefined."""
    memory = np.zeros(64, np.float64).view(dtype)

    def strided(shape, *strides):
        return np.ndarray(shape, dtype, memory, strides=strides)

    size = dtype.itemsize
    for part in {1, size // 2, size - 1, size + 1, 3 * size // 2}:
        for x in (
            strided((3,), part),
            strided((2, 3), part, size),
            strided((2, 3), 4 * size, part),
        ):
            text = f"must be aligned to its elements of {size} bytes"
            for call in (
                lambda x=x: dmlcpu.argmax(x),
                lambda x=x: dmlcpu.argmin(x[..., :2]),
                lambda x=x: dmlcpu.top_k(x, 1),
                lambda x=x: dmlcpu.gather_nd(x, [[0]]),
            ):
                with pytest.raises(ValueError, match=f"^input: {text}"):
                    call()
            indices = np.zeros((*x.shape, 1), np.int64)
            with pytest.raises(ValueError, match=f"^out: {text}"):
                dmlcpu.gather_nd(np.zeros(1, dtype), indices, out=x)
            if dtype in data.INDEX_DTYPES:
                with pytest.raises(ValueError, match=f"^indices: {text}"):
                    dmlcpu.gather_nd(np.zeros(3), x[..., np.newaxis])
        assert dmlcpu.argmax(strided((1, 3), part, size), 1) == 0


def test_broadcast_input_and_size_1_axes_with_odd_strides():
    x = np.broadcast_to(np.float16(3), (3, 4, 5))
    assert dmlcpu.argmax(x) == 0
    assert dmlcpu.argmax(x, axis_direction=1) == 59
    assert (dmlcpu.argmin(x, (0, 2), axis_direction=1) == 14).all()
    x = np.lib.stride_tricks.as_strided(np.arange(4, dtype=np.int32), (1, 4), (7, 4))
    assert dmlcpu.argmax(x, 1).tolist() == [[3]]


DLPACK_WRITES = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="all that NumPy takes is read-only"
)


@pytest.mark.parametrize(
    "lend",
    [Interface, pytest.param(Capsule, marks=DLPACK_WRITES), memoryview,
     lambda memory: memory.view(Subclass)],
)  # fmt: skip
def test_outputs_that_share_memory(lend):
    """They are written in place, and what is returned is the object that was given."""
    memory = np.full((2, 6), 9, np.uint32)
    out = lend(memory[:, 1:3])
    assert dmlcpu.argmax(np.eye(2), 1, out=lend(memory[:, :1])) is not None
    assert memory[:, 0].tolist() == [0, 1]
    values = np.zeros((2, 2))
    top = dmlcpu.top_k(np.eye(2), 2, out=UserList([values, out]))
    assert top.values is values
    assert top.indices is out
    assert memory.tolist() == [[0, 0, 1, 9, 9, 9], [1, 1, 0, 9, 9, 9]]
    assert dmlcpu.gather_nd(memory[:, 3:], [[0]], out=lend(memory[:1, :3])) is not None
    assert memory[0].tolist() == [9] * 6


def test_outputs_of_the_standard_library():
    out = array.array("I", [9, 9])
    assert dmlcpu.argmax(np.eye(2), 1, keepdims=False, out=out) is out
    assert out.tolist() == [0, 1]
    out = bytearray(2)
    assert dmlcpu.gather_nd(np.uint8([5, 7]), [[1], [0]], out=out) is out
    assert out == b"\7\5"
    out = ((ctypes.c_uint32 * 1) * 2)()
    assert dmlcpu.argmax(np.eye(2), 1, out=out) is out
    assert [row[0] for row in out] == [0, 1]


def test_outputs_that_nobody_may_write():
    for out in (b"12345678", memoryview(b"12345678"), np.uint8(1)):
        with pytest.raises(ValueError, match="^out: must be writable, got a read-only array$"):
            dmlcpu.gather_nd(np.uint8(range(8)), [[i] for i in range(8)], out=out)
    frozen = np.zeros(1, np.uint32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="^out: must be writable, got a read-only array$"):
        dmlcpu.argmax([1, 2], out=Interface(frozen))


@pytest.mark.parametrize("out", [[0], "no", 1, {}, range(1)])
def test_outputs_that_share_nothing(out):
    text = "must be an array, or share its memory by DLPack, a buffer or __array_interface__"
    with pytest.raises(TypeError, match=f"^out: {text}, got {type(out).__name__}$"):
        dmlcpu.argmax([1, 2], out=out)


def test_outputs_are_never_copies():
    """What NumPy could convert, but not share, is refused."""
    text = r"^out: must be an array, or share .*, got Unexportable \(no such type\)$"
    with pytest.raises(TypeError, match=text):
        dmlcpu.argmax([1, 2], out=Unexportable(np.zeros(1, np.uint32)))


def test_outputs_of_compiled_descriptors_that_share_memory():
    tensor = dmlcpu.directml.BufferTensorDesc
    x, y = np.eye(2, dtype=np.float32), np.zeros((2, 1), np.uint32)
    desc = dmlcpu.directml.ArgmaxOperatorDesc(tensor.from_array(x), tensor.from_array(y), axes=(1,))
    out = Interface(y)
    assert dmlcpu.directml.compile(desc)(x, out=out) is out
    assert y.tolist() == [[0], [1]]
