"""Test tensors: element types, values that provoke mistakes, and layouts of the same values."""

import itertools
import os
from types import SimpleNamespace

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import dmlcpu
from dmlcpu import _core

DTYPES = [
    np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    for name in _core.data_types()
]
# The values of the tuning headers: cpp/src/*/tuning.hpp and thread_tuning.hpp.
TUNING = SimpleNamespace(**_core.tuning())
# Bytes from which on inputs are planned as from memory (cpp/src/plan/machine.hpp).
FAR_ROWS = 2 * _core.cache_bytes(2)
FAR_COLUMNS = 8 * _core.cache_bytes(2)
STREAMED = _core.cache_bytes(3)
FLOATS = [dtype for dtype in DTYPES if dtype.kind not in "iub"]
INDEX_DTYPES = [np.dtype(name) for name in ("uint32", "int32", "uint64", "int64")]
# argmin and argmax write those as well.
NARROW_INDEX_DTYPES = [np.dtype(name) for name in ("uint8", "int8", "uint16", "int16")]
ARG_INDEX_DTYPES = INDEX_DTYPES + NARROW_INDEX_DTYPES
# A run that forces one tests that one: the others have runs of their own.
INSTRUCTION_SETS = [
    name
    for name in dmlcpu.instruction_sets()
    if os.environ.get("DMLCPU_ISA", name) in (name, "auto", "")
]
THREAD_COUNTS = (1, 2, 3)


def special_values(dtype):
    """Values where orders go wrong: extremes, both zeros, infinities, NaNs of either sign."""
    if dtype.kind == "b":  # any nonzero byte is True
        return np.array([0, 1, 2, 128, 255], np.uint8).view(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype)
    with np.errstate(over="ignore"):
        tiny = ml_dtypes.finfo(dtype).smallest_subnormal
        largest = ml_dtypes.finfo(dtype).max
        values = np.array(
            [0.0, -0.0, 1.0, -1.0, tiny, -tiny, largest, -largest, np.inf, -np.inf, np.nan]
        ).astype(dtype)
    # The NaNs next to infinity and those farthest from it, of both signs: where orders by bits wrap.
    word = np.dtype(f"u{dtype.itemsize}")
    infinity = int(np.array(np.inf).astype(dtype).view(word))
    sign = 1 << (8 * dtype.itemsize - 1)
    nans = [infinity + 1, sign + infinity + 1, sign - 1, 2 * sign - 1]
    return np.concatenate([values, -values[-1:], np.array(nans, word).view(dtype)])


def random_values(rng, dtype, shape, *, distinct=None):
    """Random elements; of a few `distinct` values for many ties; special ones mixed in."""
    if dtype.kind == "b":
        x = np.asarray(rng.choice(special_values(dtype), shape, p=[0.5, 0.2, 0.1, 0.1, 0.1]))
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    else:
        x = rng.standard_normal(shape).astype(dtype)
    if distinct is not None:
        pool = np.concatenate([special_values(dtype), x.ravel()[:4]])
        pool = pool[rng.permutation(len(pool))[:distinct]]
        x = pool[rng.integers(0, len(pool), shape)]
    return x


def in_layout(x, order, steps, pads):
    """A view equal to x: axes in memory order `order`, element steps `steps`, gaps `pads`.

    What lies between the view's elements would win every comparison, if a kernel read it.
    """
    shape = [
        max(abs(step) * (size - 1) + 1, 0) + pad for size, step, pad in zip(x.shape, steps, pads)
    ]
    memory = np.empty([shape[axis] for axis in order], x.dtype)
    memory[...] = special_values(x.dtype)[-1]
    base = memory.transpose(np.argsort(order)) if order else memory
    slices = []
    for size, step in zip(x.shape, steps):
        if size == 0:
            slices.append(slice(0, 0))
        elif step > 0:
            slices.append(slice(0, step * (size - 1) + 1, step))
        else:
            slices.append(slice(-step * (size - 1), None, step))
    view = base[(*slices, ...)]
    view[...] = x
    return view


