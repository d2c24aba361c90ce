"""dmlcpu.dask on clusters that nobody has here: arithmetic, and a simulation that checks it.

The simulation runs the graphs that dmlcpu.dask builds, task by task, on workers of given speeds: a
scheduler that hands out one task at a time, threads, and a network whose every worker sends and
receives one thing at a time. Nothing is computed; what a task takes and gives follows from its kind.
"""

import heapq
import math
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

import report

GB, TB = 10**9, 10**12


class Cluster(NamedTuple):
    """Speeds in bytes a second, times in seconds."""

    workers: int
    threads: int = 4  # of a worker; each runs one task
    read: float = 1 * GB  # a worker's storage
    search: float = 4 * GB  # a kernel of one thread
    network: float = 1.25 * GB  # a worker's link, each way: 10 Gbit/s
    combine: float = 1 * GB  # tasks that read what other tasks gave
    latency: float = 0.0005  # of a transfer
    task: float = 0.0005  # of the scheduler


class Case(NamedTuple):
    """An operator on rows of float32."""

    name: str
    call: str  # on x, and i, a tuple for each of `picks` rows
    out: float = 0  # bytes that a row of a chunk's result gives: values and uint64 indices
    picks: int = 0
    parts: int = 1  # chunks of i, which the client does not know if there are several

    @property
    def is_gather(self):
        return self.picks > 0

    @property
    def is_lazy(self):
        return self.parts > 1


COLUMNS = 2500
ROW = 4 * COLUMNS  # bytes
LARGE, SMALL = 100_000, 12_500  # rows of a chunk: 1 GB, 125 MB
FAN_IN = 16  # of searches
JOINED = 64  # of gathers
OUTPUT = 128 * 2**20  # Dask's array.chunk-size
MOST_TASKS = 200_000  # of a simulation
COMBINE = 1e-4  # seconds of a task that combines, besides its bytes
CASES = [
    Case("argmax of all", "dd.argmax(x, index_dtype='u8')", 12),
    Case("argmax of columns", "dd.argmax(x, 0, index_dtype='u8')", 12 * COLUMNS),
    Case("argmax of rows", "dd.argmax(x, 1, index_dtype='u8')"),
    Case("top-k, 100 of columns", "dd.top_k(x, 100, axis=0, index_dtype='u8').values", 1200 * COLUMNS),
    Case("gather of 20,000 rows", "dd.gather_nd(x, i)", picks=20_000),
    Case(
        "gather of 20,000 rows, lazy", "dd.gather_nd(x, da.from_array(i, chunks=(2500, 1)))",
        picks=20_000, parts=8,
    ),
]  # fmt: skip
SCALES = [
    (10, 1 * TB, LARGE), (100, 10 * TB, LARGE), (1000, 10 * TB, LARGE), (1000, 10 * TB, SMALL),
    (1000, 100 * TB, LARGE),
]  # fmt: skip


class Expected(NamedTuple):
    """What arithmetic says. Of bytes, the most: workers have some of what their tasks need."""

    tasks: float
    sent: float
    storage: float  # seconds of the busiest worker
    scheduler: float
    link: float

    @property
    def seconds(self):
        return max(self.storage, self.scheduler, self.link)

    @property
    def limit(self):
        return max(("storage", "scheduler", "link"), key=lambda name: getattr(self, name))


def expected(case, cluster, size, rows):
    chunks = math.ceil(size / (rows * ROW))
    of_case = expected_gather if case.is_gather else expected_search
    read, tasks, sent, link = of_case(case, cluster, chunks)
    storage = math.ceil(read / cluster.workers) * rows * ROW / cluster.read
    return Expected(tasks, sent, storage, tasks * cluster.task, link / cluster.network)


def expected_search(case, cluster, chunks):
    nodes = sum(levels(chunks, FAN_IN)) if case.out else 0
    sent = case.out * (chunks + nodes - 1)
    return chunks, chunks + nodes, sent, max(sent / cluster.workers, FAN_IN * case.out)


def expected_gather(case, cluster, chunks):
    results = math.ceil(case.picks * ROW / OUTPUT)
    # Of a result's chunk, each tuple falls in a random chunk of the input: the share that it needs.
    share = 1 if case.is_lazy else -math.expm1(-case.picks / results / chunks)
    none, one = (1 - share) ** results, results * share * (1 - share) ** (results - 1)
    pairs = chunks * share * results
    nodes = levels(pairs / results, JOINED)
    # A chunk that several of the result's need is read by a task of its own, as is one whose tuples are
    # not known. Those come in chunks, which are merged for each chunk of the result, and then in parts.
    tasks = pairs + chunks * (1 - none - one * (not case.is_lazy)) + results * sum(nodes)
    tasks += case.is_lazy * (pairs + case.parts + 3 * results)
    sent = case.picks * (ROW * len(nodes) + 4 * case.is_lazy)
    return chunks * (1 - none), tasks, sent, sent / min(results, cluster.workers)


def levels(leaves, fan_in):
    """Nodes of each level of a tree above its leaves."""
    nodes = []
    while leaves > 1:
        leaves = math.ceil(leaves / fan_in)
        nodes.append(leaves)
    return nodes


def graph_of(case, size, chunk):
    """{key: keys it needs}, of the tasks that the scheduler gets."""
    import dask
    import dask.array as da
    from dask._task_spec import Alias

    import dmlcpu.dask

    rows = math.ceil(size / (chunk * ROW)) * chunk
    x = da.zeros((rows, COLUMNS), chunks=(chunk, COLUMNS), dtype=np.float32)
    i = np.random.default_rng(0).integers(0, rows, (case.picks, 1))
    lazy = eval(case.call, {"dd": dmlcpu.dask, "da": da, "x": x, "i": i})
    (lazy,) = dask.optimize(lazy)
    graph = dict(lazy.__dask_graph__())
    other_names = {key: task.target for key, task in graph.items() if isinstance(task, Alias)}
    # Sorted, as names of strings, and so sets of them, have another order in each process.
    return {
        key: sorted((other_names.get(need, need) for need in graph[key].dependencies), key=str)
        for key in sorted(graph.keys() - other_names.keys(), key=str)
    }


