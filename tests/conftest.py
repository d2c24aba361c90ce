import os
import subprocess
import sys
from pathlib import Path

import pytest

import dmlcpu
from dmlcpu import _core

import data

ROOT = Path(__file__).parent.parent


@pytest.fixture(params=data.INSTRUCTION_SETS, scope="module")
def instruction_set(request):
    """Each of the machine's instruction sets in turn."""
    before = dmlcpu.get_instruction_set()
    dmlcpu.use_instruction_set(request.param)
    yield request.param
    dmlcpu.use_instruction_set(before)


@pytest.fixture(params=data.THREAD_COUNTS, scope="module")
def threads(request):
    """Several thread counts; with more than one, tensors of any size are split over all threads."""
    with dmlcpu.num_threads(request.param):
        _core.set_grain_bytes(1)
        yield request.param
        _core.set_grain_bytes(0)


@pytest.fixture(scope="session")
def configure():
    """A function that configures a build of the C++ core and its tests in a folder."""

    scripts = Path(sys.executable).parent  # where pip put cmake and ninja
    os.environ["PATH"] = f"{scripts}{os.pathsep}{os.environ['PATH']}"

    def run(folder, *options):
        subprocess.run(
            [
                "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DDMLCPU_BUILD_PYTHON=OFF",
                "-DDMLCPU_BUILD_TESTS=ON", f"-DDMLCPU_WERROR={'ON' if os.environ.get('CI') else 'OFF'}",
                *options,
            ],
            check=True,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def cpp_build(tmp_path_factory, configure):
    """The folder of a build of the C++ core and its tests: DMLCPU_TEST_BUILD, so that several runs
    share it, or a new one."""
    folder = os.environ.get("DMLCPU_TEST_BUILD")
    folder = Path(folder) if folder else tmp_path_factory.mktemp("cpp")
    configure(folder)
    subprocess.run(["cmake", "--build", folder], check=True)
    return folder
