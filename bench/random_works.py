"""Works that nobody chose: each is drawn from a seed and a number, and its description says all of it.

Three kinds are measured. "peers" are works beside the other libraries. "sorts" are arrays sorted beside
them, elements with their indices. "layouts" are works on views of many layouts, beside a flat argmin that
reads as much. Each answer of dmlcpu is checked before it is timed, ties included; wrong ones end the run.
dmlcpu allocates its outputs in each call, as its callers do. A library is left out of a work if it cannot
do it, gives another answer, crashes, or takes more than HOPELESS times as long as the fastest other one;
JSON says for each work which ones are left out, and why. Never measured are JAX for 64-bit elements,
polars for more than one dimension, bottleneck for all but argmin and argmax of 32 and 64 bits.
"""

import math
import multiprocessing
import random
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace

import numpy as np

import dmlcpu
from dmlcpu._command import _competitors, _progress
from dmlcpu._command._chart import time_text, times_faster
from dmlcpu._command._works import Workload

import measure
import report
from workloads import moved_bytes

DTYPES = ["float32"] * 6 + [
    "float16",
    "float64",
    "int32",
    "int32",
    "uint8",
    "int8",
    "int64",
    "int16",
]
PEER_BYTES = (2**14, 2**26)  # of an input
PEER_RANKS = (1, 4)
GATHER_BYTES = (2**12, 2**25)  # of an output
SORT_BYTES = (2**10, 2**24)
LAYOUT_BYTES = (2**16, 2**24)
LAYOUT_RANKS = (2, 5)
LAYOUTS = ("C", "Fortran", "transposed", "every other", "reversed")
LAYOUT_AXES = 3  # reduced, at most
LAYOUT_K = 32  # at most


@dataclass(frozen=True)
class Work:
    operator: str  # "argmin", "argmax", "top_k" or "gather_nd"
    dtype: str
    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()  # reduced or searched
    k: int = 0
    smallest: bool = False  # of top-k
    count: int = 0  # of tuples
    coordinates: int = 0  # of a tuple
    layout: str = "C"
    layout_axes: tuple[int, ...] = ()  # transposed: in memory order; every other, reversed: which

    def __str__(self):
        text = {"top_k": "top-k", "gather_nd": "gather"}.get(self.operator, self.operator)
        text += f" {self.dtype} {self.shape}"
        if self.operator == "gather_nd":
            text += f", {self.count} tuples of {self.coordinates}"
        elif len(self.axes) == 1:
            text += f" axis {self.axes[0]}"
        else:
            text += f" axes {self.axes}"
        if self.k:
            text += f", k {self.k}, {'smallest' if self.smallest else 'largest'}"
        if self.layout != "C":
            text += f", {self.layout} {self.layout_axes or ''}".rstrip()
        return text

    @property
    def bytes(self):
        """Of the input."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def workload(self):
        options = {}
        if self.operator != "gather_nd":
            options["axis"] = self.axes[0] if len(self.axes) == 1 else self.axes
        if self.operator == "top_k":
            options |= {"k": self.k, "smallest": self.smallest}
        return Workload(str(self), self.operator, self.make, options)

    def make(self, rng):
        """The tensors."""
        x = in_layout(rng, self)
        if self.operator != "gather_nd":
            return (x,)
        sizes = self.shape[: self.coordinates]
        return x, np.stack([rng.integers(0, size, self.count) for size in sizes], -1)


def elements(rng, dtype, shape):
    """Normal floating-point numbers; integers of the middle half of the type's values, as argmin and
    argmax stop at the extreme ones."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        quarter = 2 ** (8 * dtype.itemsize - 2)
        low = np.iinfo(dtype).min + quarter
        return rng.integers(low, low + 2 * quarter, shape, dtype)
    made = np.float64 if dtype == np.float64 else np.float32
    return rng.standard_normal(shape, made).astype(dtype, copy=False)


def in_layout(rng, work):
    shape = list(work.shape)
    if work.layout == "Fortran":
        return elements(rng, work.dtype, shape[::-1]).T
    if work.layout == "transposed":
        base = elements(rng, work.dtype, [shape[axis] for axis in work.layout_axes])
        return base.transpose(np.argsort(work.layout_axes))
    slices = [slice(None)] * len(shape)
    for axis in work.layout_axes:
        if work.layout == "every other":
            shape[axis] *= 2
        slices[axis] = slice(None, None, 2 if work.layout == "every other" else -1)
    return elements(rng, work.dtype, shape)[tuple(slices)]


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def count_up_to(draw, most):
    """A whole number in 1 to `most`, log-uniform."""
    return min(most, int(log_uniform(draw, 1, most + 1)))


