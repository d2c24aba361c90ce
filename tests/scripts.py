"""Python in a fresh interpreter that the machine's environment does not reach.

Settings of other libraries (OPENBLAS_CORETYPE, OMP_*, NPY_*) and of Python itself (PYTHONOPTIMIZE,
PYTHONWARNINGS) change what a script does, so tests start interpreters through this file alone.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

# What Python needs to start and to find the package, and the project's own setting.
KEPT = (
    "PATH",
    "HOME",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "PYTHONPATH",
    "DMLCPU_ISA",
)


SCRIPTS = Path(sys.executable).parent  # where pip put cmake and ninja


def start_python(*arguments, python=sys.executable, emulator=(), timeout=900, **environment):
    """Runs Python with these arguments, which may fail; only a hanging one reaches the timeout."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return subprocess.run(
        [*emulator, python, *arguments],
        env=kept | environment, capture_output=True, encoding="utf-8", timeout=timeout, check=False,
    )  # fmt: skip


def run_python(code, *arguments, **environment):
    """Runs a script, which must succeed, and returns what it printed."""
    done = start_python("-c", textwrap.dedent(code), *arguments, **environment)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return done.stdout.strip()
