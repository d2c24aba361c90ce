"""The bench of Dask's operators and the simulation of large clusters: what they measure and promise."""

import re
from pathlib import Path

import pytest

import clusters
import scaling

ROOT = Path(__file__).parent.parent


def test_works():
    assert len({work.name for work in clusters.WORKS}) == len(clusters.WORKS)
    text = " ".join(work.door for work in clusters.WORKS)
    assert all(f"dd.{name}(" in text for name in ("argmax", "argmin", "top_k", "gather_nd"))


def test_answers_tasks_and_memory(monkeypatch):
    """On the client's threads; a work whose answers differ ends the run."""
    pytest.importorskip("dask.array")
    monkeypatch.setattr(clusters, "SHAPE", (200, 64))
    for what, calls in clusters.CALLS.items():
        if "reshape" not in calls[1]:
            work = clusters.Work(what, *calls, chunks=(50, 16), workers=0)
            monkeypatch.setattr(clusters, "PICKS", 64)
            seconds, costs = clusters.measured(work, 1)
            assert (
                set(seconds)
                == set(costs)
                == {"dask.array", "dmlcpu"} - ({"dask.array"} if not work.own else set())
            )
            assert all(cost["tasks"] > 0 and cost["moved"] == 0 for cost in costs.values())
            row = clusters.row_of(work, seconds, costs)
            assert len(row) == len(clusters.HEADER)
    wrong = clusters.Work(
        "argmax", "da.argmax(x, 0)", "dd.argmin(x, 0, keepdims=False)", (50, 16), 0
    )
    with pytest.raises(AssertionError, match="argmax"):
        clusters.measured(wrong, 1)


@pytest.mark.parametrize("case", scaling.CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("chunks", [16, 300])
def test_simulation_agrees_with_arithmetic(case, chunks):
    pytest.importorskip("dask.array")
    case = case._replace(picks=2000) if case.picks else case
    case = case._replace(call=case.call.replace("2500", "250"))
    cluster = scaling.Cluster(10)
    size = chunks * scaling.LARGE * scaling.ROW
    said = scaling.expected(case, cluster, size, scaling.LARGE)
    found = scaling.Simulation(case, cluster, size, scaling.LARGE).run()
    assert found.tasks == pytest.approx(said.tasks, rel=0.05)
    assert 0.6 * said.sent <= found.sent <= said.sent
    assert said.seconds <= found.seconds < 1.3 * said.seconds + 1


def test_page_has_the_simulations_lines():
    """The first of each case, which are quick; the page has all of them."""
    pytest.importorskip("dask.array")
    page = (ROOT / "docs/scaling.md").read_text()
    for case in scaling.CASES[:2]:
        row = scaling.row_of(case, *scaling.SCALES[0])
        assert "| " + " | ".join(row) + " |" in page
    assert len(re.findall(r"^\| .* workers \|", page, re.M)) == len(scaling.CASES) * len(
        scaling.SCALES
    )
