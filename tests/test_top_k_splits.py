"""The limits of one row's top-k that is split over several threads. Every test sets the
threads and the grain of their work by itself."""

import itertools

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

from checks import check_top_k
from data import TUNING, adversarial, near, sampled_positions

MIN_SPLIT_BYTES = TUNING.top_k_min_part_bytes(2**40)  # of a k that is not small


@pytest.fixture(params=[2, 3, 4])
def splits(request):
    with dmlcpu.num_threads(request.param):
        _core.set_grain_bytes(1)
        yield request.param
        _core.set_grain_bytes(0)


@pytest.mark.parametrize("dtype", [np.int32, np.float64], ids=str)
def test_parts_of_unequal_size(splits, dtype):
    """k around half of a split, where sorting all of it takes over, and around all of it; some
    splits have one element less than others, but share their plan and its scratch memory."""
    rng = np.random.default_rng(0)
    size = MIN_SPLIT_BYTES // np.dtype(dtype).itemsize + 2
    for missing in range(splits):
        x = rng.integers(0, 99, size * splits - missing).astype(dtype)
        for k in near(size // 2, size, x.size // 2, x.size):
            if k <= x.size:
                check_top_k(x, k, "decreasing")


def keys_of_all_kinds(rng, dtype, n):
    """Equal ones across buckets; all of one bin but one, in the last and in the first bin; of one bin;
    and most in the bins of numbers near 0, as the keys of doubles are."""
    x = rng.integers(0, 999, n).astype(dtype)
    yield x
    for place, value in ((0, 0), (n - 1, 60_000)):
        y = x + dtype(20_000)
        y[place] = value
        yield y
    yield np.full(n, 7, dtype)
    yield (rng.standard_normal(n) * 9000 + 30_000).astype(dtype)
    if np.dtype(dtype).kind == "f":
        yield rng.standard_normal(n).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float64], ids=str)
def test_buckets_of_keys(splits, dtype):
    """k around the least number of items that are divided, and all: random k seldom end beside an edge,
    where an item could be lost."""
    rng = np.random.default_rng(0)
    size = MIN_SPLIT_BYTES // np.dtype(dtype).itemsize
    for x in keys_of_all_kinds(rng, dtype, size * splits + 1):
        for k in (*near(TUNING.kTopKBucketsLeastItems), x.size // 2 + 1, x.size):
            check_top_k(x, k, "increasing")


def test_buckets_are_at_most_256():
    """Several buckets for each of many threads would be more, and are numbered in 8 bits; so would
    buckets of keys that many elements have, in turn with keys of one each. The highest element is the
    first one, so that positions do not divide a key's elements between two bins."""
    rng = np.random.default_rng(0)
    often = np.append(np.arange(150).repeat(4000) * 2, np.arange(149) * 2 + 1)
    often = np.append(299, rng.permutation(often))
    for x in (rng.integers(-(2**31), 2**31, 600_000), often):
        with dmlcpu.num_threads(80):
            _core.set_grain_bytes(1)
            check_top_k(x.astype(np.int32), x.size, "decreasing")
            _core.set_grain_bytes(0)


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.int64], ids=str)
def test_sample_of_splits_misleads(instruction_set, splits, dtype):
    """Splits of a row share one sampled threshold. It may be too high for all, for all but one, or too
    low; or right, with all that is wanted in one split and nothing in the others."""
    n, k = 300_000, 9000
    ramp = np.arange(n) % 10_000
    of_each = TUNING.top_k_sample(n) // splits
    starts = [n * p // splits for p in range(splits + 1)]
    sampled = [
        first + sampled_positions(last - first, of_each)
        for first, last in itertools.pairwise(starts)
    ]
    for misled in ([0], [splits - 1], range(splits)):
        for value in (20_000, 0):
            x = ramp.astype(dtype)
            for p in misled:
                x[sampled[p]] = value
            check_top_k(x, k, "decreasing")
            check_top_k(x, k, "increasing")
    for _, x in adversarial(dtype, n):
        check_top_k(x, k, "decreasing")
