"""What the site shows and nobody writes by hand, made in docs/_build before pages are read.

The headers' comments as XML; what the examples print and draw; plots of the tables in bench/results.
"""

import os
import subprocess
import sys
from pathlib import Path

from sphinx.errors import ExtensionError

from result_plots import draw_results

DOCS = Path(__file__).parent.parent
EXAMPLES = DOCS.parent / "examples"
BUILD = DOCS / "_build"
PICTURES = BUILD / "pictures"


def read_headers(app):
    """The C and C++ headers' comments, for Breathe."""
    BUILD.mkdir(exist_ok=True)
    done = subprocess.run(["doxygen"], cwd=DOCS, capture_output=True, text=True)
    if done.returncode != 0:
        raise ExtensionError(f"doxygen: {done.stderr}")


def run_examples(app):
    """NAME.png and NAME.txt of each example that a page shows so, unless they are newer than it."""
    PICTURES.mkdir(exist_ok=True)
    settings = {"MPLBACKEND": "Agg", "MATPLOTLIBRC": str(Path(__file__).with_name("matplotlibrc"))}
    pages = "".join(page.read_text() for page in DOCS.rglob("*.md"))
    for script in sorted(EXAMPLES.glob("*.py")):
        printed = PICTURES / f"{script.stem}.txt"
        if f"_build/pictures/{script.stem}." not in pages:
            continue
        if printed.exists() and printed.stat().st_mtime > script.stat().st_mtime:
            continue
        done = subprocess.run(
            [sys.executable, script],
            cwd=PICTURES, env=os.environ | settings, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise ExtensionError(f"{script.name}: {done.stderr}")
        printed.write_text(done.stdout)


def draw_measurements(app):
    draw_results(DOCS.parent / "bench", PICTURES)


def setup(app):
    for make in (read_headers, run_examples, draw_measurements):
        app.connect("builder-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
