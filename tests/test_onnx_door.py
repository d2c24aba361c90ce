"""dmlcpu.onnx: onnx's node tests, and random nodes of every opset beside onnx's own evaluator.

Skipped where onnx is missing, but for what happens then; the extra `interop` installs it.
"""

import doctest
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import data
from scripts import run_python, start_python

ROOT = Path(__file__).parent.parent
OPERATORS = ["ArgMax", "ArgMin", "GatherND", "TopK"]

try:
    import onnx
except ImportError:
    onnx = None
else:
    from onnx.backend.test.case.node import collect_testcases
    from onnx.reference import ReferenceEvaluator

    import dmlcpu.onnx

NUMBERS = [dtype for dtype in data.DTYPES if dtype.kind != "b"]
SETTINGS = settings(max_examples=60, deadline=None)
needs_onnx = pytest.mark.skipif(onnx is None, reason="needs onnx")


def test_import_loads_neither_door_nor_library():
    code = "import sys, dmlcpu; print([m for m in sys.modules if m.endswith('onnx')])"
    assert run_python(code) == "[]"


def test_error_where_onnx_is_missing():
    done = start_python("-c", "import sys; sys.modules['onnx'] = None; import dmlcpu.onnx")
    wanted = "ImportError: dmlcpu.onnx: needs the package onnx, got "
    assert done.stderr.splitlines()[-1].startswith(wanted)


def node_tests():
    """onnx's own, of all that has one of the operators."""
    return [
        test
        for test in collect_testcases(None)
        if any(node.op_type in OPERATORS for node in test.model.graph.node)
    ]


@needs_onnx
# onnx makes the inputs of all its operators' tests, some with values that are no numbers.
@pytest.mark.filterwarnings("ignore")
def test_onnx_node_tests():
    tests = node_tests()
    assert len(tests) >= 38
    assert {node.op_type for test in tests for node in test.model.graph.node} >= set(OPERATORS)
    for test in tests:
        evaluator = ReferenceEvaluator(test.model, new_ops=dmlcpu.onnx.ops())
        own = [node for node in evaluator.rt_nodes_ if isinstance(node, tuple(dmlcpu.onnx.ops()))]
        assert own, test.name
        assert test.data_sets, test.name
        for inputs, outputs in test.data_sets:
            results = evaluator.run(None, dict(zip(evaluator.input_names, inputs)))
            assert len(results) == len(outputs), test.name
            for got, want in zip(results, outputs):
                assert got.dtype == want.dtype, test.name
                np.testing.assert_array_equal(got, want, err_msg=test.name)


def evaluate(op_type, opset, inputs, attributes, new_ops=None):
    """The outputs of a model of one node."""
    names = [f"x{i}" for i in range(len(inputs))]
    results = ["y0", "y1"] if op_type == "TopK" else ["y0"]
    node = onnx.helper.make_node(op_type, names, results, **attributes)
    any_type = onnx.TypeProto()
    graph = onnx.helper.make_graph(
        [node],
        op_type,
        [onnx.helper.make_value_info(name, any_type) for name in names],
        [onnx.helper.make_value_info(name, any_type) for name in results],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model, new_ops=new_ops).run(None, dict(zip(names, inputs)))


def door(op_type, opset, inputs, **attributes):
    return evaluate(op_type, opset, inputs, attributes, dmlcpu.onnx.ops())


def random_node(draw, op_type):
    """(opset, data tensor, axis) of a random call; the opset changed the operator, or is the newest."""
    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == op_type]
    since = [schema.since_version for schema in schemas if schema.domain == ""]
    opset = draw(st.sampled_from([*sorted(since), onnx.defs.onnx_opset_version()]))
    x = draw(data.tensors(NUMBERS, min_rank=1, max_rank=5))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    return opset, x, axis


def compare(op_type, opset, inputs, **attributes):
    """The door gives what onnx's evaluator does: the same types, shapes and bits."""
    got = door(op_type, opset, inputs, **attributes)
    want = evaluate(op_type, opset, inputs, attributes)
    if op_type == "TopK" and inputs[0].dtype == ml_dtypes.bfloat16:
        # NumPy does not sort NaNs of this type; those of float32 it does.
        x, *k = inputs
        _, indices = evaluate(op_type, opset, [x.astype(np.float32), *k], attributes)
        want = [np.take_along_axis(x, indices, attributes["axis"]), indices]
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


@needs_onnx
@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
@SETTINGS
@given(draw=st.data())
def test_arg(op_type, draw):
    opset, x, axis = random_node(draw.draw, op_type)
    attributes = {"axis": axis, "keepdims": draw.draw(st.integers(0, 1))}
    if opset >= 12:
        attributes["select_last_index"] = draw.draw(st.integers(0, 1))
    chosen = draw.draw(st.sets(st.sampled_from(sorted(attributes))))
    compare(op_type, opset, [x], **{name: attributes[name] for name in chosen})


