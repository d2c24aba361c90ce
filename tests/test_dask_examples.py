"""The examples that use Dask, on small data."""

from pathlib import Path

import pytest

from scripts import start_python

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments):
    done = start_python(EXAMPLES / name, *arguments)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_neighbours(tmp_path, workers):
    for name in ("dask.array", "distributed", "matplotlib"):
        pytest.importorskip(name)
    picture = tmp_path / "neighbours.png"
    printed = run(
        "dask_neighbours.py",
        "--rows",
        "5000",
        "--chunk",
        "500",
        "--workers",
        workers,
        "--output",
        picture,
    )
    assert "5,000 embeddings of 128 float32, 0.00 GB in 10 chunks" in printed
    assert "100% Completed" in printed or workers != "0"
    assert "NumPy's answer agrees" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_label_map(tmp_path):
    for name in ("dask.array", "zarr", "matplotlib"):
        pytest.importorskip(name)
    picture = tmp_path / "map.png"
    printed = run("dask_label_map.py", "--size", "1500", "--folder", tmp_path, "--output", picture)
    assert "NumPy's answer for a part agrees" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]
