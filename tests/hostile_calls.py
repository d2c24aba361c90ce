"""Calls whose arguments run code that resizes, reshapes or retypes the call's own arrays.

A call must act as if that code had run before it: as the same call with plain arguments does on arrays
that were changed in the same way. ``hostile_calls.py FAMILY NOTE`` writes each call to the file NOTE
before it is made, as one that reads freed memory ends the process.
"""

import itertools
import sys
import warnings
from collections.abc import Sequence

import numpy as np

import dmlcpu
from dmlcpu import directml as dml

ROWS, COLUMNS, K = 1536, 8, 4  # all arrays have several pages


class Derived(np.ndarray):
    """Read as any array is, and resized as one."""


def owned(array, derived):
    """An array that owns its memory, so that it can be resized."""
    made = np.ndarray.__new__(Derived if derived else np.ndarray, array.shape, array.dtype)
    made[...] = array
    return made


def resized(array, shape):
    np.ndarray.resize(array, shape, refcheck=False)


def retyped(array):
    array.dtype = {"f": "i4", "i": "u4", "u": "f4"}[array.dtype.kind]


def transposed(array):
    turned = np.empty(array.shape[::-1], array.dtype).T
    array.shape = turned.shape
    array.strides = turned.strides


CHANGES = {
    "shrink": lambda a: resized(a, 1),
    "shrink the last axis": lambda a: resized(a, (*a.shape[:-1], 1)),
    "empty": lambda a: resized(a, (0, *a.shape[1:])),
    "grow": lambda a: resized(a, (4 * a.shape[0], *a.shape[1:])),
    "flatten": lambda a: setattr(a, "shape", a.size),
    "transpose": transposed,
    "broadcast": lambda a: setattr(a, "strides", (0,) * a.ndim),
    "more axes": lambda a: setattr(a, "shape", (1,) * 10 + a.shape),
    "retype": retyped,
    "narrow": lambda a: setattr(a, "dtype", "i1"),
    "protect": lambda a: a.setflags(write=False),
}


class Hostile:
    """Stands for a value; reading it calls `act` first."""

    def __init__(self, value, act):
        self.value, self.act = value, act

    def read(self):
        self.act()
        return self.value


class Int(Hostile):
    def __index__(self):
        return self.read()


class Ints(Hostile):
    def __iter__(self):
        return iter([self.read()])


class LateInts(Hostile):
    def __iter__(self):
        yield self.value
        self.act()


class Text(str):
    def __new__(cls, value, act):
        self = super().__new__(cls, value)
        self.act = act
        return self

    def lower(self):
        self.act()
        return str(self)


class Dtype(Hostile):
    @property
    def dtype(self):
        return self.read()


class Dlpack(Hostile):
    def __dlpack__(self, **options):
        return self.read().__dlpack__(**options)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


class Interface(Hostile):
    @property
    def __array_interface__(self):
        return self.read().__array_interface__


class AsArray(Hostile):
    def __array__(self, dtype=None, copy=None):
        return self.read()


class Pair(Hostile, Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.read()[index]


def second(kind):
    return lambda value, act: (value[0], kind(value[1], act))


def first(kind):
    return lambda value, act: [kind(value[0], act), value[1]]


OUTPUTS = [Dlpack, Interface]
INPUTS = [*OUTPUTS, AsArray]
PAIRS = [Pair, *(place(kind) for place in (first, second) for kind in OUTPUTS)]
SHARED = {
    "axis_direction": ("decreasing", [Text]),
    "index_dtype": (np.dtype("u4"), [Dtype]),
}


def arg(function):
    arguments = {
        "axis": (1, [Int, Ints, LateInts]),
        **SHARED,
        "input": (None, INPUTS),
        "out": (None, OUTPUTS),
    }
    arrays = {
        "input": lambda rng: rng.random((ROWS, COLUMNS), np.float32),
        "out": lambda rng: np.zeros((ROWS, 1), np.uint32),
    }
    return lambda **given: function(given.pop("input"), **given), arguments, arrays


def top_k():
    arguments = {
        "k": (K, [Int]),
        "axis": (-1, [Int]),
        **SHARED,
        "input": (None, INPUTS),
        "out": (None, PAIRS),
    }
    arrays = {
        "input": lambda rng: rng.random((ROWS, COLUMNS), np.float32),
        "out[0]": lambda rng: np.zeros((ROWS, K), np.float32),
        "out[1]": lambda rng: np.zeros((ROWS, K), np.uint32),
    }
    return (
        lambda **given: dmlcpu.top_k(given.pop("input"), given.pop("k"), **given),
        arguments,
        arrays,
    )


def gather_nd():
    arguments = {
        "batch_dims": (0, [Int]),
        "input": (None, INPUTS),
        "indices": (None, INPUTS),
        "out": (None, OUTPUTS),
    }
    arrays = {
        "input": lambda rng: rng.random((ROWS, COLUMNS), np.float32),
        "indices": lambda rng: rng.integers(0, COLUMNS, (2 * ROWS, 2), np.int32),
        "out": lambda rng: np.zeros(2 * ROWS, np.float32),
    }
    return (
        lambda **given: dmlcpu.gather_nd(given.pop("input"), given.pop("indices"), **given),
        arguments,
        arrays,
    )


def compiled_top_k():
    x = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, (ROWS, COLUMNS))
    outs = [
        dml.BufferTensorDesc(t, (ROWS, K))
        for t in (dml.TensorDataType.FLOAT32, dml.TensorDataType.UINT32)
    ]
    operator = dml.compile(dml.TopK1OperatorDesc(x, *outs, axis=1, k=K))
    _call, _arguments, arrays = top_k()
    return (
        lambda **given: operator(given.pop("input"), **given),
        {"input": (None, INPUTS), "out": (None, PAIRS)},
        arrays,
    )


