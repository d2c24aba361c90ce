"""python -m dmlcpu bench: who takes part, what is printed and drawn."""

import importlib.util
import os
import sys

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _command
from dmlcpu._command import _bench, _chart, _competitors, _timing
from dmlcpu._command._works import Workload, gather, normal

SMALL = [
    Workload("largest", "argmax", normal(1000), {"axis": 0}),
    Workload("rows", "argmax", normal(20, 30), {"axis": 1}),
    Workload("halves", "argmax", normal(20, 30, dtype=np.float16), {"axis": 1}),
    Workload("best", "top_k", normal(20, 30), {"axis": 1, "k": 5}),
    Workload("best of columns", "top_k", normal(20, 30), {"axis": 0, "k": 5}),
    Workload("slices", "gather_nd", gather((50, 6), 20)),
    Workload("elements", "gather_nd", gather((50,), 20)),
]
# What bench/ measures beside those.
OTHERS = [
    Workload("smallest", "argmin", normal(20, 30), {"axis": 0}),
    Workload("all", "argmax", normal(20, 30), {"axis": None}),
    Workload("several axes", "argmax", normal(4, 5, 6), {"axis": (0, 2)}),
    Workload("last of ties", "argmax", lambda rng: (np.ones((9, 9)),), {"axis": 1, "last": True}),
    Workload(
        "NaNs omitted",
        "argmax",
        lambda rng: (np.array([[np.nan, 1, 0], [2, np.nan, 3]], np.float32),),
        {"axis": 1, "omit": True},
    ),
    Workload("transposed", "argmax", lambda rng: (normal(20, 30)(rng)[0].T,), {"axis": 1}),
    Workload("reversed", "argmax", lambda rng: (normal(20, 30)(rng)[0][:, ::-1],), {"axis": 1}),
    Workload(
        "best of a view", "top_k", lambda rng: (normal(9, 40)(rng)[0].T,), {"axis": 0, "k": 3}
    ),
    Workload("worst", "top_k", normal(20, 30), {"axis": 1, "k": 5, "smallest": True}),
    Workload("one", "top_k", normal(20, 30), {"axis": 1, "k": 1}),
    Workload("most", "top_k", normal(20, 30), {"axis": 0, "k": 19, "smallest": True}),
    Workload("a sort", "top_k", normal(300), {"axis": 0, "k": 300}),
    Workload("sorts", "top_k", normal(20, 30), {"axis": 1, "k": 30, "smallest": True}),
    Workload("tuples", "gather_nd", gather((20, 30, 4), 50, 2, np.uint8)),
    Workload("reused", "gather_nd", gather((50, 6), 20), reuse_output=True),
]
LIBRARIES = dict(_competitors.LIBRARIES)


@pytest.fixture
def small(folder, monkeypatch):
    """Works that take no time, beside NumPy alone."""
    monkeypatch.setattr(_bench, "WORKS", SMALL)
    monkeypatch.setattr(_bench, "_REST", 0)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
    chosen = {name: LIBRARIES[name] for name in ("dmlcpu", "NumPy")}
    monkeypatch.setattr(_competitors, "LIBRARIES", chosen)
    return chosen


