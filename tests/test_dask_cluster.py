"""dmlcpu.dask on a cluster of processes: answers, lost workers, memory.

DMLCPU_TEST_LOSSES says how often the test of a lost worker runs, 2 times unless it is set.
"""

import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import dask
import dask.array as da

import dmlcpu
import dmlcpu.dask

from dask_cases import check_meta, check_result, random_case

MIB = 2**20
LOSSES = int(os.environ.get("DMLCPU_TEST_LOSSES", "2"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="kills processes by signals"),
    # Sockets that distributed closes when the garbage collector ends them.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def local_cluster(memory_limit):
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
        memory_limit=memory_limit,
    )  # fmt: skip


@pytest.fixture(scope="module")
def client():
    with local_cluster("1GiB") as cluster, distributed.Client(cluster) as client:
        yield client


def test_workers_are_processes(client):
    pids = set(client.run(os.getpid).values())
    assert len(pids) == 2
    assert os.getpid() not in pids


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_random_cases(client, seed):
    rng = np.random.default_rng([22, seed])
    cases = [random_case(rng) for _ in range(100)]
    for want, lazy in cases:
        check_meta(want, lazy)
    for (want, _), got in zip(cases, client.compute([lazy for _, lazy in cases], sync=True)):
        check_result(want, got)


def test_index_errors_reach_the_client(client):
    x = da.zeros((6, 4), chunks=2)
    for indices in ([[6]], da.from_array(np.array([[6]]), chunks=1)):
        with pytest.raises(IndexError) as caught:
            dmlcpu.dask.gather_nd(x, indices).compute()
        text = "indices: must be in [-6, 5] for axis 0, of size 6, got 6 at position (0, 0)"
        assert str(caught.value) == text


def block_of(shape, seconds, block_id):
    """Elements of few values that a lost chunk has again when it is computed again."""
    time.sleep(seconds)
    return np.random.default_rng(block_id).integers(0, 200, shape).astype(np.float32)


def slow_blocks(seconds, token):
    return da.map_blocks(
        block_of, (8, 20), seconds, chunks=((8,) * 10, (20,) * 10), dtype=np.float32, token=token,
        meta=np.empty((0, 0), np.float32),
    )  # fmt: skip


def finish_without(client, results):
    """What results are when a worker is killed after some of their tasks."""
    workers = client.run(os.getpid)
    futures = client.compute(results)
    started = time.monotonic()
    while sum(client.run(lambda dask_worker: len(dask_worker.data)).values()) < 10:
        assert time.monotonic() - started < 120
        time.sleep(0.01)
    assert not any(future.done() for future in futures)
    lost = next(iter(workers.values()))
    os.kill(lost, signal.SIGKILL)
    found = client.gather(futures)
    assert lost not in client.run(os.getpid).values()
    return found


@pytest.mark.parametrize("number", range(LOSSES))
def test_a_lost_worker(number):
    """Killed in the middle of a run, which ends with the right answer all the same."""
    at = np.random.default_rng(number).integers(0, 80, (50, 2))
    lazy = da.from_array(at, chunks=(10, 2))
    whole = slow_blocks(0, "whole").compute(scheduler="threads")
    x = slow_blocks(0.02, f"run-{number}")
    results = [
        dmlcpu.dask.argmax(x), dmlcpu.dask.argmin(x, 0, axis_direction="decreasing"),
        dmlcpu.dask.top_k(x, 9)[1], dmlcpu.dask.gather_nd(x, at), dmlcpu.dask.gather_nd(x, lazy),
    ]  # fmt: skip
    wanted = [
        dmlcpu.argmax(whole), dmlcpu.argmin(whole, 0, axis_direction="decreasing"),
        dmlcpu.top_k(whole, 9)[1], dmlcpu.gather_nd(whole, at), dmlcpu.gather_nd(whole, at),
    ]  # fmt: skip
    # A worker tries for so long to reach one that is gone.
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "10s"}),
        local_cluster("1GiB") as cluster,
        distributed.Client(cluster) as client,
    ):
        for want, got in zip(wanted, finish_without(client, results)):
            check_result(want, got)


def most_memory():
    """The process's greatest resident memory so far, in bytes; getrusage() would count its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)[1]) * 1024


def large_block(rows, block_id):
    return np.random.default_rng(block_id).random((rows, 1024), np.float32)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_workers_is_bounded():
    """A tensor of 4 times what a worker may have, 8 MiB a chunk; no worker spills, pauses or ends."""
    limit, rows, count = 256 * MIB, 2048, 128
    settings = {
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": 0.95,
        "distributed.worker.memory.terminate": 0.98,
    }
    x = da.map_blocks(
        large_block, rows, chunks=((rows,) * count, (1024,)), dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )  # fmt: skip
    assert x.nbytes == 4 * limit
    at = np.random.default_rng(0).integers(0, len(x), (500, 1))
    results = [
        dmlcpu.dask.argmax(x, 0), dmlcpu.dask.argmin(x), dmlcpu.dask.top_k(x, 5, axis=0)[0],
        dmlcpu.dask.gather_nd(x, at),
    ]  # fmt: skip
    with (
        dask.config.set(settings),
        local_cluster(limit) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = client.run(os.getpid)
        got = client.compute(results, sync=True)
        assert client.run(os.getpid) == before
        memory = client.run(most_memory)
        assert all(most < limit for most in memory.values()), memory
    for lazy, one in zip(results, got):
        assert one.shape == lazy.shape
    numbers = np.unique(at // rows)
    for number in numbers[:5]:
        block = large_block(rows, (int(number), 0))
        inside = (at // rows == number)[:, 0]
        np.testing.assert_array_equal(got[3][inside], block[at[inside, 0] % rows])
    best = got[0][0]
    for number in (0, 100):
        assert (large_block(rows, (number, 0)).max(0) <= got[2][0]).all()
    assert (got[2][:-1] >= got[2][1:]).all()
    column = 17
    owner = large_block(rows, (int(best[column]) // rows, 0))
    assert owner[best[column] % rows, column] == got[2][0, column]
