"""NumPy's own tests of the functions that dmlcpu.numpy has pass with these in their place.

They are those of the installed NumPy, whether they call functions or methods of arrays, and there is no
deviation. Not listed is what does not reach dmlcpu: NumPy's tests of variable-width strings, of masked
arrays and of matrices.
"""

import numpy as np
import pytest

import dmlcpu.numpy as door
from dmlcpu import _numpy_gather

import upstream

CORE = "numpy.core" if np.__version__.startswith("1.") else "numpy._core"

# Classes, with the names of their tests that call the functions, where it is not all.
TESTS = {
    f"{CORE}.tests.test_multiarray": {
        "TestArgmaxArgminCommon": (),
        "TestArgmax": (),
        "TestArgmin": (),
        "TestTake": (),
        "TestWritebackIfCopy": (
            "test_argmax_with_out",
            "test_argmin_with_out",
            "test_take_mode_raise",
        ),
    },
    f"{CORE}.tests.test_item_selection": {
        "TestTake": ("test_simple", "test_refcounting", "test_unicode_mode"),
    },
    f"{CORE}.tests.test_half": {"TestHalf": ("test_half_funcs",)},
    f"{CORE}.tests.test_numeric": {"TestNonarrayArgs": ("test_take",)},
    f"{CORE}.tests.test_indexing": {
        "TestMultiIndexingAutomated": ("test_boolean", "test_multidim", "test_1d"),
        "TestFloatNonIntegerArgument": ("test_non_integer_argument_errors",),
        "TestArrayToIndexDeprecation": ("test_array_to_index_error",),
    },
    f"{CORE}.tests.test_indexerrors": {
        "TestIndexErrors": ("test_arraytypes_fasttake", "test_take_from_object"),
    },
    f"{CORE}.tests.test_regression": {
        "TestRegression": (
            "test_argmax",
            "test_argmax_byteorder",
            "test_attributes",
            "test_method_args",
            "test_misaligned_objects_segfault",
            "test_object_argmax",
            "test_object_array_refcounting",
            "test_take_object_fail",
            "test_take_output",
            "test_take_refcount",
        ),
    },
    f"{CORE}.tests.test_dtype": {
        "TestStructuredObjectRefcounting": ("test_structured_object_take_and_repeat",),
    },
    "numpy.lib.tests.test_nanfunctions": {
        "TestNanFunctions_ArgminArgmax": (),
        "TestNanFunctions_NumberTypes": ("test_nanfunc",),
    },
    "numpy.lib.tests.test_shape_base": {
        "TestTakeAlongAxis": (),
        "TestPutAlongAxis": ("test_replace_max", "test_broadcast"),
    },
    "numpy.lib.tests.test_arraysetops": {
        "TestUnique": ("test_unique_axis", "test_unique_inverse_with_axis"),
    },
}


@pytest.fixture(autouse=True)
def _count_operators(monkeypatch):
    for module in (door, _numpy_gather):
        monkeypatch.setattr(module, "_operators", upstream.OPERATORS)


try:
    for name, classes in TESTS.items():
        module = upstream.load(name)
        for cls, tests in classes.items():
            if hasattr(module, cls):
                label = f"Test_{name.rpartition('.')[2]}_{cls}"
                globals()[label] = upstream.select(getattr(module, cls), tests)
except ModuleNotFoundError as error:
    pytest.skip(f"NumPy is installed without its tests: {error}", allow_module_level=True)


def test_dmlcpu_did_it():
    """Not NumPy's own functions, which objects, records and errors go to."""
    if upstream.calls.total() < 1000:
        pytest.skip("NumPy's tests did not run")
    calls = {name: count for name, count in upstream.calls.items() if name not in upstream.SORTS}
    assert {*calls, *upstream.SORTS} == set(upstream.NAMES)
    assert set(upstream.operator_calls) == set(upstream.OPERATOR_NAMES)
    assert upstream.operator_calls.total() > sum(calls.values()) / 2
