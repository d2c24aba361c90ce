"""Charts as SVG, each drawn twice: for a desk, and for a phone, where labels are above their bars.

Colours and fonts are classes. A file has a style of its own; page_parts.py drops it where a page
shows the drawing inline, so that _static/site.css gives the colours of the page's theme.
"""

import math
from html import escape
from typing import NamedTuple

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #555; }
.strong { font-weight: 600; }
.small { font-size: 11.5px; }
.grid { stroke: #8884; }
.limit { stroke: #777; stroke-width: 1.5; }
.own { fill: #2a78b5; }
.other { fill: #d07a1f; }
.copied { fill: #7d7fc9; }
path { fill: none; stroke-width: 2; }
path.own { fill: none; stroke: #2a78b5; stroke-width: 2.5; }
path.other { fill: none; stroke: #d07a1f; }
</style>
"""


class Bar(NamedTuple):
    """A label, a value, what is written beside the bar, and the class that gives its colour."""

    label: str
    value: float
    text: str
    kind: str = "own"


class Frame(NamedTuple):
    """A drawing's width in pixels, and the left of its plot."""

    width: int
    left: int
    above: bool  # labels above bars


FRAMES = {"": Frame(850, 335, False), "-narrow": Frame(360, 6, True)}
CHARACTER = 7.3  # pixels of most characters, some more than the fonts of browsers have


class Scale:
    """Values to pixels, linear or logarithmic."""

    def __init__(self, low, high, start, end, logarithmic):
        self.of = math.log10 if logarithmic else float
        self.low, self.start = self.of(low), start
        self.factor = (end - start) / (self.of(high) - self.low)

    def __call__(self, value):
        return round(self.start + (self.of(value) - self.low) * self.factor, 1)


def text(x, y, content, *, kind="", anchor="start"):
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(content)}</text>'


def ticks(low, high):
    """1, 2, 5, 10, ... in a range."""
    return [
        digit * 10.0**power
        for power in range(-4, 10)
        for digit in (1, 2, 5)
        if low <= digit * 10.0**power <= high
    ]


def wrapped(words, columns):
    """Lines of at most `columns` characters."""
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + len(word) >= columns:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def head(frame, title, legend, caption):
    """What is above a chart: the title, what each colour means, the machine; and its height."""
    parts, y = [], 4
    columns = int(frame.width / CHARACTER)
    for line in wrapped(title, columns):
        y += 17
        parts.append(text(6, y, line, kind="strong"))
    for line in wrapped(caption, columns):
        y += 16
        parts.append(text(6, y, line, kind="small"))
    for kind, meaning in legend:
        y += 19
        parts.append(f'<rect x="6" y="{y - 10}" width="12" height="11" class="{kind}"/>')
        parts.append(text(24, y, meaning))
    return parts, y + 8


def write(path, frame, height, title, parts):
    body = "\n".join(parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {frame.width} {height}" role="img">\n'
        f"<title>{escape(title)}</title>\n{STYLE}{body}\n</svg>\n"
    )


def draw_bar(frame, x, y, bar, limit, start):
    """The parts of a row: the label, the bar and what is written beside it."""
    if frame.above:
        parts = [text(frame.left, y + 13, bar.label)]
        y += 17
    else:
        parts = [text(frame.left - 8, y + 13, bar.label, anchor="end")]
    left, right = sorted((x(start), x(bar.value)))
    width = round(max(right - left, 1), 1)
    return [
        *parts,
        f'<rect x="{left}" y="{y + 1}" width="{width}" height="15" class="{bar.kind}"/>',
        text(round(max(right, x(limit)) + 6, 1), y + 13, bar.text),
    ]


def vertical(x, top, bottom, kind):
    return f'<line x1="{x}" x2="{x}" y1="{top}" y2="{bottom}" class="{kind}"/>'


def draw_bars(path, title, caption, legend, bars, *, start, limit, unit, logarithmic):
    """A bar for each from `start` to its value, and a line at `limit`; `path` without its ending."""
    values = [bar.value for bar in bars]
    low = min(0.5, *values) * 0.9 if logarithmic else 0
    high = max(limit, *values) * 1.05
    marks = ticks(low, high) if logarithmic else [n / 2 for n in range(int(high * 2) + 1)]
    for ending, frame in FRAMES.items():
        beside = 10 + CHARACTER * max(len(bar.text) for bar in bars)
        x = Scale(low, high, frame.left, frame.width - beside, logarithmic)
        parts, top = head(frame, title, legend, caption)
        for mark in marks:
            parts.append(text(x(mark), top + 12, f"{mark:g}", kind="small", anchor="middle"))
        row, label = (38, 17) if frame.above else (22, 0)
        for number, bar in enumerate(bars):
            y = top + 20 + row * number
            # Lines leave out the labels above bars.
            span = y - 3 + label, y + row - 3
            parts += [vertical(x(mark), *span, "grid") for mark in marks]
            parts += draw_bar(frame, x, y, bar, limit, start)
            parts.append(vertical(x(limit), *span, "limit"))
        y = top + 22 + row * len(bars)
        for line in wrapped(unit, int(frame.width / CHARACTER)):
            y += 15
            parts.append(text(6, y, line, kind="small"))
        write(path.with_name(f"{path.name}{ending}.svg"), frame, y + 8, title, parts)


def draw_lines(path, title, caption, legend, curves, *, x_unit, y_unit):
    """Curves of (x, y) by class on two logarithmic axes; `path` without its ending."""
    points = [point for curve in curves.values() for point in curve]
    xs, ys = zip(*points, strict=True)
    for ending, frame in FRAMES.items():
        parts, top = head(frame, title, [], caption)
        for kind, meaning in legend:
            top += 17
            parts.append(f'<rect x="6" y="{top - 12}" width="14" height="4" class="{kind}"/>')
            parts.append(text(26, top - 6, meaning))
        parts.append(text(6, top + 14, y_unit, kind="small"))
        top += 24
        bottom = top + (270 if frame.above else 320)
        x = Scale(min(xs) / 1.1, max(xs) * 1.1, 46, frame.width - 12, True)
        y = Scale(min(ys) / 1.1, max(ys) * 1.1, bottom, top, True)
        for mark in ticks(min(ys), max(ys)):
            ends = f'x1="46" x2="{frame.width - 12}" y1="{y(mark)}" y2="{y(mark)}"'
            parts.append(f'<line {ends} class="grid"/>')
            parts.append(text(40, y(mark) + 4, f"{mark:g}", kind="small", anchor="end"))
        for mark in ticks(min(xs), max(xs)):
            if math.log10(mark).is_integer():
                parts.append(vertical(x(mark), top, bottom, "grid"))
                name = f"{mark:g}" if mark < 1e5 else f"1e{round(math.log10(mark))}"
                parts.append(text(x(mark), bottom + 16, name, kind="small", anchor="middle"))
        for kind, curve in curves.items():
            path_of = "L".join(f"{x(a)} {y(b)}" for a, b in curve)
            parts.append(f'<path d="M{path_of}" class="{kind}"/>')
            parts += [f'<circle cx="{x(a)}" cy="{y(b)}" r="3" class="{kind}"/>' for a, b in curve]
        parts.append(text(frame.width - 12, bottom + 34, x_unit, kind="small", anchor="end"))
        write(path.with_name(f"{path.name}{ending}.svg"), frame, bottom + 44, title, parts)
