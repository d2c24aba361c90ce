"""The doors beside the functions that they stand for: whole calls, whose results are compared first.

Small works show what a call costs, large ones what the core gains. Works whose library or door cannot be
imported are left out.
"""

import importlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import measure
import report
from session import chosen, machine, write


class Work(NamedTuple):
    name: str
    door: str  # the module
    make: Callable  # of a random generator: the arguments
    call: str  # of the library and of the door


def normal(*shape, dtype=np.float32):
    return lambda rng: (rng.standard_normal(shape).astype(dtype),)


def rows_of(rows, length, count):
    return lambda rng: (
        rng.standard_normal((rows, length), dtype=np.float32),
        rng.integers(0, rows, count),
    )


def works():
    numpy_works = [
        ("argmax", normal(3, 3), "argmax(x, 1)"),
        ("argmax", normal(1000, 1000), "argmax(x, 1)"),
        ("argmax", normal(21, 512, 512), "argmax(x, 0)"),
        ("nanargmax", normal(1000, 1000), "nanargmax(x, 0)"),
        ("take", rows_of(4, 4, 4), "take(x, i, 0)"),
        ("take", rows_of(50000, 768, 4096), "take(x, i, 0)"),
        ("take_along_axis", normal(1000, 1000), "take_along_axis(x, x.argsort(0)[:9], 0)"),
    ]
    for name, make, call in numpy_works:
        yield Work(f"numpy {name} {shapes(make)}", "dmlcpu.numpy", make, call)
    torch_works = [
        ("topk", normal(3, 3), "topk(x, 2)"),
        ("topk", normal(64, 128256), "topk(x, 50)"),
        ("argmax", normal(3, 3), "argmax(x, 1)"),
        ("argmax", normal(1, 21, 512, 512), "argmax(x, 1)"),
        ("max", normal(3, 3), "max(x, 1)"),
        ("max", normal(1000, 1000), "max(x, 1)"),
        ("index_select", rows_of(4, 4, 4), "index_select(x, 0, i)"),
        ("index_select", rows_of(50000, 768, 4096), "index_select(x, 0, i)"),
    ]
    for name, make, call in torch_works:
        yield Work(f"torch {name} {shapes(make)}", "dmlcpu.torch", make, call)


def shapes(make):
    return "x".join(map(str, make(np.random.default_rng(0))[0].shape))


def calls_of(work):
    """The calls by name, or None if the library is missing."""
    try:
        door = importlib.import_module(work.door)
    except ImportError:
        return None
    library = importlib.import_module(work.door.partition(".")[2])
    arrays = work.make(np.random.default_rng(0))
    if library is not np:
        arrays = [library.from_numpy(array) for array in arrays]
    arguments = dict(zip("xi", arrays, strict=False))

    def call(module, text):
        return eval(f"lambda: module.{text}", {"module": module, **arguments})

    calls = {"library": call(library, work.call), "door": call(door, work.call)}
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
    about = machine()
    results, rows = {}, []
    for work in chosen(list(works()), arguments):
        calls = calls_of(work)
        if calls is None:
            print(f"  {work.door} cannot be imported: {work.name} is left out")
            continue
        want = calls["library"]()
        assert all(same(call(), want) for call in calls.values()), work.name
        results[work.name] = seconds = measure.compare(calls, arguments.rounds)
        medians = measure.medians_of(seconds)
        own = medians["library"]
        ratios = [f"{own / medians[n]:.2f}" if n in medians else "" for n in ("door", "enabled")]
        rows.append([work.name, report.text_of(own), report.text_of(medians["door"]), *ratios])
        report.print_row(rows[-1])
    header = ["work", "library", "door", "door, times as fast", "enabled, times as fast"]
    write(arguments, about, results, report.table(header, rows))
