"""The operators as Python functions: what they take by name and by position, and what they are."""

import copy
import gc
import inspect
import pickle
import pydoc
import re
import sys
import typing
import weakref

import numpy as np
import pytest

import dmlcpu
from dmlcpu import AxisDirection, _core

from scripts import run_python, start_python

X = np.array([[1, 2, 3], [3, 0, 4]], np.float32)
OPERATORS = [dmlcpu.argmin, dmlcpu.argmax, dmlcpu.top_k, dmlcpu.gather_nd]

ARG = {
    "input": inspect.Parameter.empty,
    "axis": None,
    "axis_direction": AxisDirection.INCREASING,
    "keepdims": True,
    "index_dtype": np.uint32,
    "nan_policy": "propagate",
    "out": None,
}


@pytest.mark.parametrize(
    ("operator", "positional", "parameters"),
    [
        (dmlcpu.argmin, 2, ARG),
        (dmlcpu.argmax, 2, ARG),
        (
            dmlcpu.top_k,
            2,
            {
                "input": inspect.Parameter.empty,
                "k": inspect.Parameter.empty,
                "axis": -1,
                "axis_direction": AxisDirection.DECREASING,
                "index_dtype": np.uint32,
                "nan_policy": "propagate",
                "out": None,
            },
        ),
        (
            dmlcpu.gather_nd,
            2,
            {
                "input": inspect.Parameter.empty,
                "indices": inspect.Parameter.empty,
                "batch_dims": 0,
                "mode": "raise",
                "out": None,
            },
        ),
    ],
)
def test_signatures(operator, positional, parameters):
    found = inspect.signature(operator).parameters
    assert {name: p.default for name, p in found.items()} == parameters
    kinds = [p.kind for p in found.values()]
    assert kinds[:positional] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * positional
    assert set(kinds[positional:]) == {inspect.Parameter.KEYWORD_ONLY}


def test_every_parameter_reaches_its_place():
    """By a value that changes the result, or an error that names it."""
    x = np.array([[1, np.nan, 3], [3, 3, 1]], np.float32)
    assert dmlcpu.argmax(input=x, axis=1).tolist() == [[1], [0]]
    assert dmlcpu.argmax(x, 1, nan_policy="omit", keepdims=False).tolist() == [2, 0]
    assert dmlcpu.argmax(x, axis=1, axis_direction=1, nan_policy="omit").tolist() == [[2], [1]]
    assert dmlcpu.argmin(axis=0, input=x[:, ::2], index_dtype=np.int64).dtype == np.int64
    for name in ["axis", "axis_direction", "keepdims", "index_dtype", "nan_policy", "out"]:
        for operator in (dmlcpu.argmin, dmlcpu.argmax):
            with pytest.raises(TypeError, match=f"^{name}: "):
                operator(x, **{name: 1.5})
    for name in ["k", "axis", "axis_direction", "index_dtype", "nan_policy", "out"]:
        with pytest.raises(TypeError, match=f"^{name}: "):
            dmlcpu.top_k(**({"input": x, "k": 1} | {name: 1.5}))
    for name in ["indices", "batch_dims", "mode", "out"]:
        with pytest.raises(TypeError, match=f"^{name}: "):
            dmlcpu.gather_nd(**({"input": x, "indices": [[0]]} | {name: 1.5}))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    ("positional", "named"),
    [
        ((), {}),
        ((X, 1, 1), {}),
        ((X, 1, 1, 1, 1, 1, 1, 1, 1, 1), {}),
        ((X, 1), {"input": X}),
        ((X, 1), {"no_such_name": 1}),
        ((X, 1), {"": 1}),
        ((), {"out": None}),
    ],
)
def test_arguments_are_refused_in_python_s_own_words(operator, positional, named):
    with pytest.raises(TypeError) as wanted:
        operator.__wrapped__(*positional, **named)
    with pytest.raises(TypeError, match="^" + re.escape(str(wanted.value)) + "$"):
        operator(*positional, **named)


