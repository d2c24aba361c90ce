"""The tests' own checks fail where they should, and the test command works in odd environments."""

import numpy as np
import pytest

import dmlcpu

from checks import check_top_k
from scripts import start_python


def test_wrong_values_are_noticed(monkeypatch):
    wrong = dmlcpu.TopK(np.array([7.0]), np.array([1]))
    monkeypatch.setattr(dmlcpu, "top_k", lambda *_, **__: wrong)
    with pytest.raises(AssertionError):
        check_top_k(np.array([3.0, 8.0]), 1, "decreasing")


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (["-O"], {}),  # drops assertions that pytest does not rewrite
        ([], {"NPY_DISABLE_CPU_FEATURES": "NONE_OF_THIS_NAME"}),
        ([], {"PYTHONWARNINGS": "error"}),
        ([], {"COLUMNS": "20", "CI": "true", "LC_ALL": "C", "PYTHONUTF8": "0"}),
    ],
)
def test_environments(options, environment, tmp_path):
    """Where the cache cannot be written either, as in a read-only source tree."""
    (tmp_path / "file").touch()
    cache = f"cache_dir={tmp_path / 'file' / 'cache'}"
    name = f"{__file__}::{test_wrong_values_are_noticed.__name__}"
    done = start_python(*options, "-m", "pytest", "-o", cache, name, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
