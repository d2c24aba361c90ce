"""Charts of the tables in bench/results, for a desk and for a phone, in docs/_build/pictures."""

import re

from svg_charts import Bar, draw_bars, draw_lines

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

# What the landing page shows of bench/results/peers.md: works of programs, and one that is slower.
HEADLINES = (
    "label map",
    "LLM logits",
    "transposed view",
    "top-k f32 64x128256, k 50",
    "top-k f32 1e7, k 1000",
    "top-k f32 1000x1000, k 10, axis 0",
    "gather f32 50000x768",
    "gather f32 4096x4096",
    "small argmax",
)
# The chunks and workers of bench/results/dask.md that its chart has, where the table has them.
DASK_LAYOUTS = ("40 chunks, threads", "40 chunks, 2 workers")


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def machine(text):
    """What a page's first line says of the machine, in the words of a caption."""
    processor, threads, isa, date = re.match(
        r"(.*?), (\d+) threads, ([\w-]+), ([\d-]+);", text
    ).groups()
    return f"{processor}, {threads} threads, {isa}, {date}"


def tables(text):
    """A page's tables: each a list of rows, each the cells by the words at the head of their columns."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n?)+", text, re.M):
        head, _, *rows = [
            [cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()
        ]
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def sweeps(text):
    """(name, unit, points) of each sweep of bench/results/sweep.md; a point is the size, dmlcpu's GB/s,
    and how many times as fast it is as the best other library, or None."""
    names = re.findall(r"^(\S.*):\n\n\|", text, re.M)
    for name, rows in zip(names, tables(text), strict=True):
        points = []
        for row in rows:
            size, _, rate, ratio, *_ = row.values()
            points.append((int(size), float(rate), float(ratio) if ratio else None))
        yield name, next(iter(rows[0])), points


def ratio_bar(label, ratio, beside):
    return Bar(label, ratio, f"{ratio:.2f} {beside}".strip(), "own" if ratio >= 1 else "other")


def draw_ratios(path, title, text, bars, other):
    """Bars of how many times as fast dmlcpu is, from 1 on; `other` is what it is measured beside."""
    draw_bars(
        path, title, machine(text),
        [("own", "dmlcpu is faster, by this factor"), ("other", f"{other} is faster")],
        bars, start=1, limit=1, logarithmic=True,
        unit=f"time of {other} / time of dmlcpu, on a logarithmic axis; "
        "bars begin at 1, where both take as long",
    )  # fmt: skip


def draw_peers(results, folder):
    text = (results / "peers.md").read_text()
    bars = [
        ratio_bar(row["work"], float(row["times faster"]), row["best other"].split()[0])
        for row in tables(text)[0]
        if row["best other"]
    ]
    other = "the fastest other library"
    draw_ratios(folder / "peers", "dmlcpu beside the fastest other library", text, bars, other)
    chosen = [bar for bar in bars if re.search(rf"({'|'.join(HEADLINES)})\b", bar.label)]
    draw_ratios(
        folder / "headlines",
        "dmlcpu beside the fastest other library",
        text,
        chosen or bars[:9],
        other,
    )


def draw_sweeps(results, folder):
    text = (results / "sweep.md").read_text()
    for number, (name, unit, points) in enumerate(sweeps(text)):
        curves = {
            "other": [(size, rate / ratio) for size, rate, ratio in points if ratio],
            "own": [(size, rate) for size, rate, _ in points],
        }
        legend = [("own", "dmlcpu"), ("other", "the fastest other library at this size")]
        draw_lines(
            folder / f"sweep-{number}",
            name,
            machine(text),
            legend,
            curves,
            x_unit=unit,
            y_unit="GB/s",
        )


def draw_doors(results, folder):
    """doors-numpy and doors-torch: each door beside the library whose names it has."""
    text = (results / "doors.md").read_text()
    for library, name in (("numpy", "NumPy"), ("torch", "PyTorch")):
        bars = []
        for row in tables(text)[0]:
            door, _, work = row["work"].partition(" ")
            if door == library and row["door, times as fast"]:
                enabled = row.get("enabled, times as fast")
                beside = f"({enabled})" if enabled else ""
                bars.append(ratio_bar(work, float(row["door, times as fast"]), beside))
        title = f"dmlcpu.{library} beside {name}"
        if library == "torch":
            title += "; in brackets torch's own functions under enable()"
        draw_ratios(folder / f"doors-{library}", title, text, bars, name)


def draw_dask(results, folder):
    text = (results / "dask.md").read_text()
    bars = [
        ratio_bar(row["work"], float(row["times as fast"]), "")
        for row in tables(text)[0]
        if row["times as fast"]
    ]
    chosen = [bar for bar in bars if bar.label.endswith(DASK_LAYOUTS)]
    title = "dmlcpu.dask beside dask.array"
    draw_ratios(folder / "doors-dask", title, text, chosen or bars, "dask.array")


def draw_results(bench, folder):
    """Every chart of bench/results, in the folder."""
    for draw in (draw_peers, draw_sweeps, draw_doors, draw_dask):
        draw(bench / "results", folder)
