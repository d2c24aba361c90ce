"""The code base tests itself: layers, symbols, sizes, names and versions."""

import ast
import dataclasses
import importlib.metadata
import re
import subprocess
from pathlib import Path

import pytest

import dmlcpu
import dmlcpu.directml
from dmlcpu import _core

from scripts import needs

ROOT = Path(__file__).parent.parent
CPP = ROOT / "cpp"
SOURCES = sorted(p for p in CPP.rglob("*") if p.suffix in (".cpp", ".hpp", ".h"))

# A file includes its own layer and those before it.
LAYERS = [
    "include/dmlcpu",
    "src/core",
    "src/interface",
    "src/plan",
    "src/kernels",
    "src/ops",
    "src/directml",
    "python",
]


def layer_of(path):
    relative = path.relative_to(CPP).as_posix()
    return next(i for i, layer in enumerate(LAYERS) if relative.startswith(layer + "/"))


def included(path):
    """(name, whether quoted) of each include."""
    for mark, name in re.findall(r'^#include ([<"])([^>"]+)[>"]', path.read_text(), re.M):
        yield name, mark == '"'


def target(path, name):
    """The file of the project that a quoted include means."""
    for folder in (CPP / "include", CPP / "src", path.parent):
        if (folder / name).exists():
            return folder / name
    raise AssertionError(f"{path}: no such file: {name}")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(CPP).as_posix())
def test_includes_point_down(path):
    for name, quoted in included(path):
        if quoted:
            assert layer_of(target(path, name)) <= layer_of(path), f"{path} includes {name}"


# Where thresholds are, in the order of docs/tuning.md.
TUNING_HEADERS = [
    f"{name}.hpp"
    for name in ("core/tuning", "core/thread_tuning", "interface/tuning", "plan/tuning")
]


def test_bindings_see_only_the_public_api():
    for path in (CPP / "python").iterdir():
        if path.suffix in (".cpp", ".hpp"):
            for name, quoted in included(path):
                if quoted:
                    allowed = (CPP / "python", CPP / "include/dmlcpu")
                    # Thresholds are for all.
                    assert target(path, name).parent in allowed or name in TUNING_HEADERS


def test_bridges():
    """Each header of another library is included in one place."""

    def includers(pattern):
        return {
            path.relative_to(CPP).as_posix()
            for path in SOURCES
            if any(re.fullmatch(pattern, name) for name, _ in included(path))
        }

    assert includers(r"omp\.h") == {"src/core/parallel.cpp"}
    assert includers(r"pybind11/numpy\.h") == {"python/numpy_bridge.hpp"}
    assert all(name.startswith("python/") for name in includers("pybind11/.*"))
    # Intrinsics are a last resort, kept in one place.
    assert includers(".*intrin.h") == {"src/kernels/target-inl.hpp"}
    assert all("#pragma omp" not in p.read_text() for p in SOURCES if p.name != "parallel.cpp")


CODE = [
    path
    for folder in ("cpp", "python", "tests", "bench", "examples", "docs", "release")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".c", ".cpp", ".h", ".hpp", ".py") and "_build" not in path.parts
]


def test_files_are_short():
    for path in CODE:
        lines = len(path.read_text().splitlines())
        assert lines <= 400, f"{path}: {lines} lines"


