"""The doors beside the functions that they stand for: whole calls, whose results are compared first.

Small works show what a call costs, large ones what the core gains. Works whose library or door cannot be
imported are left out.
"""

import importlib
from typing import NamedTuple

import numpy as np

from dmlcpu._command import _competitors
from dmlcpu._command._chart import time_text

import measure
import report


class Work(NamedTuple):
    """A call of the library's function and of the door's, on float32 `x` and, if any, indices `i`."""

    door: str  # the module
    shape: tuple[int, ...]  # of x
    indices: int  # how many, into x's first dimension
    call: str

    @property
    def name(self):
        library, function = self.door.partition(".")[2], self.call.partition("(")[0]
        return f"{library} {function} {'x'.join(map(str, self.shape))}"


NUMPY = [
    ((3, 3), 0, "argmax(x, 1)"),
    ((1000, 1000), 0, "argmax(x, 1)"),
    ((21, 512, 512), 0, "argmax(x, 0)"),
    ((1000, 1000), 0, "nanargmax(x, 0)"),
    ((4, 4), 4, "take(x, i, 0)"),
    ((50000, 768), 4096, "take(x, i, 0)"),
    ((1000, 1000), 0, "take_along_axis(x, x.argsort(0)[:9], 0)"),
    ((3, 3), 0, "argsort(x, 1)"),
    ((1000, 1000), 0, "argsort(x, 1, 'stable')"),
    ((1000, 1000), 0, "sort(x, 1, 'stable')"),
    ((1000, 1000), 0, "partition(x, 100)[:, 100]"),
    ((1000, 1000), 0, "argpartition(x, 100)[:, 100]"),
]
TORCH = [
    ((3, 3), 0, "topk(x, 2)"),
    ((64, 128256), 0, "topk(x, 50)"),
    ((3, 3), 0, "argmax(x, 1)"),
    ((1, 21, 512, 512), 0, "argmax(x, 1)"),
    ((3, 3), 0, "max(x, 1)"),
    ((1000, 1000), 0, "max(x, 1)"),
    ((3, 3), 0, "sort(x, 1)"),
    ((100000, 16), 0, "sort(x)"),
    ((64, 128256), 0, "sort(x)"),
    ((1, 1000000), 0, "sort(x)"),
    ((1000, 1000), 0, "argsort(x, stable=True)"),
    ((1000, 1000), 0, "msort(x)"),
    ((64, 32000), 0, "kthvalue(x, 100)"),
    ((1000, 1000), 0, "median(x, 0)"),
    ((1000, 1000), 0, "nanmedian(x, 1)"),
    ((4, 4), 4, "index_select(x, 0, i)"),
    ((50000, 768), 4096, "index_select(x, 0, i)"),
]
WORKS = [Work("dmlcpu.numpy", *work) for work in NUMPY]
WORKS += [Work("dmlcpu.torch", *work) for work in TORCH]


def arguments_of(work):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(work.shape, np.float32)
    return {"x": x, "i": rng.integers(0, work.shape[0], work.indices)}


def calls_of(work):
    """The calls by name, or None if the library is missing."""
    try:
        door = importlib.import_module(work.door)
    except ImportError:
        return None
    library = importlib.import_module(work.door.partition(".")[2])
    arguments = arguments_of(work)
    if library is not np:
        arguments = {name: library.from_numpy(array) for name, array in arguments.items()}

    def call_of(module):
        return eval(f"lambda: module.{work.call}", {"module": module, **arguments})

    calls = {"library": call_of(library), "door": call_of(door)}
    if hasattr(door, "enabled"):
        own = calls["library"]

        def behind():
            with door.enabled():
                return own()

        calls["enabled"] = behind
    return calls


def same(got, want):
    """Whether results are equal, but for indices, which libraries choose among equal elements."""
    if isinstance(want, tuple):
        got, want = got[0], want[0]
    return np.array_equal(np.asarray(got), np.asarray(want), equal_nan=True)


def doors(arguments):
    header = ["work", "library", "door", "door, times as fast", "enabled, times as fast"]
    page = report.Page(arguments, header, _competitors.installed(["PyTorch"]))
    for work in report.chosen(WORKS, arguments):
        calls = calls_of(work)
        if calls is None:
            print(f"  {work.door} cannot be imported: {work.name} is left out")
            continue
        want = calls["library"]()
        assert all(same(call(), want) for call in calls.values()), work.name
        seconds = measure.compare(calls, arguments.rounds)
        medians = measure.medians_of(seconds)
        own = medians["library"]
        ratios = [f"{own / medians[n]:.2f}" if n in medians else "" for n in ("door", "enabled")]
        page.add([work.name, time_text(own), time_text(medians["door"]), *ratios], seconds)
    page.write()
