"""The bench beside busy processes: series of all calls, and processes that end with it."""

import numpy as np

import dmlcpu

import busy


def test_series_alternate_on_all_threads_and_on_one(monkeypatch):
    monkeypatch.setattr(busy, "CALLS", 3)
    monkeypatch.setattr(busy, "SERIES", 2)
    threads = []
    with dmlcpu.num_threads(2):
        found = busy.compare(lambda: threads.append(dmlcpu.get_num_threads()))
    assert threads == [2, 2, 2, 1, 1, 1] * 2
    assert all(np.shape(series) == (2, 3) for series in found.values())


def test_a_row_compares_with_one_thread():
    found = {"one": [[1e-3, 1e-3, 4e-3], [1e-3, 1e-3, 4e-3]], "all": [[5e-4] * 3, [2e-3] * 3]}
    assert busy.row_of("work", found) == ["work", "1 ms", "1.25", "2.00", "0.62", "1.00"]


def test_processes_are_busy_for_the_block_alone():
    with busy.processes(2) as processes:
        assert [process.poll() for process in processes] == [None, None]
    assert None not in [process.poll() for process in processes]
