"""The bench's plots: where bars begin and end."""

import pytest

import plots

figure = pytest.importorskip("matplotlib.figure")


def drawn(values, **options):
    """(left, right) of each bar."""
    axes = figure.Figure().add_subplot()
    names = [str(value) for value in values]
    plots.bars(axes, names, values, names, 1, "times", **options)
    boxes = [patch.get_bbox() for patch in axes.patches]
    return [pytest.approx((box.x0, box.x1)) for box in boxes]


def test_ratios_start_at_1():
    """A loss is a bar to the left."""
    assert drawn([2.0, 0.5, 1.0], start=1) == [(1, 2), (1, 0.5), (1, 1)]


def test_shares_start_at_0():
    assert drawn([0.8, 1.5]) == [(0, 0.8), (0, 1.5)]


def test_peers_are_drawn(tmp_path):
    results = {
        "fast": {"dmlcpu": [1.0], "NumPy": [30.0], "JAX": [40.0]},
        "slow": {"dmlcpu": [1.0], "NumPy": [0.25]},
        "alone": {"dmlcpu": [1.0]},
    }
    machine = {"processor": "any", "threads": 2, "date": "2026-01-01"}
    plots.peers(machine, results, str(tmp_path / "peers.svg"))
    text = (tmp_path / "peers.svg").read_text()
    assert "30.00 NumPy" in text
    assert "0.25 NumPy" in text
    assert "<!-- alone" not in text
