"""One test per internal limit of top-k: the edges of its strategies, blocks, chunks, digits and
splits, and data that misleads them.

Random data misses them: a sample tells what it should, no digit is shared by all elements, and an
off-by-one at an edge changes one position in n.
"""

import numpy as np
import pytest

import dmlcpu

import data
import reference
from checks import check_top_k, reversed_order
from data import TUNING, adversarial, near, sampled_positions

DIRECTIONS = ("increasing", "decreasing")

# Rows of some 400 KB of floats, which several threads share.
LONG_ROW = 100_001


@pytest.mark.parametrize("dtype", [d for d in data.DTYPES if d.kind in "iuf"], ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_top_k_strategies_and_adversarial_data(instruction_set, dtype, direction):
    """Sizes around the limits of strategies and of the key chunk, every k around a change of strategy."""
    chunk = TUNING.kKeyChunkBytes // np.dtype(dtype).itemsize
    for n in [2, 3, *near(64, chunk)]:
        for _, x in adversarial(dtype, n):
            ks = {1, 2, 3, n // 100, n // 50, n // 10, n // 2, n // 2 + 1, n - 1, n}
            for k in ks - {0}:
                if 1 <= k <= n:
                    check_top_k(x, k, direction)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16, np.int64], ids=str)
def test_top_k_sorts_by_comparison_and_by_radix(instruction_set, dtype):
    """k around the change of sort; values that differ only in one digit of the key."""
    n = 3000
    rng = np.random.default_rng(0)
    bits = 8 * np.dtype(dtype).itemsize
    for shift in range(0, bits - 1, 5):
        x = (rng.integers(0, 64, n, np.uint64) << np.uint64(shift)).astype(f"u{bits // 8}")
        x = x.view(dtype)
        if x.dtype.kind == "f":
            x = np.where(np.isnan(x), np.array(1, dtype), x)
        for k in near(8 * TUNING.kTopKPairwiseVectors * 32 // bits, n // 2, n - 1):
            check_top_k(x, k, "decreasing")
            check_top_k(x, k, "increasing")


@pytest.mark.parametrize("dtype", [np.uint32, np.int64, np.float64], ids=str)
def test_top_k_sorts_keys_that_are_alike_in_their_first_digits(instruction_set, dtype):
    """Those bits alone are sorted by at first. What has them in common is sorted once more: groups of
    elements around the size from which they are sorted by digits again; and one element far from the
    others, which are all alike then, and once more. Random keys are seldom alike."""
    rng = np.random.default_rng(0)
    bits = 8 * np.dtype(dtype).itemsize
    unsigned = np.dtype(f"u{bits // 8}")
    for n in (700, 20_000):
        rows = []
        for group in (2, *near(TUNING.kTopKInsertionLength), 500):
            high = rng.permutation(np.arange(n) // group).astype(unsigned) % 1000
            low = rng.integers(0, 100, n).astype(unsigned)
            rows.append(high << unsigned.type(bits - 12) | low)
        for apart in ([bits - 3], [bits - 3, bits // 2 + 6]):
            rows.append(rng.integers(0, 3000, n).astype(unsigned))
            for at, bit in enumerate(apart):
                rows[-1][at] = 1 << bit
        for row in rows:
            check_top_k(row.view(dtype), n, "decreasing")
            check_top_k(row.view(dtype), n - 1, "increasing")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.uint64], ids=str)
def test_top_k_sorts_by_digits_of_all_sizes(instruction_set, dtype):
    """Rows of one element more than a power of two, and one less, which decide how many bits a digit has
    and how many passes there are; each digit of a key decides somewhere, at both ends of its values as
    well. Streams of whole length, and one that has more."""
    rng = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    for n in sorted({*near(*(1 << bit for bit in range(6, 16))), 300, 301, 302, 303}):
        bits = rng.integers(0, 1 << (8 * size), n, np.uint64 if size > 4 else np.int64)
        bits[:: n // 7] = (1 << (8 * size)) - 1
        x = bits.astype(f"u{size}").view(dtype)
        x = np.nan_to_num(x) if x.dtype.kind == "f" else x
        with dmlcpu.num_threads(1):
            check_top_k(x, n, "decreasing")


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64], ids=str)
def test_top_k_few_items_are_sorted_by_counting(instruction_set, dtype):
    """Items around the most that are sorted by counting, for vectors of any instruction set; equal keys,
    the lowest and the highest, whose places are counted one by one."""
    rng = np.random.default_rng(0)
    width = np.dtype(dtype).itemsize
    most = [
        min(TUNING.kTopKPairwiseVectors * v // width, TUNING.kTopKPairwiseLength)
        for v in (16, 32, 64)
    ]
    low, high = (-np.inf, np.inf) if width > 2 else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for n in sorted({2, 3, *near(*most)}):
        for x in (rng.integers(0, 3, n), rng.choice([low, high], n), np.full(n, low), np.arange(n)):
            for k in {2, n // 2, n - 1, n} & set(range(1, n + 1)):
                check_top_k(x.astype(dtype), k, "decreasing")
                check_top_k(x.astype(dtype), k, "increasing")


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("k", [1, 2, 16, 17, 100])
def test_top_k_stripes(instruction_set, dtype, k):
    """Rows around whole stripes, which random data hardly tells apart: the highest elements in as few
    stripes as possible, in all of them, at the row's end, in stripes that are not whole; all elements the
    lowest there is, which is what stripes that are not whole are filled with."""
    stripes = -(-TUNING.kTopKStripesPerResult * k // 64) * 64
    while any(stripes % period == 0 for period in (2, 3, 5, 7)):
        stripes += 1
    rng = np.random.default_rng(0)
    lowest = -np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min
    for n in near(2 * stripes, 3 * stripes):
        position = np.arange(n)
        for x in (
            np.full(n, lowest),
            position % stripes,
            position % 120,
            (n - position) % 120,
            np.where(position % stripes < k, 100 + rng.integers(0, 20, n), rng.integers(0, 99, n)),
            np.where(position >= n - k, 101, 100),
        ):
            check_top_k(x.astype(dtype), min(k, n), "decreasing")
            check_top_k(x.astype(dtype), min(k, n), "increasing")


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int64], ids=str)
@pytest.mark.parametrize("k", [2, 30, 300])
def test_top_k_rows_that_rise(instruction_set, dtype, k):
    """Rows that rise or fall over many blocks, of which far more than k elements are at or above the
    first threshold, so that it is raised; the equal elements of a raised one are spread over blocks
    that are looked into in another order than the row's."""
    n = 4 * TUNING.kTopKSampleLeastLength
    position = np.arange(n)
    rng = np.random.default_rng(0)
    rise = [position, n - position, -abs(position - n // 2), abs(position - n // 3)]
    for x in rise:
        for width in (1, 40, 3000):
            levels = x // width
            noise = np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), 0)
            for y in (levels, levels - noise):
                top = 100 if np.dtype(dtype).itemsize == 1 else 2000 if dtype == np.float16 else n
                y = np.clip(y - y.max() + top, 0, top).astype(dtype)
                check_top_k(y, k, "decreasing")


def test_top_k_blocks_stop_at_k_equals(instruction_set):
    """More elements equal to the threshold than wanted, in blocks before and after those above it."""
    n, k = 100_000, 20
    x = np.zeros(n, np.int8)
    x[::7] = 100
    x[[5, 50_000, n - 1]] = 101
    check_top_k(x, k, "decreasing")
    check_top_k(~x, k, "increasing")


def test_top_k_counts_of_blocks_wrap(instruction_set):
    """Blocks with elements at or above a threshold are counted in lanes of the element's
    width, which hold up to 255. Only a row of very many blocks of bytes has more; a multiple of 256 in
    each lane would count as none."""
    k = 1500
    x = np.full(256 * 64 * 64, 200, np.uint8)  # blocks of 64 elements, 256 per lane of 64 bytes
    x[::1000] = 201
    with dmlcpu.num_threads(1):
        check_top_k(x, k, "decreasing")
        check_top_k(x, k, "increasing")


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_top_k_values_keep_their_bits(instruction_set, dtype, direction, policy):
    """Values are made from keys, which tell all values but zeros, NaNs and true booleans apart."""
    bits = np.dtype(f"u{dtype.itemsize}")
    few = data.special_values(dtype)
    rng = np.random.default_rng(0)
    for shape in ((len(few),), (8, len(few)), (20, len(few))):
        x = rng.permuted(np.broadcast_to(few.view(bits), shape), axis=-1).view(dtype)
        for k in {2, 5, len(few)}:
            for view in (x, x.copy(order="F")):
                values, indices = dmlcpu.top_k(view, k, axis_direction=direction, nan_policy=policy)
                want = np.take_along_axis(x, indices.astype(np.int64), -1)
                assert np.array_equal(values.view(bits), want.view(bits))


@pytest.mark.parametrize(
    ("n", "k"),
    [*((170_000, k) for k in (2, 100, 3000, 40_000, 85_000)), (90_000, 80_000), (90_000, 90_000)],
)
def test_top_k_row_split_over_threads(instruction_set, threads, n, k):
    """A row is split from 1.3 MB on if k is small: equal elements in all splits, merged in their order; k
    greater than the size of a split."""
    rng = np.random.default_rng(0)
    for x in (rng.integers(0, 5, n, np.int64), rng.standard_normal(n)):
        check_top_k(x, k, "decreasing")
        check_top_k(x, k, "increasing")


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.int64], ids=str)
def test_top_k_sample_misleads(instruction_set, dtype):
    """A sample that is all high or all low, though the row is not: the sampled threshold is useless, and
    another one is found. Rows around the size from which they are sampled."""
    for n in [*near(TUNING.kTopKSampleLeastLength), 3 * TUNING.kTopKSampleLeastLength]:
        ramp = np.arange(n) % 10_000
        for high in (True, False):
            x = ramp.astype(dtype)
            x[sampled_positions(n, TUNING.top_k_sample(n))] = 20_000 if high else 0
            for k in (n // 20, n // 4, n // 2):
                check_top_k(x, k, "decreasing")
                check_top_k(x, k, "increasing")
        for _, x in adversarial(dtype, n):
            check_top_k(x, n // 30, "decreasing")
            check_top_k(x, n // 30, "increasing")


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.int64], ids=str)
def test_top_k_sample_is_almost_right(instruction_set, dtype):
    """All of the sample and a few more elements are high, so that the sampled threshold is one of
    theirs: the elements at or above it are one too few, just enough, or one too many."""
    n = 4 * TUNING.kTopKSampleLeastLength
    sampled = sampled_positions(n, TUNING.top_k_sample(n))
    others = np.setdiff1d(np.arange(n), sampled)
    k = len(sampled) + 80
    for more in near(80):
        x = (np.arange(n) % 10_000).astype(dtype)
        x[sampled] = x[others[-more * 7 :: 7]] = 20_000
        with dmlcpu.num_threads(1):
            check_top_k(x, k, "decreasing")
            check_top_k(reversed_order(x), k, "increasing")


@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 65])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64], ids=str)
def test_top_k_groups_of_strided_rows(instruction_set, threads, rows, dtype):
    """Rows around the group that is copied side by side, along an axis that is not the last."""
    rng = np.random.default_rng(0)
    x = rng.integers(-50, 50, (2, 300, rows)).astype(dtype)
    for view in (x, x[:, ::-1, ::-1], np.asfortranarray(x)):
        want = reference.top_k(view[:, :, :1], 20, axis=1)
        got = dmlcpu.top_k(view, 20, axis=1)
        np.testing.assert_array_equal(got.indices[:, :, :1], want[1])
        want = np.argsort(-view.astype(float), 1, kind="stable")[:, :20]
        np.testing.assert_array_equal(got.indices, want)


