"""Handwritten digits recognised by their nearest neighbours, with all four operators.

    python examples/digits.py [--neighbours K] [--output FILE.png]

Scikit-learn's bundled digits (1797 images of 8x8 pixels) are split into known and new ones. Of each new
image's distances to the known ones, `top_k` finds the K smallest, `gather_nd` looks up their labels,
`argmax` takes the vote, and `argmin` gives the answer of the single nearest neighbour.

Every step is timed beside the way NumPy's users would take: for the neighbours a partition, of which only
the K smallest are sorted. First for all new images at once, then for one, where a call's own cost is most
of its time. The picture shows some new digits and their neighbours; those in which the vote was wrong
come first, in red.
"""

import argparse

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import dmlcpu

from timing import milliseconds, note_load

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def squared_distances(new, known):
    """Of every new image (rows) to every known one (columns); exact, since pixels are integers."""
    return (new**2).sum(1)[:, None] + (known**2).sum(1) - 2 * new @ known.T


def nearest_by_numpy(distances, k):
    """The k nearest of each row, nearest first."""
    nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)
    return np.take_along_axis(nearest, order, axis=1)


class Steps:
    """Runs steps with dmlcpu and with NumPy, and prints who is faster."""

    def __init__(self):
        self.own = self.numpys = 0.0
        self.same = True

    def run(self, name, own, numpys, view=lambda result: result):
        """The step's result. What `view` makes of both results has to agree."""
        result = own()
        self.same &= np.array_equal(view(result), view(numpys()))
        own_time, numpys_time = milliseconds(own), milliseconds(numpys)
        self.own += own_time
        self.numpys += numpys_time
        report(name, own_time, numpys_time)
        return result


def report(name, own, numpys):
    faster, times = ("dmlcpu", numpys / own) if own <= numpys else ("NumPy", own / numpys)
    print(f"{name:24} {own:9.4f} ms {numpys:9.4f} ms   {faster:6} {times:6.2f} times as fast")


def votes_of(labels):
    """How many of each row's labels are 0, 1, ... 9."""
    return (labels[:, :, None] == np.arange(10)).sum(1).astype(np.int32)


def draw(new, labels, known, neighbours, neighbour_labels, answers, rows, path):
    """One row for each chosen new digit: itself, then its neighbours, nearest first."""
    count = neighbours.shape[1]
    figure, axes = plt.subplots(
        len(rows), count + 1, figsize=(1.1 * (count + 1), 1.25 * len(rows)), layout="constrained"
    )
    for row, line in zip(rows, axes, strict=True):
        good = answers[row] == labels[row]
        images = [new[row], *known[neighbours[row]]]
        texts = [f"{labels[row]} read as {answers[row]}", *map(str, neighbour_labels[row])]
        for axis, image, text in zip(line, images, texts, strict=True):
            axis.imshow(image.reshape(8, 8), cmap="gray_r")
            axis.set_title(
                text, fontsize=8, color=plt.rcParams["text.color"] if good else "firebrick"
            )
            axis.set_axis_off()
    figure.suptitle("New digits (left) and their nearest known ones", fontsize=10)
    figure.savefig(path, dpi=120)


def recognise(distances, known_labels, k):
    """Every step, for a row of distances to the known images for each new one."""
    steps = Steps()
    neighbours = steps.run(
        "top_k      neighbours",
        lambda: dmlcpu.top_k(
            distances, k, axis_direction="increasing", index_dtype=np.int64
        ).indices,
        lambda: nearest_by_numpy(distances, k),
        # Of equal distances a partition finds any.
        view=lambda found: np.take_along_axis(distances, found, axis=1),
    )
    labels = steps.run(
        "gather_nd  their labels",
        lambda: dmlcpu.gather_nd(known_labels, neighbours[..., None]),
        lambda: known_labels[neighbours],
    )
    votes = votes_of(labels)
    answers = steps.run(
        "argmax     the vote",
        lambda: dmlcpu.argmax(votes, axis=1, keepdims=False),
        lambda: np.argmax(votes, axis=1),
    )
    nearest = steps.run(
        "argmin     nearest alone",
        lambda: dmlcpu.argmin(distances, axis=1, keepdims=False),
        lambda: np.argmin(distances, axis=1),
    )
    return steps, neighbours, labels, answers, nearest


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--neighbours", type=int, default=5, metavar="K")
    parser.add_argument("--output", default="digits.png", metavar="FILE.png")
    arguments = parser.parse_args()
    k = arguments.neighbours

    images, labels = load_digits(return_X_y=True)
    images = images.astype(np.float32)
    known, known_labels = images[:1000], labels[:1000].astype(np.int32)
    new, new_labels = images[1000:], labels[1000:]
    print(
        f"{len(new)} new digits, {len(known)} known ones, {k} neighbours; dmlcpu "
        f"{dmlcpu.__version__}, {dmlcpu.get_instruction_set()}, {dmlcpu.get_num_threads()} threads"
    )

    print(f"\nAll {len(new)} at once           dmlcpu        NumPy")
    distances = squared_distances(new, known)
    steps, neighbours, neighbour_labels, answers, nearest = recognise(distances, known_labels, k)
    report("these steps", steps.own, steps.numpys)
    shared = milliseconds(lambda: squared_distances(new, known))
    report("with NumPy's distances", steps.own + shared, steps.numpys + shared)

    print("\nOne digit alone           dmlcpu        NumPy")
    alone, *_ = recognise(distances[:1], known_labels, k)
    report("these steps", alone.own, alone.numpys)
    note_load()

    same = steps.same and alone.same
    print(f"\nanswers {'agree' if same else 'DIFFER'}")
    print(f"accuracy with {k} neighbours: {np.mean(answers == new_labels):.2%}")
    print(f"accuracy with the nearest:  {np.mean(known_labels[nearest] == new_labels):.2%}")

    wrong = np.flatnonzero(answers != new_labels)[:4]
    right = np.flatnonzero(answers == new_labels)[: 8 - len(wrong)]
    rows = [*wrong, *right]
    draw(new, new_labels, known, neighbours, neighbour_labels, answers, rows, arguments.output)
    print(f"wrote {arguments.output}")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
