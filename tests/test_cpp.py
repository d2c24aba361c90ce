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


def test_builds_without_openmp(tmp_path, configure):
    """The serial library compiles (only the shim differs) and gives the right answers."""
    configure(tmp_path, "-DDMLCPU_OPENMP=OFF")
    subprocess.run(["cmake", "--build", tmp_path, "--target", "test_errors"], check=True)
    subprocess.run([tmp_path / "tests/cpp/test_errors"], check=True)
