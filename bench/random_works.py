"""Works that nobody chose: each is drawn from a seed and a number, and its description says all of it."""

import math
import random
from dataclasses import dataclass

import numpy as np

from workloads import Workload

DTYPES = ["float32"] * 6 + [
    "float16",
    "float64",
    "int32",
    "int32",
    "uint8",
    "int8",
    "int64",
    "int16",
]
PEER_BYTES = (2**14, 2**26)  # of an input
PEER_RANKS = (1, 4)
GATHER_BYTES = (2**12, 2**25)  # of an output
LAYOUT_BYTES = (2**16, 2**24)
LAYOUT_RANKS = (2, 5)
LAYOUTS = ("C", "Fortran", "transposed", "every other", "reversed")
LAYOUT_AXES = 3  # reduced, at most
LAYOUT_K = 32  # at most


@dataclass(frozen=True)
class Work:
    operator: str  # "argmin", "argmax", "top_k" or "gather_nd"
    dtype: str
    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()  # reduced or searched
    k: int = 0
    smallest: bool = False  # of top-k
    count: int = 0  # of tuples
    coordinates: int = 0  # of a tuple
    layout: str = "C"
    layout_axes: tuple[int, ...] = ()  # transposed: in memory order; every other, reversed: which

    def __str__(self):
        text = {"top_k": "top-k", "gather_nd": "gather"}.get(self.operator, self.operator)
        text += f" {self.dtype} {self.shape}"
        if self.operator == "gather_nd":
            text += f", {self.count} tuples of {self.coordinates}"
        elif len(self.axes) == 1:
            text += f" axis {self.axes[0]}"
        else:
            text += f" axes {self.axes}"
        if self.k:
            text += f", k {self.k}, {'smallest' if self.smallest else 'largest'}"
        if self.layout != "C":
            text += f", {self.layout} {self.layout_axes or ''}".rstrip()
        return text

    @property
    def bytes(self):
        """Of the input."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def workload(self):
        options = {}
        if self.operator != "gather_nd":
            options["axis"] = self.axes[0] if len(self.axes) == 1 else self.axes
        if self.operator == "top_k":
            options |= {"k": self.k, "smallest": self.smallest}
        return Workload(str(self), self.operator, self.make, options)

    def make(self, rng):
        """The tensors."""
        x = in_layout(rng, self)
        if self.operator != "gather_nd":
            return (x,)
        sizes = self.shape[: self.coordinates]
        return x, np.stack([rng.integers(0, size, self.count) for size in sizes], -1)


def elements(rng, dtype, shape):
    """Normal floating-point numbers; integers of the middle half of the type's values, as argmin and
    argmax stop at the extreme ones."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        quarter = 2 ** (8 * dtype.itemsize - 2)
        low = np.iinfo(dtype).min + quarter
        return rng.integers(low, low + 2 * quarter, shape, dtype)
    made = np.float64 if dtype == np.float64 else np.float32
    return rng.standard_normal(shape, made).astype(dtype, copy=False)


def in_layout(rng, work):
    shape = list(work.shape)
    if work.layout == "Fortran":
        return elements(rng, work.dtype, shape[::-1]).T
    if work.layout == "transposed":
        base = elements(rng, work.dtype, [shape[axis] for axis in work.layout_axes])
        return base.transpose(np.argsort(work.layout_axes))
    slices = [slice(None)] * len(shape)
    for axis in work.layout_axes:
        if work.layout == "every other":
            shape[axis] *= 2
        slices[axis] = slice(None, None, 2 if work.layout == "every other" else -1)
    return elements(rng, work.dtype, shape)[tuple(slices)]


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def count_up_to(draw, most):
    """A whole number in 1 to `most`, log-uniform."""
    return min(most, int(log_uniform(draw, 1, most + 1)))


def draw_input(draw, ranks, limits):
    """Element type and shape: random points divide the logarithm of the elements among the sizes."""
    dtype = draw.choice(DTYPES)
    itemsize = np.dtype(dtype).itemsize
    while True:
        rank = draw.randint(*ranks)
        wanted = log_uniform(draw, *limits) / itemsize
        points = sorted(draw.random() for _ in range(rank - 1))
        shares = [high - low for low, high in zip([0.0, *points], [*points, 1.0])]
        shape = [int(wanted**share) for share in shares]
        # The largest makes up for what the others lost by rounding down.
        largest = shares.index(max(shares))
        others = math.prod(shape) // shape[largest]
        shape[largest] = max(1, round(wanted / others))
        if limits[0] <= math.prod(shape) * itemsize <= limits[1]:
            return dtype, tuple(shape)


def peer_work(seed, number):
    """A work beside the other libraries: argmin or argmax, top-k and gather alternate."""
    draw = random.Random(f"beside others {seed} {number}")
    dtype, shape = draw_input(draw, PEER_RANKS, PEER_BYTES)
    axis = draw.randrange(len(shape))
    if number % 3 == 0:
        return Work(draw.choice(("argmin", "argmax")), dtype, shape, (axis,))
    if number % 3 == 1:
        k = count_up_to(draw, shape[axis])
        return Work("top_k", dtype, shape, (axis,), k, draw.choice((False, True)))
    while True:
        coordinates = draw.randint(1, len(shape))
        slice_bytes = math.prod(shape[coordinates:]) * np.dtype(dtype).itemsize
        count = max(1, round(log_uniform(draw, *GATHER_BYTES) / slice_bytes))
        if GATHER_BYTES[0] <= count * slice_bytes <= GATHER_BYTES[1]:
            return Work("gather_nd", dtype, shape, count=count, coordinates=coordinates)


def layout_work(seed, number):
    """A work on a view, for dmlcpu alone: argmax and top-k in alternation."""
    draw = random.Random(f"layouts {seed} {number}")
    dtype, shape = draw_input(draw, LAYOUT_RANKS, LAYOUT_BYTES)
    rank = len(shape)
    layout = draw.choice(LAYOUTS)
    layout_axes = ()
    if layout == "transposed":
        while layout_axes in ((), tuple(range(rank))):
            layout_axes = tuple(draw.sample(range(rank), rank))
    elif layout in ("every other", "reversed"):
        layout_axes = (draw.choice([axis for axis in range(rank) if shape[axis] > 1]),)
    where = {"layout": layout, "layout_axes": layout_axes}
    if number % 2 == 0:
        count = draw.randint(1, min(LAYOUT_AXES, rank))
        axes = tuple(sorted(draw.sample(range(rank), count)))
        return Work("argmax", dtype, shape, axes, **where)
    axis = draw.randrange(rank)
    k = count_up_to(draw, min(LAYOUT_K, shape[axis]))
    return Work("top_k", dtype, shape, (axis,), k, draw.choice((False, True)), **where)
