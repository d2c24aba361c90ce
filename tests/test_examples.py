"""The examples run as they are, also as notebooks.

What needs a package that is missing is skipped; the extras `examples` and `docs` install them. The tests
of the doors run the examples of PyTorch and ONNX.
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from scripts import start_python

EXAMPLES = Path(__file__).parent.parent / "examples"
spec = importlib.util.spec_from_file_location("notebooks", EXAMPLES / "notebooks.py")
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)

SCRIPTS = [*notebooks.SCRIPTS, EXAMPLES / "digits.py"]


def skip_if_it_cannot_run(script):
    for module in re.findall(r"^(?:import|from) (matplotlib|sklearn)\b", script.read_text(), re.M):
        pytest.importorskip(module)
    if script.stem == "larger_than_memory" and sys.platform != "linux":
        pytest.skip("it reads /proc")


def picture_of(script, folder):
    return (folder / script.name).with_suffix(".png").read_bytes()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts(script, tmp_path):
    skip_if_it_cannot_run(script)
    done = start_python(script, cwd=tmp_path, MPLBACKEND="Agg")
    assert done.returncode == 0, done.stderr
    # Whatever else the machine is doing.
    assert re.sub(r"note: load average .*\n", "", done.stderr) == ""
    assert picture_of(script, tmp_path).startswith(b"\x89PNG")


def test_digits_say_who_is_faster(tmp_path):
    """Each line names the faster one; steps agree with NumPy's."""
    script = EXAMPLES / "digits.py"
    skip_if_it_cannot_run(script)
    printed = start_python(script, cwd=tmp_path).stdout
    steps = re.findall(r"(\S+) ms +(\S+) ms +(\w+) +\S+ times as fast", printed)
    assert len(steps) == 11
    for own, numpys, faster in steps:
        assert faster == ("dmlcpu" if float(own) <= float(numpys) else "NumPy") or own == numpys
    assert "answers agree" in printed


def test_ranking(tmp_path):
    done = start_python(EXAMPLES / "ranking.py", "--queries", "50", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()[1:]
    assert len(lines) == 2
    assert all(line.endswith("results agree") for line in lines)


@pytest.mark.parametrize("script", notebooks.SCRIPTS, ids=lambda script: script.stem)
def test_notebooks_are_current(script):
    book = script.with_suffix(".ipynb").read_text()
    assert book == notebooks.notebook(script.read_text()), "run examples/notebooks.py"


@pytest.mark.filterwarnings("default")  # of what runs notebooks
@pytest.mark.parametrize("script", notebooks.SCRIPTS, ids=lambda script: script.stem)
def test_notebooks_run(script, tmp_path):
    skip_if_it_cannot_run(script)
    pytest.importorskip("ipykernel")
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    book = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=900, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    assert any("image/png" in output.get("data", ()) for output in outputs)
    assert picture_of(script, tmp_path).startswith(b"\x89PNG")
