"""Each line of docs/migration.md, beside the call that it replaces.

A section's first block makes the names of its table. What needs a library or a door that is not installed
is skipped; the extra `interop` installs them, but for TensorFlow.
"""

import doctest
import functools
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parent.parent / "docs/migration.md").read_text()
SECTIONS = {
    heading: text
    for heading, text in re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    if ">>>" in text
}


def lines(text):
    """The rows of a table as dictionaries."""
    rows = [
        [cell.strip() for cell in row[1:-1].split("|")]
        for row in re.findall(r"^\|.*\|$", text, re.M)
    ]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


LINES = [
    pytest.param(heading, line, id=f"{heading}: {line[heading]}")
    for heading, text in SECTIONS.items()
    for line in lines(text)
]


def load(name):
    return pytest.importorskip(name, exc_type=ImportError)


# What TensorFlow's documentation says of its functions, for where it is missing.


def top_k(input, k):
    """The k largest of the last dimension, largest first; of equal elements the lower index."""
    indices = np.argsort(-input, axis=-1, kind="stable")[..., :k].astype(np.int32)
    return np.take_along_axis(input, indices, -1), indices


def gather_nd(params, indices, batch_dims=0):
    """output[i] = params[indices[i]], where indices[i] is a tuple, in each batch."""
    if batch_dims > 0:
        return np.stack([gather_nd(*both, batch_dims - 1) for both in zip(params, indices)])
    return params[tuple(np.moveaxis(indices, -1, 0))]


DOCUMENTED = types.ModuleType("tensorflow")
DOCUMENTED.math = types.SimpleNamespace(top_k=top_k)
DOCUMENTED.argmax = lambda input, axis=0: np.argmax(input, axis)
DOCUMENTED.argmin = lambda input, axis=0: np.argmin(input, axis)
DOCUMENTED.gather = lambda params, indices: params[indices]
DOCUMENTED.gather_nd = gather_nd


@pytest.fixture(autouse=True)
def tensorflow(monkeypatch):
    try:
        import tensorflow  # noqa: F401
    except ImportError:
        monkeypatch.setitem(sys.modules, "tensorflow", DOCUMENTED)


def run_blocks(blocks, names):
    """Run blocks of examples, and return the names that are defined then."""
    name = "docs/migration.md"
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), names, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test, clear_globs=False).failed == 0
    return test.globs


@functools.cache
def section(heading):
    """(names that the first block of a section defines, its other blocks)."""
    first, *rest = re.findall(r"^```python\n(.*?)^```", SECTIONS[heading], re.M | re.S)
    for module in re.findall(r"^>>> import (\S+)", first, re.M):
        load(module)
    return run_blocks([first], {}), rest


@pytest.mark.parametrize("heading", SECTIONS)
def test_examples(heading):
    names, blocks = section(heading)
    run_blocks(blocks, dict(names))


def arrays(result):
    """A call's results as arrays."""
    many = isinstance(result, (tuple, list))
    return [np.asarray(one) for one in (result if many else [result])]


