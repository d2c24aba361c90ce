"""Python in a fresh interpreter that the machine's environment does not reach.

Settings of other libraries (OPENBLAS_CORETYPE, OMP_*, NPY_*) and of Python itself (PYTHONOPTIMIZE,
PYTHONWARNINGS) change what a script does, so tests start interpreters through this file alone.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

# What Python needs to start and to find the package, and the project's own settings.
KEPT = (
    "PATH",
    "HOME",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "PYTHONPATH",
    "DMLCPU_ISA",
    "DMLCPU_THREADS",
)

SCRIPTS = Path(sys.executable).parent  # where pip put cmake and ninja
os.environ["PATH"] = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"

# What CMake takes, and some tests call by its usual name.
COMPILER = os.environ.get("CXX", "c++").split()[0]


def needs(*commands):
    """Skips the test, or every test of the fixture, that runs these where one of them is missing."""
    for command in commands:
        if shutil.which(command) is None:
            pytest.skip(f"needs {command}")


def needs_to_build():
    """The same for what builds by CMake."""
    needs(COMPILER, "cmake", "ninja")


def start_python(
    *arguments, python=sys.executable, emulator=(), timeout=900, cwd=None, **environment
):
    """Runs Python with these arguments, which may fail; only a hanging one reaches the timeout."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return subprocess.run(
        [*emulator, python, *arguments],
        env=kept | environment, cwd=cwd, capture_output=True, encoding="utf-8", timeout=timeout,
        check=False,
    )  # fmt: skip


def run_shell(script, folder):
    """Runs a script of bash in a folder, where `dmlcpu` is the command, and $PYTHON has it. Returns the
    exit code, what was printed and what was said."""
    needs("bash")
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    kept["PYTHON"] = sys.executable
    command = f'dmlcpu() {{ "$PYTHON" -m dmlcpu "$@"; }}\n{textwrap.dedent(script)}'
    done = subprocess.run(
        ["bash", "-c", command], env=kept, cwd=folder, capture_output=True, encoding="utf-8",
        timeout=900, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def run_python(code, *arguments, **environment):
    """Runs a script, which must succeed, and returns what it printed."""
    done = start_python("-c", textwrap.dedent(code), *arguments, **environment)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return done.stdout.strip()
