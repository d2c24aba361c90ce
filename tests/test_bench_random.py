"""The bench's random works: drawn again they are the same, and what their ranges promise."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import random_works as works
from data import DTYPES
from scripts import run_python, start_python

PEERS = [works.peer_work(5, number) for number in range(600)]
LAYOUTS = [works.layout_work(5, number) for number in range(600)]


def test_works_are_reproducible():
    assert [works.peer_work(5, number) for number in range(600)] == PEERS
    assert [works.layout_work(5, number) for number in range(600)] == LAYOUTS
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
    for drawn in (PEERS, LAYOUTS):
        assert len(set(map(str, drawn))) > 590
    assert not set(map(str, PEERS)) & {str(works.peer_work(6, number)) for number in range(600)}


@pytest.mark.parametrize(
    ("drawn", "ranks", "limits"),
    [(PEERS, (1, 2, 3, 4), (2**14, 2**26)), (LAYOUTS, (2, 3, 4, 5), (2**16, 2**24))],
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
sys.path.insert(0, sys.argv[1])
import random_run
measurer = random_run.Measurer(5, 1, ["making", "NumPy", "running"], ("-c", *sys.argv[2:0:-1]))
print(json.dumps(measurer.result(int(sys.argv[3]))))
measurer.close()
"""
CRASH = """
import os, sys
sys.path.insert(0, sys.argv[1])
import competitors, random_run
calls = {"making": lambda *_: os._exit(7), "running": lambda *_: lambda: os._exit(8)}
competitors.CALLS.update((name, ("numpy", call)) for name, call in calls.items())
random_run.serve()
"""
BENCH = str(Path(works.__file__).parent)


def test_a_library_that_crashes_is_left_out():
    number = min(range(len(PEERS)), key=lambda number: PEERS[number].bytes)
    result = json.loads(run_python(MEASURE, BENCH, CRASH, str(number)))
    assert result["work"] == str(PEERS[number])
    assert result["left out"] == {"making": "crashed, status 7", "running": "crashed, status 8"}
    assert {name: len(seconds) for name, seconds in result["seconds"].items()} == {
        "dmlcpu": 1,
        "NumPy": 1,
    }


def test_an_error_of_the_bench_ends_it():
    done = start_python("-c", MEASURE, BENCH, "raise ValueError('of the bench')", "0")
    assert done.returncode == 1
    assert "ValueError: of the bench\n" in done.stderr
    assert done.stderr.endswith("work 0: None ended the process with status 1\n")
