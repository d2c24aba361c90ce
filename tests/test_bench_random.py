"""The bench's random works: drawn again they are the same, and what their ranges promise."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from dmlcpu._command._works import Workload

import random_works as works
from data import DTYPES
from scripts import run_python

PEERS = [works.peer_work(5, number) for number in range(600)]
LAYOUTS = [works.layout_work(5, number) for number in range(600)]
SORTS = [works.sort_work(5, number) for number in range(600)]


def test_works_are_reproducible():
    assert [works.peer_work(5, number) for number in range(600)] == PEERS
    assert [works.layout_work(5, number) for number in range(600)] == LAYOUTS
    assert [works.sort_work(5, number) for number in range(600)] == SORTS
    # On every machine: tables of results name these.
    assert [str(works.peer_work(1, number)) for number in range(3)] == [
        "argmax float32 (1, 5008, 1, 1) axis 2",
        "top-k int64 (1642934,) axis 0, k 1, smallest",
        "gather int32 (63, 1538), 41 tuples of 1",
    ]
    assert [str(works.layout_work(1, number)) for number in (3, 4)] == [
        "top-k int16 (86, 5000) axis 0, k 11, smallest, reversed (0,)",
        "argmax uint8 (480, 29, 74, 2) axis 1, transposed (0, 3, 1, 2)",
    ]


def test_seeds_and_numbers_differ():
    for drawn in (PEERS, LAYOUTS, SORTS):
        assert len(set(map(str, drawn))) > 590
    assert not set(map(str, PEERS)) & {str(works.peer_work(6, number)) for number in range(600)}


@pytest.mark.parametrize(
    ("drawn", "ranks", "limits"),
    [
        (PEERS, (1, 2, 3, 4), (2**14, 2**26)),
        (SORTS, (1, 2, 3, 4), (2**10, 2**24)),
        (LAYOUTS, (2, 3, 4, 5), (2**16, 2**24)),
    ],
)
def test_inputs_stay_in_their_ranges(drawn, ranks, limits):
    assert {len(work.shape) for work in drawn} == set(ranks)
    assert all(limits[0] <= work.bytes <= limits[1] for work in drawn)
    # Log-uniform: about half of them are below the middle of the logarithm.
    small = sum(work.bytes**2 < limits[0] * limits[1] for work in drawn)
    assert 0.4 < small / len(drawn) < 0.6
    floats = sum(work.dtype == "float32" for work in drawn)
    assert 0.35 < floats / len(drawn) < 0.51
    assert len({work.dtype for work in drawn}) == 8
    assert all(w.dtype in DTYPES for w in drawn)
    assert min(min(work.shape) for work in drawn) == 1
    for work in drawn:
        assert all(0 <= axis < len(work.shape) for axis in work.axes)
        if work.operator == "top_k":
            assert 1 <= work.k <= work.shape[work.axes[0]]


def test_sizes_are_drawn_again_out_of_range():
    limits = (10000, 10100)
    for number in range(200):
        dtype, shape = works.draw_input(random.Random(number), (1, 4), limits)
        assert limits[0] <= math.prod(shape) * np.dtype(dtype).itemsize <= limits[1]


def test_a_third_of_each_operator():
    operators = [work.operator for work in PEERS]
    assert operators.count("top_k") == operators.count("gather_nd") == 200
    assert set(operators) == {"argmin", "argmax", "top_k", "gather_nd"}
    assert {work.smallest for work in PEERS if work.operator == "top_k"} == {False, True}


def test_gathers_stay_in_their_ranges():
    gathers = [work for work in PEERS if work.operator == "gather_nd"]
    for work in gathers:
        assert 1 <= work.coordinates <= len(work.shape)
        size = work.count * math.prod(work.shape[work.coordinates :])
        assert 2**12 <= size * np.dtype(work.dtype).itemsize <= 2**25
    assert {work.coordinates for work in gathers} == {1, 2, 3, 4}


def test_sorts_are_of_whole_axes():
    assert all(work.k == work.shape[work.axes[0]] and work.smallest for work in SORTS)


def test_layouts_stay_in_their_ranges():
    assert {work.operator for work in LAYOUTS} == {"argmax", "top_k"}
    assert {len(work.axes) for work in LAYOUTS if work.operator == "argmax"} == {1, 2, 3}
    assert max(work.k for work in LAYOUTS) <= 32
    assert {work.layout for work in LAYOUTS} == set(works.LAYOUTS)


def first(drawn, choose):
    return min(filter(choose, drawn), key=lambda work: work.bytes)


@pytest.mark.parametrize("operator", ["argmin", "top_k", "gather_nd"])
def test_tensors_are_as_described(operator):
    work = first(PEERS, lambda work: work.operator == operator)
    x, *indices = work.workload.make(np.random.default_rng(0))
    assert (x.shape, x.dtype) == (work.shape, work.dtype)
    assert x.flags.c_contiguous
    if operator == "gather_nd":
        assert indices[0].shape == (work.count, work.coordinates)
        assert (indices[0] >= 0).all()
        assert (indices[0] < work.shape[: work.coordinates]).all()
    else:
        assert not indices


@pytest.mark.parametrize("layout", works.LAYOUTS)
def test_views_are_as_described(layout):
    def tells(work):
        """Whether no size of 1, nor a permutation that is its own inverse, hides the layout."""
        if work.layout != layout or min(work.shape) == 1:
            return False
        order = work.layout_axes
        return layout != "transposed" or list(order) != np.argsort(order).tolist()

    work = first(LAYOUTS, tells)
    (x,) = work.workload.make(np.random.default_rng(0))
    assert (x.shape, x.dtype) == (work.shape, work.dtype)
    strides = np.array(x.strides) // x.itemsize
    contiguous = np.array(
        np.empty(x.shape, np.uint8, order="F" if layout == "Fortran" else "C").strides
    )
    if layout == "transposed":
        assert x.transpose(work.layout_axes).flags.c_contiguous
        assert not x.flags.c_contiguous
    elif layout == "reversed":
        contiguous[work.layout_axes[0]] *= -1
        assert strides.tolist() == contiguous.tolist()
    elif layout == "every other":
        axis = work.layout_axes[0]
        contiguous[: axis + 1] *= 2
        assert strides.tolist() == contiguous.tolist()
    else:
        assert strides.tolist() == contiguous.tolist()


MEASURE = """
import json, sys
sys.path[:0] = sys.argv[1:3]
import crashing, random_works
measurer = random_works.Measurer("peers", 5, 1, initializer=crashing.add)
found = measurer.result(int(sys.argv[3]), ["making", "NumPy", "running"])
print(json.dumps(found))
measurer.pool.shutdown()
"""
CRASHING = """
import os
from dmlcpu._command import _competitors
calls = {"making": lambda *_: os._exit(7), "running": lambda *_: lambda: os._exit(8)}
def add():
    _competitors.LIBRARIES.update((name, ("numpy", call)) for name, call in calls.items())
