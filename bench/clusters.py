"""dmlcpu.dask beside dask.array's own operations, on the same arrays and workers.

Times are of whole calls, from the graph to the result at the client. Bytes that workers send each
other, memory and tasks are those of one more call whose result stays with the workers. Memory is a
worker's greatest resident memory during the call, less what it had before; tasks are those that a
scheduler gets, the array's chunks apart.
"""

import statistics
import time
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from dmlcpu._command._chart import time_text

import measure
import report

SHAPE = (20000, 4096)
ONE = (2000, 1024)  # the chunks of works that are measured with one size of them
PICKS = 4096  # rows or elements that are gathered
MIB = 2**20


class Work(NamedTuple):
    """Calls on x, a float32 array in the workers' memory, and integers of x's rows: `i` in the client's
    memory, and `j`, the same in two chunks. No `own` call: dask.array has none."""

    what: str
    own: str | None
    door: str
    chunks: tuple[int, int] = ONE
    workers: int = 2  # processes of one thread each; 0 for the client's own threads

    @property
    def name(self):
        count = -(-SHAPE[0] // self.chunks[0]) * -(-SHAPE[1] // self.chunks[1])
        workers = f"{self.workers} workers" if self.workers else "threads"
        return f"{self.what}, {count} chunks, {workers}"


PLAIN = "keepdims=False, index_dtype='i8'"
CALLS = {
    "argmax rows": ("da.argmax(x, 1)", f"dd.argmax(x, 1, {PLAIN})"),
    "argmax columns": ("da.argmax(x, 0)", f"dd.argmax(x, 0, {PLAIN})"),
    "argmax all": ("da.argmax(x)", f"dd.argmax(x, {PLAIN})"),
    "argmin rows": ("da.argmin(x, 1)", f"dd.argmin(x, 1, {PLAIN})"),
    "top-k 10 rows": ("da.topk(x, 10, 1)", "dd.top_k(x, 10).values"),
    "top-k 10 columns": ("da.topk(x, 10, 0)", "dd.top_k(x, 10, axis=0).values"),
    "argtopk 10 rows": ("da.argtopk(x, 10, 1)", "dd.top_k(x, 10, index_dtype='i8').indices"),
    "gather rows": ("x[i]", "dd.gather_nd(x, i[:, None])"),
    "gather rows, lazy": ("x[j]", "dd.gather_nd(x, j[:, None])"),
    "gather elements": ("x.vindex[i, i % x.shape[1]]", "dd.gather_nd(x, np.c_[i, i % x.shape[1]])"),
    "argmax rows, last of ties": (None, "dd.argmax(x, 1, axis_direction='decreasing')"),
    "argmax axes 0, 1 of 3": (None, "dd.argmax(x.reshape(2, 10000, 4096), (0, 1))"),
    "top-k 10 rows, both": (None, "dd.top_k(x, 10)"),
    "gather elements, lazy": (None, "dd.gather_nd(x, da.stack([j, j % x.shape[1]], 1))"),
}  # fmt: skip
WORKS = [Work(what, *calls, workers=w) for w in (0, 2) for what, calls in CALLS.items()]
WORKS += [
    Work(what, *CALLS[what], chunks, workers)
    for what in ("argmax rows", "argmax columns", "top-k 10 rows", "gather rows")
    for chunks, workers in (((20000, 4096), 1), (ONE, 1), ((10000, 2048), 2), ((500, 512), 2))
]


@contextmanager
def workers(count):
    """A client of a cluster of `count` processes, or None."""
    import distributed

    if count == 0:
        yield None
        return
    with (
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def calls_of(work):
    """The calls by name, each making a Dask array or a pair of them; and x."""
    import dask.array as da

    import dmlcpu.dask

    def block(block_id):
        sizes = np.minimum(work.chunks, np.array(SHAPE) - np.array(block_id) * work.chunks)
        return np.random.default_rng(block_id).random(sizes, np.float32)

    chunks = da.core.normalize_chunks(work.chunks, SHAPE)
    x = da.map_blocks(block, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    i = np.random.default_rng(0).integers(0, SHAPE[0], PICKS)
    names = {"da": da, "dd": dmlcpu.dask, "np": np, "x": x.persist(), "i": i}
    names["j"] = da.from_array(i, chunks=PICKS // 2).persist()
    texts = {"dask.array": work.own, "dmlcpu": work.door}
    return {name: eval(f"lambda: {text}", names) for name, text in texts.items() if text}, names[
        "x"
    ]


def compute(call):
    import dask

    return lambda: dask.compute(call())[0]


def tasks_of(call):
    """How many tasks a call gives the scheduler."""
    import dask
    from dask._task_spec import Task

    found, tasks = call(), {}
    for lazy in dask.optimize(*(found if isinstance(found, tuple) else [found])):
        tasks |= lazy.__dask_graph__()
    return sum(isinstance(task, Task) for task in tasks.values())


def most_memory(begin):
    """The process's memory, whose peak is counted from now on if `begin`, else that peak; in bytes, on
    Linux."""
    if begin:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmRSS" if begin else "VmHWM"].split()[0]) * 1024


def sent_bytes(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def moved_and_memory(client, call):
    """Bytes that workers sent each other, and the most memory that one of them took, while it is
    computed."""
    import dask

    def everywhere(function, *arguments):
        return client.run(function, *arguments) if client else {"": function(*arguments)}

    before = everywhere(most_memory, True)
    sent = client.run(sent_bytes) if client else {}
    (kept,) = dask.persist(call())
    if client:
        import distributed

        distributed.wait(kept)
        sent = {name: after - sent[name] for name, after in client.run(sent_bytes).items()}
    peaks = everywhere(most_memory, False)
    return sum(sent.values()), max(peaks[name] - before[name] for name in peaks)


def measured(work, rounds):
    """Seconds of each call, and what it moves and takes."""
    with workers(work.workers) as client:
        calls, x = calls_of(work)
        answers = [compute(call)() for call in calls.values()]
        if "argtopk" in work.what:  # which of equal elements dask.array finds is not said
            answers = [np.take_along_axis(x.compute(), answer, 1) for answer in answers]
        assert len(calls) == 1 or np.array_equal(*answers), work.name
        seconds = measure.compare({n: compute(call) for n, call in calls.items()}, rounds, least=0)
        costs = {}
        for name, call in calls.items():
            moved, memory = moved_and_memory(client, call)
            costs[name] = {"tasks": tasks_of(call), "moved": moved, "memory": memory}
        return seconds, costs


def row_of(work, seconds, costs):
    medians = measure.medians_of(seconds)
    own, door = (medians.get(name) for name in ("dask.array", "dmlcpu"))
    cells = [time_text(own) if own else "", time_text(door)]
    cells.append(f"{own / door:.2f}" if own else "")
    for name in ("dask.array", "dmlcpu"):
        cost = costs.get(name)
        for what, scale, digits in (("tasks", 1, 0), ("moved", MIB, 1), ("memory", MIB, 0)):
            cells.append(f"{cost[what] / scale:.{digits}f}" if cost else "")
    return [work.name, *cells]


HEADER = ["work", "dask.array", "dmlcpu", "times as fast"]
HEADER += [
    f"{n}: {what}" for n in ("dask.array", "dmlcpu") for what in ("tasks", "MiB sent", "MiB more")
]


def dask(arguments):
    import dask as library

    page = report.Page(arguments, HEADER, {"dask": library})
    for work in report.chosen(WORKS, arguments):
        seconds, costs = measured(work, arguments.rounds)
        page.add(row_of(work, seconds, costs), {"seconds": seconds, "costs": costs})
    page.write(report.table(page.header, page.rows) + "\n" + graphs())


def graphs():
    """How long graphs of 10,000 chunks take, from the call to what a scheduler gets."""
    import dask as library
    import dask.array as da

    import dmlcpu.dask

    x = da.zeros((10**6, 100), chunks=(1000, 10), dtype=np.float32)
    i = np.random.default_rng(0).integers(0, len(x), PICKS)
    names = {"da": da, "dd": dmlcpu.dask, "np": np, "x": x, "i": i}
    names["j"] = da.from_array(i, chunks=PICKS)
    rows = []
    for what, texts in CALLS.items():
        cells = []
        for text in texts:
            if text is None or "reshape" in text:
                cells += ["", ""]
                continue
            times = []
            for _ in range(3):
                start = time.perf_counter()
                lazy = eval(text, names)
                built = time.perf_counter()
                library.optimize(lazy)
                times.append((built - start, time.perf_counter() - start))
            cells += [time_text(statistics.median(t)) for t in zip(*times)]
        rows.append([what, *cells])
        report.print_row(rows[-1])
    header = [
        "10,000 chunks",
        *(f"{n}: {w}" for n in ("dask.array", "dmlcpu") for w in ("built", "and optimised")),
    ]
    return report.table(header, rows)
