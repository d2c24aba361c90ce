"""python -m dmlcpu bench: who takes part, what is printed and drawn."""

import importlib.util
import os
import sys

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _command
from dmlcpu._command import _bench, _chart, _competitors

SMALL = [
    ("largest", "argmax", _bench._normal(1000), {"axis": 0}),
    ("rows", "argmax", _bench._normal(20, 30), {"axis": 1}),
    ("halves", "argmax", _bench._normal(20, 30, dtype=np.float16), {"axis": 1}),
    ("best", "top_k", _bench._normal(20, 30), {"axis": 1, "k": 5}),
    ("best of columns", "top_k", _bench._normal(20, 30), {"axis": 0, "k": 5}),
    ("slices", "gather", _bench._table(20, 50, 6), {"axis": 0}),
    ("elements", "gather", _bench._table(20, 50), {"axis": 0}),
]
LIBRARIES = dict(_competitors.LIBRARIES)


@pytest.fixture
def small(folder, monkeypatch):
    """Works that take no time, beside NumPy alone."""
    monkeypatch.setattr(_bench, "WORKS", SMALL)
    monkeypatch.setattr(_bench, "_REST", 0)
    chosen = {name: LIBRARIES[name] for name in ("dmlcpu", "NumPy")}
    monkeypatch.setattr(_competitors, "LIBRARIES", chosen)
    return chosen


def bench(capsys, *arguments):
    assert _command.main(["bench", "--seconds", "0.1", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("library", LIBRARIES)
def test_right_answers(library):
    """Of all that a library does; which ones it has to do is its own choice."""
    module = pytest.importorskip(LIBRARIES[library][0], exc_type=ImportError)
    modules = {"dmlcpu": dmlcpu, library: module}
    done = 0
    for name, operator, make, options in SMALL:
        work = _competitors.Work(operator, **options, **make(np.random.default_rng(0)))
        left_out = []
        done += library in _bench._calls(name, work, modules, left_out)
        assert left_out == []
    assert done >= 2 or importlib.util.find_spec("onnx") is None


def test_table(small, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    rows = bench(capsys).splitlines()
    assert f"dmlcpu {dmlcpu.__version__}, NumPy {np.__version__}" in rows[0]
    assert rows[1].split() == ["work", "dmlcpu", "NumPy", "times", "faster"]
    for row, (name, *_) in zip(rows[2:], SMALL):
        cells = row[len("best of columns") :].split()
        assert row.startswith(name)
        assert [cells[1], cells[3]] in ([a, b] for a in ("us", "ms") for b in ("us", "ms"))
        assert float(cells[4]) > 0
    assert rows[2 + len(SMALL)].startswith("times faster than the fastest other, geometric mean: ")
    # Then bars, as there is no matplotlib.
    assert "slower | faster than the fastest other library" in rows[3 + len(SMALL)]
    assert len(rows) == 4 + 2 * len(SMALL)
    assert os.listdir() == []


def test_plot(small, capsys):
    pytest.importorskip("matplotlib")
    assert bench(capsys).endswith("plot: dmlcpu-bench.png\n")
    with open("dmlcpu-bench.png", "rb") as picture:
        assert picture.read(4) == b"\x89PNG"
    assert bench(capsys, "--plot", "other.svg").endswith("plot: other.svg\n")
    assert "faster" not in capsys.readouterr().err
    with open("other.svg") as picture:
        assert "<svg" in picture.read()


def test_wrong_answers_and_failures_are_left_out(small, capsys, monkeypatch):
    def wrong(_module, work):
        return (lambda: np.zeros(work.x.shape[1:], int)) if work.operator == "argmax" else None

    def failing(_module, work):
        raise RuntimeError("no such\nkernel")

    small["liar"] = ("numpy", wrong)
    small["invalid"] = ("numpy", failing)
    small["absent"] = ("no_such_module", failing)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = bench(capsys)
    assert "left out: liar of largest, another answer\n" in text
    assert "left out: liar of slices" not in text
    assert "left out: invalid of slices, RuntimeError: no such kernel\n" in text
    assert "absent" not in text


def test_no_folder_for_the_plot(small, capsys):
    pytest.importorskip("matplotlib")
    assert _command.main(["bench", "--seconds", "0.1", "--plot", "no/plot.png"]) == 1
    assert "no/plot.png: No such file or directory" in capsys.readouterr().err


def test_bars():
    medians = {"a": {"dmlcpu": 1e-3, "x": 4e-3, "y": 2e-2}, "b": {"dmlcpu": 2e-3, "x": 1e-3}}
    assert _chart.bars(medians).splitlines()[1:] == [
        "a" + " " * 52 + "|" + "#" * 20 + " 4.00 x",
        "b" + " " * 42 + "#" * 10 + "|" + " " * 20 + " 0.50 x",
    ]
    assert _chart.table(medians, ["dmlcpu", "x", "y"]).splitlines() == [
        "work  dmlcpu     x      y  times faster",
        "a       1 ms  4 ms  20 ms          4.00",
        "b       2 ms  1 ms      -          0.50",
        "times faster than the fastest other, geometric mean: 1.41",
    ]


def test_ticks_cover_all_ratios():
    for values in ([1.0, 0.01, 300.0], [1.0], [1.0, 1.2]):
        ticks = _chart._ticks(values)
        assert ticks[0] <= min(values)
        assert max(values) <= 2 * ticks[-1]
        assert 2 <= len(ticks) < 20


def test_alone(capsys):
    assert _chart.table({"a": {"dmlcpu": 1e-3}}, ["dmlcpu"]).splitlines()[1].endswith(" 1.00")


def test_time_is_kept(small, capsys, monkeypatch):
    """Rounds stop when the time is up; the works share it."""
    now = [0.0]
    monkeypatch.setattr(_bench.time, "monotonic", lambda: now[0])
    turns = []

    def turn(call, repeats):
        turns.append(repeats)
        now[0] += 0.5
        return 1e-3

    monkeypatch.setattr(_bench, "_turn", turn)
    medians, left_out = {}, []
    modules = {"dmlcpu": dmlcpu, "NumPy": np}
    list(_bench._measure(modules, 70.0, medians, left_out))
    assert 70 <= now[0] <= 75
    assert list(medians) == [name for name, *_ in SMALL]
