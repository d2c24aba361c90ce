"""The bench's random sorts: reproducible, checked, and summed up."""

from types import SimpleNamespace

import numpy as np
import pytest

import dmlcpu.numpy

import sorts


def test_works_are_reproducible():
    first = [sorts.drawn(5, number) for number in range(60)]
    for number, (x, axis) in enumerate(first):
        again, at = sorts.drawn(5, number)
        assert at == axis
        np.testing.assert_array_equal(again, x)
        assert sorts.BYTES[0] <= x.nbytes <= sorts.BYTES[1]
    assert len({(x.dtype, x.shape, axis) for x, axis in first}) > 55


def test_wrong_answers_end_it(monkeypatch):
    x = np.arange(12.0).reshape(3, 4)
    sorts.measured(x, 1, set(), 1)
    monkeypatch.setattr(dmlcpu.numpy, "argsort", lambda a, axis: np.zeros(a.shape, int))
    with pytest.raises(AssertionError, match="wrong answer: float64"):
        sorts.measured(x, 1, set(), 1)


def test_summary():
    text = sorts.summary("argsort", [0.5, 1.0, 4.0, 4.0])
    assert text == "argsort: geometric mean 1.68, slower in 1 of 4, the least 0.50"


def test_mode(monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # which results name
    arguments = SimpleNamespace(
        competitors=["NumPy"], count=2, seed=1, rounds=1, json=None, markdown=None, plot=None
    )
    sorts.sorts(arguments)
    printed = capsys.readouterr().out
    assert "elements and indices: geometric mean" in printed
    assert printed.count("NumPy ") >= 2
