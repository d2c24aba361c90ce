"""Checks that several test files share."""

import re
import subprocess

import numpy as np

import dmlcpu


def check_top_k(x, k, direction):
    """The first k of a row without NaNs, against a stable sort."""
    got = dmlcpu.top_k(x, k, axis_direction=direction)
    order = np.argsort(x if direction == "increasing" else reversed_order(x), kind="stable")[:k]
    np.testing.assert_array_equal(got.indices, order)
    assert got.values.tobytes() == x[order].tobytes()


def reversed_order(x):
    """Values whose ascending order is x's descending one."""
    return ~x if x.dtype.kind in "iu" else -x


def check_example(program, matrix):
    """Run examples/embed_cpp on a matrix and the file that holds it."""
    x, path = matrix
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    got = done.stdout.splitlines()
    want = [
        f"row {r}: smallest at {row.argmin()}, largest at {row.argmax()}" for r, row in enumerate(x)
    ]
    order = np.argsort(-x[:, 0])
    for i, row in enumerate(order[:3]):
        want.append(f"first column, number {i + 1} is {x[row, 0]:.6g} in row {row}:")
        assert np.array_equal(
            np.array(got[5 + i].split(":")[1].split(), np.float32).round(4), x[row].round(4)
        )
    assert [line.split(":")[0] for line in got] == [line.split(":")[0] for line in want]
    assert got[:5] == want[:5]


def row(text, name):
    """What `python -m dmlcpu` prints beside a name."""
    return re.search(rf"^  {name} +(.*)$", text, re.M)[1]
