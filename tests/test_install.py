"""The C++ library as others get it: installed by CMake, in the wheel, and as a part of their own build;
each builds and runs examples/embed_cpp."""

import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dmlcpu

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "embed_cpp"


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    """A matrix, and the file that holds it."""
    x = np.random.default_rng(0).standard_normal((5, 4), np.float32)
    path = tmp_path_factory.mktemp("npy") / "x.npy"
    np.save(path, x)
    return x, path


@pytest.fixture(scope="module")
def prefix(cpp_build, tmp_path_factory):
    """Where `cmake --install` put the library, moved afterwards."""
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", cpp_build, "--prefix", folder / "first"], check=True)
    (folder / "first").rename(folder / "moved")
    return folder / "moved"


def build(source, folder, *options):
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *options], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    return folder


def check_example(program, matrix):
    x, path = matrix
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    got = done.stdout.splitlines()
    want = [
        f"row {r}: smallest at {row.argmin()}, largest at {row.argmax()}" for r, row in enumerate(x)
    ]
    order = np.argsort(-x[:, 0])
    for i, row in enumerate(order[:3]):
        want.append(f"first column, number {i + 1} is {x[row, 0]:.6g} in row {row}:")
        assert np.array_equal(
            np.array(got[5 + i].split(":")[1].split(), np.float32).round(4), x[row].round(4)
        )
    assert [line.split(":")[0] for line in got] == [line.split(":")[0] for line in want]
    assert got[:5] == want[:5]


def test_cmake_package(prefix, matrix, tmp_path):
    folder = build(EXAMPLE, tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    check_example(folder / "embed_cpp", matrix)


def test_cmake_package_static(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user LANGUAGES CXX)\n"
        "find_package(dmlcpu 0.1 CONFIG REQUIRED COMPONENTS static)\n"
        "add_executable(user main.cpp)\n"
        "target_link_libraries(user PRIVATE dmlcpu::static)\n"
    )
    (tmp_path / "main.cpp").write_text(
        "#include <dmlcpu/dmlcpu.hpp>\n"
        "int main() {\n"
        "  const float x[] = {1, 3, 2};\n"
        "  std::uint32_t at = 9;\n"
        "  dmlcpu::argmax<float, std::uint32_t>({x, {3}}, {}, {&at, {1}});\n"
        "  return at == 1 ? 0 : 1;\n"
        "}\n"
    )
    build(tmp_path, tmp_path / "build", f"-Ddmlcpu_ROOT={prefix}")
    subprocess.run([tmp_path / "build" / "user"], check=True)


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")
def test_pkg_config(prefix, matrix, tmp_path):
    library = next(prefix.rglob("libdmlcpu.so")).parent
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "dmlcpu"],
        env={"PKG_CONFIG_PATH": str(library / "pkgconfig"), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    sources = [EXAMPLE / "main.cpp", EXAMPLE / "npy.cpp"]
    program = tmp_path / "program"
    subprocess.run(
        ["c++", "-std=c++17", *sources, *flags, f"-Wl,-rpath,{library}", "-o", program], check=True
    )
    check_example(program, matrix)


def test_wheel(matrix, tmp_path):
    def place(option):
        command = [sys.executable, "-m", "dmlcpu", option]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        return Path(done.stdout.strip())

    assert (place("--include-dir") / "dmlcpu" / "dmlcpu.hpp").is_file()
    folder = build(EXAMPLE, tmp_path, f"-Ddmlcpu_DIR={place('--cmake-dir')}")
    check_example(folder / "embed_cpp", matrix)


def test_wheel_is_found_by_scikit_build_core():
    """The entry point names the package whose folder is searched: find_package looks below it."""
    (entry,) = importlib.metadata.entry_points(group="cmake.root", name="dmlcpu")
    folder = Path(entry.load().__file__).parent
    assert folder == Path(dmlcpu.__file__).parent
    assert (folder / "lib" / "cmake" / "dmlcpu" / "dmlcpuConfig.cmake").is_file()


def test_part_of_another_build(matrix, tmp_path):
    """add_subdirectory, and so FetchContent: no tests, bindings or install rules come along."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(host LANGUAGES CXX)\n"
        f"add_subdirectory({ROOT} dmlcpu)\n"
        "if(TARGET dmlcpu_python OR TARGET test_axes)\n"
        '  message(FATAL_ERROR "more than the library")\n'
        "endif()\n"
        f"add_executable(host {EXAMPLE}/main.cpp {EXAMPLE}/npy.cpp)\n"
        "target_link_libraries(host PRIVATE dmlcpu::dmlcpu)\n"
        "install(TARGETS host)\n"
    )
    build(tmp_path, tmp_path / "build", "-DCMAKE_BUILD_TYPE=Release")
    check_example(tmp_path / "build" / "host", matrix)
    installed = tmp_path / "installed"
    subprocess.run(["cmake", "--install", tmp_path / "build", "--prefix", installed], check=True)
    assert [p.name for p in installed.rglob("*") if p.is_file()] == ["host"]


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm of binutils")
def test_shared_library_shows_only_the_api(prefix):
    library = next(prefix.rglob("libdmlcpu.so"))
    listing = subprocess.run(
        ["nm", "--dynamic", "--demangle", "--defined-only", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = [line.split(" ", 2)[2] for line in listing.splitlines()]
    assert any(name.startswith("dmlcpu::run(") for name in names)
    hidden = ("x86_64_v", "generic::", "(anonymous", "plan_", "Kernels", "Odometer", "validate")
    for name in names:
        assert not any(part in name for part in hidden), name
