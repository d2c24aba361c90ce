"""How many threads calls use: who says so, and in which order."""

import os
import sys
import threading

import numpy as np
import pytest
import threadpoolctl

import dmlcpu
from dmlcpu import _core

from scripts import run_python

needs_openmp = pytest.mark.skipif(not _core.has_openmp(), reason="built without OpenMP")


def test_process_number_and_override():
    before = dmlcpu.get_num_threads()
    dmlcpu.set_num_threads(3)
    try:
        assert dmlcpu.get_num_threads() == 3
        with dmlcpu.num_threads(2):
            assert dmlcpu.get_num_threads() == 2
            with dmlcpu.num_threads(5):
                assert dmlcpu.get_num_threads() == 5
            assert dmlcpu.get_num_threads() == 2
            seen = []
            thread = threading.Thread(target=lambda: seen.append(dmlcpu.get_num_threads()))
            thread.start()
            thread.join()
            assert seen == [3]  # the override is the calling thread's own
        assert dmlcpu.get_num_threads() == 3
    finally:
        dmlcpu.set_num_threads(None)
    assert dmlcpu.get_num_threads() == before


def test_override_ends_with_an_error():
    before = dmlcpu.get_num_threads()
    with pytest.raises(KeyError), dmlcpu.num_threads(2):
        raise KeyError
    assert dmlcpu.get_num_threads() == before


@pytest.mark.parametrize(
    ("count", "error", "text"),
    [
        (0, ValueError, r"^count: must be in \[1, 4096\], got 0$"),
        (-1, ValueError, r"^count: must be in \[1, 4096\], got -1$"),
        (5000, ValueError, r"^count: must be in \[1, 4096\], got 5000$"),
        (2.0, TypeError, "^count: must be an int, got float$"),
        (True, TypeError, "^count: must be an int, got bool$"),
        (np.array([1]), TypeError, "^count: must be an int, got numpy.ndarray$"),
        (2**70, ValueError, "^count: must fit 64 bits, got 1180591620717411303424$"),
    ],
)
def test_bad_counts(count, error, text):
    with pytest.raises(error, match=text):
        dmlcpu.set_num_threads(count)
    with pytest.raises(error, match=text):
        dmlcpu.num_threads(count)


def test_environment():
    code = "import dmlcpu; print(dmlcpu.get_num_threads())"
    assert run_python(code, OMP_NUM_THREADS="3") == "3"
    assert run_python(code, OMP_NUM_THREADS="3", DMLCPU_NUM_THREADS="5") == "5"
    by_itself = run_python(code)
    for no_number in ("", "0", "-2", "x"):
        assert run_python(code, DMLCPU_NUM_THREADS=no_number) == by_itself


def test_calls_by_the_variable_of_openmp():
    """Also where there is no OpenMP."""
    code = """
        import numpy as np, dmlcpu
        x = np.zeros(4_000_000, np.float32)
        x[3_999_999] = 1
        print(dmlcpu.get_num_threads(), dmlcpu.argmax(x)[0])
    """
    assert run_python(code, OMP_NUM_THREADS="2") == "2 3999999"


@needs_openmp
@pytest.mark.skipif(sys.platform != "linux", reason="OpenMP's runtime binds nothing elsewhere")
def test_bound_threads():
    """The runtime binds the thread that imports it to one processor; the others are used all the same."""
    code = """
        import numpy as np, dmlcpu
        from dmlcpu import _core
        x = np.zeros(4_000_000, np.float32)
        x[3_999_999] = 1
        assert dmlcpu.argmax(x) == 3_999_999
        print(dmlcpu.get_num_threads(), _core.uses_openmp())
    """

    def run(threads="", **settings):
        return run_python(code, DMLCPU_THREADS=threads, **settings)

    usual = run().split()[0]
    for name, value in (("PROC_BIND", "true"), ("PROC_BIND", "close"), ("PLACES", "cores")):
        assert run(**{f"OMP_{name}": value}) == f"{usual} True"
    assert run(OMP_PROC_BIND="false") == run()
    assert run("pool", OMP_PROC_BIND="true") == f"{usual} False"


@needs_openmp
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinities")
def test_affinity_that_is_set_before_the_first_call():
    code = """
        import os, dmlcpu
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(dmlcpu.get_num_threads())
    """
    assert run_python(code) == "1"


@needs_openmp
def test_threadpoolctl():
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        assert dmlcpu.get_num_threads() == 1