@needs_onnx
@SETTINGS
@given(draw=st.data())
def test_top_k(draw):
    opset, x, axis = random_node(draw.draw, "TopK")
    k = draw.draw(st.integers(0, x.shape[axis]))
    inputs = [x] if opset < 10 else [x, np.array([k], np.int64)]
    attributes = {"axis": axis} | ({"k": k} if opset < 10 else {})
    if opset >= 11:
        attributes["largest"] = draw.draw(st.integers(0, 1))
    compare("TopK", opset, inputs, **attributes)


@needs_onnx
def test_top_k_is_sorted_where_it_need_not_be():
    inputs = [np.array([1, 3, 2, 3]), np.array([3])]
    for largest, values, indices in [(1, [3, 3, 2], [1, 3, 2]), (0, [1, 2, 3], [0, 2, 1])]:
        for asked in (0, 1):
            got = door("TopK", 11, inputs, largest=largest, sorted=asked)
            assert [array.tolist() for array in got] == [values, indices]


@needs_onnx
@SETTINGS
@given(draw=st.data())
def test_gather_nd(draw):
    opset, x, _axis = random_node(draw.draw, "GatherND")
    batch = draw.draw(st.integers(0, x.ndim - 1)) if opset >= 12 else 0
    t = draw.draw(st.integers(1, x.ndim - batch))
    between = draw.draw(st.lists(st.integers(0, 3), max_size=2))
    limits = np.array(x.shape[batch : batch + t])
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32)))
    indices = rng.integers(-limits, limits, (*x.shape[:batch], *between, t))
    compare("GatherND", opset, [x, indices], **({"batch_dims": batch} if opset >= 12 else {}))


@needs_onnx
def test_defaults_are_those_of_the_opset():
    x = np.array([[1.0, 3, 3]], np.float32)
    assert door("ArgMax", 1, [x])[0].tolist() == [[0, 0, 0]]
    assert door("TopK", 1, [x], k=1)[1].tolist() == [[1]]
    assert door("TopK", 10, [x, np.array([1])])[1].tolist() == [[1]]
    for op_type, opset, attribute in [
        ("ArgMax", 11, "select_last_index"),
        ("ArgMin", 11, "select_last_index"),
        ("TopK", 10, "largest"),
        ("GatherND", 11, "batch_dims"),
    ]:
        with pytest.raises(TypeError) as caught:
            door(op_type, opset, [x, np.array([1])], **{attribute: 1})
        assert f"{attribute}: must be an attribute of {op_type} in opset {opset}, which has [" in (
            str(caught.value.__cause__)
        )
        if op_type == "GatherND":  # onnx has one class for all opsets
            continue
        with pytest.raises(TypeError):
            evaluate(op_type, opset, [x, np.array([1])], {attribute: 1})
    with pytest.raises(RuntimeError, match="Attribute 'k' is expected"):
        door("TopK", 1, [x])


@needs_onnx
@pytest.mark.parametrize("op_type", OPERATORS)
def test_attributes_are_those_of_the_opset(op_type):
    """None that the newest has, and this one has not: TopK of opset 1 and 10 has no `sorted`."""
    newest = onnx.defs.get_schema(op_type).attributes
    since = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == op_type}
    for opset in sorted(since):
        schema = onnx.defs.get_schema(op_type, opset)
        inputs = [np.ones((1, 3), np.float32), np.array([[0]])][: schema.min_input]
        k = {"k": 1} if "k" in schema.attributes else {}
        for name in newest.keys() - schema.attributes.keys():
            with pytest.raises(TypeError) as caught:
                door(op_type, opset, inputs, **{name: 1}, **k)
            wanted = f"{name}: must be an attribute of {op_type} in opset {opset}, which has "
            assert str(caught.value.__cause__) == wanted + str(sorted(schema.attributes))


X = np.arange(12, dtype=np.float32).reshape(3, 4)
K = "k: must be in [1, 4] (the size of axis 1)"
MISTAKES = [
    ("ArgMax", [X], {"axis": 2}, "axis: must be in [-2, 1] (input has 2 dimensions), got 2"),
    ("ArgMin", [X[:0]], {}, "input: must not be empty along a reduced axis, got shape (0, 4)"),
    ("TopK", [X, np.array([5])], {}, f"{K}, got 5"),
    ("TopK", [X, np.array([], int)], {}, "k: must be a tensor of one element, got shape (0,)"),
    ("TopK", [X, np.array([2])], {"axis": 2}, "axis: must be in [-2, 1] (input has 2 dimensions), got 2"),
    ("TopK", [X, np.array([0])], {"axis": 2}, "axis 2 is out of bounds for array of dimension 2"),
    (
        "GatherND", [X, np.array([[3]])], {},
        "indices: must be in [-3, 2] for axis 0, of size 3, got 3 at position (0, 0)",
    ),
    (
        "GatherND", [X, np.array([[0, 0, 0]])], {},
        "indices: must have a last dimension in [1, 2] (the dimensions of input after the batch "
        "dimensions), got 3",
    ),
    ("GatherND", [X, np.array(1)], {}, "indices: must have at least 1 dimension, got 0"),
    (
        "GatherND", [X, np.zeros((2, 1), int)], {"batch_dims": 1},
        "indices: must have the batch dimensions of input (3,), got (2,)",
    ),
]  # fmt: skip


