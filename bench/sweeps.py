"""Curves over one size each, to find where speed falls off a cliff."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from measure import medians_of
from report import ratio_of
from workloads import Workload, gather, normal

ELEMENTS = 2**22  # of a workload that is not to depend on the total size


@dataclass
class Sweep:
    name: str
    unit: str
    points: list  # of (size, workload)


def arg(size, make, axis):
    return Workload(f"argmax {size}", "argmax", make, {"axis": axis})


def top_k(size, make, k, axis=-1):
    return Workload(f"top-k {size}", "top_k", make, {"k": k, "axis": axis})


ROW_SIZES = [1, 2, 3, 5, 8, 13, 24, 32, 48, 64, 100, 128, 200, 256, 400, 1000, 4096, 30000]
ROW_SIZES += [10**5, 10**6, 10**7]

SWEEPS = {
    "row size": Sweep(
        "argmax f32, rows of one size, 4 Mi elements",
        "elements of a row",
        [(n, arg(n, normal(max(ELEMENTS // n, 1), n), 1)) for n in ROW_SIZES],
    ),
    "total size": Sweep(
        "argmax f32 of one row",
        "elements",
        [
            (n, arg(n, normal(n), 0))
            for n in (10, 100, 1000, 4096, 10**4, 30000, 65536, 10**5, 131072, 200000, 10**6, 10**7)
        ],
    ),
    "rows": Sweep(
        "argmax f32, rows of 1000",
        "rows",
        [(n, arg(n, normal(n, 1000), 1)) for n in (1, 2, 3, 10, 64, 128, 150, 300, 1000, 10000)],
    ),
    "columns": Sweep(
        "argmax f32 over axis 0, 4 Mi elements",
        "columns",
        [
            (n, arg(n, normal(ELEMENTS // n, n), 0))
            for n in (
                1,
                2,
                3,
                8,
                16,
                31,
                64,
                127,
                128,
                129,
                256,
                512,
                1000,
                2048,
                4096,
                65536,
                10**6,
            )
        ],
    ),
    "k": Sweep(
        "top-k f32 of 1e5 elements",
        "k",
        [
            (k, top_k(k, normal(10**5), k))
            for k in (
                1,
                2,
                5,
                10,
                50,
                100,
                300,
                1000,
                3000,
                10**4,
                25000,
                49999,
                50001,
                75000,
                10**5,
            )
        ],
    ),
    "k of short rows": Sweep(
        "top-k f32 of 2000 rows of 500",
        "k",
        [
            (k, top_k(k, normal(2000, 500), k))
            for k in (1, 2, 3, 5, 8, 12, 16, 17, 25, 50, 100, 200, 249, 251, 400, 500)
        ],
    ),
    "top-k row size": Sweep(
        "top-k f32, k 4, rows of one size, 1 Mi elements",
        "elements of a row",
        [
            (n, top_k(n, normal(2**20 // n, n), 4))
            for n in (
                4,
                8,
                16,
                32,
                64,
                128,
                129,
                256,
                512,
                1024,
                2048,
                2049,
                4096,
                16384,
                65536,
                2**20,
            )
        ],
    ),
    "slice": Sweep(
        "gather u8, slices of one size, 16 MiB in all",
        "bytes of a slice",
        [
            (
                n,
                Workload(
                    f"gather {n}", "gather_nd", gather((2**22 // n, n), 2**24 // n, 1, np.uint8)
                ),
            )
            for n in (
                1,
                2,
                3,
                4,
                5,
                7,
                8,
                12,
                16,
                17,
                24,
                32,
                48,
                64,
                65,
                100,
                128,
                256,
                1000,
                4096,
            )
        ],
    ),
    "tuples": Sweep(
        "gather f32 elements of 1000x1000",
        "tuples",
        [
            (n, Workload(f"gather {n}", "gather_nd", gather((1000, 1000), n, 2)))
            for n in (1, 10, 100, 1000, 10**4, 20000, 30000, 10**5, 10**6)
        ],
    ),
}


# A point is measured again, as the machine's speed varies, if the best peer takes less
# than CLOSE times as long, or the point or its neighbour costs NEAR_CLIFF times what those beside it do.
# All rounds count.
CLOSE = 1.25
NEAR_CLIFF = 1.6
SECOND_LOOKS = 2  # how often it is measured again

# Calls that move fewer bytes cost more than their work.
COMPARED_BYTES = 4096


class Point(NamedTuple):
    size: int
    seconds: dict  # of each competitor, a list with one entry per round
    moved: int  # bytes

    @property
    def cost(self):
        """dmlcpu's seconds per byte."""
        return medians_of(self.seconds)["dmlcpu"] / self.moved

    def is_slower(self, than=1):
        """Whether dmlcpu is less than `than` times as fast as the best peer, where they are compared."""
        ratio = ratio_of(self.seconds)
        return self.moved >= COMPARED_BYTES and ratio is not None and ratio < than


def cliffs(points, times=2):
    """Positions of the points that cost more per byte than `times` what both neighbours do."""
    cost = [point.cost for point in points]
    inner = range(1, len(points) - 1)
    return [i for i in inner if cost[i] > times * max(cost[i - 1], cost[i + 1])]


def to_measure_again(points):
    """Positions of the points that are close to a peer, or to a cliff, whose neighbours count as well."""
    close = {i for i, point in enumerate(points) if point.is_slower(than=CLOSE)}
    steep = {i + side for i in cliffs(points, NEAR_CLIFF) for side in (-1, 0, 1)}
    return sorted(close | steep)
