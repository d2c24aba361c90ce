"""The C++ library as a part of another project: tests/consumers/parent, built once for all tests."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from checks import check_example
from scripts import needs, needs_to_build

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "embed_cpp"
PARENT = ROOT / "tests" / "consumers" / "parent"


def cmake(*arguments):
    subprocess.run(["cmake", *arguments], check=True)


def configure(folder, *options):
    cmake("-S", PARENT, "-B", folder, "-G", "Ninja", f"-DDMLCPU_SOURCE={ROOT}",
          f"-DEXAMPLE={EXAMPLE}", *options)  # fmt: skip


@pytest.fixture(scope="module")
def parent(build_folder):
    """The build's folder."""
    needs_to_build()
    with build_folder("parent") as folder:
        configure(folder, "-DCMAKE_BUILD_TYPE=Release", "-UDMLCPU_INSTALL")
        cmake("--build", folder)
        return folder


def names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_programs(parent, tmp_path):
    x = np.random.default_rng(0).standard_normal((5, 4), np.float32)
    np.save(tmp_path / "x.npy", x)
    check_example(parent / "client", (x, tmp_path / "x.npy"))
    subprocess.run([parent / "strict"], check=True)
    subprocess.run([parent / "user"], check=True)


def test_shared_library_shows_the_api(parent):
    needs("nm")
    (library,) = {path.resolve() for path in parent.rglob("libdmlcpu.so*")}
    listing = subprocess.run(
        ["nm", "--dynamic", "--demangle", "--defined-only", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in ("dmlcpu::run(dmlcpu::ArgDescriptor const&)", "dmlcpu_compile"):
        assert f" T {name}\n" in listing


def test_installs_only_the_parent(parent, tmp_path):
    cmake("--install", parent, "--prefix", tmp_path)
    assert {Path(name).name for name in names(tmp_path)} == {
        "client", "libpart.a", "parentTargets.cmake", "parentTargets-release.cmake",
    }  # fmt: skip


def check_installed(prefix, folder):
    """Another project finds what the parent exports, and dmlcpu, which that needs."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user LANGUAGES CXX)\n"
        "find_package(dmlcpu CONFIG REQUIRED COMPONENTS static)\n"
        f"file(GLOB_RECURSE targets {prefix}/*/parentTargets.cmake)\n"
        "include(${targets})\n"
        f"add_executable(user {PARENT}/user.cpp)\n"
        "target_link_libraries(user PRIVATE parent::part)\n"
    )
    cmake("-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake("--build", folder / "build")
    subprocess.run([folder / "build" / "user"], check=True)


def test_installs_the_library_as_a_component(parent, tmp_path):
    """Without DMLCPU_INSTALL, when it is installed by name."""
    cmake("--install", parent, "--prefix", tmp_path / "prefix")
    cmake("--install", parent, "--prefix", tmp_path / "prefix", "--component", "dmlcpu")
    check_installed(tmp_path / "prefix", tmp_path / "user")


def test_installs_the_library_with_the_parent(parent, tmp_path):
    configure(parent, "-DDMLCPU_INSTALL=ON")
    cmake("--build", parent)
    cmake("--install", parent, "--prefix", tmp_path / "prefix")
    assert {"libdmlcpu.a", "dmlcpu.hpp", "dmlcpu.pc", "libpart.a"} <= {
        Path(name).name for name in names(tmp_path / "prefix")
    }
    check_installed(tmp_path / "prefix", tmp_path / "user")


def test_what_is_left_to_the_parent(tmp_path, build_core):
    """Configured alone: the build type; and neither library is built for a parent that only adds
    dmlcpu, unless it installs them."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(idle LANGUAGES CXX)\n"
        f"add_subdirectory({ROOT} dmlcpu)\n"
    )

    def planned(*options):
        cmake("-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", *options)
        done = subprocess.run(
            ["cmake", "--build", tmp_path / "build", "--", "-n"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return {name for name in ("libdmlcpu.a", "libdmlcpu.so") if name in done.stdout}

    assert planned() == set()
    assert planned("-DDMLCPU_INSTALL=ON") == {"libdmlcpu.a", "libdmlcpu.so"}
    cache = (tmp_path / "build" / "CMakeCache.txt").read_text()
    assert re.findall(r"^CMAKE_BUILD_TYPE:.*=(.*)$", cache, re.M) in ([], [""])
