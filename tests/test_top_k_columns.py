"""One test per limit of top-k along columns: slots, lanes, passes and comparison counting."""

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

import data
import reference
from checks import reversed_order
from data import TUNING, near

# Where columns with 5 slots stop inserting all elements, for lanes of every instruction set.
SURE = [TUNING.top_k_sure_positions(5, lanes) for lanes in (4, 8, 16, 32)]

DIRECTIONS = ("increasing", "decreasing")


@pytest.mark.parametrize("dtype", [d for d in data.DTYPES if d.kind in "iuf"], ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_top_k_of_columns(instruction_set, threads, dtype, direction):
    """Lanes, sizes and k around the limits of this strategy, and sizes around the ones from which
    elements are looked at before they are inserted, and from which there are several passes; tiles,
    the last of which has less than a vector of lanes, or overlaps one; the lowest key, which fills
    unused slots, as an element. Random shapes seldom lie near any of these, and random elements
    hardly ever have the lowest key."""
    rng = np.random.default_rng(0)
    ends = [np.iinfo(dtype).min, np.iinfo(dtype).max] if dtype.kind in "iu" else [-np.inf, np.inf]
    lane_bytes = max(dtype.itemsize, 2)
    tile = TUNING.kHalfL1Bytes // (2 * 2 * 3 * lane_bytes) // 32 * 32
    for rows, n, k in [
        *((rows, 40, 3) for rows in [*near(8, 16, 32, 64), 70]),
        *((70, n, 3) for n in near(TUNING.kTopKPassRows, 3 * TUNING.kTopKPassRows)),
        *((rows, 2 * TUNING.kTopKPassRows + 1, 3) for rows in near(tile, tile + 32)),
        *((9, n, 5) for n in near(5, *SURE)),
        *((9, n, 12) for n in near(TUNING.top_k_sure_positions(12, 8))),
        *((9, n, 5) for n in near(TUNING.kHalfL1Bytes // dtype.itemsize // 9)),
        (9, 300, TUNING.kTopKElementsMaxK + 1),
        *((9, 40, k) for k in range(1, TUNING.kTopKColumnsMaxK + 1)),
    ]:
        if k > n:
            continue
        x = rng.integers(0, 50, (rows, n)).astype(dtype)
        x[0] = ends[0]
        x[1] = ends[1]
        x[2, ::2] = ends[0]
        x[3, ::2] = ends[1]
        order = x if direction == "increasing" else reversed_order(x)
        want = np.argsort(order, 1, kind="stable")[:, :k]
        for axis in (0, 1):
            view = np.moveaxis(x, 1, axis) if axis == 1 else np.ascontiguousarray(x.T)
            got = dmlcpu.top_k(view, k, axis=axis, axis_direction=direction)
            np.testing.assert_array_equal(np.moveaxis(got.indices, axis, 1), want)
            np.testing.assert_array_equal(
                np.moveaxis(got.values, axis, 1), np.take_along_axis(x, want, 1)
            )


@pytest.mark.parametrize("dtype", [d for d in data.DTYPES if d.itemsize <= 2], ids=str)
def test_top_k_of_columns_longer_than_lanes_count(instruction_set, dtype):
    """The first, the last and some elements around the last position that 16 bits hold."""
    for n in (2**16, 2**16 + 1, 70_000, 2**17):
        ones = sorted({0, 9, 2**16 - 1, min(2**16, n - 1), min(2**16 + 1, n - 1), n - 1})
        x = np.zeros((n, 64), dtype)
        x[ones] = 1
        for k in (2, len(ones)):
            values, indices = dmlcpu.top_k(x, k, axis=0)
            assert (ones[:k] == indices.T).all()
            assert (values == 1).all()


@pytest.fixture
def by_comparisons():
    """top_k by each candidate that compares all elements."""

    def each(*arguments, **options):
        plan = _core.plan_text(dmlcpu.top_k, *arguments, **options)
        lines = plan.partition("candidates\n")[2].splitlines()
        numbers = [number for number, line in enumerate(lines) if "comparisons" in line]
        for number in numbers:
            _core.force_candidate(number)
            yield dmlcpu.top_k(*arguments, **options)
        _core.force_candidate(-1)

    yield each
    _core.force_candidate(-1)


@pytest.mark.parametrize("dtype", [d for d in data.DTYPES if d.kind in "iuf"], ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_top_k_by_comparison_counting(instruction_set, dtype, direction, by_comparisons):
    """Sizes around blocks of four rows, which are compared together, around the limits of n and k; one
    row that is sorted already, one in reverse, and many equal elements, of which the earlier one comes
    first: random data has few of them. More lanes than a tile has."""
    rng = np.random.default_rng(0)
    longest = TUNING.kTopKComparisonsBytes // min(max(dtype.itemsize, 2), 4)
    cases = [(n, n) for n in range(5, 18)]
    cases += [(n, k) for n in near(longest) for k in (n // 2 + 1, n)]
    cases += [(n, 20) for n in near(40, 80)]
    for n, k in cases:
        if k > n:
            continue
        x = rng.integers(0, 100, (37, n)).astype(dtype)
        x[0] = np.sort(x[0])
        x[1] = np.sort(x[1])[::-1]
        x[2] = 7
        x[3] = np.arange(n) % 2
        order = x if direction == "increasing" else reversed_order(x)
        want = np.argsort(order, 1, kind="stable")[:, :k]
        for view, axis in ((x, 1), (np.ascontiguousarray(x.T), 0), (np.repeat(x, 2, 0)[::2], 1)):
            count = 0
            for got in by_comparisons(view, k, axis=axis, axis_direction=direction):
                count += 1
                np.testing.assert_array_equal(np.moveaxis(got.indices, axis, 1), want)
                np.testing.assert_array_equal(
                    np.moveaxis(got.values, axis, 1), np.take_along_axis(x, want, 1)
                )
            assert (count > 0) == (n <= longest)


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_comparison_counting_of_special_values(
    instruction_set, dtype, direction, policy, by_comparisons
):
    """NaNs, zeros and infinities, each many times: equal keys of different bits, which are written."""
    rng = np.random.default_rng(0)
    x = rng.choice(data.special_values(dtype), (21, 2 * TUNING.kTopKColumnsMaxK))
    k = TUNING.kTopKColumnsMaxK + 7
    bits = np.dtype(f"u{dtype.itemsize}")
    values, indices = reference.top_k(x, k, direction=direction, nan_policy=policy)
    for view in (x, x.copy(order="F"), np.repeat(x, 3, 1)[:, ::3]):
        for got in by_comparisons(view, k, axis_direction=direction, nan_policy=policy):
            np.testing.assert_array_equal(got.indices, indices)
            np.testing.assert_array_equal(got.values.view(bits), values.view(bits))