def test_names_need_not_be_the_same_objects():
    """Names in source code are interned; others are equal, but not identical."""

    class Name(str):
        pass

    name = "".join(["ax", "is"])
    assert name is not sys.intern("axis")
    assert dmlcpu.argmax(X, **{name: 1}).tolist() == [[2], [2]]
    assert dmlcpu.argmax(X, **{Name("axis"): 1}).tolist() == [[2], [2]]


def test_subclasses_of_str_may_be_anything():
    class Loud(str):
        def lower(self):
            return 5

    with pytest.raises(ValueError, match="axis_direction: must be AxisDirection"):
        dmlcpu.argmax(X, axis_direction=Loud("increasing"))


def test_submodules_are_loaded_when_used():
    """In a new interpreter: this one has loaded them."""
    run_python(
        """
        import sys, types, dmlcpu
        others = {"pandas", "pyarrow", "polars", "torch", "jax", "ml_dtypes"}

        def check_nothing_is_loaded():
            assert not {name.partition(".")[0] for name in sys.modules} & others
            assert "dmlcpu.directml._compiled" not in sys.modules

        check_nothing_is_loaded()
        dmlcpu.argmax([[1, 2], (3, 4)])
        try:
            dmlcpu.argmax([1, None])
        except TypeError:
            check_nothing_is_loaded()
        from dmlcpu import *
        from dmlcpu import directml as early
        import dmlcpu.directml
        check_nothing_is_loaded()
        assert "DirectML" in early.__doc__
        assert "dmlcpu.directml._compiled" in sys.modules
        assert early is dmlcpu.directml is sys.modules["dmlcpu.directml"]
        assert type(early) is types.ModuleType and "compile" in dir(early)
        """
    )
    run_python("import dmlcpu; assert 'compile' in dir(dmlcpu.directml)")
    run_python("import dmlcpu.directml; dmlcpu.directml.compile")
    with pytest.raises(AttributeError, match="^module 'dmlcpu' has no attribute 'no_such_name'$"):
        dmlcpu.no_such_name  # noqa: B018


def test_dir_of_a_lazy_module_is_its_own():
    run_python("import dmlcpu.numpy as dn; assert 'zeros' in dir(dn) and 'top_k' in dir(dn)")


def test_numpys_own_names_stay():
    run_python("import dmlcpu.numpy as np; np._core.multiarray")


def test_a_stand_in_is_as_its_module():
    """`from dmlcpu import onnx` gives one where nobody has used the module yet."""
    pytest.importorskip("onnx")
    run_python(
        """
        import sys
        from dmlcpu import onnx as early
        import dmlcpu
        assert repr(early) == "<module 'dmlcpu.onnx', loaded when it is used>"
        assert "dmlcpu.onnx" not in sys.modules
        assert early.ops is dmlcpu.onnx.ops and early is not dmlcpu.onnx
        early.ops = 3
        assert dmlcpu.onnx.ops == early.ops == 3
        dmlcpu.onnx.ops = 4
        assert early.ops == 4
        del early.ops
        assert not hasattr(dmlcpu.onnx, "ops")
        """
    )


