"""A benchmark of a minute: dmlcpu beside the libraries that are installed."""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import dmlcpu
from dmlcpu import _machine
from dmlcpu._command import _chart, _competitors, _progress

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_command"]

_REST = 0.02  # seconds before a turn, in which others' idle threads stop spinning
_TURN = 0.005  # seconds that a turn takes at least


def _normal(*shape: int, dtype: Any = np.float32) -> Callable[..., dict[str, Any]]:
    return lambda rng: {"x": rng.standard_normal(shape, np.float32).astype(dtype, copy=False)}


def _table(count: int, *shape: int) -> Callable[..., dict[str, Any]]:
    return lambda rng: {
        "x": rng.standard_normal(shape, np.float32),
        "rows": rng.integers(0, shape[0], count),
    }


# Name, operator, what makes the tensors, options.
WORKS: list[tuple[str, str, Callable[..., dict[str, Any]], dict[str, Any]]] = [
    ("argmax of 1e7", "argmax", _normal(10**7), {"axis": 0}),
    ("argmax 4096x1024, rows", "argmax", _normal(4096, 1024), {"axis": 1}),
    ("argmax 4096x1024, columns", "argmax", _normal(4096, 1024), {"axis": 0}),
    ("argmax 4096x1024 float16, rows", "argmax", _normal(4096, 1024, dtype=np.float16), {"axis": 1}),
    ("label map 21x512x512", "argmax", _normal(21, 512, 512), {"axis": 0}),
    ("top 50 of 16x128256 (logits)", "top_k", _normal(16, 128256), {"axis": 1, "k": 50}),
    ("top 1000 of 1e6", "top_k", _normal(10**6), {"axis": 0, "k": 1000}),
    ("top 10 of 1000x1000, columns", "top_k", _normal(1000, 1000), {"axis": 0, "k": 10}),
    ("gather 4096 rows of 50000x256", "gather", _table(4096, 50000, 256), {"axis": 0}),
    ("gather 1e6 of 1e6 elements", "gather", _table(10**6, 10**6), {"axis": 0}),
]  # fmt: skip


def add_command(commands: "_Commands") -> None:
    parser = commands.add_parser(
        "bench",
        help="measure dmlcpu beside the libraries that are installed",
        description="Measures dmlcpu beside what is installed of NumPy, PyTorch, ONNX Runtime (with "
        "onnx), JAX, polars and bottleneck, on float32 unless said otherwise. Answers are compared "
        "before. Prints the least time of several rounds, and draws how many times faster dmlcpu is than "
        "the fastest other. "
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
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    modules = _competitors.installed()
    print(_machine_text(modules), flush=True)
    times: dict[str, dict[str, float]] = {}
    left_out: list[str] = []
    _progress.follow("bench", _measure(modules, end, times, left_out))
    print(_chart.table(times, list(modules)))
    for row in left_out:
        print(f"left out: {row}")
    _chart.draw(times, _machine_text(modules), options.plot)


def _machine_text(modules: dict[str, ModuleType]) -> str:
    versions = ", ".join(
        f"{name} {getattr(module, '__version__', '')}" for name, module in modules.items()
    )
    return (
        f"{_machine.processor()}, {dmlcpu.get_num_threads()} threads, "
        f"{dmlcpu.get_instruction_set()}; {versions}"
    )


def _measure(
    modules: dict[str, ModuleType],
    end: float,
    times: dict[str, dict[str, float]],
    left_out: list[str],
) -> Iterator[float]:
    """Fills in the least times of each work, and who is left out of it and why."""
    for number, (name, operator, make, chosen) in enumerate(WORKS):
        work = _competitors.Work(operator, **chosen, **make(np.random.default_rng(0)))
        calls = _calls(name, work, modules, left_out)
        now = time.monotonic()
        share = now + (end - now) / (len(WORKS) - number)
        times[name] = _least(calls, share)
        yield (number + 1) / len(WORKS)


def _calls(
    name: str, work: _competitors.Work, modules: dict[str, ModuleType], left_out: list[str]
) -> dict[str, _competitors.Call]:
    """The calls of the libraries that give dmlcpu's answer."""
    calls: dict[str, _competitors.Call] = {}
    for library, module in modules.items():
        try:
            call = _competitors.LIBRARIES[library][1](module, work)
            if call is None:
                continue
            found = _found(work, call())
            if not calls:
                answer = found
        except Exception as error:  # of whatever kind the library raises
            if library == "dmlcpu":
                raise
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            left_out.append(f"{library} of {name}, {reason}")
            continue
        if np.array_equal(found, answer):
            calls[library] = call
        else:
            left_out.append(f"{library} of {name}, another answer")
    return calls


def _found(work: _competitors.Work, result: Any) -> npt.NDArray[Any]:
    """The elements that a library found; which of equal ones is each library's choice."""
    if work.operator == "gather":
        return np.asarray(result)
    if work.operator == "top_k":
        found = np.take_along_axis(work.x, np.asarray(result[1]).astype(np.int64), work.axis)
        if not np.array_equal(found, np.asarray(result[0])):
            raise ValueError("its values are not at its indices")
        return found
    at = np.expand_dims(np.asarray(result).astype(np.int64), work.axis)
    return np.take_along_axis(work.x, at, work.axis)


def _least(calls: dict[str, _competitors.Call], end: float) -> dict[str, float]:
    """Seconds of each call, the least of interleaved rounds, which other programs disturbed least: of one
    at least, then until the time is up."""
    repeats = {name: max(1, int(_TURN / max(_turn(call, 1), 1e-7))) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    while not seconds["dmlcpu"] or time.monotonic() < end:
        for name, call in calls.items():
            seconds[name].append(_turn(call, repeats[name]))
    return {name: min(times) for name, times in seconds.items()}


def _turn(call: _competitors.Call, repeats: int) -> float:
    time.sleep(_REST)
    call()  # which is not counted
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats
