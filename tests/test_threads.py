"""Threads: that many callers and forked children work, and that memory stays flat."""

import concurrent.futures
import sys
from pathlib import Path

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

from scripts import run_python

needs_openmp = pytest.mark.skipif(not _core.has_openmp(), reason="built without OpenMP")


def test_forked_child_works_after_parallel_work():
    """The parent's worker threads do not exist in the child; waiting for them would hang it."""
    out = run_python(
        """
        import os
        import numpy as np
        import dmlcpu
        dmlcpu.set_num_threads(4)
        x = np.zeros(4_000_000, np.float32)
        x[3_999_999] = 1
        dmlcpu.argmax(x)
        child = os.fork()
        if child == 0:
            good = dmlcpu.get_num_threads() == 1 and dmlcpu.argmax(x) == 3_999_999
            good = good and dmlcpu.top_k(x, 2).indices.tolist() == [3_999_999, 0]
            os._exit(0 if good else 1)
        print(os.waitpid(child, 0)[1], dmlcpu.get_num_threads(), dmlcpu.argmax(x)[0])
        """
    )
    assert out == "0 4 3999999"


@needs_openmp
def test_compiled_operator_works_in_a_forked_child():
    """It was planned for the threads of the parent."""
    out = run_python(
        """
        import os
        import signal
        import numpy as np
        import dmlcpu
        import dmlcpu.directml as dml
        dmlcpu.set_num_threads(4)
        x = np.zeros((1, 4_000_000), np.float32)
        x[0, 3_999_999] = 1
        at, value, two = np.zeros((1, 1), "u4"), np.zeros((1, 2), "f4"), np.zeros((1, 2), "u4")
        of = dml.BufferTensorDesc.from_array
        arg = dml.compile(dml.ArgmaxOperatorDesc(of(x), of(at), (1,)))
        top = dml.compile(dml.TopK1OperatorDesc(of(x), of(value), of(two), 1, 2))
        def good():
            arg(x, out=at)
            top(x, out=(value, two))
            return at[0, 0] == 3_999_999 and two.tolist() == [[3_999_999, 0]]
        first = good()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            at[:] = two[:] = 0
            os._exit(0 if good() else 1)
        print(first, os.waitpid(child, 0)[1])
        """
    )
    assert out == "True 0"


@needs_openmp
@pytest.mark.skipif(sys.platform != "linux", reason="loads libgomp by its Linux name")
def test_forked_child_works_after_somebody_else_used_openmp():
    """The parent ran a parallel region of the same OpenMP runtime, but none of this library's."""
    out = run_python(
        """
        import ctypes
        import os
        import numpy as np
        import dmlcpu
        dmlcpu.set_num_threads(2)
        try:
            gomp = ctypes.CDLL("libgomp.so.1")
        except OSError:
            gomp = None
        if gomp:
            nothing = ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p)
            gomp.GOMP_parallel(nothing, None, 2, 0)
        child = os.fork()
        if child == 0:
            x = np.zeros(4_000_000, np.int16)
            os._exit(0 if dmlcpu.argmax(x) == 0 else 1)
        print(os.waitpid(child, 0)[1])
        """
    )
    assert out == "0"


LIMITED = """
    import os
    import resource
    import threading
    import numpy as np
    import dmlcpu
    x = np.zeros((1000, 4000), np.float32)
    x[:, 7] = 1
    LIMIT
    try:
        threading.Thread(target=print).start()
    except RuntimeError:
        print("no thread")
    dmlcpu.set_num_threads(4)
    for _ in range(3):
        good = (dmlcpu.argmax(x, 1) == 7).all() and dmlcpu.argmax(x, 0)[0, 7] == 0
        good = good and dmlcpu.argmax(x)[0, 0] == 7
        good = good and dmlcpu.top_k(x, 2).indices[-1].tolist() == [7, 0]
        good = good and dmlcpu.gather_nd(x, np.array([[3, 7], [4, 8]])).tolist() == [1, 0]
    print(good)
"""


@pytest.mark.skipif(_core.uses_openmp(), reason="GNU's OpenMP runtime ends the process")
@pytest.mark.skipif(sys.platform != "linux", reason="limits the number of threads as Linux does")
@pytest.mark.parametrize(
    "limit",
    [
        # Root may always create threads, so it becomes nobody.
        """if os.getuid() == 0:
        os.setresuid(65534, 65534, 65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))""",
        # Less to spare than the stacks of Python's threads take, and those of GNU's OpenMP runtime.
        """size = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (size + 3_000_000, size + 3_000_000))""",
    ],
    ids=["processes", "memory"],
)
def test_one_thread_where_none_can_be_created(limit):
    out = run_python(LIMITED.replace("LIMIT", limit))
    assert out.splitlines() == ["no thread", "True"]


OPENMP_BESIDE = """
    import os
    import numpy as np
    x = np.zeros((1000, 4000), np.float32)
    x[:, 7] = 1

    def other():
        OTHER

    def own():
        import dmlcpu
        dmlcpu.set_num_threads(2)
        assert (dmlcpu.argmax(x, 1) == 7).all()

    for call in ORDER:
        call()
    child = os.fork()
    if child == 0:
        own()
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    for call in ORDER * 3:
        call()
"""
OTHERS = {
    "torch": """import torch
        torch.set_num_threads(2)
        assert (torch.from_numpy(x).sum(1) == 1).all()""",
    "numba": """import numba
        numba.config.THREADING_LAYER = "omp"
        @numba.njit(parallel=True)
        def sums(x):
            total = np.zeros(len(x))
            for i in numba.prange(len(x)):
                total[i] = x[i].sum()
            return total
        assert (sums(x) == 1).all()""",
}


