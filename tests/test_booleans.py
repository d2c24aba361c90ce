"""Any byte but 0 is True, and equal to every other one, as in a memory map or a view of bytes; values
come out as the bytes they were."""

import itertools

import numpy as np
import pytest

import dmlcpu
import dmlcpu.numpy as dn

import reference
from commands import run
from data import TUNING

RNG = np.random.default_rng(0)
SHAPES = [
    *[(7,), (100,), (5000,), (TUNING.kTopKSampleLeastLength + 1,), (1, 70_000)],
    *[
        (40, 3),
        (3, 40),
        (300, 17),
        (17, 300),
        (9, 900),
        (900, 70),
        (3, 400, 5),
        (5, 4, 70),
        (70, 3, 9),
    ],
]


def bytes_of(x):
    return np.asarray(x).view(np.uint8)


def booleans(shape, share=0.5, odd=0.5, first=0):
    """True with that probability, by an odd byte with that one, but in the first elements."""
    x = (RNG.random(shape) < share).astype(np.uint8)
    several = x * RNG.integers(2, 256, shape, np.uint8)
    late = np.arange(x.size).reshape(shape) >= first
    return np.where((RNG.random(shape) < odd) & late, several, x).astype(np.uint8).view(bool)


def some(shape):
    """All of one kind, with one exception, and mixed; odd from a position on."""
    size = np.prod(shape)
    for share, odd in itertools.product((0.5, 0.01, 0.99, 1), (1, 0.5)):
        yield booleans(shape, share, odd)
    yield booleans(shape, 0.5, 0.01)
    yield booleans(shape, 0.5, 1, first=int(size * 0.6))


def layouts(x):
    yield x
    yield x.copy(order="F")
    yield np.repeat(x, 2, -1)[..., ::2]
    yield x[..., ::-1].copy()[..., ::-1]
    yield np.concatenate([x, x], -1)[..., : x.shape[-1]]


