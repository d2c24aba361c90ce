"""What the build refuses when it is configured, each with its reason. Nothing is compiled but checks."""

import subprocess
from pathlib import Path

import pytest

from scripts import needs_to_build

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


def check_refused(folder, options, text):
    needs_to_build()
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DDMLCPU_BUILD_PYTHON=OFF"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert text in " ".join(done.stderr.split()), done.stderr


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("DMLCPU_ISAS=x86_64_v5", "DMLCPU_ISAS: must be all, native, or some of x86_64_v2"),
        ("CMAKE_OSX_ARCHITECTURES=arm64;x86_64", "CMAKE_OSX_ARCHITECTURES: must be one"),
    ],
)
def test_options(option, text, tmp_path):
    check_refused(tmp_path, [f"-D{option}"], text)


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("CMAKE_CXX_COMPILER_ID MSVC", "needs the vector types of g++ or clang++"),
        ("CMAKE_SIZEOF_VOID_P 4", "needs a processor and a compiler of 64 bits"),
    ],
)
def test_compilers(variable, text, tmp_path):
    """What CMake found out about the compiler is replaced: others are not at hand."""
    (tmp_path / "found.cmake").write_text(f"set({variable})\n")
    hook = f"-DCMAKE_PROJECT_dmlcpu_INCLUDE={tmp_path / 'found.cmake'}"
    check_refused(tmp_path / "build", [hook], text)


def test_vectors(tmp_path):
    """The exit status of a program tells whether vectors are right; here it is 1 always."""
    (tmp_path / "fails.hpp").write_text(
        "#define main(...) main(__VA_ARGS__) { return 1; } int f(__VA_ARGS__)\n"
    )
    flags = f"-DCMAKE_CXX_FLAGS=-include {tmp_path / 'fails.hpp'}"
    check_refused(tmp_path / "build", [flags], "does not compare vectors as kernels need it")