def python_functions(path):
    """(name, lines) of each function, docstrings apart."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = node.body[0] if ast.get_docstring(node) is not None else None
            lines = node.end_lineno - node.lineno + 1
            yield node.name, lines - (doc.end_lineno - doc.lineno + 1 if doc else 0)


def cpp_functions(path):
    """(first line, lines) of each function, and of the blocks inside.

    As clang-format lays code out, a function ends in a brace alone on its line, and all between
    that and its first line is indented further than both. Classes, namespaces and tables end in
    more than a brace.
    """
    lines = path.read_text().splitlines()
    margins = [len(line) - len(line.lstrip()) for line in lines]
    for end, line in enumerate(lines):
        if line.strip() == "}":
            first = end - 1
            while not lines[first] or lines[first][0] == "#" or margins[first] > margins[end]:
                first -= 1
            yield lines[first].strip(), end - first + 1


def test_functions_are_short():
    long = set()
    for path in CODE:
        functions = python_functions if path.suffix == ".py" else cpp_functions
        long |= {(path.name, name) for name, lines in functions(path) if lines > 60}
    assert not long


def test_nothing_is_written_twice():
    """No two places share 12 lines; blank ones, comments, imports and lone punctuation apart."""
    places = {}
    for path in CODE:
        lines = [line.strip() for line in path.read_text().splitlines()]
        skipped = re.compile(r"\W*$|//|#|/\*|\*|import |from ")
        lines = [(at, line) for at, line in enumerate(lines, 1) if not skipped.match(line)]
        for i in range(len(lines) - 11):
            run = tuple(line for _, line in lines[i : i + 12])
            here = f"{path.relative_to(ROOT)}:{lines[i][0]}"
            assert places.setdefault(run, here) == here


def test_versions_are_equal():
    declared = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert declared == newest == dmlcpu.__version__ == importlib.metadata.version("dmlcpu")
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {declared}\n" in citation
    dated = re.search(r"^## \d\S* - (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert f"\ndate-released: {dated}\n" in citation


def test_hooks_have_the_versions_of_the_extra_lint():
    extra = re.search(r"^lint = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.M | re.S)[1]
    pinned = dict(re.findall(r'"([\w-]+)==([\d.]+)"', extra))
    assert len(pinned) == extra.count('"') / 2
    hooks = re.findall(
        r"repo: \S+/(?:mirrors-)?(\S+?)(?:-pre-commit)?\n +rev: v(\S+)\n",
        (ROOT / ".pre-commit-config.yaml").read_text(),
    )
    # clang-tidy needs a build.
    assert dict(hooks) | {"clang-tidy": pinned["clang-tidy"]} == pinned


def test_stubs_are_current():
    stub = ast.parse((ROOT / "python/dmlcpu/_core.pyi").read_text())
    names = {n.name for n in stub.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    names |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    module = {name for name in dir(_core) if not re.fullmatch("__(?!version).*__", name)}
    assert names == module


# A structure's fields that Python's dataclasses do not have: lengths of sequences.
COUNTS = {"axis_count", "dimension_count"}


def snake_case(name):
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


def test_python_declares_what_directml_does():
    """Enumerators, their values and descriptors' fields are those of the C header."""
    dml = dmlcpu.directml
    header = (CPP / "include/dmlcpu/directml_descriptors.h").read_text()
    enums = {"AxisDirection": "AXIS_DIRECTION", "ReduceFunction": "REDUCE_FUNCTION",
             "OperatorType": "OPERATOR", "TensorDataType": "TENSOR_DATA_TYPE",
             "TensorFlags": "TENSOR_FLAG", "FeatureLevel": "FEATURE_LEVEL"}  # fmt: skip
    for enum, prefix in enums.items():
        values = {}
        body = re.search(rf"typedef enum DML_{prefix}S?(?:_TYPE)?\b[^{{;]*{{(.*?)}}", header, re.S)[
            1
        ]
        for name, value in re.findall(rf"DML_{prefix}_(\w+)(?: = (\w+))?", body):
            name = "LEVEL_" + name if enum == "FeatureLevel" else name
            values[name] = int(value, 0) if value else len(values)
        for name, member in getattr(dml, enum).__members__.items():
            assert values.pop(name) == member, member
        # The library has two of the functions, and no operator is invalid.
        assert enum == "ReduceFunction" or set(values) <= {"INVALID"}, values
    structs = dict(re.findall(r"typedef struct DML_(\w+) {(.*?)}", header, re.S))
    descs = [getattr(dml, name) for name in dml.__all__ if re.fullmatch(r".+OperatorDesc", name)]
    for desc in descs:
        fields = re.findall(r"(\w+);", structs[desc.operator_type.name + "_OPERATOR_DESC"])
        declared = [field.name for field in dataclasses.fields(desc)]
        assert declared == [f for f in map(snake_case, fields) if f not in COUNTS], desc
    assert {desc.operator_type for desc in descs} == set(dml.OperatorType)
    fields = set(map(snake_case, re.findall(r"(\w+);", structs["BUFFER_TENSOR_DESC"])))
    assert {f.name for f in dataclasses.fields(dml.BufferTensorDesc)} == fields - COUNTS
    rows = re.findall(
        r'X\((\w+), "(\S+)",', (CPP / "include/dmlcpu/directml_table.hpp").read_text()
    )
    others = {"Type": "operator_type", "AxisCount": "len(axes)"}
    assert dict(rows) == {name: others.get(name, snake_case(name)) for name, _ in rows}