def draw_input(draw, ranks, limits):
    """Element type and shape: random points divide the logarithm of the elements among the sizes."""
    dtype = draw.choice(DTYPES)
    itemsize = np.dtype(dtype).itemsize
    while True:
        rank = draw.randint(*ranks)
        wanted = log_uniform(draw, *limits) / itemsize
        points = sorted(draw.random() for _ in range(rank - 1))
        shares = [high - low for low, high in zip([0.0, *points], [*points, 1.0])]
        shape = [int(wanted**share) for share in shares]
        # The largest makes up for what the others lost by rounding down.
        largest = shares.index(max(shares))
        others = math.prod(shape) // shape[largest]
        shape[largest] = max(1, round(wanted / others))
        if limits[0] <= math.prod(shape) * itemsize <= limits[1]:
            return dtype, tuple(shape)


def peer_work(seed, number):
    """A work beside the other libraries: argmin or argmax, top-k and gather alternate."""
    draw = random.Random(f"beside others {seed} {number}")
    dtype, shape = draw_input(draw, PEER_RANKS, PEER_BYTES)
    axis = draw.randrange(len(shape))
    if number % 3 == 0:
        return Work(draw.choice(("argmin", "argmax")), dtype, shape, (axis,))
    if number % 3 == 1:
        k = count_up_to(draw, shape[axis])
        return Work("top_k", dtype, shape, (axis,), k, draw.choice((False, True)))
    while True:
        coordinates = draw.randint(1, len(shape))
        slice_bytes = math.prod(shape[coordinates:]) * np.dtype(dtype).itemsize
        count = max(1, round(log_uniform(draw, *GATHER_BYTES) / slice_bytes))
        if GATHER_BYTES[0] <= count * slice_bytes <= GATHER_BYTES[1]:
            return Work("gather_nd", dtype, shape, count=count, coordinates=coordinates)


def sort_work(seed, number):
    """All elements along an axis, in ascending order, with their indices."""
    draw = random.Random(f"sorts {seed} {number}")
    dtype, shape = draw_input(draw, PEER_RANKS, SORT_BYTES)
    axis = draw.randrange(len(shape))
    return Work("top_k", dtype, shape, (axis,), shape[axis], smallest=True)


def layout_work(seed, number, limits=LAYOUT_BYTES, most_k=LAYOUT_K):
    """A work on a view, for dmlcpu alone: argmax and top-k in alternation."""
    draw = random.Random(f"layouts {seed} {number}")
    dtype, shape = draw_input(draw, LAYOUT_RANKS, limits)
    rank = len(shape)
    layout = draw.choice(LAYOUTS)
    layout_axes = ()
    if layout == "transposed":
        while layout_axes in ((), tuple(range(rank))):
            layout_axes = tuple(draw.sample(range(rank), rank))
    elif layout in ("every other", "reversed"):
        layout_axes = (draw.choice([axis for axis in range(rank) if shape[axis] > 1]),)
    where = {"layout": layout, "layout_axes": layout_axes}
    if number % 2 == 0:
        count = draw.randint(1, min(LAYOUT_AXES, rank))
        axes = tuple(sorted(draw.sample(range(rank), count)))
        return Work("argmax", dtype, shape, axes, **where)
    axis = draw.randrange(rank)
    k = count_up_to(draw, min(most_k, shape[axis]))
    return Work("top_k", dtype, shape, (axis,), k, draw.choice((False, True)), **where)


KINDS = {"peers": peer_work, "sorts": sort_work, "layouts": layout_work}
REST = 0.015  # seconds, before each turn
LEAST = 0.005  # seconds that a turn takes
HOPELESS = 20
FLAT_BYTES = 2**28
GROUPS = ("argmin, argmax", "top-k, k > 1", "top-k, k = 1", "gather", "all")
WORST = 20  # works that are listed
LARGE_BYTES = 2**14
FAR_BELOW = 0.7


def group_of(work):
    if work.operator == "top_k":
        return "top-k, k > 1" if work.k > 1 else "top-k, k = 1"
    return "gather" if work.operator == "gather_nd" else "argmin, argmax"


def plan_of(workload, tensors):
    """How dmlcpu does the work, without the candidates that it chose from."""
    names = ("argmin", "argmax", "top_k", "gather_nd")
    planner = SimpleNamespace(
        **{name: partial(dmlcpu._core.plan_text, getattr(dmlcpu, name)) for name in names}
    )
    text = _competitors.call_of("dmlcpu", planner, workload, tensors)()
    return "; ".join(text.partition("\ncandidates")[0].splitlines())


def right_answer(workload, tensors):
    """The one right answer of a work without NaN, by NumPy: of equal elements the first."""
    if workload.operator != "top_k":
        return (_competitors.call_of("NumPy", np, workload, tensors)(),)
    x = tensors[0]
    k, axis = workload.options["k"], workload.options["axis"]
    if workload.smallest:
        keys = x
    else:
        keys = -x if x.dtype.kind == "f" else ~x
    best = np.take(np.argsort(keys, axis, kind="stable"), np.arange(k), axis)
    return np.take_along_axis(x, best, axis), best


