"""Builds the C++ core by itself and runs its own tests."""

import os
import re
import subprocess

import pytest

import data


@pytest.mark.parametrize("name", ["arg_plan", "axes", "errors", "kernels", "overlap", "top_k_plan"])
def test_unit(cpp_build, name):
    done = subprocess.run(
        [cpp_build / "tests/cpp" / f"test_{name}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_all_units_are_listed(cpp_build):
    ctest = (cpp_build / "tests/cpp/CTestTestfile.cmake").read_text()
    registered = set(re.findall(r"add_test\(\[=\[(\w+)\]=\]", ctest))
    marks = next(mark for mark in test_unit.pytestmark if mark.name == "parametrize")
    assert registered == set(marks.args[1])


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