def test_tests_can_read_every_threshold():
    """The build finds each definition of the tuning headers, whatever its type; there are no others."""
    headers = [CPP / "src" / name for name in TUNING_HEADERS]
    assert {path for path in SOURCES if path.name.endswith("tuning.hpp")} == set(headers)
    text = "".join(map(code_of, headers))
    values = _core.tuning()
    assert len(values) == text.count("constexpr") > 50
    for name, value in values.items():
        assert re.search(rf" {name}( = |\()", text), name
        assert callable(value) == name.islower(), name


def code_of(path):
    return re.sub("//.*", "", path.read_text())


def test_thresholds_are_where_they_are_read():
    """Each is read, and defined in the header of its readers: the first of these layers that has one."""
    readers = {name: set() for name in _core.tuning()}
    owners = {}
    for path in SOURCES:
        file = path.relative_to(CPP).as_posix().removeprefix("src/")
        layer = file.split("/")[0]
        words = re.findall(r"\w+", code_of(path))
        for name in set(words) & readers.keys():
            if file in TUNING_HEADERS:
                owners[name] = layer
            if file not in TUNING_HEADERS or words.count(name) > 1:
                readers[name].add(layer)
    for name, layers in readers.items():
        assert layers, f"{name} is not read"
        if layers & {"interface", "kernels"}:
            assert owners[name] == "interface", name
        else:
            assert owners[name] == ("plan" if layers == {"plan"} else "core"), name


def test_interpreters_start_in_a_clean_environment():
    """Tests start Python by tests/scripts.py alone; no other file knows where it is."""
    files = [p for p in (ROOT / "tests").glob("*.py") if re.search(r"sys\.exec\w+", p.read_text())]
    assert [p.name for p in files] == ["scripts.py"]


def test_everything_public_is_documented():
    for module in (dmlcpu, dmlcpu.directml, dmlcpu.numpy):
        for name in {*module.__all__} & {*vars(module)} - {"__version__"}:
            assert getattr(module, name).__doc__, name


def test_nothing_names_a_place():
    """No absolute path of somebody's machine in a tracked file."""
    needs("git")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        if Path(name).suffix not in (".png", ".svg"):
            text = (ROOT / name).read_text()
            assert not re.search(r"(?<![\w.])/(home|root|work|Users)/\w", text), name


# Symbols that hold code or data of this translation unit, but that the linker may take from
# another one: weak functions and objects, and unique globals.
WEAK = re.compile(r"^\S* +[WwVvu] (?P<symbol>.*)$")


def test_instruction_set_objects_share_no_code(cpp_build):
    """A weak symbol compiled for one instruction set could serve the whole program and crash older
    processors."""
    needs("nm")
    objects = [p for p in cpp_build.rglob("*.o") if "dmlcpu_kernels_" in p.as_posix()]
    targets = {re.search(r"dmlcpu_kernels_(\w+)\.dir", p.as_posix())[1] for p in objects}
    assert len(objects) == 3 * len(targets) >= 3
    for path in objects:
        target = re.search(r"dmlcpu_kernels_(\w+)\.dir", path.as_posix())[1]
        listing = subprocess.run(
            ["nm", "--demangle", path], capture_output=True, text=True, check=True
        ).stdout
        for line in listing.splitlines():
            weak = WEAK.match(line)
            assert not weak or weak["symbol"].startswith(f"dmlcpu::{target}::"), f"{path}: {line}"
        defined = re.findall(r"^\S+ [A-TX-Z] (.*)$", listing, re.M)
        assert defined
        assert all(name.startswith(f"dmlcpu::{target}::") for name in defined), defined
