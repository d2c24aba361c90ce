"""Measurements as lines and tables."""

import statistics


def text_of(seconds):
    if seconds < 1e-4:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms"


def medians_of(seconds):
    return {contestant: statistics.median(times) for contestant, times in seconds.items()}


def ratio_of(seconds):
    """The best other library's median over dmlcpu's: above 1, dmlcpu is faster. None if alone."""
    medians = medians_of(seconds)
    own = medians.pop("dmlcpu")
    return min(medians.values()) / own if medians else None


def line(name, seconds):
    medians = medians_of(seconds)
    own = medians.pop("dmlcpu")
    spread = max(seconds["dmlcpu"]) / min(seconds["dmlcpu"])
    text = f"{name:46} dmlcpu {text_of(own):>8} (spread {spread:.2f})"
    if medians:
        best = min(medians, key=medians.get)
        text += f"  x{medians[best] / own:<6.2f} {best:10} "
        text += "  ".join(f"{other} {text_of(t)}" for other, t in medians.items())
    return text


def markdown(results):
    """A table with one row per workload."""
    rows = ["| work | dmlcpu | best other | times faster | NumPy |", "|---|--:|--:|--:|--:|"]
    for name, seconds in results.items():
        medians = medians_of(seconds)
        own = medians.pop("dmlcpu")
        numpy = text_of(medians["NumPy"]) if "NumPy" in medians else ""
        best = min(medians, key=medians.get, default=None)
        other = f"{best} {text_of(medians[best])}" if best else ""
        ratio = f"{medians[best] / own:.2f}" if best else ""
        rows.append(f"| {name} | {text_of(own)} | {other} | {ratio} | {numpy} |")
    return "\n".join(rows) + "\n"
