import contextlib
import importlib
import os
import shlex
import subprocess
from pathlib import Path

import pytest

import dmlcpu
from dmlcpu import _core, _parts

pytest.register_assert_rewrite(
    "checks", "commands", "data", "reference", "scripts", "torch_cases", "upstream"
)

import data  # noqa: E402
from scripts import needs_to_build  # noqa: E402

ROOT = Path(__file__).parent.parent


def pytest_collection_modifyitems(items):
    """What builds C++ is slow."""
    for item in items:
        if "build_folder" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=data.INSTRUCTION_SETS, scope="module")
def instruction_set(request):
    """Each of the machine's instruction sets in turn."""
    before = dmlcpu.get_instruction_set()
    dmlcpu.use_instruction_set(request.param)
    yield request.param
    dmlcpu.use_instruction_set(before)


# More threads than processors find more of what one or two do not.
QUICK_THREADS = (1, 3)


@pytest.fixture(
    params=[
        pytest.param(count, marks=[] if count in QUICK_THREADS else pytest.mark.slow)
        for count in data.THREAD_COUNTS
    ],
    scope="module",
)
def threads(request):
    """Several thread counts; with more than one, tensors of any size are split over all threads."""
    with dmlcpu.num_threads(request.param):
        _core.set_grain_bytes(1)
        yield request.param
        _core.set_grain_bytes(0)


@pytest.fixture
def core_calls(monkeypatch):
    """The inputs with which the operators, or parts of them, are called by their names in the package."""
    inputs = []

    def spy(function):
        def run(input, *args, **kwargs):
            result = function(input, *args, **kwargs)
            inputs.append(input)
            return result

        return run

    for name in ("argmax", "argmin", "top_k", "gather_nd"):
        monkeypatch.setattr(dmlcpu, name, spy(getattr(dmlcpu, name)))
    monkeypatch.setattr(_parts, "part_of_top_k", spy(_parts.part_of_top_k))
    return inputs


@pytest.fixture
def any_size(monkeypatch):
    """Small calls of the door for PyTorch are the core's too."""
    kernels = importlib.import_module("dmlcpu.torch._kernels")
    for name in kernels._LEAST:
        monkeypatch.setitem(kernels._LEAST, name, 0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which a command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def build_folder(tmp_path_factory):
    """A function that returns a context manager with the folder of a build. Inside, no other process
    of pytest-xdist builds there. It is in DMLCPU_TEST_BUILD, so that several runs share it, or is a
    new one of this run."""
    new = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        new = new.parent
    builds = Path(os.environ.get("DMLCPU_TEST_BUILD") or new / "builds")

    @contextlib.contextmanager
    def locked(name):
        import fcntl  # not on Windows, where tests build nothing

        builds.mkdir(parents=True, exist_ok=True)
        with (builds / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield builds / name

    return locked


@pytest.fixture(scope="session")
def build_core(build_folder):
    """A function that builds the C++ core and its tests with some options, or one target of it, and
    returns the build's folder. CMAKE_ARGS holds more options, as it does for pip."""
    needs_to_build()
    given = shlex.split(os.environ.get("CMAKE_ARGS", ""))

    def run(name, *options, target="all"):
        with build_folder(name) as folder:
            subprocess.run(
                ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DDMLCPU_BUILD_PYTHON=OFF",
                 "-DDMLCPU_BUILD_TESTS=ON", *given, *options],
                check=True,
            )  # fmt: skip
            subprocess.run(["cmake", "--build", folder, "--target", target], check=True)
            return folder

    return run


@pytest.fixture(scope="session")
def cpp_build(build_core):
    """The folder of a build of the C++ core and its tests as they are by default."""
    return build_core("cpp")


@pytest.fixture(scope="session")
def prefix(cpp_build, build_folder, tmp_path_factory):
    """Where `cmake --install` put the library, moved afterwards."""
    folder = tmp_path_factory.mktemp("prefix")
    with build_folder(cpp_build.name) as build:
        subprocess.run(["cmake", "--install", build, "--prefix", folder / "first"], check=True)
    (folder / "first").rename(folder / "moved")
    return folder / "moved"
