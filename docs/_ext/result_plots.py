"""Plots of the tables in bench/results, by the bench's own functions."""

import re
import sys
from types import SimpleNamespace

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def machine(text):
    """What a page's first line says of the machine."""
    processor, threads, date = re.match(r"(.*?), (\d+) threads, [\w-]+, ([\d-]+);", text).groups()
    return {"processor": processor, "threads": threads, "date": date}


def rows(text):
    """The rows of a page's table, without its heading."""
    return [
        [cell.strip() for cell in line[1:-1].split("|")]
        for line in re.findall(r"^\|.*\|$", text, re.M)
    ][2:]


def sweeps(text):
    """(name, unit, points) of each sweep of bench/results/sweep.md, as plots.sweep() takes them."""
    for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S):
        title, *lines = block.splitlines()
        name, _, unit = title.rpartition(", by ")
        points = []
        for line in lines:
            size, time, rate, ratio = re.match(
                r" *(\d+) +(\S+ \w+) +(\S+) GB/s +x(\S+)", line
            ).groups()
            own = seconds(time)
            times = {"dmlcpu": [own], "the best other": [own * float(ratio)]}
            points.append((int(size), times, float(rate) * 1e9 * own))
        yield name, unit, points


def draw_results(bench, folder):
    """peers.svg, roofline.svg and sweep-N.svg in the folder."""
    sys.path.insert(0, str(bench))
    import plots

    text = (bench / "results/peers.md").read_text()
    results = {
        work: {"dmlcpu": [seconds(own)], best.split()[0]: [seconds(best.split(" ", 1)[1])]}
        for work, own, best, *_ in rows(text)
    }
    plots.peers(machine(text), results, str(folder / "peers.svg"))

    text = (bench / "results/roofline.md").read_text()
    shares = {work: {against: float(share)} for work, against, _, share, *_ in rows(text)}
    plots.roofline(machine(text), shares, str(folder / "roofline.svg"))

    text = (bench / "results/sweep.md").read_text()
    for number, (name, unit, points) in enumerate(sweeps(text)):
        about = SimpleNamespace(name=name, unit=unit)
        plots.sweep(machine(text), about, points, str(folder / f"sweep-{number}.svg"))
