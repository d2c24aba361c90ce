"""What the benchmark found: a table, and bars of how many times faster dmlcpu is."""

import math
import os
import statistics
from collections.abc import Mapping
from pathlib import Path

from dmlcpu._command._inputs import named, shown

__all__ = ["check", "draw", "picture", "table", "time_text", "times_faster"]

_WIDTH = 80  # columns of a terminal
_Times = dict[str, dict[str, float]]


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:  # less would not be rounded to 1
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def times_faster(by_library: Mapping[str, float]) -> tuple[float, str]:
    """The fastest other library's time over dmlcpu's, and its name; 1 and none if there is no other."""
    others = {name: time for name, time in by_library.items() if name != "dmlcpu"}
    if not others:
        return 1.0, ""
    fastest = min(others, key=others.__getitem__)
    return others[fastest] / by_library["dmlcpu"], fastest


def table(times: _Times, libraries: list[str]) -> str:
    """A row for each work; a dash where a library has no such call. Columns that do not fit a terminal
    follow below, beside the works again."""
    rows = [["work", *libraries, "times faster"]]
    for name, by_library in times.items():
        cells = [time_text(by_library[one]) if one in by_library else "-" for one in libraries]
        rows.append([name, *cells, f"{times_faster(by_library)[0]:.2f}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    columns = list(range(1, len(widths)))
    while columns:
        fitting = [
            c for c in columns
            if sum(widths[d] + 2 for d in columns if d <= c) + widths[0] <= _WIDTH
        ]  # fmt: skip
        block = [0, *(fitting or columns[:1])]
        columns = columns[len(block) - 1 :]
        lines += [""] if lines else []
        for row in rows:
            cells = [f"{row[c]:{'>' if c else '<'}{widths[c]}}" for c in block]
            lines.append("  ".join(cells))
    mean = statistics.geometric_mean(times_faster(by_library)[0] for by_library in times.values())
    return "\n".join([*lines, f"times faster than the fastest other, geometric mean: {mean:.2f}"])


def check(path: str) -> None:
    """Raises what draw() would raise of the path."""
    try:
        from matplotlib.backend_bases import (  # type: ignore[import-not-found, unused-ignore]
            FigureCanvasBase,
        )
    except ImportError:
        return
    endings = sorted(f".{ending}" for ending in FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix.lower() not in endings:
        raise ValueError(f"plot: must end in one of {', '.join(endings)}, got {shown(path)}")
    target = os.path.realpath(path)
    is_there = os.path.exists(target)
    if is_there and not os.path.isfile(target):
        raise ValueError(f"plot: must be a file, got {shown(path)}")
    with named(path), open(target, "ab"):
        pass
    if not is_there:
        os.unlink(target)


def draw(times: _Times, caption: str, path: str) -> None:
    """Draws to the file and says so; without matplotlib, prints bars."""
    try:
        picture(times, caption, path)
    except ImportError:
        print(bars(times))
        return
    print(f"plot: {path}")


def picture(times: _Times, caption: str, path: str) -> None:
    """How many times faster than the fastest other library, each work a bar from 1 on: to the left where
    dmlcpu is slower."""
    import matplotlib  # type: ignore[import-not-found, unused-ignore]

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "dmlcpu"
    names = list(times)
    ratios = [times_faster(by_library) for by_library in times.values()]
    figure, axes = plt.subplots(figsize=(9, 1.3 + 0.25 * len(names)))
    colors = ["tab:blue" if ratio >= 1 else "tab:orange" for ratio, _ in ratios]
    axes.barh(range(len(names)), [ratio - 1 for ratio, _ in ratios], left=1, color=colors)
    for row, (ratio, other) in enumerate(ratios):
        axes.text(max(ratio, 1), row, f" {ratio:.2f} {other}", va="center", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xscale("log")
    ticks = _ticks([1.0, *(ratio for ratio, _ in ratios)])
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(ticks[0], 2 * ticks[-1])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("time of the fastest other library / dmlcpu's; left of 1 dmlcpu is slower")
    axes.set_title(caption.replace("; ", "\n"), fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.endswith("svg") else None)
    plt.close(figure)


def _ticks(values: list[float]) -> list[float]:
    """1, 2 and 5 of each power of ten around the values."""
    steps = (step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5))
    return [tick for tick in steps if min(values) / 2.5 < tick < max(values) * 2.5]


def bars(times: _Times) -> str:
    """Bars of characters, by the logarithm of the ratio, to the right where dmlcpu is faster."""
    ratios = {name: times_faster(by_library) for name, by_library in times.items()}
    texts = {name: f"{ratio:.2f} {other}".rstrip() for name, (ratio, other) in ratios.items()}
    width = max(map(len, ratios))
    legend = " | faster than the fastest other"
    longest = max(map(len, texts.values()))
    half = min(20, _WIDTH - width - len(legend), (_WIDTH - width - 3 - longest) // 2)
    scale = max(2.0, *(abs(math.log2(ratio)) for ratio, _ in ratios.values()))
    rows = [f"{'slower':>{width + half}}{legend}"]
    for name, (ratio, _) in ratios.items():
        length = round(half * abs(math.log2(ratio)) / scale)
        left, right = ("", "#" * length) if ratio >= 1 else ("#" * length, "")
        rows.append(f"{name:{width}} {left:>{half}}|{right:{half}} {texts[name]}")
    return "\n".join(rows)