def test_type_checkers_know_submodules(tmp_path):
    """And that other names do not exist."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import dmlcpu\nreveal_type(dmlcpu.directml.calc_buffer_tensor_size)\ndmlcpu.no_such_name\n"
    )
    done = start_python("-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", program)
    assert 'program.py:2: note: Revealed type is "def (' in done.stdout
    assert 'program.py:3: error: Module has no attribute "no_such_name"' in done.stdout
    assert "Found 1 error" in done.stdout


@pytest.mark.parametrize("operator", OPERATORS)
def test_they_behave_as_functions(operator):
    name = operator.__name__
    assert getattr(dmlcpu, name) is operator
    assert operator.__qualname__ == name
    assert operator.__module__ == "dmlcpu._operators"
    assert inspect.isroutine(operator)
    assert repr(operator).startswith(f"<function {name} at ")
    assert typing.get_type_hints(operator)
    assert operator.__annotations__ == operator.__wrapped__.__annotations__
    assert pickle.loads(pickle.dumps(operator)) is operator
    assert copy.copy(operator) is copy.deepcopy(operator) is operator
    assert weakref.ref(operator)() is operator
    assert {operator: 1}[operator] == 1
    text = pydoc.plain(pydoc.render_doc(operator))
    assert re.search(rf"^{name}\(\s*input: ", text, re.M)  # since Python 3.13 a line per parameter
    assert "Examples" in text
    with pytest.raises(TypeError, match="cannot create"):
        type(operator)()


def test_in_a_class_they_become_methods():
    class Row(np.ndarray):
        largest = dmlcpu.argmax

    row = np.array([1, 5, 2]).view(Row)
    assert row.largest().tolist() == [1]
    assert Row.largest is dmlcpu.argmax


def test_results_are_freed():
    results = [dmlcpu.argmax(X), *dmlcpu.top_k(X, 1), dmlcpu.gather_nd(X, np.array([[0]]))]
    references = [weakref.ref(result) for result in results]
    out = np.empty((1, 1), np.uint32)
    before = sys.getrefcount(out)
    for _ in range(100):
        assert dmlcpu.argmax(X, out=out) is out
    assert sys.getrefcount(out) == before
    del results
    assert [reference() for reference in references] == [None] * 4


def test_calls_leave_no_references():
    defaults = [AxisDirection.INCREASING, np.uint32, X]
    before = [sys.getrefcount(value) for value in defaults]
    for _ in range(100):
        dmlcpu.argmax(X)
        dmlcpu.top_k(X, 1)
        dmlcpu.gather_nd(X, np.array([[0]]))
        with pytest.raises(TypeError):
            dmlcpu.argmax(X, no_such_name=1)
        with pytest.raises(ValueError):
            dmlcpu.argmax(X, nan_policy="never")
    after = [sys.getrefcount(value) for value in defaults]
    assert all(abs(b - a) < 50 for a, b in zip(before, after))


def test_unused_ones_are_collected():
    """A declaration refers to its function, and the function to it."""

    def make():
        def argmin(input, axis, axis_direction, keepdims, index_dtype, nan_policy, out):
            return function

        function = _core.native_argmin(argmin)
        return weakref.ref(function)

    gone = make()
    gc.collect()
    assert gone() is None


def test_declarations_must_have_the_operator_s_parameters():
    with pytest.raises(RuntimeError, match="^a declaration must have 7 parameters$"):
        _core.native_argmin(lambda input, axis: None)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: dmlcpu.top_k(X, 1, dim=1), "dim: must be given as axis"),
        (lambda: dmlcpu.top_k(X, 1, largest=False), "largest: must be given as axis_direction"),
        (lambda: dmlcpu.top_k(X, K=1), "K: must be given as k"),
        (lambda: dmlcpu.argmax(X, dim=0), "dim: must be given as axis"),
        (lambda: dmlcpu.argmin(X, 0, keepdim=True), "keepdim: must be given as keepdims"),
        (lambda: dmlcpu.argmin(a=X), "a: must be given as input"),
        (lambda: dmlcpu.argmax(X, dtype=np.int64), "dtype: must be given as index_dtype"),
        (lambda: dmlcpu.gather_nd(X, index=[[0]]), "index: must be given as indices"),
        # What has no other name here.
        (lambda: dmlcpu.gather_nd(X, [[0]], dim=1),
         "gather_nd() got an unexpected keyword argument 'dim'"),
        (lambda: dmlcpu.top_k(X, 1, sorted=True), "top_k() got an unexpected keyword argument 'sorted'"),
    ],
)  # fmt: skip
def test_other_libraries_names_of_parameters(call, text):
    with pytest.raises(TypeError, match="^" + re.escape(text) + "$"):
        call()


def test_argmax_has_parameters_of_its_own():
    argmin, argmax = (inspect.getdoc(f) for f in (dmlcpu.argmin, dmlcpu.argmax))
    for name in ARG:
        assert re.search(rf"^{name}\n    ", argmax, re.M)
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert (
            argmax.count(f"{section}\n{'-' * len(section)}\n") == argmin.count(f"{section}\n") == 1
        )
    assert "NaN counts as larger than every number" in argmax
    assert "input" in pydoc.render_doc(dmlcpu.argmax).partition("Parameters")[2]