def ordinary(x):
    return (bytes_of(x) != 0).astype(bool)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_beside_ordinary_ones(instruction_set, shape):
    """The library is right for bytes of 0 and 1, as other tests show."""
    axes = [None, *range(len(shape)), *([(0, 1)] if len(shape) > 2 else [])]
    for x in some(shape):
        good = ordinary(x)
        for view, direction, axis in itertools.product(layouts(x), (0, 1), axes):
            for function in (dmlcpu.argmax, dmlcpu.argmin):
                got = function(view, axis, axis_direction=direction)
                assert np.array_equal(got, function(good, axis, axis_direction=direction))
            if not isinstance(axis, int):
                continue
            n = shape[axis]
            for k in {1, min(2, n), min(7, n), n // 30 + 1, n // 3 + 1, n} - {0}:
                got = dmlcpu.top_k(view, k, axis=axis, axis_direction=direction)
                want = dmlcpu.top_k(good, k, axis=axis, axis_direction=direction).indices
                assert np.array_equal(got.indices, want)
                values = np.take_along_axis(bytes_of(x), want.astype(np.int64), axis)
                assert np.array_equal(bytes_of(got.values), values)


@pytest.mark.parametrize("shape", [(1,), (6,), (3, 4), (4, 1, 5), (2, 3, 4)], ids=str)
def test_beside_the_reference(instruction_set, shape):
    """Among them calls that are not planned."""
    for _ in range(10):
        x = booleans(shape)
        for direction, axis in itertools.product(("increasing", "decreasing"), range(len(shape))):
            for name in ("argmax", "argmin"):
                got = getattr(dmlcpu, name)(x, axis, axis_direction=direction)
                want = reference.arg(x, [axis], largest=name == "argmax", direction=direction)
                assert np.array_equal(got, want)
            for k in range(1, shape[axis] + 1):
                got = dmlcpu.top_k(x, k, axis=axis, axis_direction=direction)
                values, indices = reference.top_k(x, k, axis=axis, direction=direction)
                assert np.array_equal(got.indices, indices)
                assert np.array_equal(bytes_of(got.values), bytes_of(values))


def test_numpy_door():
    for shape in ((5,), (4, 3), (60, 70), (3, 5000)):
        for x in some(shape):
            for axis in (None, *range(len(shape))):
                for name in ("argmax", "argmin", "nanargmax", "nanargmin"):
                    want = getattr(np, name)(ordinary(x), axis)
                    assert np.array_equal(getattr(dn, name)(x, axis), want)
            for largest, axis in itertools.product((True, False), range(len(shape))):
                k = min(3, shape[axis])
                values, indices = dn.top_k(
                    x, k, axis=axis, mode="largest" if largest else "smallest"
                )
                sign = -1 if largest else 1
                order = np.argsort(sign * ordinary(x).astype(int), axis, kind="stable")
                assert np.array_equal(indices, order.take(range(k), axis))
                want = np.take_along_axis(bytes_of(x), indices, axis)
                assert np.array_equal(bytes_of(values), want)


def test_dask_merges_chunks():
    da = pytest.importorskip("dask.array")
    import dmlcpu.dask

    for shape, chunks in (((50,), 7), ((9, 40), (4, 9)), ((40, 9), (6, 9))):
        for x in some(shape):
            lazy = da.from_array(x, chunks=chunks)
            for direction, axis in itertools.product((0, 1), (None, *range(len(shape)))):
                for name in ("argmax", "argmin"):
                    got = getattr(dmlcpu.dask, name)(lazy, axis, axis_direction=direction)
                    want = getattr(dmlcpu, name)(x, axis, axis_direction=direction)
                    assert np.array_equal(got.compute(scheduler="sync"), want)
            for axis in range(len(shape)):
                pair = dmlcpu.dask.top_k(lazy, 5, axis=axis)
                values, indices = (part.compute(scheduler="sync") for part in pair)
                want = dmlcpu.top_k(x, 5, axis=axis)
                assert np.array_equal(indices, want.indices)
                assert np.array_equal(bytes_of(values), bytes_of(want.values))


def test_torch_door():
    torch = pytest.importorskip("torch")
    import dmlcpu.torch as dt

    for shape in ((6,), (40, 30), (3, 70_000)):
        for x in some(shape):
            t = torch.from_numpy(bytes_of(x).copy()).view(torch.bool)
            for axis in range(len(shape)):
                assert np.array_equal(dmlcpu.argmax(t, axis), dmlcpu.argmax(ordinary(x), axis))
                for name in ("max", "min"):
                    got = getattr(dt, name)(t, axis)
                    find = getattr(dmlcpu, f"arg{name}")
                    assert np.array_equal(got.indices, find(ordinary(x), axis, keepdims=False))
            buffer = memoryview(bytes_of(x)).cast("B").cast("?", x.shape)
            assert np.array_equal(dmlcpu.argmin(buffer), dmlcpu.argmin(ordinary(x)))


@pytest.mark.parametrize("command", ["argmax", "argmin", "topk"])
def test_command_line(command, tmp_path):
    x = booleans((30, 40))
    np.save(tmp_path / "x.npy", x)
    outputs = [str(tmp_path / name) for name in ("a.npy", "b.npy")[: 1 + (command == "topk")]]
    options = ["-k", "9"] if command == "topk" else []
    run(command, str(tmp_path / "x.npy"), "-o", *outputs, "--axis=1", *options)
    if command == "topk":
        want = dmlcpu.top_k(ordinary(x), 9).indices
        assert np.array_equal(np.load(outputs[1]), want)
        values = np.take_along_axis(bytes_of(x), want.astype(np.int64), 1)
        assert np.array_equal(bytes_of(np.load(outputs[0])), values)
    else:
        assert np.array_equal(np.load(outputs[0]), getattr(dmlcpu, command)(ordinary(x), 1))
