"""What the benchmark found: a table, and bars of how many times faster dmlcpu is."""

import math
import statistics

__all__ = ["draw", "table"]

_Medians = dict[str, dict[str, float]]


def _time_text(seconds: float) -> str:
    if seconds < 0.9995e-3:  # which would be rounded to 1000
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms"


def _ratio(by_library: dict[str, float]) -> tuple[float, str]:
    """The fastest other library's time over dmlcpu's, and its name; 1 and none if there is no other."""
    others = {name: time for name, time in by_library.items() if name != "dmlcpu"}
    if not others:
        return 1.0, ""
    fastest = min(others, key=others.__getitem__)
    return others[fastest] / by_library["dmlcpu"], fastest


def table(medians: _Medians, libraries: list[str]) -> str:
    """A row for each work; a dash where a library has no such call."""
    rows = [["work", *libraries, "times faster"]]
    for name, times in medians.items():
        cells = [_time_text(times[one]) if one in times else "-" for one in libraries]
        rows.append([name, *cells, f"{_ratio(times)[0]:.2f}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    columns = (f"{{:{'>' if column else '<'}{width}}}" for column, width in enumerate(widths))
    row_format = "  ".join(columns)
    lines = [row_format.format(*row) for row in rows]
    mean = statistics.geometric_mean(_ratio(times)[0] for times in medians.values())
    return "\n".join([*lines, f"times faster than the fastest other, geometric mean: {mean:.2f}"])


def draw(medians: _Medians, caption: str, path: str) -> None:
    """Draws to the file and says so; without matplotlib, prints bars."""
    try:
        import matplotlib  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        print(bars(medians))
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = list(medians)
    ratios = [_ratio(times) for times in medians.values()]
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.35 * len(names)))
    colors = ["tab:blue" if ratio >= 1 else "tab:orange" for ratio, _ in ratios]
    axes.barh(range(len(names)), [r - 1 for r, _ in ratios], left=1, color=colors)
    for row, (ratio, other) in enumerate(ratios):
        axes.text(max(ratio, 1), row, f" {ratio:.2f} {other}", va="center", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    ticks = _ticks([1.0, *(ratio for ratio, _ in ratios)])
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(ticks[0], 2 * ticks[-1])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("time of the fastest other library / dmlcpu's; left of 1 dmlcpu is slower")
    axes.set_title(caption.replace("; ", "\n"), fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"plot: {path}")


def _ticks(values: list[float]) -> list[float]:
    """1, 2 and 5 of each power of ten around the values."""
    steps = (step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5))
    return [tick for tick in steps if min(values) / 2.5 < tick < max(values) * 2.5]


def bars(medians: _Medians) -> str:
    """Bars of characters, by the logarithm of the ratio, to the right where dmlcpu is faster."""
    half = 20
    rows = []
    ratios = {name: _ratio(times) for name, times in medians.items()}
    scale = max(2.0, *(abs(math.log2(ratio)) for ratio, _ in ratios.values()))
    for name, (ratio, other) in ratios.items():
        length = round(half * abs(math.log2(ratio)) / scale)
        left, right = ("", "#" * length) if ratio >= 1 else ("#" * length, "")
        rows.append(f"{name:32} {left:>{half}}|{right:{half}} {ratio:.2f} {other}".rstrip())
    return "\n".join([f"{'slower':>53} | faster than the fastest other library", *rows])
