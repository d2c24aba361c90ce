"""The package in another interpreter of the same process: an ImportError that says so, at once."""

import importlib.util
import sys

import pytest

from scripts import start_python

# CPython's own module for them has had three names.
MODULES = ["_interpreters", "_xxsubinterpreters"]
MODULE = next((name for name in MODULES if importlib.util.find_spec(name)), None)
pytestmark = pytest.mark.skipif(MODULE is None, reason="no interpreters but the main one")

SCRIPT = """
import sys
import {module} as interpreters
{first}
def create():
    {create}
within = r'''
import sys
sys.path[:] = {path!r}
try:
    {second}
except ImportError:
    pass  # NumPy refuses as well
try:
    import dmlcpu
except ImportError as error:
    with open({file!r}, "a") as log:
        print("ImportError", "|".join(str(error).splitlines()), file=log)
'''
for _ in range(2):
    interpreters.{run}(create(), within)
try:
    import numpy
except ImportError:
    print("[1]")  # another interpreter has it, and NumPy has one in a process
else:
    import dmlcpu
    print(dmlcpu.argmax([1, 3, 2]))
"""
KINDS = {
    "_interpreters": ["legacy", "isolated"],
    "_xxsubinterpreters": ["isolated=False", "isolated=True"],
}
TEXT = "dmlcpu works in a process's main interpreter alone."


@pytest.mark.parametrize("kind", KINDS.get(MODULE, []))
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", "pass"),
        ("", "import numpy"),
        ("import numpy", "pass"),
        ("import dmlcpu", "import numpy"),
    ],
)
def test_import_in_another_interpreter(kind, first, second, tmp_path):
    """Whatever the interpreters import before, and again in another one; the main one is unharmed."""
    log = tmp_path / "log"
    argument = repr(kind) if MODULE == "_interpreters" else kind
    code = SCRIPT.format(
        module=MODULE, first=first, second=second, path=sys.path, file=str(log),
        create=f"return interpreters.create({argument})",
        run="exec" if MODULE == "_interpreters" else "run_string",
    )  # fmt: skip
    done = start_python("-W", "ignore", "-c", code, timeout=60)
    assert done.stdout == "[1]\n", f"{done.returncode}: {done.stderr}"
    lines = log.read_text().splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "does not support loading in subinterpreters" in line
        assert TEXT in line
        assert "Install it again" not in line
