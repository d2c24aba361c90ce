"""The label map of a satellite-sized raster, read by chunks from a file (zarr), with Dask.

    python examples/dask_label_map.py [--size PIXELS] [--folder FOLDER] [--output FILE.png]

A file holds the scores of 6 classes of ground for each pixel, 10980 x 10980 as a Sentinel-2 tile has.
`argmax` over the classes gives the label map, `gather_nd` looks the labels' colours up, and both are
written to a file by chunks; another `argmax`, over both axes of the image at once, finds where each
class is surest. A progress bar shows the tasks. NumPy checks a part of it; the picture is the label
map, reduced, with those places marked.
"""

import argparse
import tempfile
from pathlib import Path

import dask
import dask.array as da
import matplotlib
import numpy as np
import zarr
from dask.diagnostics import ProgressBar

import dmlcpu.dask

matplotlib.use("Agg")
from matplotlib import pyplot as plt

CLASSES = ["water", "forest", "field", "town", "rock", "snow"]
PALETTE = np.array(
    [[40, 90, 160], [30, 100, 50], [210, 190, 90], [170, 60, 50], [130, 120, 110], [245, 245, 250]],
    np.uint8,
)
CHUNK = 1024


def landscape(size, block_info):
    """Scores of smooth hills, a height for each class."""
    rows, columns = (
        np.arange(*place, dtype=np.float32) / size
        for place in block_info[None]["array-location"][1:]
    )
    rng = np.random.default_rng(5)
    scores = np.zeros((len(CLASSES), len(rows), len(columns)), np.float32)
    for plane in scores:
        for wave in range(1, 7):
            a, b, c, d = rng.uniform(-6, 6, 4)
            plane += (
                np.sin(wave * (a * rows[:, None] + b * columns) + c)
                * np.cos(wave * (d * rows[:, None] - a * columns))
                / wave
            )
    return np.clip(scores * 50 + 128, 0, 255).astype(np.uint8)


def write_scores(path, size):
    chunks = ((len(CLASSES),), *da.core.normalize_chunks((CHUNK, CHUNK), (size, size)))
    scores = da.map_blocks(
        landscape, size, chunks=chunks, dtype=np.uint8, meta=np.empty((0, 0, 0), np.uint8)
    )
    scores.to_zarr(str(path))


def draw(colours, surest, size, path):
    step = max(1, size // 900)
    figure, axis = plt.subplots(figsize=(8, 7), layout="constrained")
    axis.imshow(colours[::step, ::step], extent=(0, size, size, 0))
    for name, (row, column) in zip(CLASSES, surest, strict=True):
        axis.plot(column, row, "o", markersize=9, markerfacecolor="none", markeredgecolor="black")
        axis.annotate(name, (column, row), xytext=(7, -12), textcoords="offset points", fontsize=9)
    for name, color in zip(CLASSES, PALETTE, strict=True):
        axis.plot([], [], "s", color=color / 255, label=name)
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
    axis.set_title(f"Label map of {size} x {size} pixels; circles: where a class is surest")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--size", type=int, default=10980, help="pixels of each side, default 10980"
    )
    parser.add_argument("--folder", help="for the files; default: a temporary one")
    parser.add_argument("--output", default="label_map.png", metavar="FILE.png")
    arguments = parser.parse_args()
    size = arguments.size
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder, ProgressBar():
        folder = Path(folder)
        print(f"writing {len(CLASSES)} x {size} x {size} scores")
        write_scores(folder / "scores.zarr", size)

        print("label map and colours, to a file")
        scores = da.from_zarr(str(folder / "scores.zarr"))
        labels = dmlcpu.dask.argmax(scores, axis=0, keepdims=False, index_dtype=np.uint32)
        colours = dmlcpu.dask.gather_nd(PALETTE, labels[..., None])
        dask.compute(
            labels.astype(np.uint8).to_zarr(str(folder / "labels.zarr"), compute=False),
            colours.to_zarr(str(folder / "colours.zarr"), compute=False),
        )
        print("where each class is surest")
        places = dmlcpu.dask.argmax(scores, axis=(1, 2), keepdims=False, index_dtype=np.uint64)
        surest = np.stack(np.unravel_index(places.compute().astype(np.int64), (size, size)), -1)

        part = np.s_[size // 2 - 100 : size // 2 + 100, : 2 * CHUNK]
        stored = zarr.open(str(folder / "labels.zarr"), mode="r")[part]
        same = np.array_equal(stored, np.asarray(scores[:, part[0], part[1]]).argmax(0))
        print(f"NumPy's answer for a part {'agrees' if same else 'DIFFERS'}")
        draw(zarr.open(str(folder / "colours.zarr"), mode="r"), surest, size, arguments.output)
    print(f"wrote {arguments.output}")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
