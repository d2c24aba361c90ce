"""What type checkers know is true, and is what tests/typing_surface.py and typing_doors.py say.

Each checker is skipped where it is missing; the extra `interop` and CI's step of that name have them.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import dmlcpu

from scripts import SCRIPTS, start_python

TESTS = Path(__file__).parent
SURFACES = {"typing_surface": (), "typing_doors": ("torch", "dask.array")}
surfaces = pytest.mark.parametrize("name", SURFACES)


def surface(name):
    for library in ("typing_extensions", *SURFACES[name]):
        pytest.importorskip(library)
    return TESTS / f"{name}.py"


def check_with_mypy(program, cache):
    options = ["--strict", "--config-file=", "--cache-dir", cache]
    return start_python("-m", "mypy", *options, program).stdout


def check_with_pyright(program):
    python = SCRIPTS / "python"
    return start_python("-m", "pyright", "--pythonpath", python, program).stdout


def check_findings(program, output):
    """The checker finds an error in the lines that say so, and nothing else."""
    lines = program.read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) >= 10
    found = re.findall(rf"{program.name}:(\d+):(?:\d+ -)? (?:error|warning)", output)
    assert {int(number) for number in found} == wrong, output


@surfaces
def test_surface_runs(name):
    done = start_python(surface(name))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@surfaces
def test_mypy(name, tmp_path):
    pytest.importorskip("mypy")
    program = surface(name)
    check_findings(program, check_with_mypy(program, tmp_path))


@pytest.mark.slow
@surfaces
def test_pyright(name):
    pytest.importorskip("pyright")
    program = surface(name)
    check_findings(program, check_with_pyright(program))


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_numpys_names_are_known_as_in_numpy(checker, tmp_path):
    pytest.importorskip(checker)
    names = [name for name in dir(np) if not name.startswith("_")]
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy\nimport dmlcpu.numpy\n"
        + "".join(f"reveal_type(numpy.{n})\nreveal_type(dmlcpu.numpy.{n})\n" for n in names)
    )
    output = (
        check_with_mypy(program, tmp_path) if checker == "mypy" else check_with_pyright(program)
    )
    types = dict(
        re.findall(r"program\.py:(\d+):.*?(?:Revealed type is| is) (.*(?:\n    .*)*)", output)
    )
    known = 0
    for line, name in enumerate(names):
        numpys, doors = (types.get(str(number)) for number in (3 + 2 * line, 4 + 2 * line))
        assert doors == numpys, name
        known += numpys not in (None, '"Any"', '"Unknown"')
    assert known > 400


@pytest.mark.slow
def test_stubtest():
    """Declarations in stubs and annotations are those of the objects that there are."""
    pytest.importorskip("mypy")
    pytest.importorskip("onnx")  # it imports every module
    pytest.importorskip("torch")
    pytest.importorskip("dask.array")
    allowed = TESTS / "stubtest_allowlist.txt"
    options = ["--concise", "--ignore-unused-allowlist", "--allowlist", allowed]
    done = start_python("-m", "mypy.stubtest", *options, "dmlcpu")
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def test_top_k_takes_types():
    """On Python 3.10 too, where a NamedTuple is not generic."""
    assert dmlcpu.TopK[int, str].__args__ == (int, str)
    assert dmlcpu.TopK[int, str](1, "a") == (1, "a")
