"""Draws road.txt as road.svg, the drawing of design.md.

    python docs/road.py          writes road.svg
    python docs/road.py --check  fails if road.svg is not what road.txt says

Boxes have colours of their own, the rest is a grey that light and dark pages show.
"""

import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

SOURCE = Path(__file__).with_name("road.txt")
DRAWING = Path(__file__).with_name("road.svg")

MARGIN = 10
LABELS = 90  # width of the rows' names
COLUMN = 270
BOX = {"width": 250, "height": 66}
ROW = 100
GREY = "#767676"
FILLS = ["#dbe9f9", "#e3f1de", "#fdf0d2", "#f7e0e6"]

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 font-family="Helvetica, Arial, sans-serif" font-size="13">
<title>How a call goes from Python to memory</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0L8 4L0 8z" fill="{grey}"/></marker></defs>
"""


def read(text):
    """(names of the rows, boxes by their ids, arrows)."""
    rows, boxes, arrows = [], {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if found := re.fullmatch(r"row (.+)", line):
            rows.append(found[1])
        elif found := re.fullmatch(r"(\w+) > (\w+)(?: : (.*))?", line):
            arrows.append(found.groups())
        elif found := re.fullmatch(r"(\w+) +(\d)(?:-(\d))? *\| (.+) \| (.+) \| (\S+)", line):
            name, first, last, title, about, file = found.groups()
            columns = (int(first) - 1, int(last or first) - 1)
            boxes[name] = (len(rows) - 1, columns, title, about, file)
        else:
            sys.exit(f"{SOURCE.name}:{number}: neither row, box nor arrow: {line}")
    return rows, boxes, arrows


def top(row):
    return MARGIN + row * ROW


def left(column):
    return MARGIN + LABELS + column * COLUMN


def box(fill, row, columns, title, about, file):
    x, y = left(columns[0]), top(row)
    width = BOX["width"] + (columns[1] - columns[0]) * COLUMN
    middle = x + width // 2
    lines = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{BOX["height"]}" rx="6" '
        f'fill="{fill}" stroke="{GREY}"/>'
    ]
    styles = ['font-weight="bold"', "", 'font-family="Menlo, Consolas, monospace" font-size="11"']
    for number, (text, style) in enumerate(zip((title, about, file), styles, strict=True)):
        lines.append(
            f'<text x="{middle}" y="{y + 20 + 18 * number}" text-anchor="middle" '
            f'fill="#1a1a1a" {style}>{escape(text)}</text>'
        )
    return lines


def arrow(start, end, label):
    """Down the middle of the columns that both boxes have."""
    first = max(start[1][0], end[1][0])
    last = min(start[1][1], end[1][1])
    x = (left(first) + left(last) + BOX["width"]) // 2
    y = top(start[0]) + BOX["height"]
    lines = [
        f'<path d="M{x} {y}V{top(end[0])}" stroke="{GREY}" stroke-width="1.5" '
        'marker-end="url(#tip)"/>'
    ]
    if label:
        middle = (y + top(end[0])) // 2 + 4
        lines.append(f'<text x="{x + 8}" y="{middle}" fill="{GREY}">{escape(label)}</text>')
    return lines


def draw(text):
    """The drawing, as SVG."""
    rows, boxes, arrows = read(text)
    columns = 1 + max(last for _, (_, last), *_ in boxes.values())
    width = left(columns - 1) + BOX["width"] + MARGIN
    height = top(len(rows) - 1) + BOX["height"] + MARGIN
    lines = [HEAD.format(width=width, height=height, grey=GREY).rstrip()]
    for number, name in enumerate(rows):
        y = top(number) + BOX["height"] // 2 + 4
        lines.append(f'<text x="{MARGIN}" y="{y}" fill="{GREY}">{escape(name)}</text>')
    for start, end, label in arrows:
        lines += arrow(boxes[start], boxes[end], label)
    for described in boxes.values():
        lines += box(FILLS[described[0] * len(FILLS) // len(rows)], *described)
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    drawing = draw(SOURCE.read_text())
    if "--check" not in sys.argv[1:]:
        DRAWING.write_text(drawing)
    elif DRAWING.read_text() != drawing:
        return f"{DRAWING.name} is not what {SOURCE.name} says: run python docs/road.py"
    return 0


if __name__ == "__main__":
    sys.exit(main())