def some_layouts(x):
    """The same values contiguous, in Fortran order, reversed, padded, and with an axis broadcast."""
    yield "contiguous", np.ascontiguousarray(x)
    if x.ndim == 0:
        return
    axes = list(range(x.ndim))
    ones = [1] * x.ndim
    yield "fortran", in_layout(x, axes[::-1], ones, [0] * x.ndim)
    yield "reversed", in_layout(x, axes, [-1] * x.ndim, [0] * x.ndim)
    yield "strided", in_layout(x, axes, [2] * x.ndim, [1] * x.ndim)
    yield (
        "mixed",
        in_layout(
            x, axes[1:] + axes[:1], [(-1) ** axis for axis in axes], [axis % 2 for axis in axes]
        ),
    )


@st.composite
def shapes(draw, min_rank=0, max_rank=8, max_elements=400, min_size=1):
    rank = draw(st.integers(min_rank, max_rank))
    shape = []
    for _ in range(rank):
        capacity = max_elements // max(int(np.prod(shape)), 1)
        shape.append(draw(st.integers(min_size, max(min_size, min(capacity, 40)))))
    return tuple(draw(st.permutations(shape)))


@st.composite
def tensors(draw, dtypes=None, **kwargs):
    """A tensor of any dtype in any layout, axes that broadcast included."""
    dtype = draw(st.sampled_from(dtypes or DTYPES))
    shape = draw(shapes(**kwargs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    distinct = draw(st.sampled_from([None, 2, 4, 16]))
    x = random_values(rng, dtype, shape, distinct=distinct)
    broadcast = draw(st.lists(st.booleans(), min_size=x.ndim, max_size=x.ndim))
    if draw(st.booleans()) and any(broadcast):
        narrow = x[tuple(slice(0, 1) if b else slice(None) for b in broadcast)]
        return np.broadcast_to(narrow, x.shape)
    order = draw(st.permutations(range(x.ndim)))
    steps = draw(
        st.lists(st.sampled_from([1, 1, -1, 2, 3, 4, -3]), min_size=x.ndim, max_size=x.ndim)
    )
    pads = draw(st.lists(st.integers(0, 2), min_size=x.ndim, max_size=x.ndim))
    return in_layout(x, order, steps, pads)


def subsets(axes):
    axes = list(axes)
    return itertools.chain.from_iterable(
        itertools.combinations(axes, count) for count in range(len(axes) + 1)
    )


def near(*limits):
    """Numbers around each limit: one less, the limit, one more."""
    return sorted({limit + d for limit in limits for d in (-1, 0, 1) if limit + d > 0})


def positions_in_lanes(row_bytes):
    """How many rows of a few columns are lanes beside each other."""
    return max(2, TUNING.kLanesBytes // row_bytes)


def least_row(dtype):
    """Elements of the shortest of many rows that the planner searches one by one."""
    sizes = (n for n in itertools.count(2) if is_searched_by_rows(np.empty((1300, n), dtype)))
    return next(sizes)


def is_searched_by_rows(x):
    return _core.plan_text(dmlcpu.argmax, x, 1).startswith("rows\n")


def ones_at(n, positions, dtype):
    x = np.zeros(n, dtype)
    x[list(positions)] = 1
    return x


def adversarial(dtype, n):
    """Data that defeats a running threshold, a sampled pivot, or a digit."""
    ramp = np.arange(n)
    yield "ascending", ramp.astype(dtype)
    yield "descending", ramp[::-1].astype(dtype)
    yield "constant", np.full(n, 5, dtype)
    yield "two values", (ramp % 2).astype(dtype)
    yield "organ pipe", np.minimum(ramp, n - ramp).astype(dtype)
    yield "one low digit apart", (np.full(n, 64) + (ramp % 3 == 1)).astype(dtype)
    yield "one outlier", ones_at(n, [n - 1], dtype)


def sampled_positions(n, count):
    """Where cpp/src/kernels/top_k_threshold-inl.hpp reads its sample of `count` elements."""
    step = n // max(count, 1)
    state, positions = 1, []
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        positions.append(i * step + (state >> 8) % step)
    return np.array(positions, int)
