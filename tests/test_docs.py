"""The examples of the docstrings and the README run as they are."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "name",
    [
        "dmlcpu._operators",
        "dmlcpu._runtime",
        "dmlcpu.directml",
        "dmlcpu.directml._compiled",
        "dmlcpu.directml._descriptors",
        "dmlcpu.directml._support",
    ],
)
def test_docstrings(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("name", ["README.md", "docs/directml.md"])
def test_pages(name):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, {}, name, name, 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0


def test_readme_commands():
    """Each of the two headings is followed by one line in one fenced block."""
    readme = (ROOT / "README.md").read_text()
    for heading in ("Run it", "Test it"):
        section = re.search(rf"^## {heading}\n(.*?)(?=^## )", readme, re.M | re.S)[1]
        blocks = re.findall(r"^```\w*\n(.*?)^```", section, re.M | re.S)
        assert len(blocks) == 1
        assert len(blocks[0].splitlines()) == 1
