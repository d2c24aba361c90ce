"""dmlcpu on all threads and on one, while other processes keep every processor busy."""

import contextlib
import statistics
import subprocess
import sys
import time
from functools import partial

import dmlcpu
from dmlcpu._command import _competitors
from dmlcpu._command._chart import time_text
from dmlcpu._command._timing import seconds_of
from dmlcpu._command._works import Workload, gather, normal

import measure
import peers
import report

# Whose calls take from tens of microseconds to milliseconds: a second thread gains little of a short one,
# and waiting once for a thread that has no processor takes longer than all of a series.
WORKS = [
    Workload("rows of 797x1000", "argmin", normal(797, 1000), {"axis": 1}),
    Workload("label map 21x256x256", "argmax", normal(21, 256, 256), {"axis": 0}),
    Workload("top 20 of 64x20000", "top_k", normal(64, 20000), {"k": 20, "axis": 1}),
    Workload(
        "400000 slices of 16 bytes",
        "gather_nd",
        gather((400_000, 4), 400_000),
        reuse_output=True,
    ),
]
CALLS = 80  # of a series
SERIES = 12
HEADER = ["work", "one thread", "median call", "worst series", "sum of a series", "worst sum"]


@contextlib.contextmanager
def processes(count):
    """While as many processes compute; gives them."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    time.sleep(1)
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def compare(call):
    """Seconds of each call of series on all threads and on one, which alternate."""
    found = {"all": [], "one": []}
    for _ in range(SERIES):
        for name, made in (("all", call), ("one", partial(peers.on_one_thread, call))):
            time.sleep(measure.REST)
            found[name].append([seconds_of(made, 1) for _ in range(CALLS)])
    return found


def row_of(name, found):
    """What a series takes on one thread, and those on all threads beside it: medians, then sums."""
    median = statistics.median(t for times in found["one"] for t in times)
    total = statistics.fmean(map(sum, found["one"]))
    medians = sorted(statistics.median(times) / median for times in found["all"])
    totals = sorted(sum(times) / total for times in found["all"])
    ratios = [statistics.median(medians), medians[-1], statistics.median(totals), totals[-1]]
    return [name, time_text(median), *(f"{ratio:.2f}" for ratio in ratios)]


def busy(arguments):
    """Beside twice as many busy processes as there are threads."""
    page = report.Page(arguments, HEADER)
    with processes(2 * dmlcpu.get_num_threads()):
        for work in report.chosen(WORKS, arguments):
            found = compare(_competitors.call_of("dmlcpu", dmlcpu, work, work.tensors()))
            page.add(row_of(work.name, found), found)
    page.write()
