"""argmin and argmax with indices of every integer type, beside those of 64 bits: in every layout and by
every strategy, up to the last index that fits, and no further."""

import numpy as np
import pytest

import dmlcpu
import dmlcpu.numpy as dn

import data
import reference

NARROW = data.NARROW_INDEX_DTYPES


def most(dtype):
    """The largest extent whose indices fit."""
    return int(np.iinfo(dtype).max) + 1


@pytest.mark.parametrize("index_dtype", NARROW, ids=str)
def test_layouts(instruction_set, threads, index_dtype):
    """Rows, columns, columns in tiles, groups and parts; outputs with and without gaps."""
    rng = np.random.default_rng(index_dtype.num)
    shapes = [
        (1, 21, 24, 24),
        (3, 2, 130, 5),
        (200, 3),
        (3, 127),
        (2, 3, 5, 7),
        (70, 70),
        (4, 8192),
        (5, 1),
    ]
    for shape in shapes:
        for dtype in (np.uint8, np.int16, np.float32, np.float64):
            base = rng.integers(0, 100, shape).astype(dtype)
            for x in (base, base.T, base[::-1], base[..., ::2]):
                for axes in ([axis] for axis in range(x.ndim)):
                    check(rng, x, axes, index_dtype)
                check(rng, x, sorted(rng.permutation(x.ndim)[:2]), index_dtype)
                check(rng, x, [], index_dtype)


def check(rng, x, axes, index_dtype):
    axes = [int(axis) for axis in axes]
    extent = int(np.prod([x.shape[axis] for axis in axes]))
    options = dict(axis_direction=int(rng.integers(2)), keepdims=bool(rng.integers(2)))
    function = dmlcpu.argmax if rng.integers(2) else dmlcpu.argmin
    if extent > most(index_dtype):
        with pytest.raises(
            ValueError, match=f"^index_dtype: must hold the index {extent - 1}, got {index_dtype}$"
        ):
            function(x, axes, index_dtype=index_dtype, **options)
        return
    want = function(x, axes, index_dtype=np.int64, **options)
    case = f"{function.__name__} of {x.dtype} {x.shape} by {x.strides}, {axes=}, {options}"
    got = function(x, axes, index_dtype=index_dtype, **options)
    assert got.dtype == index_dtype
    np.testing.assert_array_equal(got, want, case)
    memory = np.full((*want.shape, 3), 77, index_dtype)
    out = memory[..., 1] if rng.integers(2) else memory.transpose(-1, *range(want.ndim))[1, ...]
    assert function(x, axes, index_dtype=index_dtype, out=out, **options) is out
    np.testing.assert_array_equal(out, want, case)
    assert (memory[..., ::2] == 77).all(), case
    turned = np.empty(want.shape[::-1], index_dtype).T
    function(x, axes, index_dtype=index_dtype, out=turned, **options)
    np.testing.assert_array_equal(turned, want, case)


