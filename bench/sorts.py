"""Sorts of random arrays along a random axis.

dmlcpu.numpy's argsort beside NumPy's of the default kind; and dmlcpu's elements with their indices beside
the fastest other library's: NumPy's argsort, PyTorch's sort, ONNX Runtime's and JAX's top-k of all
elements (JAX's of up to 32 bits), polars' arg_sort (of one dimension). Each answer of dmlcpu is checked
before it is timed.
"""

import importlib.util
import random
from functools import partial

import numpy as np

import builds
import competitors
import measure
import random_works
import report
from progress import Progress
from session import machine, write
from workloads import Workload

REST = 0.015  # seconds, before each turn
LEAST = 0.005  # seconds that a turn takes
BYTES = (2**10, 2**24)  # of an array


def drawn(seed, number):
    """Its elements and the axis."""
    draw = random.Random(f"sorts {seed} {number}")
    dtype, shape = random_works.draw_input(draw, random_works.PEER_RANKS, BYTES)
    axis = draw.randrange(len(shape))
    return random_works.elements(np.random.default_rng(number), dtype, shape), axis


def others(x, axis, names):
    """The calls of other libraries, each of which gives the elements, or the indices, in order."""
    calls = {"NumPy": partial(np.argsort, x, axis)}
    if "polars" in names and x.ndim == 1 and x.dtype != np.float16:
        polars = importlib.import_module("polars")
        calls["polars"] = polars.Series(x).arg_sort
    if "PyTorch" in names:
        torch = importlib.import_module("torch")
        calls["PyTorch"] = partial(torch.sort, torch.from_numpy(x), axis)
    top_k = Workload("sort", "top_k", None, {"axis": axis, "k": x.shape[axis], "smallest": True})
    return calls | competitors.calls_for(top_k, (x,), names & {"ORT", "JAX"}, lambda *_: None)


def measured(x, axis, names, rounds):
    """Seconds of the door's argsort, of dmlcpu's top-k of all, and of the others."""
    package, door = builds.installed(), importlib.import_module("dmlcpu.numpy")
    want = np.argsort(x, axis, kind="stable")
    top_k = partial(
        package.top_k,
        x,
        x.shape[axis],
        axis=axis,
        axis_direction="increasing",
        index_dtype=np.int64,
    )
    calls = {"door": partial(door.argsort, x, axis), "dmlcpu": top_k, **others(x, axis, names)}
    for answer in (calls["door"](), top_k().indices):
        assert np.array_equal(answer, want), f"wrong answer: {x.dtype} {x.shape} axis {axis}"
    limit = 20 * measure.quick_seconds(calls["NumPy"], REST)
    kept = {
        name: call
        for name, call in calls.items()
        if name in ("door", "dmlcpu") or measure.quick_seconds(call, REST) <= limit
    }
    return measure.compare(kept, rounds, LEAST, REST)


def summary(name, ratios):
    ratios = np.array(ratios)
    mean = np.exp(np.log(ratios).mean())
    return (
        f"{name}: geometric mean {mean:.2f}, slower in {np.sum(ratios < 1)} of {ratios.size}, "
        f"the least {ratios.min():.2f}"
    )


def sorts(arguments):
    about = machine()
    names = set(arguments.competitors or competitors.installed())
    results, rows, doors, whole = {}, [], [], []
    progress = Progress("sorts", arguments.count)
    for number in range(arguments.count):
        x, axis = drawn(arguments.seed, number)
        work = f"{x.dtype} {x.shape} axis {axis}"
        results[f"{number}: {work}"] = seconds = measured(x, axis, names, arguments.rounds)
        medians = measure.medians_of(seconds)
        best = min(medians.keys() - {"door", "dmlcpu"}, key=medians.get)
        doors.append(medians["NumPy"] / medians["door"])
        whole.append(medians[best] / medians["dmlcpu"])
        rows.append(
            [work, report.text_of(medians["door"]), f"{doors[-1]:.2f}"]
            + [report.text_of(medians["dmlcpu"]), f"{best} {whole[-1]:.2f}"]
        )
        progress.step()
    rows = [rows[i] for i in np.argsort(doors)]
    text = "\n".join(
        [summary("argsort beside NumPy's", doors), summary("elements and indices", whole), ""]
    )
    header = [
        "work",
        "argsort",
        "NumPy's over it",
        "elements and indices",
        "fastest other's over it",
    ]
    text += report.table(header, rows)
    print(text)
    write(arguments, about, results, text)
