"""Arguments whose code changes the call's own arrays: no freed memory is read, and nothing is stale."""

from collections import UserList, deque

import hostile_calls
import numpy as np
import pytest

import dmlcpu

from scripts import start_python


@pytest.mark.parametrize("family", hostile_calls.FAMILIES)
def test_arguments_that_change_arrays(family, tmp_path):
    note = tmp_path / "call"
    # Small arrays have pages of their own as well: what is freed cannot be read.
    pages = {"MALLOC_MMAP_THRESHOLD_": "4096"}
    done = start_python(hostile_calls.__file__, family, str(note), **pages)
    assert done.returncode == 0, f"{done.returncode}: {note.read_text()}\n{done.stderr}"


@pytest.mark.parametrize("axis", [None, 0])
def test_indices_of_the_numpy_door(axis):
    """In a process of its own, as it would crash."""
    code = f"""
import numpy as np; import dmlcpu.numpy as dn
x = np.arange(1 << 22, dtype=np.float64)
class Index:
    def __index__(self):
        x.resize(8, refcheck=False)
        return 5
print(dn.take(x, [Index(), 3], axis={axis}).tolist())
try:
    dn.take(x, [Index(), 1 << 21], axis={axis})
except IndexError:
    print("raised")
"""
    done = start_python("-c", code, MALLOC_MMAP_THRESHOLD_="4096")
    assert done.stdout == "[5.0, 3.0]\nraised\n", f"{done.returncode}: {done.stderr}"


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_mode_of_the_numpy_door(mode):
    """Likewise: a string that is compared by code of its own."""
    code = f"""
import numpy as np; import dmlcpu.numpy as dn
x = np.arange(1 << 22, dtype=np.float64)
class Mode(str):
    def __eq__(self, other):
        x.resize(1, refcheck=False)
        return str.__eq__(self, other)
    __hash__ = str.__hash__
try:
    dn.take(x, [(1 << 22) - 1], mode=Mode({mode!r}))
except IndexError:
    pass
"""
    done = start_python("-c", code, MALLOC_MMAP_THRESHOLD_="4096")
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"


class Asks:
    """Calls an operator of its own whenever it is read."""

    def __init__(self, value):
        self.value = value

    def ask(self):
        assert dmlcpu.argmax([1, 3, 2]) == 1
        return self.value

    __index__ = ask

    def __iter__(self):
        return iter([self.ask()])


@pytest.mark.parametrize("width", [np.int8, np.int32])
def test_plans_of_calls_whose_arguments_call(width):
    """The plan is that of the call, not of what its arguments call, and no element is read."""
    x, indices = np.zeros((300, 70), np.float32), np.zeros((40, 1), width)

    def plan(function, *arguments, **options):
        return str(dmlcpu.explain(function, *arguments, **options))

    assert plan(dmlcpu.argmax, x, Asks(0)) == plan(dmlcpu.argmax, x, 0)
    for k in (1, 3):
        got = plan(dmlcpu.top_k, x, Asks(k), axis=Asks(0))
        assert got == plan(dmlcpu.top_k, x, k, axis=0)
    got = plan(dmlcpu.gather_nd, x, indices, batch_dims=Asks(0))
    assert got == plan(dmlcpu.gather_nd, x, indices)


def test_arrays_of_subclasses_are_read_where_they_are():
    class Derived(np.ndarray):
        def astype(self, *_arguments, **_options):
            raise AssertionError("no method of the subclass is called")

    x = np.array([[3, 7, 5], [1, 2, 9]], np.int8).view(Derived)
    assert dmlcpu.argmax(x, 1).tolist() == [[1], [2]]
    assert type(dmlcpu.top_k(x, 1).values) is np.ndarray
    assert dmlcpu.gather_nd(x, x[:, 1:2].view(Derived) * 0).tolist() == [[3, 7, 5]] * 2
    out = np.zeros((2, 1), np.uint32).view(Derived)
    assert dmlcpu.argmax(x, 1, out=out) is out
    assert np.asarray(out).tolist() == [[1], [2]]
    records = np.array([3, 7, 5]).view(np.recarray)
    assert dmlcpu.argmax(records) == 1


@pytest.mark.parametrize("dtype", [np.dtype(code) for code in "hHiIlLefd"])
def test_every_misalignment_is_refused(dtype):
    """Of the pointer and of each stride, by any part of an element."""
    size = dtype.itemsize
    memory = np.zeros(64 * size, np.uint8)
    memory = memory[-memory.ctypes.data % 64 :]
    for part in range(1, size):
        for strides, offset in [
            ((4 * size, size), part),
            ((4 * size + part, size), 0),
            ((4 * size, size + part), 0),
            ((-4 * size - part, size), 8 * size + 2 * part),
        ]:
            x = np.ndarray((2, 2), dtype, memory, offset, strides)
            calls = {
                "input": lambda x=x: dmlcpu.argmax(x),
                "out": lambda x=x: dmlcpu.gather_nd(np.zeros((2, 2), dtype), [[0], [1]], out=x),
            }
            if dtype.kind in "iu" and size >= 4:
                calls["indices"] = lambda x=x: dmlcpu.gather_nd(np.zeros((1, 1)), x)
            for name, call in calls.items():
                text = f"{name}: must be aligned to its elements of {size} bytes, got an unaligned array"
                with pytest.raises(ValueError, match=f"^{text}"):
                    call()
    for offset in range(0, 8 * size, size):  # whole elements are enough
        assert dmlcpu.argmax(np.ndarray((2, 2), dtype, memory, offset, (4 * size, size))) == 0


def nulls():
    pandas = pytest.importorskip("pandas")
    return [None, np.ma.masked, pandas.NA, np.ma.masked_array([1.0, 2.0], [True, False])]


@pytest.mark.parametrize("container", [list, tuple, deque, UserList])
@pytest.mark.parametrize("place", range(4))
def test_nulls_in_every_kind_of_list(container, place):
    null = nulls()[place]
    beside = [1.0, 2.0] if isinstance(null, np.ma.MaskedArray) else 1.0
    for items in ([beside, null], [null, beside], [[beside, beside], container([beside, null])]):
        with pytest.raises(TypeError, match="^input: must have no nulls, got "):
            dmlcpu.argmax(container(items))
        with pytest.raises(TypeError, match="^indices: must have no nulls, got "):
            dmlcpu.gather_nd([1.0], container(items))
    assert dmlcpu.argmax(container([beside, beside])) == (1 if isinstance(beside, list) else 0)
