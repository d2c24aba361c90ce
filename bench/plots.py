"""Plots of measurements, as SVG or PNG by the file's ending."""

import math

from measure import medians_of
from report import best_peer


def figure(height, path, draw):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "dmlcpu"
    fig, axes = plt.subplots(figsize=(9, height))
    draw(axes)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)
    plt.close(fig)


def caption(machine):
    return f"{machine['processor']}, {machine['threads']} threads, {machine['date']}"


def bars(axes, labels, values, texts, limit, limit_text):
    positions = range(len(values))
    axes.barh(positions, values, color=["tab:blue" if v >= limit else "tab:orange" for v in values])
    axes.set_yticks(positions, labels, fontsize=8)
    axes.invert_yaxis()
    for position, value, text in zip(positions, values, texts, strict=True):
        axes.text(value, position, f" {text}", va="center", fontsize=7)
    axes.axvline(limit, color="black", linewidth=0.8)
    axes.set_xlabel(limit_text)
    axes.spines[["top", "right"]].set_visible(False)


def peers(machine, results, path):
    """How many times faster than the best other library, each workload a bar."""
    names, ratios, texts = [], [], []
    for name, seconds in results.items():
        medians = medians_of(seconds)
        best = best_peer(medians)
        if best:
            names.append(name)
            ratios.append(medians[best] / medians["dmlcpu"])
            texts.append(f"{ratios[-1]:.2f} {best}")

    def draw(axes):
        axes.set_xscale("log")
        bars(axes, names, ratios, texts, 1, "time of the fastest other library / dmlcpu's")
        axes.set_xlim(min(0.5, *ratios), max(ratios) * 3)
        axes.set_title(caption(machine), fontsize=9)

    figure(1 + 0.24 * len(names), path, draw)


def roofline(machine, shares, path):
    """Share of the memory bandwidth, for each workload of {name: {competitor: share}}."""
    names = [f"{name}, {who}" for name, by in shares.items() for who in by]
    values = [share for by in shares.values() for share in by.values()]

    def draw(axes):
        texts = [f"{v:.2f}" for v in values]
        bars(axes, names, values, texts, 0.85, "share of the bandwidth measured beside it")
        axes.set_title(caption(machine), fontsize=9)

    figure(1 + 0.2 * len(names), path, draw)


def sweep(machine, sweep, points, path):
    """GB/s of every competitor over the sizes."""

    def draw(axes):
        competitors = dict.fromkeys(name for _, seconds, _ in points for name in seconds)
        for name in competitors:
            curve = [
                (size, count / medians_of(seconds)[name] / 1e9)
                for size, seconds, count in points
                if name in seconds
            ]
            own = name == "dmlcpu"
            axes.plot(
                *zip(*curve, strict=True),
                marker=".",
                label=name,
                linewidth=2 if own else 1,
                color="black" if own else None,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(sweep.unit)
        axes.set_ylabel("GB/s")
        axes.legend(fontsize=7)
        axes.set_title(f"{sweep.name}\n{caption(machine)}", fontsize=9)

    figure(4.5 + math.log10(len(points)), path, draw)
