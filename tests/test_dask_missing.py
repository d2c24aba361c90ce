"""dmlcpu.dask where Dask is missing or of another kind, and what `import dmlcpu` leaves alone."""

import importlib.util

import pytest

from scripts import run_python

IMPORT = """
    import sys
    {}
    try:
        import dmlcpu.dask
    except ImportError as error:
        print(error)
"""


def test_importing_the_package_imports_no_dask():
    run_python(
        "import sys, dmlcpu; assert not {'dask', 'distributed', 'dmlcpu.dask'} & set(sys.modules)"
    )


def test_error_without_dask():
    text = run_python(IMPORT.format('sys.modules["dask"] = None'))
    assert text.startswith("dmlcpu.dask: needs Dask's arrays, got ")
    assert text.endswith(' (pip install "dmlcpu[dask]" installs them)')


@pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="needs Dask")
def test_error_under_query_planning():
    text = run_python(IMPORT.format(""), DASK_ARRAY__QUERY_PLANNING="True")
    assert text == "dmlcpu.dask: needs Dask's configuration array.query-planning off, got on"