@cache
def flat_argmin():
    x = np.random.default_rng(0).standard_normal(FLAT_BYTES // 4, np.float32)
    return partial(dmlcpu.argmin, x)


def kept(calls, left_out):
    """dmlcpu's call, and those of the others that are not hopeless."""
    seconds = {name: measure.quick_seconds(call, REST) for name, call in calls.items()}
    own = seconds.pop("dmlcpu")
    limit = HOPELESS * min(seconds.values(), default=own)
    slow = {name: f"takes {time_text(t)}" for name, t in seconds.items() if t > limit}
    left_out |= slow
    return {name: call for name, call in calls.items() if name not in slow}


def measured(kind, seed, number, names, rounds):
    """What is found for one work; `names` are the libraries beside dmlcpu."""
    work = KINDS[kind](seed, number)
    workload = work.workload
    tensors = workload.tensors()
    modules = _competitors.installed([] if kind == "layouts" else names)
    left_out = {}
    calls = _competitors.agreeing(workload, tensors, modules, left_out.__setitem__)
    got = calls["dmlcpu"]()
    got = got if isinstance(got, tuple) else (got,)
    if not all(map(np.array_equal, got, right_answer(workload, tensors))):
        raise AssertionError(f"wrong answer of dmlcpu: {work}")
    if kind == "layouts":
        moved = work.bytes + sum(output.nbytes for output in got)
        calls["flat argmin"] = flat_argmin()
    else:
        moved = moved_bytes(workload, tensors)
        calls = kept(calls, left_out)
    del got
    seconds = measure.compare(calls, rounds, LEAST, REST)
    if kind == "layouts":
        seconds["flat argmin"] = [t * moved / FLAT_BYTES for t in seconds["flat argmin"]]
    return {
        "work": str(work),
        "number": number,
        "group": group_of(work),
        "moved": moved,
        "plan": plan_of(workload, tensors),
        "seconds": seconds,
        "left out": left_out,
    }


class Measurer:
    """A process that measures works. If a library crashes it, another process measures the work without
    that library."""

    def __init__(self, *settings, initializer=None):
        self.settings, self.initializer = settings, initializer
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(1, context, self.initializer)

    def ask(self, number, names):
        """What is found; None after a crash."""
        kind, seed, rounds = self.settings
        try:
            return self.pool.submit(measured, kind, seed, number, names, rounds).result()
        except BrokenProcessPool:
            self.start()
            return None

    def result(self, number, names):
        found = self.ask(number, names)
        if found is None:
            alive = [name for name in names if self.ask(number, [name])]
            found = self.ask(number, alive)
            if found is None:
                sys.exit(f"work {number}: dmlcpu ended the process, or {', '.join(alive)} at times")
            found["left out"] |= {name: "crashed" for name in names if name not in alive}
        return found


def results_of(kind, arguments, names, results):
    """Fills in what is found for each work whose description contains the text of --only; yields the
    share of them that is done."""
    numbers = [
        number
        for number in range(arguments.count)
        if arguments.only in str(KINDS[kind](arguments.seed, number))
    ]
    measurer = Measurer(kind, arguments.seed, arguments.rounds)
    for done, number in enumerate(numbers, 1):
        results.append(measurer.result(number, names))
        yield done / len(numbers)
    measurer.pool.shutdown()


def summary_row(name, works):
    ratios = [work["ratio"] for work in works]
    far = sum(w["ratio"] < FAR_BELOW and w["moved"] >= LARGE_BYTES for w in works)
    return [
        name,
        f"{statistics.geometric_mean(ratios):.2f}",
        f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}",
        f"{min(ratios):.2f}",
        f"{far}",
    ]


def tables(kind, works):
    """A summary by group, then the worst works. Works that no other library does do not count."""
    for work in works:
        medians = measure.medians_of(work["seconds"])
        work["ratio"], best = times_faster(medians)
        work["cells"] = [
            time_text(medians["dmlcpu"]),
            best and f"{best} {time_text(medians[best])}",
        ]
    works = [work for work in works if work["cells"][1]]
    rows = []
    for name in GROUPS:
        members = [work for work in works if name in (work["group"], "all")]
        rows += [summary_row(name, members)] if members else []
    beside = "a flat argmin" if kind == "layouts" else "the best other"
    header = [f"{kind}: times as fast as {beside}", "geometric mean", "slower", "worst"]
    header.append(f"below {FAR_BELOW}, of at least {LARGE_BYTES // 1024} KB moved")
    text = report.table(header, rows)
    rows = [
        [f"{work['number']}: {work['work']}", *work["cells"], f"{work['ratio']:.2f}", work["plan"]]
        for work in sorted(works, key=lambda work: work["ratio"])[:WORST]
    ]
    return text + "\n" + report.table(["work", "dmlcpu", "best other", "ratio", "plan"], rows)


def random_works(arguments):
    modules = _competitors.installed(arguments.competitors)
    page = report.Page(arguments, [], modules)
    names = [name for name in modules if name != "dmlcpu"]
    texts = [f"{arguments.count} works of each kind, seed {arguments.seed}.\n"]
    for kind in arguments.kinds:
        page.results[kind] = []
        _progress.follow(kind, results_of(kind, arguments, names, page.results[kind]))
        texts.append(tables(kind, page.results[kind]))
        print(texts[-1], flush=True)
    page.write("\n".join(texts))
