"""Daemon threads in the middle of calls while the interpreter ends: the process ends as without them."""

import textwrap

import pytest

from scripts import start_python

pytestmark = pytest.mark.slow

CODE = """
    import sys
    import threading
    import numpy as np
    import dmlcpu

    long = np.zeros(1_000_000, np.float32)  # for which the lock is given up
    rows = np.zeros((1, 1), np.int64)
    calls = {
        "argmax": lambda: dmlcpu.argmax(long),
        "top_k": lambda: dmlcpu.top_k(long, 9),
        "gather_nd": lambda: dmlcpu.gather_nd(long.reshape(1, -1), rows),
        "error": lambda: dmlcpu.gather_nd(long.reshape(1, -1), np.full((1, 1), 7)),
        "list": lambda: dmlcpu.argmax([1.0, 2.0, 3.0]),
    }
    call = calls[sys.argv[1]]
    begun = threading.Event()

    def work():
        while True:
            begun.set()
            try:
                call()
            except IndexError:
                pass

    threading.Thread(target=work, daemon=True).start()
    begun.wait()
    print("end", flush=True)
"""


@pytest.mark.parametrize("call", ["argmax", "top_k", "gather_nd", "error", "list"])
def test_daemon_threads(call):
    for _ in range(6):
        done = start_python("-c", textwrap.dedent(CODE), call)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
