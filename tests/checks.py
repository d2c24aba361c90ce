"""Checks that several test files share."""

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