"""
BENCH = str(Path(works.__file__).parent)


def test_a_library_that_crashes_is_left_out(tmp_path):
    (tmp_path / "crashing.py").write_text(CRASHING)
    number = min(range(len(PEERS)), key=lambda number: PEERS[number].bytes)
    result = json.loads(run_python(MEASURE, BENCH, str(tmp_path), str(number)))
    assert result["work"] == str(PEERS[number])
    assert result["left out"] == {"making": "crashed", "running": "crashed"}
    assert {name: len(seconds) for name, seconds in result["seconds"].items()} == {
        "dmlcpu": 1,
        "NumPy": 1,
    }


@pytest.mark.parametrize("kind", works.KINDS)
def test_wrong_answers_end_it(kind, monkeypatch):
    monkeypatch.setattr(works, "FLAT_BYTES", 2**16)
    works.flat_argmin.cache_clear()
    draw = works.KINDS[kind]
    number = min(range(30), key=lambda number: draw(5, number).bytes)
    found = works.measured(kind, 5, number, ["NumPy"], 1)
    assert list(found["seconds"]) == ["dmlcpu", "flat argmin" if kind == "layouts" else "NumPy"]
    monkeypatch.setattr(works, "right_answer", lambda *_: (0,) * 2)
    with pytest.raises(AssertionError, match="wrong answer of dmlcpu: "):
        works.measured(kind, 5, number, ["NumPy"], 1)
    works.flat_argmin.cache_clear()


def test_right_answers_name_the_first_of_equal_elements():
    x = np.array([[3, 1, 3, 2]])
    for smallest, want in ((False, ([3, 3, 2], [0, 2, 3])), (True, ([1, 2, 3], [1, 3, 0]))):
        work = Workload("", "top_k", None, {"k": 3, "axis": 1, "smallest": smallest})
        values, indices = works.right_answer(work, (x,))
        assert (values.tolist(), indices.tolist()) == ([want[0]], [want[1]])


def test_hopeless_libraries_are_left_out(monkeypatch):
    seconds = {"dmlcpu": 1e-3, "NumPy": 2e-3, "JAX": 0.5, "ORT": 0.03}
    monkeypatch.setattr(works.measure, "quick_seconds", lambda name, _rest: seconds[name])
    left_out = {}
    assert set(works.kept({name: name for name in seconds}, left_out)) == {"dmlcpu", "NumPy", "ORT"}
    assert left_out == {"JAX": "takes 500 ms"}
    assert works.kept({"dmlcpu": "dmlcpu"}, left_out) == {"dmlcpu": "dmlcpu"}


def test_tables_show_the_worst_works():
    def work(number, group, seconds, moved=2**20):
        named = {"work": "any", "number": number, "group": group, "moved": moved, "plan": "rows"}
        return {**named, "seconds": {name: [t] for name, t in seconds.items()}}

    found = [
        work(0, "gather", {"dmlcpu": 1.0, "NumPy": 4.0, "JAX": 9.0}),
        work(1, "gather", {"dmlcpu": 1.0, "NumPy": 0.25}),
        work(2, "argmin, argmax", {"dmlcpu": 1.0}),
    ]
    lines = works.tables("peers", found).splitlines()
    assert lines[2:4] == [
        "| gather | 1.00 | 1 of 2 | 0.25 | 1 |",
        "| all | 1.00 | 1 of 2 | 0.25 | 1 |",
    ]
    assert lines[-2:] == [
        "| 1: any | 1 s | NumPy 250 ms | 0.25 | rows |",
        "| 0: any | 1 s | NumPy 4 s | 4.00 | rows |",
    ]
