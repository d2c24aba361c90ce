"""Measurements as rows, tables and summaries."""

import statistics

from measure import medians_of, spread_of


def text_of(seconds):
    if seconds < 5e-6:
        return f"{seconds * 1e9:.0f} ns"
    if seconds < 1e-4:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms"


def print_row(row):
    """Prints a row of a table: a name, then numbers."""
    print("  ".join(f"{text:>10}" if i else f"{text:42}" for i, text in enumerate(row)), flush=True)


def best_peer(medians):
    """The fastest competitor that is not dmlcpu; None if there is none."""
    peers = {name: t for name, t in medians.items() if name != "dmlcpu"}
    return min(peers, key=peers.get, default=None)


def ratio_of(seconds):
    """The best other library's median over dmlcpu's: above 1, dmlcpu is faster. None if alone."""
    medians = medians_of(seconds)
    best = best_peer(medians)
    return medians[best] / medians["dmlcpu"] if best else None


def peers_row(name, seconds):
    medians = medians_of(seconds)
    text = (
        f"{name:42} dmlcpu {text_of(medians['dmlcpu']):>8} (+-{spread_of(seconds['dmlcpu']):.0%})"
    )
    best = best_peer(medians)
    if best:
        text += f"  x{medians[best] / medians['dmlcpu']:<6.2f} {best:10} "
        text += "  ".join(f"{n} {text_of(t)}" for n, t in medians.items() if n != "dmlcpu")
    return text


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def machine_text(machine):
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"{machine['processor']}, {machine['threads']} threads, {machine['instruction_set']}, "
        f"{machine['date']}; {versions}.\n\n"
    )


def peers_table(results):
    rows = []
    for name, seconds in results.items():
        medians = medians_of(seconds)
        best = best_peer(medians)
        rows.append(
            [
                name,
                text_of(medians["dmlcpu"]),
                f"{best} {text_of(medians[best])}" if best else "",
                f"{medians[best] / medians['dmlcpu']:.2f}" if best else "",
                text_of(medians["NumPy"]) if "NumPy" in medians else "",
            ]
        )
    return table(["work", "dmlcpu", "best other", "times faster", "NumPy"], rows)


def peers_summary(results, headlines):
    ratios = {name: ratio_of(s) for name, s in results.items() if name in headlines}
    ratios = {name: r for name, r in ratios.items() if r is not None}
    if not ratios:
        return ""
    below = [f"{name} {r:.2f}" for name, r in ratios.items() if r < 1]
    text = f"best other library / dmlcpu over {len(ratios)} headline works: geometric mean "
    text += (
        f"{statistics.geometric_mean(ratios.values()):.2f}, below 1: {'; '.join(below) or 'none'}"
    )
    return text


def fastest_bandwidth(seconds):
    """Seconds to move the bytes with one thread or with all, whichever is faster."""
    medians = medians_of(seconds)
    return min(t for name, t in medians.items() if name.startswith("bandwidth"))


def roofline_share(seconds):
    """The share of the bandwidth measured beside it that each call uses."""
    limit = fastest_bandwidth(seconds)
    medians = medians_of(seconds)
    return {name: limit / t for name, t in medians.items() if not name.startswith("bandwidth")}


def sweep_text(sweep, points, again, cliffs):
    """`again` and `cliffs`: positions of the points that were measured again, and of cliffs."""
    lines = [f"{sweep.name}, by {sweep.unit}"]
    for i, point in enumerate(points):
        medians = medians_of(point.seconds)
        best = best_peer(medians)
        own = medians["dmlcpu"]
        text = f"  {point.size:>9}  {text_of(own):>8}  {point.moved / own / 1e9:7.2f} GB/s"
        if best:
            text += f"  x{medians[best] / own:<6.2f} {best}"
        marks = {"again": i in again, "slower": point.is_slower(), "cliff": i in cliffs}
        lines.append(text + "".join(f"  {mark}" for mark, holds in marks.items() if holds))
    return "\n".join(lines)
