"""NumPy's own tests of what sorts pass with dmlcpu.numpy's functions in their place, also where NumPy's
are faster.

There is no deviation. Methods of arrays that sort in place are tested by the functions.
"""

from collections import Counter

import numpy as np
import pytest
from test_numpy_sort import force

from dmlcpu import _numpy_sort

import upstream

CORE = "numpy.core" if np.__version__.startswith("1.") else "numpy._core"

# Classes, or "" for functions of the module, with the names of their tests.
TESTS = {
    f"{CORE}.tests.test_multiarray": {
        "TestZeroSizeFlexible": (
            "test_sort",
            "test_argsort",
            "test_partition",
            "test_argpartition",
        ),
        "TestMethods": (
            "test_sort",
            "test_sort_unsigned",
            "test_sort_signed",
            "test_sort_complex",
            "test_sort_complex_byte_swapping",
            "test_sort_string",
            "test_sort_object",
            "test_sort_structured",
            "test_sort_time",
            "test_sort_axis",
            "test_sort_size_0",
            "test_sort_bad_ordering",
            "test_void_sort",
            "test_sort_raises",
            "test_sort_degraded",
            "test_sort_order",
            "test_argsort",
            "test_sort_unicode_kind",
            "test_argpartition_out_of_range",
            "test_partition_out_of_range",
            "test_argpartition_integer",
            "test_partition_integer",
            "test_partition_empty_array",
            "test_argpartition_empty_array",
            "test_partition",
            "test_partition_iterative",
            "test_partition_cdtype",
            "test_partition_unicode_kind",
            "test_partition_fuzz",
            "test_argpartition_gh5524",
        ),
        "": (
            "test_sort_float",
            "test_sort_float16",
            "test_sort_int",
            "test_sort_uint",
            "test_argsort_float",
            "test_argsort_int",
            "test_partition_int",
            "test_partition_fp",
        ),
    },
    f"{CORE}.tests.test_item_selection": {
        "": ("test_empty_partition", "test_empty_argpartition"),
    },
    f"{CORE}.tests.test_datetime": {
        "TestDateTime": (
            "test_datetime_nat_argsort_stability",
            "test_timedelta_nat_argsort_stability",
            "test_datetime_timedelta_sort_nat",
        ),
    },
    f"{CORE}.tests.test_regression": {
        "TestRegression": (
            "test_sort_bigendian",
            "test_string_argsort_with_zeros",
            "test_string_sort_with_zeros",
        ),
    },
}


@pytest.fixture(autouse=True)
def _dmlcpu_does_it(monkeypatch):
    force(monkeypatch)
    for name in ("part_of_top_k", "top_k"):
        monkeypatch.setattr(_numpy_sort, name, counted[name])


calls = Counter()
counted = {
    name: upstream.counted(getattr(_numpy_sort, name), calls) for name in ("part_of_top_k", "top_k")
}

try:
    for name, classes in TESTS.items():
        module = upstream.load(name)
        for cls, tests in classes.items():
            label = f"{name.rpartition('.')[2]}_{cls}"
            if not cls:
                for test in tests:
                    if hasattr(module, test):
                        globals()[test] = upstream.checked(getattr(module, test), most=30)
            elif hasattr(module, cls):
                globals()[f"Test_{label}"] = upstream.select(getattr(module, cls), tests)
except ModuleNotFoundError as error:
    pytest.skip(f"NumPy is installed without its tests: {error}", allow_module_level=True)


def test_dmlcpu_did_it():
    if upstream.calls["sort"] < 1000:
        pytest.skip("NumPy's tests did not run")
    assert calls["part_of_top_k"] > 1000
    assert calls["top_k"] > 1000
