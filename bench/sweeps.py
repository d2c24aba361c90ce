"""Curves over one size each, to find where speed falls off a cliff."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dmlcpu._command._chart import time_text, times_faster
from dmlcpu._command._works import Workload, gather, normal

import measure
import peers
import report
from workloads import moved_bytes

ELEMENTS = 2**22  # of a workload that is not to depend on the total size


class Sweep(NamedTuple):
    name: str
    unit: str
    sizes: tuple[int, ...]
    workload: Callable[[int], Workload]  # of a size


def argmax(make, axis):
    return Workload("argmax", "argmax", make, {"axis": axis})


def top_k(make, k):
    return Workload("top-k", "top_k", make, {"k": k, "axis": -1})


def take(make):
    return Workload("gather", "gather_nd", make)


SWEEPS = {
    "row size": Sweep(
        "argmax f32, rows of one size, 4 Mi elements", "elements of a row",
        (1, 2, 3, 5, 8, 13, 24, 32, 48, 64, 100, 128, 200, 256, 400, 1000, 4096, 30000, 10**5, 10**6,
         10**7),
        lambda n: argmax(normal(max(ELEMENTS // n, 1), n), 1),
    ),
    "total size": Sweep(
        "argmax f32 of one row", "elements",
        (10, 100, 1000, 4096, 10**4, 30000, 65536, 10**5, 131072, 200000, 10**6, 10**7),
        lambda n: argmax(normal(n), 0),
    ),
    "rows": Sweep(
        "argmax f32, rows of 1000", "rows",
        (1, 2, 3, 10, 64, 128, 150, 300, 1000, 10000),
        lambda n: argmax(normal(n, 1000), 1),
    ),
    "columns": Sweep(
        "argmax f32 over axis 0, 4 Mi elements", "columns",
        (1, 2, 3, 8, 16, 31, 64, 127, 128, 129, 256, 512, 1000, 2048, 4096, 65536, 10**6),
        lambda n: argmax(normal(ELEMENTS // n, n), 0),
    ),
    "k": Sweep(
        "top-k f32 of 1e5 elements", "k",
        (1, 2, 5, 10, 50, 100, 300, 1000, 3000, 10**4, 25000, 49999, 50001, 75000, 10**5),
        lambda k: top_k(normal(10**5), k),
    ),
    "k of short rows": Sweep(
        "top-k f32 of 2000 rows of 500", "k",
        (1, 2, 3, 5, 8, 12, 16, 17, 25, 50, 100, 200, 249, 251, 400, 500),
        lambda k: top_k(normal(2000, 500), k),
    ),
    "top-k row size": Sweep(
        "top-k f32, k 4, rows of one size, 1 Mi elements", "elements of a row",
        (4, 8, 16, 32, 64, 128, 129, 256, 512, 1024, 2048, 2049, 4096, 16384, 65536, 2**20),
        lambda n: top_k(normal(2**20 // n, n), 4),
    ),
    "slice": Sweep(
        "gather u8, slices of one size, 16 MiB in all", "bytes of a slice",
        (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 48, 64, 65, 100, 128, 256, 1000, 4096),
        lambda n: take(gather((2**22 // n, n), 2**24 // n, 1, np.uint8)),
    ),
    "tuples": Sweep(
        "gather f32 elements of 1000x1000", "tuples",
        (1, 10, 100, 1000, 10**4, 20000, 30000, 10**5, 10**6),
        lambda n: take(gather((1000, 1000), n, 2)),
    ),
}  # fmt: skip

# Calls that move fewer bytes cost more than their work.
COMPARED_BYTES = 4096


class Point(NamedTuple):
    size: int
    medians: dict[str, float]  # seconds, of each competitor
    moved: int  # bytes

    def rate(self, name="dmlcpu"):
        """GB/s."""
        return self.moved / self.medians[name] / 1e9


def marks(points, times=2):
    """What is to be looked at: points where another library is faster, and those that cost more than
    `times` as much per byte as both neighbours."""
    rates = [point.rate() for point in points]
    found = []
    for i, point in enumerate(points):
        slower = point.moved >= COMPARED_BYTES and times_faster(point.medians)[0] < 1
        inner = 0 < i < len(points) - 1
        cliff = inner and times * rates[i] < min(rates[i - 1], rates[i + 1])
        found.append(", ".join(["slower"] * slower + ["cliff"] * cliff))
    return found


def row_of(point, mark=""):
    ratio, best = times_faster(point.medians)
    cells = [str(point.size), time_text(point.medians["dmlcpu"]), f"{point.rate():.2f}"]
    return [*cells, report.ratio_text(ratio if best else None), best, mark]


def draw(sweep, points, caption, path):
    """GB/s of every competitor over the sizes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "dmlcpu"
    figure, axes = plt.subplots(figsize=(9, 5.5))
    for name in dict.fromkeys(name for point in points for name in point.medians):
        curve = [(point.size, point.rate(name)) for point in points if name in point.medians]
        own = {"linewidth": 2, "color": "black"} if name == "dmlcpu" else {"linewidth": 1}
        axes.plot(*zip(*curve), marker=".", label=name, **own)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(sweep.unit)
    axes.set_ylabel("GB/s")
    axes.legend(fontsize=7)
    axes.set_title(f"{sweep.name}\n{caption}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)
    plt.close(figure)


def measured(sweep, modules, page, rounds):
    """The points of a sweep, whose timings the page gets."""
    points = []
    for size in sweep.sizes:
        workload = sweep.workload(size)
        tensors = workload.tensors()
        seconds = measure.compare(peers.calls_of(workload, tensors, modules), rounds)
        page.results[f"{sweep.name}, {size}"] = seconds
        moved = moved_bytes(workload, tensors)
        points.append(Point(size, measure.medians_of(seconds), moved))
        report.print_row(row_of(points[-1]))
    return points


def sweep(arguments):
    """Writes a table for each sweep, and draws a plot for each."""
    modules = peers.libraries(arguments)
    page = report.Page(arguments, [], modules)
    texts = []
    for name, curve in SWEEPS.items():
        if arguments.only not in name:
            continue
        print(curve.name)
        points = measured(curve, modules, page, arguments.rounds)
        rows = [row_of(point, mark) for point, mark in zip(points, marks(points))]
        header = [curve.unit, "dmlcpu", "GB/s", "times faster", "best other", "to look at"]
        texts.append(f"{curve.name}:\n\n{report.table(header, rows)}")
        if arguments.plot:
            stem, _, ending = arguments.plot.rpartition(".")
            draw(curve, points, page.caption, f"{stem}-{name.replace(' ', '-')}.{ending}")
    page.write("\n".join(texts), plot=lambda path: None)  # drawn already
