"""The edges of rows that are searched in one pass: vectors, groups of four, the moved-back last ones.

Random data misses them: an element that is looked for in a neighbouring group, or twice in a vector
that was moved back into the row, is the one that decides only if it is put there.
"""

import numpy as np
import pytest

import dmlcpu

from data import TUNING

ONE_PASS_BYTES = TUNING.kOnePassBytes
VECTORS = (16, 32, 64)  # bytes, of the instruction sets; a group has four
DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]


def sizes(dtype):
    """Rows around one vector, one group, some groups and a rest, and the largest row of one pass."""
    edges = [count * bytes_ for bytes_ in VECTORS for count in (1, 2, 3, 4, 5, 8, 9, 12)]
    elements = {edge // dtype.itemsize for edge in [*edges, ONE_PASS_BYTES]}
    return sorted({n + d for n in elements for d in (-1, 0, 1) if n + d > 1})


def positions(size, dtype):
    """The first and last of vectors and groups, counted from either end."""
    edges = [count * bytes_ // dtype.itemsize for bytes_ in VECTORS for count in (1, 4, 8)]
    near = {edge + d for edge in edges for d in (-1, 0, 1)} | {0, 1}
    near |= {size - 1 - p for p in near}
    return np.array(sorted(p for p in near if 0 <= p < size))


def rows(size, dtype, at):
    """A row for each position, every one with other numbers of [0, 1), -0.0 among them."""
    x = np.random.default_rng(size).random((len(at), size)).astype(dtype)
    x[:, ::7] = -0.0
    return x


def found(operator, x, **options):
    """Where each row's extreme is; of short rows together, which are columns, and one by one."""
    got = operator(x, 1, keepdims=False, **options).tolist()
    assert [operator(row, 0, keepdims=False, **options).item() for row in x] == got
    return got


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_only_extreme(instruction_set, dtype):
    for size in sizes(dtype):
        at = positions(size, dtype)
        x = rows(size, dtype, at)
        x[np.arange(len(at)), at] = 2
        for direction in (0, 1):
            assert found(dmlcpu.argmax, x, axis_direction=direction) == at.tolist(), size
            assert found(dmlcpu.argmin, -x, axis_direction=direction) == at.tolist(), size


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_first_of_equals(instruction_set, dtype):
    """All later edges hold the extreme as well: in other lanes, groups and moved-back vectors."""
    for size in sizes(dtype):
        at = positions(size, dtype)
        x = rows(size, dtype, at)
        for row, position in enumerate(at):
            x[row, at[at >= position]] = 2
        assert found(dmlcpu.argmax, x) == at.tolist(), size
        assert found(dmlcpu.argmin, -x) == at.tolist(), size
        constant = np.full_like(x, 3)
        assert not dmlcpu.argmax(constant, 1).any(), size


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_anywhere(instruction_set, dtype):
    """A single NaN is found, or passed over, wherever it is; infinities of both signs, whose sum
    is NaN too, are not mistaken for one."""
    for size in sizes(dtype):
        at = positions(size, dtype)
        x = rows(size, dtype, at)
        x[:, size // 2] = 2
        wanted = found(dmlcpu.argmax, x)
        assert wanted == [size // 2] * len(at)
        for sign in (1, -1):
            y = x.copy()
            y[np.arange(len(at)), at] = sign * np.nan
            assert found(dmlcpu.argmax, y) == at.tolist(), size
            assert found(dmlcpu.argmin, y) == at.tolist(), size
            others = at != size // 2
            got = np.array(found(dmlcpu.argmax, y, nan_policy="omit"))
            assert got[others].tolist() == [size // 2] * others.sum(), size
        y = x.copy()
        y[:, 0] = -np.inf
        y[np.arange(len(at)), at] = np.inf
        assert found(dmlcpu.argmax, y) == at.tolist(), size
        assert found(dmlcpu.argmin, -y) == at.tolist(), size
