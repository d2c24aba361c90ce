"""Builds the C++ core by itself and runs its own tests."""

import os
import subprocess
from pathlib import Path

import pytest

import data

UNITS = sorted(path.stem for path in (Path(__file__).parent / "cpp").glob("test_*.cpp"))


@pytest.mark.parametrize("name", UNITS)
def test_unit(cpp_build, name):
    done = subprocess.run(
        [cpp_build / "tests/cpp" / name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("isa", data.INSTRUCTION_SETS)
def test_forced_instruction_set(cpp_build, isa):
    environment = os.environ | {"DMLCPU_ISA": isa}
    subprocess.run([cpp_build / "tests/cpp/test_errors"], env=environment, check=True)
    environment["DMLCPU_ISA"] = "none"
    done = subprocess.run([cpp_build / "tests/cpp/test_errors"], env=environment, check=False)
    assert done.returncode != 0


def test_builds_without_openmp(build_core):
    """It has the same threads, and gives the right answers."""
    for name in ("test_errors", "test_pool"):
        folder = build_core("no_openmp", "-DDMLCPU_OPENMP=OFF", target=name)
        subprocess.run([folder / "tests/cpp" / name], check=True)
