"""dmlcpu.numpy as a module: its names, signatures, and that it may replace NumPy's functions."""

import inspect

import numpy as np
import pytest

import dmlcpu.numpy as door

from scripts import run_python

SORTS = ["sort", "argsort", "partition", "argpartition"]
NAMES = ["argmax", "argmin", "nanargmax", "nanargmin", "take", "take_along_axis", *SORTS]


def test_everything_is_imported_that_numpy_brings():
    numpys, doors = {}, {}
    exec("from numpy import *", numpys)
    exec("from dmlcpu.numpy import *", doors)
    assert {*doors} == {*numpys, "top_k"}
    own = {*NAMES, "top_k", "__builtins__"}
    assert all(doors[name] is numpys[name] for name in {*numpys} - own)
    assert all(doors[name] is getattr(door, name) for name in [*NAMES, "top_k"])


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_numpys(name):
    mine, theirs = (dict(inspect.signature(getattr(m, name)).parameters) for m in (door, np))
    if np.__version__.startswith("1."):  # whose sorts have no `stable`
        mine.pop("stable", None)
    assert list(mine) == list(theirs)
    for own, numpys in zip(mine.values(), theirs.values()):
        assert own.kind == numpys.kind
        # Before NumPy 2.3, take_along_axis had no default axis.
        assert own.default is numpys.default or name == "take_along_axis"


def test_other_names_are_numpys():
    assert door.float32 is np.float32
    assert door.linalg is np.linalg
    assert door.__version__ == np.__version__
    assert {"argmax", "float32", "top_k"} <= set(dir(door))
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        door.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match="^module 'dmlcpu.numpy' has no attribute '__path__'$"):
        door.__path__  # noqa: B018


def test_they_may_take_the_place_of_numpys(monkeypatch):
    for name in NAMES:
        monkeypatch.setattr(np, name, getattr(door, name))
    x = np.array([[1j, 2, 0]])
    assert np.argmax(x) == np.nanargmax(x) == 1
    assert np.argmin(x) == np.nanargmin(x) == 2
    assert np.take(x, 1) == np.take_along_axis(x, np.array([[1]]), 1) == 2
    assert np.sort(x).tolist() == [[0, 1j, 2]]
    assert np.argsort(x).tolist() == np.argpartition(x, [0, 1, 2]).tolist() == [[2, 0, 1]]


def test_it_is_loaded_when_used():
    run_python(
        """
        import sys, types, dmlcpu
        import dmlcpu.numpy as np_fast
        assert type(np_fast) is not types.ModuleType
        assert np_fast is dmlcpu.numpy
        assert np_fast.argmax([1, 3, 2]) == 1
        assert type(np_fast) is types.ModuleType
        import pickle
        assert pickle.loads(pickle.dumps(np_fast.argmax)) is np_fast.argmax
        """
    )
