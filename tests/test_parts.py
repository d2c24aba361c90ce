"""Parts of a top-k beside the whole: its values, its indices, its last elements alone."""

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _parts
from dmlcpu._parts import part_of_top_k

import data

ORDERS = [(direction, policy) for direction in (0, 1) for policy in ("propagate", "omit")]


def compare(x, k, axis, direction, policy, index_dtype=np.int64):
    whole = dmlcpu.top_k(
        x, k, axis=axis, axis_direction=direction, index_dtype=index_dtype, nan_policy=policy
    )

    def part(results):
        return part_of_top_k(x, k, axis, direction, index_dtype, policy, results)

    np.testing.assert_array_equal(part("indices"), whole.indices, strict=True)
    assert part("values").dtype == x.dtype
    assert part("values").tobytes() == whole.values.tobytes()
    last = part("last")
    assert type(last) is dmlcpu.TopK
    assert last.values.tobytes() == whole.values.take([k - 1], axis).tobytes()
    np.testing.assert_array_equal(last.indices, whole.indices.take([k - 1], axis), strict=True)


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
def test_parts(instruction_set, dtype):
    """Rows and columns of every strategy, with many ties, by any stride."""
    rng = np.random.default_rng(0)
    for shape in [(1,), (9,), (7, 5), (3, 40, 4), (2, 300, 3), (70, 33), (2, 5000), (40_001,)]:
        x = data.random_values(rng, dtype, shape, distinct=30)
        axis = int(rng.integers(x.ndim))
        for y in (x, x.T, x[..., ::-1]):
            n = y.shape[axis]
            for k in {1, 2, max(n // 100, 1), max(n // 3, 1), n}:
                if k <= n:
                    order = ORDERS[rng.integers(4)]
                    compare(y, k, axis, *order, data.INDEX_DTYPES[rng.integers(4)])


@pytest.mark.parametrize("k", [3, 20_000, 700_000, 1_400_000])
def test_last_of_a_row_for_several_threads(k):
    """Which is selected from what all parts of the row collected."""
    x = np.random.default_rng(0).integers(0, 1 << 20, 1_400_000).astype(np.float32)
    for threads in data.THREAD_COUNTS:
        with dmlcpu.num_threads(threads):
            compare(x, k, 0, *ORDERS[1])
            compare(x[::-1], k, 0, *ORDERS[2])


def test_last_of_extreme_keys():
    """The highest key has none above it, the lowest is below every threshold."""
    for dtype in (np.uint8, np.uint64, np.int16):
        info = np.iinfo(dtype)
        x = np.array([info.max, info.min] * 3000, dtype)
        for k in (1, 2999, 3000, 3001, 6000):
            compare(x, k, 0, 1, "propagate")
            compare(x, k, 0, 0, "propagate")


def test_last_where_as_many_as_wanted_are_above_a_bit():
    """A threshold with exactly k keys at or above it need not be one of the keys."""
    for high in (1, 5, 4000):
        x = np.full(4064, 3, np.uint32)
        x[-high:] = 77
        compare(x, high, 0, 1, "propagate")
        compare(x, high + 1, 0, 1, "propagate")


def test_nothing_to_find():
    for results in ("values", "indices", "last"):
        found = part_of_top_k(np.empty((0, 3)), 2, 1, 1, np.int64, "omit", results)
        shape = (0, 1) if results == "last" else (0, 2)
        assert all(a.shape == shape for a in (found if results == "last" else [found]))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([1], 1, 0, 1, np.int64, "omit", "all"), ValueError, "^results: must be"),
        (([1], 1, 0, 1, np.int64, "omit", 1), TypeError, "^results: must be"),
        (([1], 2, 0, 1, np.int64, "omit", "last"), ValueError, "^k: must be in"),
        (([1], 1, 1, 1, np.int64, "omit", "last"), np.exceptions.AxisError, "^axis: must be"),
        (([1], 1, 0, 1, float, "omit", "values"), TypeError, "^index_dtype: must be"),
        ((["a"], 1, 0, 1, np.int64, "omit", "values"), TypeError, "^input: must be"),
    ],
)
def test_errors(arguments, error, text):
    with pytest.raises(error, match=text):
        part_of_top_k(*arguments)


def test_it_is_no_public_function():
    assert "part_of_top_k" not in dir(dmlcpu)
    assert _parts.part_of_top_k.__doc__
