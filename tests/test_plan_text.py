"""How a call would be done, as a text: of every operator, without doing it."""

import re

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core


@pytest.mark.parametrize(
    ("function", "shape", "options", "text"),
    [
        (dmlcpu.argmax, (1000,), {}, "rows"),
        (dmlcpu.argmin, (100, 64), {"axis": 0}, "columns in place, 100 positions"),
        (dmlcpu.argmax, (1000, 8), {"axis": 1}, "columns compared in registers, 8 positions"),
        (dmlcpu.argmax, (100, 200), {"axis": 1}, "n 200 by 1, 1\nrows 100 by 200, 1"),
        (dmlcpu.argmax, (5, 7), {"axis": ()}, "fill"),
        (dmlcpu.top_k, (100, 64), {"k": 1, "axis": 0}, "columns in place"),
        (dmlcpu.top_k, (100, 64), {"k": 3, "axis": 0}, "slots of 3"),
        (dmlcpu.top_k, (1, 500), {"k": 100}, "stripes of 100 from 500"),
        (dmlcpu.top_k, (1, 40), {"k": 30}, "sort of 30 from 40"),
    ],
)
def test_plan_text(function, shape, options, text):
    with dmlcpu.num_threads(1):
        plan = _core.plan_text(function, np.zeros(shape, np.float32), **options)
    assert text in plan
    assert plan.endswith("\n")


@pytest.mark.parametrize(
    ("shape", "axis", "text"),
    [
        ((1000, 3), 0, r" lanes by 1, \d+ of each of 3 results; tiles of 1 x "),
        ((300, 5), (0, 1), r" lanes by 1, \d+ of each of 1 results"),
    ],
)
def test_plan_text_of_several_lanes(shape, axis, text):
    """The text of one of the candidates: which is the cheapest depends on the processor."""
    x = np.zeros(shape, np.float32, order="F" if axis == (0, 1) else "C")
    count = len(re.findall(r"^[* ] [\d.]+ [nu]s ", _core.plan_text(dmlcpu.argmax, x, axis), re.M))
    try:
        texts = []
        for number in range(count):
            _core.force_candidate(number)
            texts.append(_core.plan_text(dmlcpu.argmax, x, axis))
    finally:
        _core.force_candidate(-1)
    assert any(re.search(text, plan) for plan in texts)


def test_plan_text_of_a_gather():
    plan = _core.plan_text(dmlcpu.gather_nd, np.zeros((5, 6)), np.zeros((7, 2), int))
    assert "tuples 1 x 1 x 7" in plan


def test_plan_text_counts_threads():
    x = np.zeros((4000, 400))
    for threads in (1, 2):
        with dmlcpu.num_threads(threads):
            assert f"threads {threads}" in _core.plan_text(dmlcpu.argmax, x, 0)


def test_nothing_is_run():
    x = np.arange(12.0).reshape(3, 4)
    out = np.full((3, 1), 77, np.uint32)
    _core.plan_text(dmlcpu.argmax, x, 1, out=out)
    assert (out == 77).all()
    # Only what is planned is not run.
    assert dmlcpu.argmax(x, 1, out=out) is out
    np.testing.assert_array_equal(out, 3)


def test_errors_are_those_of_the_call():
    with pytest.raises(ValueError, match="k"):
        _core.plan_text(dmlcpu.top_k, np.zeros(3), 4)
    with pytest.raises(TypeError):
        _core.plan_text(dmlcpu.argmax)
    np.testing.assert_array_equal(dmlcpu.argmax(np.arange(3.0), keepdims=False), 2)
