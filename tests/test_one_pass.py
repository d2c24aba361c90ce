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


def lengths(dtype):
    """Around one vector, one group, groups and a part of one, and the longest row."""
    units = [count * bytes_ for bytes_ in VECTORS for count in (1, 2, 3, 4, 5, 8, 9, 12)]
    elements = {unit // dtype.itemsize for unit in [*units, ONE_PASS_BYTES]}
    return sorted({n + d for n in elements for d in (-1, 0, 1) if n + d > 1})


def positions(length, dtype):
    """The first and last of vectors and groups, counted from either end."""
    units = [count * bytes_ // dtype.itemsize for bytes_ in VECTORS for count in (1, 4, 8)]
    near = {unit + d for unit in units for d in (-1, 0, 1)} | {0, 1}
    near |= {length - 1 - p for p in near}
    return np.array(sorted(p for p in near if 0 <= p < length))


def rows(length, dtype, at):
    """A row for each position, every one with other numbers of [0, 1), -0.0 among them."""
    x = np.random.default_rng(length).random((len(at), length)).astype(dtype)
    x[:, ::7] = -0.0
    return x


def found(operator, x, **options):
    """Where each row's extreme is; of short rows together, which are columns, and one by one."""
    got = operator(x, 1, keepdims=False, **options).tolist()
    assert [operator(row, 0, keepdims=False, **options).item() for row in x] == got
    return got


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_only_extreme(instruction_set, dtype):
    for length in lengths(dtype):
        at = positions(length, dtype)
        x = rows(length, dtype, at)
        x[np.arange(len(at)), at] = 2
        for direction in (0, 1):
            assert found(dmlcpu.argmax, x, axis_direction=direction) == at.tolist(), length
            assert found(dmlcpu.argmin, -x, axis_direction=direction) == at.tolist(), length


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_first_of_equals(instruction_set, dtype):
    """All later edges hold the extreme as well: in other lanes, groups and moved-back vectors."""
    for length in lengths(dtype):
        at = positions(length, dtype)
        x = rows(length, dtype, at)
        for row, position in enumerate(at):
            x[row, at[at >= position]] = 2
        assert found(dmlcpu.argmax, x) == at.tolist(), length
        assert found(dmlcpu.argmin, -x) == at.tolist(), length
        constant = np.full_like(x, 3)
        assert not dmlcpu.argmax(constant, 1).any(), length


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_anywhere(instruction_set, dtype):
    """A single NaN is found, or passed over, wherever it stands; infinities of both signs, whose sum
    is NaN too, are not mistaken for one."""
    for length in lengths(dtype):
        at = positions(length, dtype)
        x = rows(length, dtype, at)
        x[:, length // 2] = 2
        wanted = found(dmlcpu.argmax, x)
        assert wanted == [length // 2] * len(at)
        for sign in (1, -1):
            y = x.copy()
            y[np.arange(len(at)), at] = sign * np.nan
            assert found(dmlcpu.argmax, y) == at.tolist(), length
            assert found(dmlcpu.argmin, y) == at.tolist(), length
            others = at != length // 2
            got = np.array(found(dmlcpu.argmax, y, nan_policy="omit"))
            assert got[others].tolist() == [length // 2] * others.sum(), length
        y = x.copy()
        y[:, 0] = -np.inf
        y[np.arange(len(at)), at] = np.inf
        assert found(dmlcpu.argmax, y) == at.tolist(), length
        assert found(dmlcpu.argmin, -y) == at.tolist(), length
