"""What objects raise while they are read: errors of their type say what an argument must be, from the
object's own error; all others are the caller's."""

import itertools
from collections import UserList
from collections.abc import Sequence

import numpy as np
import pytest

import dmlcpu
from dmlcpu import directml as dml

X = np.zeros((2, 3), np.float32)


class Unrelated(Exception):
    """No error of the standard library."""


OTHERS = [
    MemoryError,
    OSError,
    RecursionError,
    KeyboardInterrupt,
    SystemExit,
    Unrelated,
    ZeroDivisionError,
]
OF_THE_TYPE = [TypeError, ValueError, AttributeError, RuntimeError, BufferError]


def raising(method, error, **others):
    """An object whose `method` raises the error."""

    def fail(self, *_arguments, **_options):
        raise error

    what = property(fail) if method in ("__array_interface__", "dtype") else fail
    return type("Raising", (), {method: what, **others})()


class Items(UserList):
    def __init__(self, error):
        self.error = error

    def __iter__(self):
        yield 1.0
        raise self.error


class Pair(Sequence):
    def __init__(self, error, method):
        self.error, self.method = error, method

    def __len__(self):
        if self.method == "__len__":
            raise self.error
        return 2

    def __getitem__(self, index):
        raise self.error


def late(error):
    yield 0
    raise error


DEVICE = {"__dlpack_device__": lambda self: (1, 0)}
READ = {
    "array": lambda e: raising("__array__", e),
    "dlpack": lambda e: raising("__dlpack__", e, **DEVICE),
    "interface": lambda e: raising("__array_interface__", e),
    "length": lambda e: raising("__len__", e, __getitem__=lambda self, index: 1.0),
    "item": lambda e: raising("__getitem__", e, __len__=lambda self: 2),
    "iterator": Items,
    "in a list": lambda e: [raising("__array__", e)],
    "length in a list": lambda e: [raising("__len__", e, __getitem__=lambda self, index: 1.0)],
    "number": lambda e: [1.0, raising("__array__", e)],
}
WRITTEN = {name: READ[name] for name in ("dlpack", "interface")}
INTS = {"index": lambda e: raising("__index__", e)}
AXES = INTS | {
    "iter": lambda e: raising("__iter__", e),
    "next": late,
    "index of an item": lambda e: [0, raising("__index__", e)],
    "index that iterates": lambda e: raising("__index__", e, __iter__=lambda self: late(e)),
}
ONE_AXIS = lambda x, **options: dmlcpu.top_k(x, **{"k": 1, **options})  # noqa: E731
CALLS = [
    (function, name, kinds)
    for function in (dmlcpu.argmin, dmlcpu.argmax)
    for name, kinds in (("axis", AXES), ("axis_direction", INTS), ("out", WRITTEN), ("input", READ))
] + [
    (dmlcpu.top_k, "k", INTS),
    (ONE_AXIS, "axis", INTS),
    (ONE_AXIS, "axis_direction", INTS),
    (dmlcpu.gather_nd, "input", READ),
    (dmlcpu.gather_nd, "indices", READ),
    (dmlcpu.gather_nd, "batch_dims", INTS),
    (dmlcpu.gather_nd, "out", WRITTEN),
]  # fmt: skip
CASES = [
    pytest.param(function, name, make, id=f"{function.__name__}-{name}-{kind}")
    for function, name, kinds in CALLS
    for kind, make in kinds.items()
]


def call(function, name, value):
    given = {"indices": [[0]]} if function is dmlcpu.gather_nd else {}
    given |= {"k": 1} if function is dmlcpu.top_k else {}
    given[name] = value
    return function(given.pop("input", X), **given)


@pytest.mark.parametrize(("function", "name", "make"), CASES)
def test_other_errors_pass(function, name, make):
    for kind in OTHERS:
        error = kind("told")
        with pytest.raises(kind) as caught:
            call(function, name, make(error))
        assert caught.value is error


