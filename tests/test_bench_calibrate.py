"""Calibration: candidates are timed in turns and must have the same answer; costs that are known are
found again from times that they explain."""

import json
import re

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

import calibrate
from random_works import Work

NAMES, BEFORE = calibrate.costs_in_use(dmlcpu.get_instruction_set())


def test_regrets_are_reported(capsys, monkeypatch, tmp_path):
    path = tmp_path / "times.json"
    monkeypatch.setattr("sys.argv", ["calibrate.py", "--count", "6", "--json", str(path)])
    monkeypatch.setattr(calibrate, "ROUNDS", 1)
    calibrate.main()
    printed = capsys.readouterr().out
    pattern = (
        r"\d+ works, \d+ candidates, .*\nregret, costs in use: median [\d.]+, 95 % [\d.]+, worst"
    )
    assert re.match(pattern, printed)
    assert re.search(r"^call( +[\d.e+-]+){4}$", printed, re.M)
    works = json.loads(path.read_text())
    for work in works:
        assert len(work["seconds"]) == len(work["counts"]) == len(work["names"]) > 1
        assert calibrate.regret(work) >= 1
    # The times can be read again.
    monkeypatch.setattr("sys.argv", ["calibrate.py", "--from-json", str(path)])
    calibrate.main()
    assert capsys.readouterr().out.startswith(f"{len(works)} works, ")
    # Not on another instruction set, whose costs are others.
    path.write_text(json.dumps([{**works[0], "instruction_set": "x86-64-v9"}]))
    with pytest.raises(SystemExit, match="times of x86-64-v9, not "):
        calibrate.main()


def test_other_answers_end_it(monkeypatch):
    forced = []
    monkeypatch.setattr(_core, "force_candidate", forced.append)

    def call():
        return [np.array([bool(forced) and forced[-1] == 1])]

    with pytest.raises(SystemExit, match="candidate 1 has another answer"):
        calibrate.timed(_core, call, 2)


def test_nothing_stays_forced(monkeypatch):
    """Also when a call fails."""

    def fails(core, call, count):
        core.force_candidate(1)
        raise MemoryError

    monkeypatch.setattr(calibrate, "timed", fails)
    work = Work("argmax", "float32", (300, 5), (0,))
    with pytest.raises(MemoryError):
        calibrate.measured(work)
    x = np.zeros(work.shape, np.float32)
    marked = [c[0] for c in calibrate.candidates_of(_core.plan_text(dmlcpu.argmax, x, axis=0))]
    _core.force_candidate(-1)
    free = [c[0] for c in calibrate.candidates_of(_core.plan_text(dmlcpu.argmax, x, axis=0))]
    assert marked == free != [c == 1 for c in range(len(free))]


def test_works_without_a_choice_are_left_out():
    assert calibrate.measured(Work("argmax", "float32", (5, 1, 7), (1,))) is None
    found = calibrate.measured(Work("argmax", "float32", (300, 5), (0,)))
    assert found["names"][0] == "rows, 300 by 5"
    assert set().union(*found["counts"]) <= set(NAMES)
    of_top_k = calibrate.measured(Work("top_k", "int16", (300, 50), (0,), 4))
    assert "selected row" in of_top_k["counts"][0]


def test_costs_are_found_again():
    """Times that three costs explain, far from those in use."""
    rng = np.random.default_rng(1)
    want = {"call": 40.0, "row": 3.0, "vector": 0.25}
    works = []
    for _ in range(200):
        counts = [
            {"call": 1, "row": int(rng.integers(1, 3000))},
            {"call": int(rng.integers(1, 50)), "vector": int(rng.integers(1, 90000))},
        ]
        seconds = [1e-9 * (500 + sum(want[n] * c for n, c in of.items())) for of in counts]
        works.append({"element_size": 4, "counts": counts, "seconds": seconds})
    of_size = dict(zip(NAMES, calibrate.costs_of(works, NAMES, BEFORE)[2]))
    for name, cost in want.items():
        assert of_size[name] == pytest.approx(cost, rel=0.1)
    # A sort is timed with branches that the processor has learnt, and takes longer without.
    for work in works:
        work["counts"] = [
            {("sorted item" if name == "row" else name): n for name, n in counts.items()}
            for counts in work["counts"]
        ]
    of_sorts = dict(zip(NAMES, calibrate.costs_of(works, NAMES, BEFORE)[2]))
    assert of_sorts["sorted item"] == pytest.approx(2 * want["row"], rel=0.1)
    # A cost that nothing tells stays, as do those of other sizes.
    before = dict(zip(NAMES, BEFORE[2]))
    assert of_size["placed"] == pytest.approx(before["placed"], rel=0.01)


def test_costs_are_written_where_they_are_read(tmp_path, monkeypatch):
    costs = [[number + size / 10 for number in range(1, 1 + len(NAMES))] for size in range(4)]
    path = tmp_path / "machine.cpp"
    for name in ("generic", "x86-64-v3", "x86-64-v4"):
        path.write_text(calibrate.written(calibrate.MACHINES.read_text(), name, costs))
        with monkeypatch.context() as patch:
            patch.setattr(calibrate, "MACHINES", path)
            names, read = calibrate.costs_in_use(name)
            others = {"generic", "x86-64-v3"} - {name}
            assert names == NAMES
            assert np.allclose(read, costs)
            for other in others:
                patch.undo()
                before = calibrate.costs_in_use(other)
                patch.setattr(calibrate, "MACHINES", path)
                assert calibrate.costs_in_use(other) == before
