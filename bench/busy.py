"""dmlcpu on all threads and on one, while other processes keep every processor busy."""

import contextlib
import statistics
import subprocess
import sys
import time

import numpy as np

import builds
import measure
import report
from session import chosen, machine, write
from workloads import Workload

# Whose calls take from tens of microseconds to milliseconds: a second thread gains little of a short one,
# and waiting once for a thread that has no processor takes longer than all of a series.
WORKS = [
    Workload(
        "rows of 797x1000",
        "argmin",
        lambda rng: (rng.standard_normal((797, 1000), np.float32),),
        {"axis": 1},
    ),
    Workload(
        "label map 21x256x256",
        "argmax",
        lambda rng: (rng.standard_normal((21, 256, 256), np.float32),),
        {"axis": 0},
    ),
    Workload(
        "top 20 of 64x20000",
        "top_k",
        lambda rng: (rng.standard_normal((64, 20000), np.float32),),
        {"k": 20, "axis": 1},
    ),
    Workload(
        "400000 slices of 16 bytes",
        "gather_nd",
        lambda rng: (
            rng.standard_normal((400_000, 4), np.float32),
            rng.integers(0, 400_000, (400_000, 1)),
        ),
        reuse_output=True,
    ),
]
CALLS = 80  # of a series
SERIES = 12


@contextlib.contextmanager
def busy(count):
    """While as many processes compute; gives them."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    time.sleep(1)
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def series(call):
    """Seconds of each call."""
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def compare(call, dmlcpu):
    """Series of calls on all threads and on one, which alternate."""

    def on_one_thread():
        with dmlcpu.num_threads(1):
            call()

    found = {"all": [], "one": []}
    for _ in range(SERIES):
        for name, made in (("all", call), ("one", on_one_thread)):
            time.sleep(0.05)
            found[name].append(series(made))
    return found


def row_of(name, found):
    """What a series takes on one thread, and those on all threads beside it: medians, then sums."""
    median = statistics.median(t for times in found["one"] for t in times)
    total = statistics.fmean(map(sum, found["one"]))
    medians = sorted(statistics.median(times) / median for times in found["all"])
    totals = sorted(sum(times) / total for times in found["all"])
    return [
        name,
        report.text_of(median),
        f"{statistics.median(medians):.2f}",
        f"{medians[-1]:.2f}",
        f"{statistics.median(totals):.2f}",
        f"{totals[-1]:.2f}",
    ]


HEADER = ["work", "one thread", "median call", "worst series", "sum of a series", "worst sum"]


def measure_busy(arguments):
    """Twice as many busy processes as there are threads."""
    about = machine()
    dmlcpu = builds.installed()
    results, rows = {}, []
    with busy(2 * measure.threads()):
        for workload in chosen(WORKS, arguments):
            tensors = workload.make(np.random.default_rng(0))
            found = compare(builds.call_for(dmlcpu, workload, *tensors), dmlcpu)
            results[workload.name] = found
            rows.append(row_of(workload.name, found))
            report.print_row(rows[-1])
    write(arguments, about, results, report.table(HEADER, rows))
