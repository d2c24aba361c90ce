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


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=str)
def test_merges_chunk_by_chunk(splits, dtype):
    """k around one and several chunks of merged items, by one thread and by all of them: random k seldom
    end beside a chunk's edge, where an item could be lost. Most elements have equals."""
    rng = np.random.default_rng(0)
    size = TUNING.top_k_min_part_bytes(1) // np.dtype(dtype).itemsize
    x = rng.integers(0, 999, size * splits + 1).astype(dtype)
    chunk = TUNING.kTopKMergeChunk
    for k in near(chunk, 2 * chunk, TUNING.kTopKMinWrites, TUNING.kTopKMinWrites + splits * chunk):
        check_top_k(x, k, "increasing")


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