@pytest.mark.parametrize(("function", "name", "make"), CASES)
def test_errors_of_the_type_are_the_cause(function, name, make):
    """Of what is read as an array; __index__ and __iter__ say so by a TypeError, as everywhere."""
    arrays = name in ("input", "indices", "out")
    for kind in OF_THE_TYPE if arrays else [TypeError]:
        error = kind("told")
        value = make(error)
        if kind is AttributeError and "interface" in str(vars(type(value))):
            continue  # no attribute at all, to Python
        with pytest.raises(TypeError) as caught:
            call(function, name, value)
        if make is late or make is AXES["index that iterates"]:
            assert caught.value is error  # of a generator's own code
            continue
        assert str(caught.value).startswith(f"{name}: must be ")
        assert caught.value.__cause__ is error


@pytest.mark.parametrize("method", ["__len__", "__getitem__"])
def test_pairs(method):
    for kind in OTHERS + OF_THE_TYPE:
        error = kind("told")
        with pytest.raises(kind) as caught:
            dmlcpu.top_k(X, 1, out=Pair(error, method))
        assert caught.value is error


@pytest.mark.parametrize("function", [dmlcpu.argmin, ONE_AXIS])
def test_index_dtype(function):
    for kind in OTHERS:
        with pytest.raises(kind, match="told"):
            function(X, index_dtype=raising("dtype", kind("told")))
    for value in ({"names": ["a"]}, {"a": 1}, [("a",)], "(,", "no", (4, 5, 6), 7.5, [1]):
        with pytest.raises(TypeError, match="^index_dtype: must be .*, got ") as caught:
            function(X, index_dtype=value)
        assert repr(value) in str(caught.value)
        assert caught.value.__cause__ is not None


def test_iterables_are_read_once():
    class Once:
        """Gives its axes to the first that asks."""

        def __init__(self, *axes):
            self.axes, self.asked = axes, 0

        def __iter__(self):
            self.asked += 1
            return iter(self.axes if self.asked == 1 else ())

    for axes in ((0,), (1,), (0, 1), ()):
        once = Once(*axes)
        assert dmlcpu.argmax(X, once).shape == dmlcpu.argmax(X, axes).shape
        assert once.asked == 1


class TensorDescriptors:
    """Fields of DirectML's descriptors, each with a value that raises."""

    x = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, (2, 3))
    y = dml.BufferTensorDesc(dml.TensorDataType.UINT32, (2, 1))

    @staticmethod
    def tensor(**fields):
        given = {"data_type": 1, "sizes": (2, 3)} | fields
        return dml.compile(
            dml.ArgmaxOperatorDesc(dml.BufferTensorDesc(**given), TensorDescriptors.y, (1,))
        )

    @staticmethod
    def axes(axes):
        desc = dml.ArgmaxOperatorDesc(TensorDescriptors.x, TensorDescriptors.y, axes)
        return dml.compile(desc)


@pytest.mark.parametrize(
    "make",
    [
        lambda e: TensorDescriptors.tensor(data_type=raising("__index__", e)),
        lambda e: TensorDescriptors.tensor(sizes=raising("__iter__", e)),
        lambda e: TensorDescriptors.tensor(sizes=[2, raising("__index__", e)]),
        lambda e: TensorDescriptors.tensor(strides=late(e)),
        lambda e: TensorDescriptors.axes(raising("__iter__", e)),
        lambda e: TensorDescriptors.axes([raising("__index__", e)]),
        lambda e: dml.calc_buffer_tensor_size(raising("__index__", e), (2,)),
        lambda e: dml.calc_buffer_tensor_size(1, raising("__iter__", e)),
        lambda e: dml.calc_buffer_tensor_size(1, late(e)),
        lambda e: dml.calc_buffer_tensor_size(1, (2,), late(e)),
    ],
)
def test_descriptors(make):
    for kind in OTHERS:
        error = kind("told")
        with pytest.raises(kind) as caught:
            make(error)
        assert caught.value is error


def test_axes_without_end():
    """As in the core, which reads no further than it must."""
    with pytest.raises(np.exceptions.AxisError, match="^axis: must be in "):
        dmlcpu.argmax(X, itertools.count())
    with pytest.raises(ValueError, match="^axis: must not repeat an axis"):
        dmlcpu.argmax(X, itertools.repeat(1))