@needs_onnx
@pytest.mark.parametrize(("op_type", "inputs", "attributes", "text"), MISTAKES)
def test_errors_have_the_types_of_onnx(op_type, inputs, attributes, text):
    with pytest.raises(Exception) as theirs:
        evaluate(op_type, 13, inputs, attributes)
    with pytest.raises(theirs.type, match=f"^{re.escape(text)}$"):
        door(op_type, 13, inputs, **attributes)


@needs_onnx
def test_mistakes_that_onnx_overlooks():
    with pytest.raises(dmlcpu.onnx.BadValue, match=f"^{re.escape(K)}, got -1$"):
        door("TopK", 13, [X, np.array([-1])])
    with pytest.raises(dmlcpu.onnx.BadValue, match="one element, got shape \\(2,\\)$"):
        door("TopK", 13, [X, np.array([1, 2])])


@needs_onnx
@pytest.mark.parametrize(
    ("op_type", "inputs", "text"),
    [
        ("GatherND", [np.array(["a", "b"]), np.array([[0]])], "input: must be of dtype float32, "),
        (
            "GatherND",
            [np.array(["a"], object), np.array([[0]])],
            "input: must be of dtype float32, ",
        ),
        ("GatherND", [np.array([1j]), np.array([[0]])], "input: must be of dtype float32, "),
        ("GatherND", [X, np.array([[0.0]])], "indices: must be of dtype "),
        ("ArgMax", [np.array(["a", "b"])], "input: must be of dtype float32, "),
        ("TopK", [X, np.array([1.0])], "k: must be a tensor of integers, got float64"),
    ],
)
def test_types_that_the_core_does_not_take(op_type, inputs, text):
    with pytest.raises(TypeError, match="^Issues with types") as caught:
        door(op_type, 13, inputs)
    assert str(caught.value.__cause__).startswith(text)


@needs_onnx
def test_gather_nd_of_bool():
    assert door("GatherND", 13, [np.array([True, False]), np.array([[1], [0]])])[0].tolist() == [
        False,
        True,
    ]


FUNCTION = """
<ir_version: 8, opset_import: ["": 13, "own": 1]>
graph (float[N] x) => (int64[1] y) { y = own.last(x) }
<domain: "own", opset_import: ["": 13]>
last (x) => (y) { y = ArgMax <select_last_index = 1> (x) }
"""


@needs_onnx
def test_nodes_of_functions_run_here_once_they_are_inlined():
    import onnx.inliner

    model = onnx.parser.parse_model(FUNCTION)
    for inlined in (model, onnx.inliner.inline_local_functions(model)):
        evaluator = ReferenceEvaluator(inlined, new_ops=dmlcpu.onnx.ops())
        assert evaluator.run(None, {"x": np.float32([1, 3, 3])})[0].tolist() == [2]
    assert [type(node) for node in evaluator.rt_nodes_] == [dmlcpu.onnx.ArgMax]


BRANCH = """
<ir_version: 8, opset_import: ["": 13]>
graph (bool c, float[N] x) => (int64[1] y)
{ y = If (c) <then_branch = g () => (int64[1] z) { z = ArgMax (x) },
              else_branch = h () => (int64[1] z) { z = ArgMin (x) }> }
"""


@needs_onnx
def test_nodes_of_branches_run_here():
    model = onnx.parser.parse_model(BRANCH)
    evaluator = ReferenceEvaluator(model, new_ops=dmlcpu.onnx.ops())
    x = np.float32([2, 3, 1])
    assert evaluator.run(None, {"c": np.array(True), "x": x})[0] == 1
    assert evaluator.run(None, {"c": np.array(False), "x": x})[0] == 2
    (node,) = evaluator.rt_nodes_
    assert isinstance(node.then_branch.rt_nodes_[0], dmlcpu.onnx.ArgMax)


@needs_onnx
def test_example():
    done = start_python(ROOT / "examples" / "onnx_graph.py", "--size", "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "answers agree"


@needs_onnx
def test_docstrings():
    results = doctest.testmod(dmlcpu.onnx)
    assert results.attempted > 10
    assert results.failed == 0
    assert all(getattr(dmlcpu.onnx, name).__doc__ for name in dmlcpu.onnx.__all__)