def compiled_gather_nd():
    x = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, (ROWS, COLUMNS))
    indices = dml.BufferTensorDesc(dml.TensorDataType.INT32, (2 * ROWS, 2))
    out = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, (1, 2 * ROWS))
    operator = dml.compile(dml.GatherNdOperatorDesc(x, indices, out, 2, 2))
    _call, arguments, arrays = gather_nd()
    del arguments["batch_dims"]
    arrays["out"] = lambda rng: np.zeros((1, 2 * ROWS), np.float32)
    return (
        lambda **given: operator(given.pop("input"), given.pop("indices"), **given),
        arguments,
        arrays,
    )


FAMILIES = {
    "argmin": lambda: arg(dmlcpu.argmin),
    "argmax": lambda: arg(dmlcpu.argmax),
    "top_k": top_k,
    "gather_nd": gather_nd,
    "compiled_top_k": compiled_top_k,
    "compiled_gather_nd": compiled_gather_nd,
}


def outcome(call, given, arrays):
    """What a call gave, into which arrays, or what it raised."""
    try:
        result = call(**given)
    except Exception as error:
        return type(error), str(error)
    outputs = [array for name, array in arrays.items() if name.startswith("out")]
    if "out" not in given:
        outputs = result if isinstance(result, tuple) else [result]
    return [(x.shape, x.dtype, x.tobytes()) for x in outputs]


def arguments_of(arguments, arrays, with_out):
    given = {name: value for name, (value, _kinds) in arguments.items() if value is not None}
    given |= {name: array for name, array in arrays.items() if name in ("input", "indices")}
    if with_out:
        given["out"] = (arrays["out[0]"], arrays["out[1]"]) if "out[0]" in arrays else arrays["out"]
    return given


def run(family, note):
    call, arguments, makers = FAMILIES[family]()
    places = [(a, kind) for a, (_value, kinds) in arguments.items() for kind in kinds]
    for (argument, kind), victim, change, derived, with_out in itertools.product(
        places, makers, CHANGES, (False, True), (False, True)
    ):
        if not with_out and (argument == "out" or victim.startswith("out")):
            continue
        note.seek(0)
        note.truncate()
        note.write(f"{argument} {kind.__name__}: {change} {victim}, {derived=}, {with_out=}")
        note.flush()

        arrays = made(makers, derived)
        given = arguments_of(arguments, arrays, with_out)
        act = Once(CHANGES[change], arrays[victim])
        given[argument] = kind(given[argument], act)
        hostile = outcome(call, given, arrays)
        assert act.done, "the argument was not read"

        arrays = made(makers, derived)
        CHANGES[change](arrays[victim])
        plain = outcome(call, arguments_of(arguments, arrays, with_out), arrays)
        yield hostile, plain


def made(makers, derived):
    """The same arrays at each call."""
    rng = np.random.default_rng(0)
    return {name: owned(make(rng), derived) for name, make in makers.items()}


class Once:
    """Changes the array when it is called first."""

    def __init__(self, change, array):
        self.change, self.array, self.done = change, array, False

    def __call__(self):
        if not self.done:
            self.done = True
            self.change(self.array)


def main(family, path):
    warnings.simplefilter("ignore")  # NumPy advises against such changes
    with open(path, "w") as note:
        for hostile, plain in run(family, note):
            assert hostile == plain, f"{hostile[0]!r:.300} for {plain[0]!r:.300}"


if __name__ == "__main__":
    main(*sys.argv[1:])
