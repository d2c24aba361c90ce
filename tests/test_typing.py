"""What type checkers know is true, and is what tests/typing_surface.py says.

Each checker is skipped where it is missing; the extra `interop` and CI's step of that name have them.
"""

import re
from pathlib import Path

import pytest

import dmlcpu

from scripts import SCRIPTS, start_python

SURFACE = Path(__file__).parent / "typing_surface.py"


def test_surface_runs():
    pytest.importorskip("typing_extensions")
    done = start_python(SURFACE)
    assert done.returncode == 0, done.stderr


def check_findings(output):
    """The checker finds an error in the lines that say so, and nothing else."""
    lines = SURFACE.read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) >= 10
    found = re.findall(r"typing_surface\.py:(\d+):(?:\d+ -)? (?:error|warning)", output)
    assert {int(number) for number in found} == wrong, output


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    options = ["--strict", "--config-file=", "--cache-dir", tmp_path]
    check_findings(start_python("-m", "mypy", *options, SURFACE).stdout)


def test_pyright():
    pytest.importorskip("pyright")
    done = start_python("-m", "pyright", "--pythonpath", SCRIPTS / "python", SURFACE)
    check_findings(done.stdout)


def test_stubtest():
    """Declarations in stubs and annotations are those of the objects that there are."""
    pytest.importorskip("mypy")
    pytest.importorskip("onnx")  # it imports every module
    pytest.importorskip("torch")
    pytest.importorskip("dask.array")
    allowed = Path(__file__).parent / "stubtest_allowlist.txt"
    options = ["--concise", "--ignore-unused-allowlist", "--allowlist", allowed]
    done = start_python("-m", "mypy.stubtest", *options, "dmlcpu")
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def test_top_k_takes_types():
    """On Python 3.10 too, where a NamedTuple is not generic."""
    assert dmlcpu.TopK[int, str].__args__ == (int, str)
    assert dmlcpu.TopK[int, str](1, "a") == (1, "a")
