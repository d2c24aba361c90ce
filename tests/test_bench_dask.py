"""The bench of Dask's operators: what it measures and promises."""

import pytest

import clusters


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
