"""The bench's doors: works measure what they say, and every result is compared."""

import numpy as np
import pytest

import doors


def test_every_kind_of_function_of_a_door_is_measured():
    def measured(door):
        return {work.name.split()[1] for work in doors.WORKS if work.door == door}

    sorts = {"sort", "argsort", "msort", "kthvalue", "median", "nanmedian"}
    assert measured("dmlcpu.torch") == {"topk", "argmax", "max", "index_select"} | sorts
    sorts = {"sort", "argsort", "partition", "argpartition"}
    assert measured("dmlcpu.numpy") == {"argmax", "nanargmax", "take", "take_along_axis"} | sorts
    assert len({work.name for work in doors.WORKS}) == len(doors.WORKS)


@pytest.mark.parametrize("work", [w for w in doors.WORKS if "3x3" in w.name or "4x4" in w.name])
def test_calls_agree(work):
    calls = doors.calls_of(work)
    if calls is None:
        pytest.skip(f"needs {work.door} and its library")
    want = calls["library"]()
    assert set(calls) == {"library", "door"} | ({"enabled"} if "torch" in work.door else set())
    assert all(doors.same(call(), want) for call in calls.values())
    assert not doors.same(np.zeros(9), want)