def evaluate_node(text, names):
    """The outputs of a node of ONNX by onnx's own evaluator."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    node = onnx.parser.parse_node(text)
    any_type = onnx.TypeProto()
    inputs, outputs = (
        [onnx.helper.make_value_info(name, any_type) for name in of]
        for of in (node.input, node.output)
    )
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", inputs, outputs))
    return ReferenceEvaluator(model).run(None, {name: names[name] for name in node.input})


def evaluate(heading, code, node=False):
    names = section(heading)[0] | WRONG
    return arrays(evaluate_node(code, names) if node else eval(code, names))


def call(heading, line, column):
    return evaluate(heading, line[column].strip("`"), column == "ONNX")


def check(got, want, differs):
    """Results of the same shapes and elements, but for what `differs` lists."""
    assert len(got) == len(want)
    for one, other in zip(got, want):
        if "sorted" in differs:
            one, other = np.sort(one, -1), np.sort(other, -1)
        np.testing.assert_array_equal(one, other, strict="uint32" not in differs)
    if "uint32" in differs:
        assert got[-1].dtype == np.uint32 != want[-1].dtype
        assert [one.dtype for one in got[:-1]] == [other.dtype for other in want[:-1]]


@pytest.mark.parametrize(("heading", "line"), LINES)
def test_function(heading, line):
    differs = line["differs"].split(", ")
    assert set(differs) <= {"nothing", "uint32", "sorted"}
    got = call(heading, line, "dmlcpu")
    check(got, call(heading, line, heading), differs)


@pytest.mark.parametrize(
    ("heading", "line"), [case for case in LINES if case.values[1].get("door")]
)
def test_door(heading, line):
    load(re.search(r"dmlcpu\.\w+", line["door"])[0])
    got = call(heading, line, "door")
    differs = set(line["differs"].split(", ")) & {"sorted"}
    check(got, call(heading, line, heading), differs)


# Inputs of the mistakes below in nodes of ONNX, which name their inputs.
WRONG = {"zero": np.array([0]), "many": np.array([5]), "outside": np.array([[9]])}
MISTAKES = {
    "dmlcpu": {
        "k = 0": ["dmlcpu.top_k(x, 0)"],
        "k too large": ["dmlcpu.top_k(x, 5)"],
        "axis out of range": ["dmlcpu.argmax(x, 2)", "dmlcpu.top_k(x, 1, axis=2)"],
        "gather index out of range": ["dmlcpu.gather_nd(x, [[9]])"],
    },
    "NumPy": {
        "k too large": ["np.argpartition(x, 4)"],
        "axis out of range": ["np.argmax(x, 2)", "np.argpartition(x, 1, 2)"],
        "gather index out of range": ["np.take(x, [99])", "x[[9]]"],
    },
    "bottleneck": {
        "k too large": ["bn.argpartition(x, 4)"],
        "axis out of range": ["bn.nanargmax(x, 2)", "bn.argpartition(x, 1, 2)"],
    },
    "PyTorch": {
        "k = 0": ["torch.topk(x, 0)"],
        "k too large": ["torch.topk(x, 5)"],
        "axis out of range": ["torch.argmax(x, 2)", "torch.topk(x, 1, 2)"],
        "gather index out of range": ["torch.index_select(x, 0, i + 9)", "torch.gather(x, 1, each + 9)"],
    },
    "JAX": {
        "k = 0": ["jax.lax.top_k(x, 0)"],
        "k too large": ["jax.lax.top_k(x, 5)"],
        "axis out of range": ["jnp.argmax(x, 2)", "jax.lax.top_k(x, 1, axis=2)"],
    },
    "ONNX": {
        "k = 0": ["v, i = TopK (x, zero)"],
        "k too large": ["v, i = TopK (x, many)"],
        "axis out of range": ["y = ArgMax <axis = 2> (x)", "v, i = TopK <axis = 2> (x, k)"],
        "gather index out of range": ["y = GatherND (x, outside)"],
    },
}  # fmt: skip
ERRORS = next(
    {row[""]: row for row in lines(table)} for table in PAGE.split("\n\n") if "| k = 0 |" in table
)


@pytest.mark.parametrize(
    ("library", "column"),
    [(library, column) for library in MISTAKES for column in MISTAKES[library]],
)
def test_mistakes(library, column):
    found = set()
    for code in MISTAKES[library][column]:
        try:
            results = evaluate("NumPy" if library == "dmlcpu" else library, code, library == "ONNX")
        except Exception as error:
            found.add(type(error).__name__)
        else:
            assert {array.shape for array in results} == {(3, 0)}
            found.add("empty")
    assert found == set(re.findall(r"empty|\w+Error", ERRORS[library][column]))


def test_tables_are_read():
    assert {case.values[0] for case in LINES} == {
        "NumPy", "bottleneck", "PyTorch", "JAX", "TensorFlow", "ONNX"
    }  # fmt: skip
    assert len(LINES) > 60
    for library, row in ERRORS.items():
        cells = {column for column in row if re.search("empty|Error", row[column])}
        assert library == "TensorFlow" or cells == set(MISTAKES[library])