@pytest.mark.parametrize("order", ["(other, own)", "(own, other)"])
@pytest.mark.parametrize("library", OTHERS)
def test_beside_other_libraries_openmp(library, order):
    pytest.importorskip(library)
    code = OPENMP_BESIDE.replace("OTHER", OTHERS[library]).replace("ORDER", order)
    out = run_python(code)
    assert out == "0"


def test_many_callers_at_once(threads):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 3000), np.float32)
    indices = rng.integers(0, 64, (500, 1))
    want = x.argmax(1), np.argsort(-x, 1, kind="stable")[:, :9], x[indices[:, 0]]

    def work(_):
        for _ in range(20):
            np.testing.assert_array_equal(dmlcpu.argmax(x, 1, keepdims=False), want[0])
            np.testing.assert_array_equal(dmlcpu.top_k(x, 9).indices, want[1])
            np.testing.assert_array_equal(dmlcpu.gather_nd(x, indices), want[2])

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_concurrent_modification_of_the_input(threads):
    """Another thread writes to the input during calls: answers are of no use, but nothing crashes
    and no index is out of range. In a process of its own, which a crash would end."""
    out = run_python(
        f"""
        import threading
        import numpy as np
        import dmlcpu
        from dmlcpu import _core
        dmlcpu.set_num_threads({threads})
        _core.set_grain_bytes(1)
        x = np.random.default_rng(0).standard_normal(300_000, np.float32)
        done = threading.Event()

        def write():
            rng = np.random.default_rng(1)
            while not done.is_set():
                x[...] = rng.permutation(x) if rng.random() < 0.5 else rng.random()

        writers = [threading.Thread(target=write, daemon=True) for _ in range(2)]
        for writer in writers:
            writer.start()
        for _ in range(50):
            for k in (2, 20, 4000, 9000, 120_000, 200_000):
                assert dmlcpu.top_k(x, k).indices.max() < x.size
            assert dmlcpu.argmax(x) < x.size
            assert dmlcpu.argmin(x, axis_direction=1) < x.size
            assert dmlcpu.argmax(x.reshape(-1, 5), 1).max() < 5
            assert dmlcpu.argmax(x.reshape(-1, 500), 1).max() < 500
        done.set()
        for writer in writers:
            writer.join()
        print("good")
        """
    )
    assert out == "good"


@pytest.mark.parametrize("span", [1000, 2**22])
def test_indices_that_change_concurrently(threads, span):
    """Nothing is read outside the input, which lies between inaccessible pages, by tuples that were in
    range when they were checked; a call that raises nothing has written its whole output, also if a
    tuple that was out of range no longer is when the error looks for it."""
    out = run_python(
        f"""
        import sys
        import threading
        import numpy as np
        import dmlcpu
        from dmlcpu import _core
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from guarded import GuardedMemory
        dmlcpu.set_num_threads({threads})
        _core.set_grain_bytes(1)
        x = GuardedMemory({span}).array(({span},), np.dtype(np.uint8), True)
        x[...] = 7
        good = np.random.default_rng(0).integers(-{span}, {span}, (100_000, 1))
        indices = good.copy()
        done = threading.Event()

        def write():
            n = 0
            while not done.is_set():
                n = (n + 7919) % len(indices)
                indices[n] = 2**40 if n % 2 else -(2**62)
                indices[n] = good[n]

        writers = [threading.Thread(target=write, daemon=True) for _ in range(2)]
        for writer in writers:
            writer.start()
        out = np.empty(len(indices), np.uint8)
        for _ in range(60):
            for options in ({{}}, {{"out": out}}, {{"mode": "clip"}}):
                out[...] = 0
                try:
                    assert (dmlcpu.gather_nd(x, indices, **options) == 7).all()
                except IndexError:
                    pass
        done.set()
        for writer in writers:
            writer.join()
        print("good")
        """
    )
    assert out == "good"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory as Linux counts it")
def test_memory_does_not_grow_with_the_input():
    """A strided reduction, top-k and arg of a 64 MB tensor: the peak rises by less than 4 MB. Each
    further thread has some scratch memory of its own, and a machine may have many processors."""
    out = run_python(
        """
        import re
        from pathlib import Path
        import numpy as np
        import dmlcpu
        dmlcpu.set_num_threads(2)
        x = np.ones((4096, 4096), np.float32)
        dmlcpu.argmax(np.ones((8, 8), np.float32), 0)

        def peak():  # of this process, where getrusage begins with the parent's
            return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

        before = peak()
        dmlcpu.argmax(x, 0)
        dmlcpu.argmax(x.T, 0)
        dmlcpu.argmin(x[:, ::-2], 0)
        dmlcpu.top_k(x.reshape(-1), 10)
        dmlcpu.top_k(x, 3, axis=0)
        print(peak() - before)
        """
    )
    assert int(out) < 4096
