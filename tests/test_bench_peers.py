"""The bench beside other libraries, over sizes, and of builds: rows, marks, plots, files."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dmlcpu
from dmlcpu._command import _chart
from dmlcpu._command._works import Workload, normal

import builds
import measure
import peers
import report
import sweeps
import workloads

PACKAGES = Path(dmlcpu.__file__).parent.parent


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    """What run.py gives a mode, with files in a folder, and turns that take no time."""
    monkeypatch.setattr(measure.compare, "__defaults__", (0, 0))
    return SimpleNamespace(
        mode="any",
        competitors=["NumPy"],
        rounds=2,
        only="",
        headlines=False,
        builds=[],
        json=str(tmp_path / "found.json"),
        markdown=str(tmp_path / "found.md"),
        plot=None,
    )


SMALL = [
    Workload("rows", "argmax", normal(20, 30), {"axis": 1}, headline=True, streams=True),
    Workload("best", "top_k", normal(20, 30), {"axis": 1, "k": 5}),
]


def test_works_have_different_names():
    names = [work.name for work in workloads.WORKLOADS]
    assert len(set(names)) == len(names)


def test_peers(arguments, monkeypatch, capsys):
    monkeypatch.setattr(workloads, "WORKLOADS", SMALL)
    monkeypatch.setattr(workloads, "HEADLINES", SMALL[:1])
    peers.peers(arguments)
    assert "over 1 headline works: geometric mean " in capsys.readouterr().out
    found = json.loads(Path(arguments.json).read_text())
    assert found["machine"]["threads"] == dmlcpu.get_num_threads()
    readings = {f"reading on {count}" for count in (1, dmlcpu.get_num_threads())}
    rows = found["results"]["rows"]
    assert set(rows) == {"dmlcpu", "NumPy", "one thread"} | readings
    assert all(len(seconds) == 2 for seconds in rows.values())
    assert set(found["results"]["best"]) == {"dmlcpu", "NumPy"}
    text = Path(arguments.markdown).read_text()
    assert f"; dmlcpu {dmlcpu.__version__}, NumPy {np.__version__}.\n\n| work |" in text
    assert text.count("\n| rows |") == text.count("\n| best |") == 1


def test_a_row_has_the_bandwidth_where_the_work_streams():
    seconds = {"dmlcpu": [1e-3], "NumPy": [9e-3], "JAX": [2e-3]}
    row = ["any", "1 ms", "JAX 2 ms", "2.00", "9 ms"]
    assert peers.row_of("any", seconds) == [*row, "", ""]
    seconds |= {"one thread": [1.5e-3], "reading on 1": [9e-4], "reading on 2": [8e-4]}
    assert peers.row_of("any", seconds) == [*row, "0.80", "1.50"]
    alone = ["any", "1 ms", "", "", "", "", ""]
    assert peers.row_of("any", {"dmlcpu": [1e-3]}) == alone
    assert len(alone) == len(peers.HEADER)


def test_summary():
    first, second = (work.name for work in workloads.HEADLINES[:2])
    results = {
        first: {"dmlcpu": [1.0], "NumPy": [8.0]},
        second: {"dmlcpu": [1.0], "NumPy": [0.5], "one thread": [0.1]},
        "no headline": {"dmlcpu": [1.0], "NumPy": [9.0]},
    }
    assert peers.summary(results).endswith(f"mean 2.00, below 1: {second} 0.50")
    assert peers.summary({}) == ""


def point(size, rate, ratio=2.0, moved=10**6):
    own = moved / rate / 1e9
    return sweeps.Point(size, {"dmlcpu": own, "NumPy": own * ratio}, moved)


def test_marks():
    points = [point(1, 9), point(2, 4), point(3, 9), point(4, 4, 0.9), point(5, 7), point(6, 3)]
    assert sweeps.marks(points) == ["", "cliff", "", "slower", "", ""]
    assert sweeps.marks([point(1, 9, 0.9, 100), point(2, 9, 0.9)]) == ["", "slower"]


def test_sweep(arguments, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    one = sweeps.Sweep("argmax of rows", "elements", (3, 40), sweeps.SWEEPS["total size"].workload)
    monkeypatch.setattr(sweeps, "SWEEPS", {"a size": one, "other": None})
    arguments.only, arguments.plot = "a size", str(tmp_path / "found.svg")
    sweeps.sweep(arguments)
    assert "no plot" not in capsys.readouterr().out
    assert "</svg>" in (tmp_path / "found-a-size.svg").read_text()
    text = Path(arguments.markdown).read_text()
    assert "\n\nargmax of rows:\n\n| elements | dmlcpu | GB/s |" in text
    assert text.count("\n| 3 |") == text.count("\n| 40 |") == 1


def test_plots_of_ratios_start_at_1(tmp_path):
    """A loss is a bar to the left."""
    matplotlib = pytest.importorskip("matplotlib")
    drawn = []
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    close = plt.close
    plt.close = drawn.append
    try:
        times = {
            "fast": {"dmlcpu": 1.0, "NumPy": 30.0, "JAX": 40.0},
            "slow": {"dmlcpu": 1.0, "NumPy": 0.25},
        }
        _chart.picture(times, "any; machine", str(tmp_path / "peers.svg"))
    finally:
        plt.close = close
    boxes = [patch.get_bbox() for patch in drawn[0].axes[0].patches]
    close(drawn[0])
    assert [(box.x0, box.x1) for box in boxes] == [(1, 30), (1, 0.25)]
    text = (tmp_path / "peers.svg").read_text()
    assert "30.00 NumPy" in text
    assert "0.25 NumPy" in text


def test_builds(arguments, monkeypatch):
    """The installed package beside itself in a folder."""
    monkeypatch.setattr(measure, "LEAST", 0)
    arguments.builds = ["dmlcpu", f"again={PACKAGES}"]
    arguments.only, arguments.rounds = "small gather", 2
    monkeypatch.setenv("PYTHONPATH", str(PACKAGES))
    builds.builds(arguments)
    found = json.loads(Path(arguments.json).read_text())["results"]
    assert {name: len(times) for name, times in found["small gather 2x2"].items()} == {
        "dmlcpu": 2,
        "again": 2,
    }
    assert "| work | dmlcpu | again, times as fast |" in Path(arguments.markdown).read_text()


def test_builds_with_other_answers_end_it():
    def build(answer):
        return SimpleNamespace(name=answer, ask=lambda question: question and answer)

    with pytest.raises(AssertionError, match="answers differ: best"):
        builds.compare([build("a"), build("b")], SMALL[1], 1)


def test_chosen():
    names = [work.name for work in report.chosen(SMALL, SimpleNamespace(only="est"))]
    assert names == ["best"]
