"""The C++ library as others get it: installed by CMake and in the wheel; each builds and runs
examples/embed_cpp, some examples/directml_port and a consumer in plain C."""

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dmlcpu import _core

from checks import check_example
from scripts import needs, needs_to_build, start_python

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "embed_cpp"
PORT = ROOT / "examples" / "directml_port"


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    """A matrix, and the file that holds it."""
    x = np.random.default_rng(0).standard_normal((5, 4), np.float32)
    path = tmp_path_factory.mktemp("npy") / "x.npy"
    np.save(path, x)
    return x, path


def build(source, folder, *options):
    needs_to_build()
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *options], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    return folder


def check_port(program, matrix):
    x, path = matrix
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    got = done.stdout.splitlines()
    assert got[:5] == [f"row {r}: class {row.argmax()}" for r, row in enumerate(x)]
    for i, row in enumerate(np.argsort(-x[:, 0])[:2]):
        title, values = got[5 + i].split(":")
        assert title == f"class 0, number {i + 1} is row {row}"
        assert np.array_equal(np.array(values.split(), np.float32).round(4), x[row].round(4))


def test_directml_port(prefix, matrix, tmp_path):
    folder = build(PORT, tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    check_port(folder / "directml_port", matrix)


def configure_static(language, folder, option):
    """What CMake says of a project that wants the static library, and may not have it."""
    needs_to_build()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        f"project(consumer LANGUAGES {language})\n"
        "find_package(dmlcpu CONFIG REQUIRED COMPONENTS static)\n"
    )
    command = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", option]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return " ".join(done.stderr.split())


