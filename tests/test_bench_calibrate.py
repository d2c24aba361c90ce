"""The regret of the planner: candidates are timed in turns, and must have the same answer."""

import json
import re

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

import calibrate
from random_works import Work


def test_regrets_are_reported(capsys, monkeypatch, tmp_path):
    path = tmp_path / "times.json"
    monkeypatch.setattr("sys.argv", ["calibrate.py", "--count", "3", "--json", str(path)])
    monkeypatch.setattr(calibrate, "ROUNDS", 1)
    calibrate.main()
    printed = capsys.readouterr().out
    pattern = r"\d+ works, \d+ candidates; regret: median [\d.]+, 95 % [\d.]+, worst [\d.]+\n"
    assert re.match(pattern, printed)
    for work in json.loads(path.read_text()):
        seconds = work["seconds"]
        assert work["regret"] == seconds["-1"] / min(seconds.values()) >= 1
    assert _core.plan_text(dmlcpu.argmax, np.ones((3, 3)), 0).startswith("rows without a plan")


def test_other_answers_end_it(monkeypatch):
    x = np.arange(3000.0).reshape(1000, 3)
    forced = []
    monkeypatch.setattr(_core, "force_candidate", forced.append)
    with pytest.raises(SystemExit, match="candidate 1 has another answer"):
        calibrate.timed(_core, lambda: x[:, 0] if forced[-1] == 1 else x[:, 1], [-1, 0, 1])


def test_works_without_candidates_are_left_out():
    assert calibrate.regret_of(dmlcpu, Work("argmax", "float32", (5, 1, 7), (1,))) is None
    found = calibrate.regret_of(dmlcpu, Work("argmax", "float32", (300, 5), (0,)))
    assert set(found["seconds"]) <= {-1, *range(10)}
    assert len(found["seconds"]) > 1