def bench(capsys, *arguments):
    assert _command.main(["bench", "--seconds", "0.1", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("library", LIBRARIES)
def test_right_answers(library):
    """Of all that a library does; which works it has to do is its own choice."""
    module = pytest.importorskip(LIBRARIES[library][0], exc_type=ImportError)
    modules = {"dmlcpu": dmlcpu, library: module}
    done = []
    left_out = []
    for work in SMALL + OTHERS:
        calls = _competitors.agreeing(
            work,
            work.tensors(),
            modules,
            lambda *why, work=work: left_out.append((work.name, *why)),
        )
        done += [work.name] if library in calls else []
    assert left_out == []
    assert len(done) >= 3 or importlib.util.find_spec("onnx") is None
    if library in ("dmlcpu", "NumPy"):
        assert len(done) == len(SMALL + OTHERS)


@pytest.mark.parametrize("work", SMALL + OTHERS, ids=lambda work: work.name)
def test_other_answers_are_seen(work, monkeypatch):
    """Indices, values or elements are not the right ones."""

    def wrong(module, work, *tensors):
        right = LIBRARIES["NumPy"][1](module, work, *tensors)()
        if work.operator == "top_k":
            return lambda: (right[0], np.roll(right[1], 1))
        n = tensors[0].shape[(work.options.get("axis") or 0) if len(right.shape) == 1 else 0]
        return lambda: right + 1 if work.operator == "gather_nd" else (right + 1) % n

    monkeypatch.setitem(_competitors.LIBRARIES, "wrong", ("numpy", wrong))
    why = []
    calls = _competitors.agreeing(
        work, work.tensors(), {"dmlcpu": dmlcpu, "wrong": np}, lambda *reason: why.append(reason)
    )
    assert list(calls) == ["dmlcpu"]
    assert why[0][0] == "wrong"


def test_table(small, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    rows = bench(capsys).splitlines()
    units = ("ns", "us", "ms")
    assert f"dmlcpu {dmlcpu.__version__}, NumPy {np.__version__}" in rows[0]
    assert rows[1].split() == ["work", "dmlcpu", "NumPy", "times", "faster"]
    for row, name in zip(rows[2:], [work.name for work in SMALL]):
        cells = row[len("best of columns") :].split()
        assert row.startswith(name)
        assert [cells[1], cells[3]] in ([a, b] for a in units for b in units)
        assert float(cells[4]) > 0
    assert rows[2 + len(SMALL)].startswith("times faster than the fastest other, geometric mean: ")
    # Then bars, as there is no matplotlib.
    assert "slower | faster than the fastest other" in rows[3 + len(SMALL)]
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
    def wrong(_module, work, x, *_indices):
        return (lambda: np.zeros(x.shape[1:], int)) if work.operator == "argmax" else None

    def failing(_module, work, *_tensors):
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


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("no/plot.png", "no/plot.png: No such file or directory"),
        ("plot", "plot: must end in one of "),
        ("x.npy", "plot: must end in one of "),
        ("folder.png", "plot: must be a file, got folder.png"),
        ("v" * 300 + ".png", "File name too long"),
    ],
)
def test_plot_is_checked_before_anything_is_measured(path, text, small, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    np.save("x.npy", np.arange(3))
    os.mkdir("folder.png")
    monkeypatch.setattr(_bench, "_measure", None)
    assert _command.main(["bench", "--seconds", "0.1", "--plot", path]) == 1
    assert text in capsys.readouterr().err
    assert sorted(os.listdir()) == ["folder.png", "x.npy"]
    np.testing.assert_array_equal(np.load("x.npy"), np.arange(3))


def test_checking_a_plot_changes_nothing(folder):
    pytest.importorskip("matplotlib")
    with open("old.png", "w") as old:
        old.write("as it was")
    os.symlink("new.png", "link.png")
    for path in ("old.png", "link.png", "new.svg"):
        _chart.check(path)
    with open("old.png") as old:
        assert old.read() == "as it was"
    assert sorted(os.listdir()) == ["link.png", "old.png"]


def test_note_of_a_busy_machine(small, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    processors = os.cpu_count()
    for load in (processors, processors + 1.5):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0), raising=False)
        assert _command.main(["bench", "--seconds", "0.1"]) == 0
        note = f"note: the machine is busy: load average {load:.1f}, {processors} processors;"
        assert (note in capsys.readouterr().err) == (load > processors)


def test_least_of_several(monkeypatch):
    """A round that others disturbed does not count."""
    now = iter(range(10))
    turns = iter([5, 2, 3, 9, 4, 2, 6, 8])
    monkeypatch.setattr(_bench.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(_timing, "repeats_of", lambda _call, _least: 1)
    monkeypatch.setattr(_timing, "turn", lambda _call, _repeats, _rest: next(turns))
    assert _bench._least({"dmlcpu": None, "x": None}, 3) == {"dmlcpu": 3, "x": 2}


def test_bars():
    times = {"a": {"dmlcpu": 1e-3, "x": 4e-3, "y": 2e-2}, "b": {"dmlcpu": 2e-3, "x": 1e-3}}
    assert _chart.bars(times).splitlines() == [
        "               slower | faster than the fastest other",
        "a" + " " * 21 + "|" + "#" * 20 + " 4.00 x",
        "b" + " " * 11 + "#" * 10 + "|" + " " * 20 + " 0.50 x",
    ]
    assert _chart.table(times, ["dmlcpu", "x", "y"]).splitlines() == [
        "work  dmlcpu     x      y  times faster",
        "a       1 ms  4 ms  20 ms          4.00",
        "b       2 ms  1 ms      -          0.50",
        "times faster than the fastest other, geometric mean: 1.41",
    ]


@pytest.mark.parametrize("count", range(1, len(LIBRARIES) + 1))
def test_terminals_of_80_columns(count):
    """Whatever is installed: all columns are there, each beside its work."""
    libraries = list(LIBRARIES)[:count]
    rng = np.random.default_rng(0)
    names = [work.name for work in _bench.WORKS]
    times = {n: {one: 10.0 ** rng.uniform(-7, 3) for one in libraries} for n in names}
    bars, table = _chart.bars(times), _chart.table(times, libraries)
    assert max(map(len, [*bars.splitlines(), *table.splitlines()])) <= 80
    for name in names:
        rows = [row for row in table.splitlines() if row.startswith(name)]
        cells = " ".join(row[len(max(names, key=len)) :] for row in rows)
        assert (
            cells.split()[:-1]
            == " ".join(_chart.time_text(times[name][one]) for one in libraries).split()
        )
    headers = " ".join(r for r in table.splitlines() if r.startswith("work"))
    assert all(one in headers for one in [*libraries, "times faster"])


def test_texts_of_times():
    for seconds, text in (
        (1.5e-7, "150 ns"),
        (9.996e-4, "1 ms"),
        (0.9996, "1 s"),
        (12.34, "12.3 s"),
    ):
        assert _chart.time_text(seconds) == text


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

    def turn(call, repeats, rest):
        turns.append(repeats)
        now[0] += 0.5
        return 1e-3

    monkeypatch.setattr(_timing, "turn", turn)
    times, left_out = {}, []
    modules = {"dmlcpu": dmlcpu, "NumPy": np}
    list(_bench._measure(modules, 70.0, times, left_out))
    assert 70 <= now[0] <= 75
    assert list(times) == [work.name for work in SMALL]