def test_static_library_needs_cpp(prefix, tmp_path):
    said = configure_static("C", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "the static library needs a project with the language CXX" in said


def test_static_library_is_not_in_the_wheel(tmp_path):
    said = configure_static("CXX", tmp_path, f"-Ddmlcpu_DIR={place('--cmake-dir')}")
    assert "the Python package holds the shared library alone" in said


def test_consumer_in_c(prefix, tmp_path):
    """A project without C++, by the CMake package."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(consumer LANGUAGES C)\n"
        "find_package(dmlcpu CONFIG REQUIRED)\n"
        f"add_executable(consumer {ROOT}/tests/c/consumer.c)\n"
        "target_compile_options(consumer PRIVATE -Wall -Wextra -Wpedantic -Werror)\n"
        "target_link_libraries(consumer PRIVATE dmlcpu::dmlcpu)\n"
    )
    build(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_STANDARD=99")
    subprocess.run([tmp_path / "build" / "consumer"], check=True)


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


def test_pkg_config(prefix, matrix, tmp_path):
    needs("pkg-config")
    library = next(prefix.rglob("libdmlcpu.so")).parent
    printed = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "dmlcpu"],
        env={"PKG_CONFIG_PATH": str(library / "pkgconfig"), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    flags = shlex.split(printed)  # the folder's name may have spaces
    sources = [EXAMPLE / "main.cpp", EXAMPLE / "npy.cpp"]
    program = tmp_path / "program"
    subprocess.run(
        ["c++", "-std=c++17", *sources, *flags, f"-Wl,-rpath,{library}", "-o", program], check=True
    )
    check_example(program, matrix)


def place(option, **python):
    """What `python -m dmlcpu` prints."""
    done = start_python("-m", "dmlcpu", option, **python)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_wheel(matrix, tmp_path):
    assert (place("--include-dir") / "dmlcpu" / "dmlcpu.hpp").is_file()
    assert (place("--pkg-config-dir") / "dmlcpu.pc").is_file()
    package = place("--cmake-dir")
    folder = build(EXAMPLE, tmp_path / "embed", f"-Ddmlcpu_DIR={package}")
    check_example(folder / "embed_cpp", matrix)
    folder = build(PORT, tmp_path / "port", f"-Ddmlcpu_DIR={package}")
    check_port(folder / "directml_port", matrix)


def editable(tmp_path):
    """The Python of an environment with an editable install of a copy of the tree. What CMake
    installs there is what it has installed here: nothing is compiled."""
    needs("cmake", "ninja")
    pytest.importorskip("scikit_build_core")
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "python", tree / "python", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "release", tree / "release")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    (tree / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(dmlcpu LANGUAGES NONE)\n"
        f'install(DIRECTORY "{Path(_core.__file__).parent}/" DESTINATION dmlcpu\n'
        '  PATTERN "*.py*" EXCLUDE PATTERN "__pycache__" EXCLUDE PATTERN "directml" EXCLUDE)\n'
    )
    environment = tmp_path / "environment"
    made = start_python("-m", "venv", "--without-pip", environment)
    assert made.returncode == 0, made.stderr
    python = environment / "bin" / "python"
    (site,) = (environment / "lib").glob("python*/site-packages")
    # NumPy and the build's tools are those of this environment.
    (site / "parent.pth").write_text("\n".join(path for path in sys.path if "-packages" in path))
    options = ["--isolated", "--no-deps", "--no-build-isolation", "--no-index"]
    installed = start_python("-m", "pip", "install", *options, "-e", tree, python=python)
    assert installed.returncode == 0, installed.stderr
    return python, tree, site


def test_editable_install(matrix, tmp_path):
    """Python's sources are in the tree, what CMake installs is not."""
    python, tree, site = editable(tmp_path)
    program = "import dmlcpu, dmlcpu._core as c; print(dmlcpu.__file__, c.__file__, sep='\\n')"
    done = start_python("-c", program, python=python)
    assert done.returncode == 0, done.stderr
    source, module = map(Path, done.stdout.splitlines())
    assert tree in source.parents
    assert site in module.parents
    assert (place("--include-dir", python=python) / "dmlcpu" / "dmlcpu.hpp").is_file()
    assert (place("--pkg-config-dir", python=python) / "dmlcpu.pc").is_file()
    package = place("--cmake-dir", python=python)
    assert site in package.parents
    folder = build(EXAMPLE, tmp_path / "embed", f"-Ddmlcpu_DIR={package}")
    check_example(folder / "embed_cpp", matrix)


def test_wheel_is_found_by_scikit_build_core(tmp_path):
    """The entry point, in a real build that says nothing of where dmlcpu is."""
    (entry,) = importlib.metadata.entry_points(group="cmake.root", name="dmlcpu")
    assert entry.value == "dmlcpu"
    needs_to_build()
    pytest.importorskip("scikit_build_core")
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["scikit-build-core", "dmlcpu"]\n'
        'build-backend = "scikit_build_core.build"\n'
        '[project]\nname = "user"\nversion = "1.0"\n'
        '[tool.scikit-build]\nwheel.py-api = "py3"\n'
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user LANGUAGES CXX)\n"
        "find_package(dmlcpu CONFIG REQUIRED)\n"
        f"add_executable(user {EXAMPLE}/main.cpp {EXAMPLE}/npy.cpp)\n"
        "target_link_libraries(user PRIVATE dmlcpu::dmlcpu)\n"
        "install(TARGETS user DESTINATION user)\n"
    )
    # As the other builds, by the environment's compiler; but not with pip's settings or a generator
    # that may not be there.
    environment = {name: os.environ[name] for name in os.environ if name != "CMAKE_GENERATOR"}
    done = start_python(
        "-m", "pip", "wheel", "--isolated", "--no-deps", "--no-build-isolation",
        "-w", tmp_path / "wheels", tmp_path, **environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        assert "user/user" in archive.namelist()


def test_shared_library_shows_only_the_api(prefix):
    needs("nm")
    library = next(prefix.rglob("libdmlcpu.so"))
    listing = subprocess.run(
        ["nm", "--dynamic", "--demangle", "--defined-only", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = [line.split(" ", 2)[2] for line in listing.splitlines()]
    assert any(name.startswith("dmlcpu::run(") for name in names)
    hidden = (
        "x86_64_v",
        "generic::",
        "(anonymous",
        "plan_arg",
        "Plan",
        "Kernels",
        "Odometer",
        "validate",
    )
    own = r"(typeinfo for |typeinfo name for |vtable for )?dmlcpu(::|_)|DMLCalcBufferTensorSize\("
    for name in names:
        assert re.match(own, name), name
        assert not any(part in name for part in hidden), name
