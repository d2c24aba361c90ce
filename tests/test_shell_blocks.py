"""What the site's pages type in a shell and give to CMake works as written.

CI runs the README's two commands, in the steps `tests` and `docs` of .ci/run.
"""

import os
import re
import shutil
import subprocess

import pytest

from pages import PAGES, ROOT, blocks
from scripts import needs, needs_to_build


def run_block(block, folder):
    """What a block prints, in a folder, with the Python of these tests."""
    needs_to_build()
    environment = dict(os.environ)
    if shutil.which("make") is None:
        environment["CMAKE_GENERATOR"] = "Ninja"
    done = subprocess.run(
        ["bash", "-euc", block], cwd=folder, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def examples(tmp_path):
    """A folder that has the examples as the repository has them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_embedding(examples):
    """By CMake and by hand; both print what the page says."""
    needs("g++", "pkg-config")
    by_cmake, by_hand = blocks("docs/how-to/embed-cpp.md", "sh")
    (output,) = blocks("docs/how-to/embed-cpp.md", "text")
    assert run_block(by_cmake, examples).endswith(output)
    assert run_block(by_hand, examples) == output


def test_porting(examples):
    (block,) = blocks("docs/how-to/port-directml.md", "sh")
    (output,) = blocks("docs/how-to/port-directml.md", "text")
    assert run_block(block, examples).endswith(output)


INSTALL = "docs/install.md"


def program_of_the_page(folder):
    """The C++ block of the page on installing, as a program."""
    (block,) = blocks(INSTALL, "cpp")
    include, _, body = block.partition("\n\n")
    (folder / "program.cpp").write_text(
        f"{include}\nint main() {{\n{body}\nreturn at[2] != 1;\n}}\n"
    )


def test_pkg_config_of_the_page(tmp_path):
    needs("g++", "pkg-config")
    program_of_the_page(tmp_path)
    (block,) = (b for b in blocks(INSTALL, "sh") if "pkg-config" in b)
    run_block(f"{block}\n./a.out", tmp_path)


def test_cmake_of_the_page(tmp_path):
    program_of_the_page(tmp_path)
    (block,) = (b for b in blocks(INSTALL, "cmake") if "find_package" in b)
    first, *rest = block.splitlines()
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(program LANGUAGES CXX)", first,
             "add_executable(program program.cpp)", *rest]  # fmt: skip
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    configure = "cmake -S . -B build -Ddmlcpu_DIR=$(python -m dmlcpu --cmake-dir)"
    run_block(f"{configure}\ncmake --build build\nbuild/program", tmp_path)


@pytest.mark.parametrize("name", [name for name in PAGES if blocks(name, "sh")])
def test_shell_blocks_name_what_exists(name):
    """All blocks are a shell's; scripts that they start are there and have the options."""
    needs("bash")
    for block in blocks(name, "sh"):
        subprocess.run(["bash", "-nc", block], check=True)
        for script, rest in re.findall(r"(\w+/[\w/]+\.py)\b(.*)", block):
            text = "".join(p.read_text() for p in (ROOT / script).parent.glob("*.py"))
            for option in re.findall(r"--[\w-]+", rest):
                assert f'"{option}"' in text, f"{script} {option}"
