"""Makes the notebooks of the scripts that are divided into cells by ``# %%``.

    python examples/notebooks.py

A cell of ``# %% [markdown]`` is text; the title of another one becomes a heading above its code.
Notebooks hold no results: whoever opens one runs it.
"""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent
SCRIPTS = sorted(p for p in FOLDER.glob("*.py") if p.read_text().startswith("# %%"))


def cells(text):
    """(kind, source) of each cell of a script."""
    for title, source in re.findall(r"^# %% ?([^\n]*)\n(.*?)(?=^# %%|\Z)", text, re.M | re.S):
        source = source.strip("\n")
        if title == "[markdown]":
            yield "markdown", re.sub(r"^# ?", "", source, flags=re.M)
            yield "code", "%matplotlib inline"
        else:
            yield "markdown", f"## {title}"
            yield "code", source


def notebook(text):
    """The text of a script's notebook."""
    parts = []
    for number, (kind, source) in enumerate(cells(text)):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        parts.append(cell | {"source": source.splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": parts, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1) + "\n"


if __name__ == "__main__":
    for script in SCRIPTS:
        script.with_suffix(".ipynb").write_text(notebook(script.read_text()))
