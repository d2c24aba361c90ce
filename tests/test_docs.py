"""The examples of the docstrings, the README and the site's pages run; links lead somewhere.

tests/test_site.py is about what pages take from elsewhere, tests/test_shell_blocks.py about what is typed
in a shell.
"""

import doctest
import importlib
import importlib.util
import re
import shlex

import numpy as np
import pytest

from dmlcpu import _command

from pages import PAGES, ROOT, blocks


@pytest.mark.parametrize(
    "name",
    [
        "dmlcpu._diagnosis._explain",
        "dmlcpu._operators",
        "dmlcpu._runtime",
        "dmlcpu.numpy",
        "dmlcpu.dask._arg",
        "dmlcpu.dask._gather",
        "dmlcpu.dask._top_k",
        "dmlcpu.directml",
        "dmlcpu.directml._compiled",
        "dmlcpu.directml._descriptors",
        "dmlcpu.directml._support",
        "dmlcpu.torch._enabled",
        "dmlcpu.torch._functions",
    ],
)
def test_docstrings(name):
    for library in ("torch", "dask.array"):
        if name.startswith(f"dmlcpu.{library.partition('.')[0]}"):
            pytest.importorskip(library, exc_type=ImportError)
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


# tests/test_migration.py runs those of docs/migration.md, with other libraries.
@pytest.mark.parametrize(
    "name", [name for name in PAGES if blocks(name, "python") and name != "docs/migration.md"]
)
def test_pages(name):
    """A page's blocks, one after the other, with what those before have defined."""
    names = {}
    for block in blocks(name, "python"):
        needed = [library for library in ("torch", "dask") if f"import {library}" in block]
        if not all(map(importlib.util.find_spec, needed)):
            continue
        test = doctest.DocTestParser().get_doctest(block, names, name, name, 0)
        assert test.examples
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        assert runner.run(test, clear_globs=False).failed == 0
        names = test.globs


def test_commands_of_the_command_line(folder):
    """Each command of the page does its work, on files of its names."""
    (block,) = blocks("docs/command-line.md", "sh")
    make, *commands = [shlex.split(line) for line in block.splitlines()]
    assert make[:2] == ["python", "-c"]
    exec(make[2], {})
    assert {command[3] for command in commands} == {"argmax", "argmin", "topk", "gather"}
    for command in commands:
        assert command[:3] == ["python", "-m", "dmlcpu"]
        assert _command.main(command[3:]) == 0
    np.testing.assert_array_equal(np.load("slices.npy"), np.load("table.npy")[[3, 19]])


def anchors(page):
    """The names of a page's headings in links."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", prose, re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    """To a file or folder, or what the site makes of an example or a table; and to a heading there."""
    page = ROOT / name
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "_build" in target.parts:
            assert target.suffix == ".svg" or (ROOT / f"examples/{target.stem}.py").exists(), link
        else:
            assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_glossary_names_what_exists():
    """Names in code are in the files that the row links."""
    page = ROOT / "docs/glossary.md"
    for line in page.read_text().splitlines():
        places = line.rsplit("|", 2)[1] if line.startswith("| ") else ""
        linked = [page.parent / link for link in re.findall(r"\]\(([^)]+)\)", places)]
        text = "".join(
            file.read_text()
            for path in linked
            for file in (path.iterdir() if path.is_dir() else [path])
        )
        for name in re.findall(r"`(\w+)", places):
            assert re.search(rf"\b{name}\b", text), f"{name}: {line}"


def test_changelog_is_kept():
    """What comes next, then versions with their dates, the newest first; changes by kind."""
    text = (ROOT / "CHANGELOG.md").read_text()
    first, *versions = re.findall(r"^## (.*)$", text, re.M)
    assert first == "Unreleased"
    dates = [re.fullmatch(r"\d+\.\d+\.\d+ - (\d{4}-\d\d-\d\d)", version)[1] for version in versions]
    assert dates == sorted(dates, reverse=True)
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for section in re.split(r"^## .*$", text, flags=re.M)[1:]:
        found = re.findall(r"^### (.*)$", section, re.M)
        assert found == [kind for kind in kinds if kind in found]


def test_drawing_names_files_that_exist():
    drawing = blocks("docs/design.md", "text")[0]
    names = re.findall(r"[\w-]+\.(?:py|hpp|h|cpp)\b", drawing)
    assert len(names) == 11
    for name in names:
        assert [file for folder in ("python", "cpp") for file in (ROOT / folder).rglob(name)], name


def test_readme_commands():
    """Each of the two headings is followed by one line in one fenced block."""
    readme = (ROOT / "README.md").read_text()
    for heading in ("Run it", "Test it"):
        section = re.search(rf"^## {heading}\n(.*?)(?=^## )", readme, re.M | re.S)[1]
        blocks = re.findall(r"^```\w*\n(.*?)^```", section, re.M | re.S)
        assert len(blocks) == 1
        assert len(blocks[0].splitlines()) == 1
