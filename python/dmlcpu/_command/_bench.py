"""A benchmark of a minute: dmlcpu beside the libraries that are installed."""

import argparse
import time
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

import dmlcpu
from dmlcpu._command import _chart, _competitors, _progress, _timing
from dmlcpu._command._works import Workload, gather, normal
from dmlcpu._diagnosis import _machine

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_command"]

_REST = 0.02  # seconds before a turn, in which others' idle threads stop spinning
_TURN = 0.005  # seconds that a turn takes at least

WORKS = [
    Workload("argmax of 1e7", "argmax", normal(10**7), {"axis": 0}),
    Workload("argmax 4096x1024, rows", "argmax", normal(4096, 1024), {"axis": 1}),
    Workload("argmax 4096x1024, columns", "argmax", normal(4096, 1024), {"axis": 0}),
    Workload(
        "argmax 4096x1024 float16, rows",
        "argmax",
        normal(4096, 1024, dtype=np.float16),
        {"axis": 1},
    ),
    Workload("label map 21x512x512", "argmax", normal(21, 512, 512), {"axis": 0}),
    Workload("top 50 of 16x128256 (logits)", "top_k", normal(16, 128256), {"axis": 1, "k": 50}),
    Workload("top 1000 of 1e6", "top_k", normal(10**6), {"axis": 0, "k": 1000}),
    Workload("top 10 of 1000x1000, columns", "top_k", normal(1000, 1000), {"axis": 0, "k": 10}),
    Workload("gather 4096 rows of 50000x256", "gather_nd", gather((50000, 256), 4096)),
    Workload("gather 1e6 of 1e6 elements", "gather_nd", gather((10**6,), 10**6)),
]


def add_command(commands: "_Commands") -> None:
    parser = commands.add_parser(
        "bench",
        help="measure dmlcpu beside the libraries that are installed",
        description="Measures dmlcpu beside what is installed of NumPy, PyTorch, ONNX Runtime (with "
        "onnx), OpenVINO, JAX, polars and bottleneck, on float32 unless said otherwise. Answers are "
        "compared before. Prints the least time of several rounds, and draws how many times faster "
        "dmlcpu is than the fastest other. "
        "On a machine that does other work it measures that as well.",
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "--seconds", type=_seconds, default=60, help="about how long it may take (default: 60)"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        default="dmlcpu-bench.png",
        help="the picture, by its ending PNG, SVG or PDF (default: %(default)s); needs matplotlib, "
        "without which bars are printed",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"must be a positive number, got {text}")
    return seconds


def _run(options: argparse.Namespace) -> None:
    _chart.check(options.plot)
    _machine.note_load()
    end = time.monotonic() + options.seconds
    modules = _competitors.installed()
    about = (
        f"{_machine.processor()}, {dmlcpu.get_num_threads()} threads, "
        f"{dmlcpu.get_instruction_set()}; {_competitors.versions(modules)}"
    )
    print(about, flush=True)
    times: dict[str, dict[str, float]] = {}
    left_out: list[str] = []
    _progress.follow("bench", _measure(modules, end, times, left_out))
    print(_chart.table(times, list(modules)))
    for row in left_out:
        print(f"left out: {row}")
    _chart.draw(times, about, options.plot)


def _measure(
    modules: dict[str, ModuleType],
    end: float,
    times: dict[str, dict[str, float]],
    left_out: list[str],
) -> Iterator[float]:
    """Fills in the least times of each work, and who is left out of it and why."""
    for number, work in enumerate(WORKS):

        def note(library: str, reason: str, work: Workload = work) -> None:
            left_out.append(f"{library} of {work.name}, {reason}")

        calls = _competitors.agreeing(work, work.tensors(), modules, note)
        now = time.monotonic()
        share = now + (end - now) / (len(WORKS) - number)
        times[work.name] = _least(calls, share)
        yield (number + 1) / len(WORKS)


def _least(calls: dict[str, _timing.Call], end: float) -> dict[str, float]:
    """Seconds of each call, the least of interleaved rounds, which other programs disturbed least: of one
    at least, then until the time is up."""
    repeats = {name: _timing.repeats_of(call, _TURN) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    while not seconds["dmlcpu"] or time.monotonic() < end:
        for name, call in calls.items():
            seconds[name].append(_timing.turn(call, repeats[name], _REST))
    return {name: min(times) for name, times in seconds.items()}