class Outcome(NamedTuple):
    tasks: int
    sent: float
    seconds: float


class Simulation:
    """When each task ends, in seconds; times of workers are when they are free."""

    def __init__(self, case, cluster, size, rows):
        self.case, self.cluster, self.chunk = case, cluster, rows * ROW
        self.needs = graph_of(case, size, rows)
        self.users = defaultdict(list)
        for key, needs in self.needs.items():
            for need in needs:
                self.users[need].append(key)
        self.waiting = {key: len(needs) for key, needs in self.needs.items()}
        self.leaves = sorted((k for k, needs in self.needs.items() if not needs), reverse=True)
        self.kinds = Counter(kind_of(key) for key in self.needs)
        self.place, self.end, self.given = {}, {}, {}
        self.storage, self.sending, self.receiving, self.combining = np.zeros((4, cluster.workers))
        self.scheduler = self.sent = 0.0

    def run(self):
        threads = self.cluster.threads
        idle = [(0.0, worker) for _ in range(threads) for worker in range(self.cluster.workers)]
        ready = []
        while self.leaves or ready:
            # Tasks that need nothing wait for an idle thread; others are handed out as they are ready.
            if self.leaves and (not ready or idle[0] <= ready[0]):
                key, (time, worker) = self.leaves.pop(), heapq.heappop(idle)
                self.place[key], self.end[key] = (
                    worker,
                    self.read(self.handed_out(time), worker, key),
                )
                self.given[key] = self.gives(key, self.chunk)
                heapq.heappush(idle, (self.end[key], worker))
            else:
                time, _, key = heapq.heappop(ready)
                self.combine(self.handed_out(time), key)
            for user in self.users[key]:
                self.waiting[user] -= 1
                if self.waiting[user] == 0:
                    latest = max(self.end[need] for need in self.needs[user])
                    heapq.heappush(ready, (latest, len(self.end), user))
        return Outcome(len(self.needs), self.sent, max(self.end.values()))

    def handed_out(self, time):
        self.scheduler = max(self.scheduler, time) + self.cluster.task
        return self.scheduler

    def read(self, time, worker, key):
        if kind_of(key) == "indices":
            return time + COMBINE
        self.storage[worker] = max(self.storage[worker], time) + self.chunk / self.cluster.read
        return self.storage[worker] + self.chunk / self.cluster.search

    def combine(self, time, key):
        """On the worker that has the most of what the task needs."""
        needs = self.needs[key]
        has = defaultdict(float)
        for need in needs:
            has[self.place[need]] += self.given[need]
        worker = max(has, key=has.get)
        for need in needs:
            sender, size = self.place[need], self.given[need]
            if sender != worker:
                begin = max(time, self.sending[sender], self.receiving[worker])
                end = begin + size / self.cluster.network
                self.sending[sender] = self.receiving[worker] = end
                self.combining[worker] = max(self.combining[worker], end + self.cluster.latency)
                self.sent += size
        total = sum(self.given[need] for need in needs)
        seconds = COMBINE + self.gives(key, total) / self.cluster.combine
        self.combining[worker] = max(time, self.combining[worker]) + seconds
        self.place[key], self.end[key] = worker, self.combining[worker]
        self.given[key] = self.gives(key, total)

    def gives(self, key, total):
        """Bytes, of a task that reads or gets `total`."""
        if not self.case.is_gather:
            return self.case.out
        kind, picks = kind_of(key), self.case.picks
        if kind in ("rows", "part"):
            return picks * (ROW if kind == "rows" else 4) / self.kinds[kind]
        return 8 * picks / self.kinds[kind] if kind in ("indices", "route", "order") else total


def kind_of(key):
    """What a task of a gather does, by its name, which may be of several that Dask made one of."""
    for kind in ("rows", "part", "route", "order", "join"):
        if f"dmlcpu-gathernd-{kind}" in key[0]:
            return kind
    return "indices" if key[0].startswith("array") else "other"


def text_of(size):
    for unit, name in ((TB, "TB"), (GB, "GB"), (10**6, "MB"), (1000, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} B"


def row_of(case, workers, size, rows):
    """Arithmetic beside the simulation, which takes graphs of up to some 200,000 tasks."""
    cluster = Cluster(workers)
    said = expected(case, cluster, size, rows)
    found = ["", "", ""]
    if said.tasks < MOST_TASKS:
        outcome = Simulation(case, cluster, size, rows).run()
        found = [f"{outcome.tasks:,}", text_of(outcome.sent), f"{outcome.seconds:.1f} s"]
    chunk = text_of(rows * ROW)
    name = f"{case.name}: {text_of(size)} in chunks of {chunk}, {workers} workers"
    seconds = f"{said.seconds:.1f} s, {said.limit}"
    return [name, f"{said.tasks:,.0f}", found[0], text_of(said.sent), found[1], seconds, found[2]]


HEADER = ["work", "tasks", "simulated", "sent, at most", "simulated", "time, at least", "simulated"]


def scaling(arguments):
    rows = []
    for case in CASES:
        for scale in SCALES:
            if arguments.only in case.name:
                rows.append(row_of(case, *scale))
                report.print_row(rows[-1])
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(report.table(HEADER, rows))
