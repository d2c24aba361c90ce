"""What the site's pages take from elsewhere and say of it: examples, tests, headers, versions; and what a
browser would show: groups, descriptions, charts, code that fits.

The build of the site itself warns of a page without a description, an icon or a way to the next page.
"""

import importlib
import re
import subprocess
import sys
from pathlib import Path

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
    compiler = re.search(r"g\+\+ (\d+) or newer", (DOCS / "install.md").read_text())[1]
    assert f"| g++ | {compiler} |" in page
    cmake = re.search(r'cmake\.version = ">=([\d.]+)"', project)[1]
    assert f"CMake {cmake}" in page


def test_everything_in_the_headers_has_its_place():
    """The functions that have examples, and those of C, are on the pages of the interfaces."""
    pages = "".join((DOCS / f"api/{name}.md").read_text() for name in ("cpp", "c"))
    shown = set(re.findall(r"^```{doxygen\w+} (?:\w+::)*(\w+)", pages, re.M))
    functions = {name.strip("(< ") for names in FUNCTIONS.values() for name in names}
    assert functions - {"dispatch"} <= shown  # a member of CompiledOperator


@pytest.fixture
def extension(monkeypatch):
    """Modules of docs/_ext by name."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module


def test_charts_are_drawn_from_the_tables(extension, tmp_path):
    """As many bars and points as the tables of bench/results have, for a desk and for a phone."""
    plots = extension("result_plots")
    results = ROOT / "bench/results"
    sweeps = (results / "sweep.md").read_text()
    drawn = list(plots.sweeps(sweeps))
    assert len(drawn) == sweeps.count("| GB/s |") > 3
    assert sum(len(points) for *_, points in drawn) == sweeps.count("\n|") - 2 * len(drawn)
    plots.draw_results(ROOT / "bench", tmp_path)
    used = {
        name
        for page in PAGES
        for name in re.findall(r"_build/pictures/([\w-]+)\.svg", (ROOT / page).read_text())
    }
    assert {"headlines", "peers", "doors-numpy", "doors-torch", "doors-dask"} <= used
    for name in used:
        for ending in ("", "-narrow"):
            assert "</svg>" in (tmp_path / f"{name}{ending}.svg").read_text()
    rows = re.findall(r"^\| (?!work)\w.*\|$", (results / "peers.md").read_text(), re.M)
    bars = re.findall(r'height="15" class="(?:own|other)"', (tmp_path / "peers.svg").read_text())
    assert len(bars) == len(rows)


@pytest.mark.parametrize(("ratio", "kind"), [(2.0, "own"), (1.0, "own"), (0.5, "other")])
def test_charts_say_what_a_colour_means(extension, tmp_path, ratio, kind):
    plots = extension("result_plots")
    text = "A processor, 2 threads, x86-64-v3, 2026-01-01; dmlcpu 0.1.0."
    plots.draw_ratios(tmp_path / "a", "a", text, [plots.ratio_bar("b", ratio, "c")], "NumPy")
    for name in ("a.svg", "a-narrow.svg"):
        drawing = (tmp_path / name).read_text()
        assert f'height="15" class="{kind}"' in drawing
        assert "dmlcpu is faster" in drawing
        assert "NumPy is faster" in drawing
        # Nothing is to the right of the drawing.
        width = int(re.search(r'viewBox="0 0 (\d+)', drawing)[1])
        for x, content in re.findall(r'<text x="([\d.]+)" .*?"start">(.*?)<', drawing):
            assert float(x) + 6.5 * len(content) < width, content


def test_every_page_is_in_one_group():
    page = (DOCS / "index.md").read_text()
    captions = re.findall(r"^:caption: (.*)$", page, re.M)
    assert captions == [
        "Start", "How to", "Doors", "Reference", "Performance", "How it works", "Project",
    ]  # fmt: skip
    entries = [
        re.sub(r".*<(.*)>", r"\1", line)
        for tree in re.findall(r"^```{toctree}\n.*?\n\n(.*?)^```", page, re.M | re.S)
        for line in tree.splitlines()
    ]
    pages = [name.removeprefix("docs/").removesuffix(".md") for name in PAGES if "docs/" in name]
    assert sorted([*entries, "index"]) == sorted(pages)


@pytest.mark.parametrize("name", [name for name in PAGES if "docs/" in name])
def test_code_fits_a_desk(name):
    """Lines of blocks have up to 120 columns; commands are pasted whole, and may have more."""
    text = (ROOT / name).read_text()
    shown = [text for _, text in included(name, "literalinclude") if text]
    shown += [
        block
        for language, block in re.findall(r"^```([\w{}]*).*?\n(.*?)^```", text, re.M | re.S)
        if language != "sh" and not language.startswith("{")
    ]
    for line in "\n".join(shown).splitlines():
        assert len(line) <= 120, line


def test_pages_have_descriptions(extension):
    pytest.importorskip("sphinx")
    from docutils import nodes

    parts = extension("page_parts")
    page = nodes.document(None, None)
    section = nodes.section()
    page += section
    section += nodes.paragraph(text="Too short.")
    section += nodes.paragraph(text="The first sentence is long enough to describe the page. " * 6)
    assert parts.description(page).startswith("The first sentence")
    assert parts.description(page).endswith("the page.")
    assert len(parts.description(page)) <= 200


def test_pages_that_lack_something_are_found(extension):
    pytest.importorskip("sphinx")
    parts = extension("page_parts")
    whole = (
        '<meta name="description" content="What a page is about." />'
        '<link rel="icon" href="_static/icon.svg"/><a class="right-next" href="b.html">'
    )
    assert parts.lacks(whole) == []
    assert parts.lacks("") == ["description", "icon", "way to another page"]
    assert (DOCS / "_static/icon.svg").exists()


def test_names_in_tables_break_after_dots_alone(extension):
    pytest.importorskip("sphinx")
    parts = extension("page_parts")
    cell = '<td><code><span class="pre">dmlcpu.numpy</span></code> and dmlcpu.torch</td>'
    assert re.sub("<td.*</td>", parts.with_breaks, cell) == cell.replace(
        "dmlcpu.numpy", "dmlcpu.<wbr/>numpy"
    )


def test_pages_show_no_times_of_the_machine_that_built_them():
    """What an example prints beside its times is not on a page."""
    for name in PAGES:
        for path, options in directives(name, "literalinclude"):
            if "_build/pictures" in path:
                script = (ROOT / "examples" / Path(path).name).with_suffix(".py")
                times = "from timing import" in script.read_text()
                assert not times or "start-at" in options, f"{name}: {path}"


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