@pytest.mark.parametrize("rows", [2, 3])
def test_top_k_of_long_strided_rows(instruction_set, threads, rows):
    """Around as many bytes as are copied side by side, where all threads share a row as well."""
    rng = np.random.default_rng(0)
    for n in near(TUNING.kTopKPackBytes // 4 // rows):
        x = rng.integers(-1000, 1000, (n, rows)).astype(np.float32)
        order = np.argsort(-x, 0, kind="stable")
        for k in (9, n // 3, n):
            np.testing.assert_array_equal(dmlcpu.top_k(x, k, axis=0).indices, order[:k])


@pytest.mark.parametrize("dtype", [d for d in data.DTYPES if d.kind in "iuf"], ids=str)
def test_top_k_sorts_long_rows(instruction_set, threads, dtype):
    """k around half of it; equal elements in all splits; all digits shared, or one."""
    for k in near(LONG_ROW // 2):
        check_top_k((np.arange(LONG_ROW) % 251 / 2).astype(dtype), k, "decreasing")
    with np.errstate(over="ignore"):  # float16 ends in infinities
        rows = list(adversarial(dtype, LONG_ROW))
    for name, x in rows:
        check_top_k(x, x.size - 1, "decreasing" if name == "ascending" else "increasing")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.uint64], ids=str)
def test_top_k_sorts_long_rows_of_elements_one_bit_apart(threads, dtype):
    """A single bit, and it with the lowest: in every digit, at both of its ends."""
    rng = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    ends = range(0, 8 * size + 1, TUNING.kTopKDigitBits)
    for bit in {*near(*ends), 0} & {*range(8 * size)}:
        for others in {0, min(bit, 1)}:
            x = np.array([0, 1 << bit, others, others | 1 << bit], f"u{size}")
            x = x[rng.integers(0, 4, LONG_ROW)].view(dtype)
            check_top_k(x, x.size, "decreasing" if bit % 2 else "increasing")


@pytest.mark.parametrize("dtype", data.FLOATS, ids=str)
def test_top_k_sorts_long_rows_with_nans(instruction_set, threads, dtype):
    """Two rows of either axis, with gaps between elements, NaNs of both signs and both zeros."""
    rng = np.random.default_rng(0)
    few = data.special_values(dtype)
    x = few[rng.integers(0, few.size, (2, 2 * LONG_ROW))]
    for view in (x[:, ::2], x[:, ::-2]):
        for policy in ("propagate", "omit"):
            got = dmlcpu.top_k(view, LONG_ROW - 1, nan_policy=policy)
            for row in range(2):
                want = reference_of_row(view[row], LONG_ROW - 1, policy)
                np.testing.assert_array_equal(got.indices[row], want)
                bits = np.dtype(f"u{dtype.itemsize}")
                assert np.array_equal(got.values[row].view(bits), view[row][want].view(bits))
            transposed = dmlcpu.top_k(view.T, LONG_ROW - 1, axis=0, nan_policy=policy)
            np.testing.assert_array_equal(transposed.indices.T, got.indices)


def reference_of_row(row, k, policy):
    """The k largest in order, NaNs first or last."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        x = row.astype(np.float64)
    nans = np.isnan(x)
    first = nans if policy == "propagate" else ~nans
    return np.lexsort((-np.where(nans, 0, x), ~first))[:k]
