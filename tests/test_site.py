"""What the site's pages take from elsewhere and say of it: examples, tests, headers, versions."""

import importlib.util
import re
import subprocess
import sys

import pytest
from test_cpp_examples import FUNCTIONS

from dmlcpu import _core

from pages import PAGES, ROOT
from scripts import needs, run_python

DOCS = ROOT / "docs"


def directives(page, name):
    """(argument, options) of each directive of a page."""
    pattern = rf"^```{{{name}}} (\S+)\n(.*?)^```"
    for argument, body in re.findall(pattern, (ROOT / page).read_text(), re.M | re.S):
        yield argument, dict(re.findall(r"^:([\w-]+): (.*)$", body, re.M))


def included(page, name):
    """(file, part of its text) of each directive that shows one; None of what an example prints."""
    for path, options in directives(page, name):
        file = (ROOT / page).parent / path
        if "_build" in file.parts:
            yield ROOT / f"examples/{file.stem}.py", None
            continue
        text = file.read_text()
        for option in ("start-after", "start-at", "end-before"):
            if mark := options.get(option, "").strip('"'):
                assert mark in text, f"{path}: {mark}"
                before, _, after = text.partition(mark)
                text = {"end-before": before, "start-after": after, "start-at": mark + after}[
                    option
                ]
        yield file, text


@pytest.mark.parametrize("name", PAGES)
def test_included_parts_exist(name):
    for kind in ("literalinclude", "include"):
        for file, text in included(name, kind):
            assert file.exists()
            assert text is None or text.strip(), file


HOW_TO = [
    name
    for name in PAGES
    if any(f.suffix == ".py" and t for f, t in included(name, "literalinclude"))
]


@pytest.mark.parametrize("name", HOW_TO)
def test_code_of_a_page_runs_as_it_is_shown(name):
    """All of it, one block after the other, as somebody types it who has the page alone."""
    parts = [
        text for file, text in included(name, "literalinclude") if text and file.suffix == ".py"
    ]
    code = "\n".join(parts)
    for module in re.findall(r"^(?:import|from) (matplotlib|sklearn)\b", code, re.M):
        pytest.importorskip(module)
    if "resource" in code and sys.platform != "linux":
        pytest.skip("it reads /proc")
    run_python(code, MPLBACKEND="Agg")


def test_guarantees_name_tests_that_exist():
    names = re.findall(r"`([\w/]+\.\w+)::(\w+)`", (DOCS / "guarantees.md").read_text())
    assert len(names) > 50
    for file, name in names:
        assert re.search(rf"(def|void) {name}\(", (ROOT / "tests" / file).read_text()), name


def test_every_guarantee_is_held():
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", (DOCS / "guarantees.md").read_text(), re.M)
    for guarantee, tests in rows:
        assert guarantee == "guarantee" or "::" in tests, guarantee


def test_versions_are_those_of_the_package():
    page = (DOCS / "versions.md").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    listed = re.findall(r"^\| (3\.\d+) \|", page, re.M)
    assert listed == re.findall(r"Python :: (3\.\d+)", project)
    assert listed[0] == re.search(r'^requires-python = ">=(.*)"$', project, re.M)[1]
    numpys = re.search(r"^\| NumPy \|.*?\n\n", page, re.M | re.S)[0]
    least = re.search(r'"numpy>=([\d.]+)"', project)[1]
    assert re.search(r"\| (\d\S+),", numpys)[1] == least
    compiler = re.search(r"g\+\+ (\d+) or newer", (ROOT / "README.md").read_text())[1]
    assert f"| g++ | {compiler} |" in page
    cmake = re.search(r'cmake\.version = ">=([\d.]+)"', project)[1]
    assert f"CMake {cmake}" in page


def test_everything_in_the_headers_has_its_place():
    """The functions that have examples, and those of C, are on the pages of the interfaces."""
    pages = "".join((DOCS / f"api/{name}.md").read_text() for name in ("cpp", "c"))
    shown = set(re.findall(r"^```{doxygen\w+} (?:\w+::)*(\w+)", pages, re.M))
    functions = {name.strip("(< ") for names in FUNCTIONS.values() for name in names}
    assert functions - {"dispatch"} <= shown  # a member of CompiledOperator


def test_plots_are_drawn_from_the_tables(tmp_path):
    """As many bars and points as the tables of bench/results have."""
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("result_plots", DOCS / "_ext/result_plots.py")
    plots = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plots)
    sweeps = (ROOT / "bench/results/sweep.md").read_text()
    drawn = list(plots.sweeps(sweeps))
    assert len(drawn) == sweeps.count(", by ")
    assert sum(len(points) for *_, points in drawn) == sweeps.count("GB/s")
    plots.draw_results(ROOT / "bench", tmp_path)
    page = (DOCS / "performance.md").read_text()
    for name in re.findall(r"_build/pictures/([\w-]+\.svg)", page):
        assert "</svg>" in (tmp_path / name).read_text()


def test_reference_lists_the_element_types(tmp_path):
    """Doxygen expands the macro that makes the enumerators."""
    needs("doxygen")
    settings = (DOCS / "Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {tmp_path}\n"
    done = subprocess.run(
        ["doxygen", "-"],
        input=settings,
        cwd=DOCS,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "xml/namespacedmlcpu.xml").read_text()
    listed = re.search(r"<name>DataType</name>.*?</memberdef>", text, re.S)[0]
    names = re.findall(r"<name>k(\w+)</name>", listed)
    assert [name.lower() for name in names] == list(_core.data_types())
