"""Older processors, emulated by QEMU where it is installed (Debian: qemu-user): only what they have is
offered, and nothing outside the kernels uses more."""

import platform
import shutil
import textwrap

import pytest

from dmlcpu import _core

from scripts import start_python

QEMU = shutil.which("qemu-x86_64")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(QEMU is None or platform.machine() != "x86_64", reason="needs qemu-x86_64"),
    pytest.mark.skipif(
        len(_core.built_instruction_sets()) < 3, reason="needs a build of all instruction sets"
    ),
]

CODE = """
    import numpy as np
    import dmlcpu
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float16, np.int8, np.uint64):
        x = (rng.standard_normal((30, 700)) * 50).astype(dtype)
        for axis in (0, 1):
            assert (dmlcpu.argmax(x, axis, keepdims=False) == x.argmax(axis)).all()
            assert (dmlcpu.argmin(x.T[::-1], axis, keepdims=False) == x.T[::-1].argmin(axis)).all()
            for k in (2, 25):
                want = np.argsort(x, axis, kind="stable").take(range(k), axis)
                got = dmlcpu.top_k(x, k, axis=axis, axis_direction="increasing")
                assert (got.indices == want).all()
        rows = rng.integers(-30, 30, (700, 1))
        assert (dmlcpu.gather_nd(x, rows) == x[rows[:, 0]]).all()
    print(*dmlcpu.instruction_sets())
    try:
        dmlcpu.use_instruction_set("x86-64-v4")
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("processor", "names"),
    [("Nehalem", ["x86-64-v2"]), ("Haswell", ["x86-64-v2", "x86-64-v3"])],
)
def test_processor(processor, names):
    done = start_python(
        "-c", textwrap.dedent(CODE), emulator=(QEMU, "-cpu", processor), DMLCPU_ISA=""
    )
    assert done.returncode == 0, done.stderr
    listed = ", ".join([*names, "auto"])
    assert done.stdout.splitlines() == [
        " ".join(names),
        f"name: must be one of {listed}, got 'x86-64-v4' (which this processor lacks)",
    ]
