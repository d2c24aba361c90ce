"""What every wheel passes, in an environment that holds the wheel and NumPy alone.

    python release/minimal_test.py

Every operator on every instruction set of the machine, on one thread and on several, against NumPy; and
the files that C++ clients need.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import dmlcpu
from dmlcpu import _core


def check_operators(x):
    for axis in (0, 1):
        for find in ("argmax", "argmin"):
            got = getattr(dmlcpu, find)(x, axis, keepdims=False)
            assert np.array_equal(got, getattr(x, find)(axis)), (find, axis)
        top = dmlcpu.top_k(x, 5, axis=axis)
        order = np.argsort(-x, axis, kind="stable").take(range(5), axis)
        assert np.array_equal(top.indices, order), axis
        assert np.array_equal(top.values, np.take_along_axis(x, order, axis)), axis
    rows = np.arange(-20, 20).reshape(-1, 1)
    assert np.array_equal(dmlcpu.gather_nd(x, rows), x[rows[:, 0]])


def main():
    # Large enough for several threads; ties.
    x = np.random.default_rng(0).integers(-9999, 9999, (1500, 2000)).astype(np.float32)
    for name in dmlcpu.instruction_sets():
        dmlcpu.use_instruction_set(name)
        for threads in (1, 4):
            with dmlcpu.num_threads(threads):
                check_operators(x)
    if sys.platform == "linux":
        assert _core.has_openmp(), "the wheel was built without OpenMP"
    for option, file in (
        ("--cmake-dir", "dmlcpuConfig.cmake"),
        ("--include-dir", "dmlcpu/dmlcpu.hpp"),
        ("--pkg-config-dir", "dmlcpu.pc"),
    ):
        command = [sys.executable, "-m", "dmlcpu", option]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        folder = done.stdout.strip()
        assert (Path(folder) / file).is_file(), (option, folder)
    print(f"dmlcpu {dmlcpu.__version__}: {', '.join(dmlcpu.instruction_sets())}")


if __name__ == "__main__":
    main()