@pytest.mark.parametrize("index_dtype", NARROW, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "bool"])
def test_the_last_index(instruction_set, threads, index_dtype, dtype):
    """Along rows, columns and several axes, where positions are counted in fewer bits as well."""
    size = most(index_dtype)
    for count in (1, 5, 64):
        for at in {size - 1, size // 2, size // 2 - 1, 255, 127} & set(range(size)):
            x = np.zeros((size, count), dtype)
            x[at] = 1
            assert (dmlcpu.argmax(x, 0, index_dtype=index_dtype) == at).all()
            assert (dmlcpu.argmax(x.T.copy(), 1, index_dtype=index_dtype) == at).all()
            box = x.reshape(2, size // 2, count)
            assert (dmlcpu.argmax(box, (0, 1), index_dtype=index_dtype) == at).all()
        last = dict(axis_direction="decreasing", index_dtype=index_dtype)
        assert (dmlcpu.argmin(np.zeros((size, count), dtype), 0, **last) == size - 1).all()


@pytest.mark.parametrize("index_dtype", NARROW, ids=str)
def test_an_index_too_large(index_dtype):
    """Is an error before any work, also where there is nothing to write."""
    size = most(index_dtype)
    text = f"^index_dtype: must hold the index {size}, got {index_dtype}$"
    for shape in ((size + 1, 3), (size + 1, 0)):
        out = np.full((1, shape[1]), 77, index_dtype)
        for given in ({}, {"out": out}):
            with pytest.raises(ValueError, match=text):
                dmlcpu.argmin(np.zeros(shape), 0, index_dtype=index_dtype, **given)
        assert (out == 77).all()
    assert dmlcpu.argmin(np.zeros((3, size + 1)), 0, index_dtype=index_dtype).dtype == index_dtype


def test_overlap_with_narrow_outputs():
    """An index of a byte shares memory with an element of several, and elements with each other."""
    x = np.zeros((4, 8), np.float32)
    memory = x.view(np.uint8).reshape(-1)
    for offset in (0, 3, 124):
        out = memory[offset : offset + 4].reshape(4, 1)
        with pytest.raises(ValueError, match=r"^out: must not overlap input, got shared memory$"):
            dmlcpu.argmax(x, 1, index_dtype="u1", out=out)
    # In the gap that the input leaves.
    gap = x.view(np.uint8)[:, 29:30]
    assert dmlcpu.argmax(x[:, :7], 1, index_dtype="u1", out=gap) is gap
    repeated = np.lib.stride_tricks.as_strided(np.zeros(4, np.uint8), (4, 1), (0, 0))
    with pytest.raises(ValueError, match="^out: must have elements that do not overlap"):
        dmlcpu.argmax(x, 1, index_dtype="u1", out=repeated)


def test_label_map():
    """Classes of an image, as bytes that the caller gives, or another library's."""
    x = np.random.default_rng(0).random((1, 21, 65, 70), np.float32)
    want = reference.arg(
        x, [1], largest=True, direction="increasing", keepdims=False, nan_policy="propagate"
    )
    memory = bytearray(65 * 70)
    out = np.frombuffer(memory, np.uint8).reshape(1, 65, 70)
    dmlcpu.argmax(x, 1, keepdims=False, index_dtype=np.uint8, out=memoryview(out))
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(dmlcpu.argmax(x, 1, keepdims=False, index_dtype="i1"), want)


@pytest.mark.parametrize(
    "dtype", [*data.ARG_INDEX_DTYPES, np.dtype(bool), np.dtype(np.float64)], ids=str
)
def test_out_of_the_numpy_door(dtype):
    """Takes the types that NumPy's takes, and refuses the others as it does."""
    x = np.random.default_rng(0).random((4, 5))
    results = []
    for module in (np, dn):
        for name in ("argmax", "argmin", "nanargmax", "nanargmin"):
            out = np.full(5, 7, dtype)
            try:
                assert getattr(module, name)(x, axis=0, out=out) is out
                results.append(out.tolist())
            except Exception as error:
                results.append(type(error))
                assert (out == 7).all()
    assert results[:4] == results[4:]


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "i8"])
def test_narrow_outs_of_the_numpy_door_are_written_by_the_core(dtype, monkeypatch):
    called = []

    def argmax(*args, **kwargs):
        called.append(np.dtype(kwargs["index_dtype"]))
        return dmlcpu.argmax(*args, **kwargs)

    monkeypatch.setattr(dn._operators, "argmax", argmax)
    x = np.random.default_rng(0).random((4, 5))
    out = np.full(5, 7, dtype)
    assert dn.argmax(x, 0, out=out) is out
    assert called == [out.dtype]
    np.testing.assert_array_equal(out, x.argmax(0))


def test_16_bits_count_modulo(instruction_set):
    """Positions times the step, both in 16 bits, are beyond what an int holds."""
    x = np.zeros((40_000, 5), np.uint8)
    found = dmlcpu.argmax(x, 0, axis_direction="decreasing", index_dtype="u2")
    assert (found == 39_999).all()
