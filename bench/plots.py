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


def bars(axes, labels, values, texts, limit, limit_text, start=0):
    """A bar from `start` to each value; those below the limit have another colour."""
    positions = range(len(values))
    colors = ["tab:blue" if v >= limit else "tab:orange" for v in values]
    axes.barh(positions, [v - start for v in values], left=start, color=colors)
    axes.set_yticks(positions, labels, fontsize=8)
    axes.invert_yaxis()
    for position, value, text in zip(positions, values, texts, strict=True):
        axes.text(max(value, start), position, f" {text}", va="center", fontsize=7)
    axes.axvline(limit, color="black", linewidth=0.8)
    axes.set_xlabel(limit_text)
    axes.spines[["top", "right"]].set_visible(False)


def peers(machine, results, path):
    """How many times faster than the best other library, each workload a bar from 1 on: to the left where
    dmlcpu is slower."""
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
        label = "time of the fastest other library / dmlcpu's; left of 1 dmlcpu is slower"
        bars(axes, names, ratios, texts, 1, label, start=1)
        low, high = 0.9 * min(0.5, *ratios), 3 * max(ratios)
        ticks = [t * 10**e for e in range(-2, 4) for t in (1, 2, 5) if low < t * 10**e < high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlim(low, high)
        axes.margins(y=0.01)
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
