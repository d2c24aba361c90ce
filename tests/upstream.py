"""NumPy's own tests, with dmlcpu.numpy's functions in the place of NumPy's."""

import ast
import functools
import importlib.util
import types
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dmlcpu
import dmlcpu.numpy as door

# How often each function was called, and each of dmlcpu's operators by them.
calls = Counter()
operator_calls = Counter()


def counted(function, counter):
    @functools.wraps(function)
    def call(*args, **kwargs):
        counter[function.__name__] += 1
        return function(*args, **kwargs)

    return call


OPERATOR_NAMES = ("argmax", "argmin", "top_k", "gather_nd")
SORTS = ("sort", "argsort", "partition", "argpartition")
NAMES = ("argmax", "argmin", "nanargmax", "nanargmin", "take", "take_along_axis", *SORTS)
IN_PLACE = ("sort", "partition")  # methods of arrays
FUNCTIONS = {name: counted(getattr(door, name), calls) for name in NAMES}
OPERATORS = types.SimpleNamespace(
    **{name: counted(getattr(dmlcpu, name), operator_calls) for name in OPERATOR_NAMES}
)


def in_place(name, array, *args, **kwargs):
    """A method of an array that changes it, by the function that does not."""
    if kwargs.get("axis", -1) is None:
        raise TypeError
    array[...] = FUNCTIONS[name](array, *args, **kwargs)


def attribute(value, name, *default):
    """getattr() of the tests: the module's functions, and arrays' methods, are dmlcpu's."""
    if name in FUNCTIONS:
        if value is np:
            return FUNCTIONS[name]
        if isinstance(value, np.ndarray) and getattr(type(value), name) is getattr(
            np.ndarray, name
        ):
            # Not functools.partial, whose text has the array's.
            function = functools.partial(in_place, name) if name in IN_PLACE else FUNCTIONS[name]
            return lambda *args, **kwargs: function(value, *args, **kwargs)
    return getattr(value, name, *default)


class Substitution(ast.NodeTransformer):
    """Makes of `x.argmax` and `getattr(x, name)` calls of attribute()."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr not in FUNCTIONS:
            return node
        return ast.Call(
            ast.Name("substituted_getattr", ast.Load()), [node.value, ast.Constant(node.attr)], []
        )

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr":
            node.func.id = "substituted_getattr"
        return node


def load(name):
    """A module of NumPy's tests."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(name)
    tree = Substitution().visit(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    module = types.ModuleType(spec.name)
    module.__dict__.update(
        substituted_getattr=attribute, __package__=spec.parent, __file__=spec.origin
    )
    exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec"), module.__dict__)
    # What it imported by name.
    module.__dict__.update({n: f for n, f in FUNCTIONS.items() if n in module.__dict__})
    return module


def checked(test, most=None):
    """The test, which must call one of the functions, unless it gets others as arguments. Of the
    values of each of its parameters about `most` are tried."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        before = calls.total()
        test(*args, **kwargs)
        given = [value for value in kwargs.values() if callable(value)]
        if not given or any(value in FUNCTIONS.values() for value in given):
            assert calls.total() > before, "dmlcpu.numpy was not called"

    run.pytestmark = [listed(mark, most) for mark in getattr(test, "pytestmark", [])]
    return run


def listed(mark, most):
    """The mark with about `most` of its parameters; pytest deprecates those that are iterators."""
    if mark.name != "parametrize":
        return mark
    names, values, *others = mark.args
    values = list(values)
    if most is not None and len(values) > most:
        values = values[:: len(values) // most]
    return pytest.mark.parametrize(names, values, *others, **mark.kwargs).mark


def select(cls, names):
    """A class with those tests of `cls`, all where there are no names, checked."""
    tests = [n for n in dir(cls) if n.startswith("test")]
    members = {n: checked(getattr(cls, n)) if n in (names or tests) else None for n in tests}
    return type(cls.__name__, (cls,), members)
