"""Calls whose inputs and outputs lie at guard pages. test_guarded.py runs this file, a family of calls
in a process of its own, and reads which call it was that crashed."""

import faulthandler
import itertools
import mmap
import os
import sys

import numpy as np

import dmlcpu
from dmlcpu import _core

import data
from data import TUNING, near
from guarded import GuardedMemory, c_strides, layouts

VECTORS = (16, 32, 64, 128, 256)  # bytes, and of groups of them
ENDS = (True, False)
INDEX = np.dtype(np.uint32)
# Rows around the sides of transposed squares, tiles of them and the rows that a vector holds.
ROWS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 19, 31, 32, 33, 48, 63, 64, 65, 70]
# One for each way in which kernels move and compare elements; the other types get some of the calls.
FULL = [dtype for dtype in data.DTYPES if dtype.kind == "u" or dtype.name in ("float32", "float64")]


class Calls:
    """Runs every call on each instruction set, now and then on several threads, and notes it first."""

    def __init__(self, note, input_bytes, output_bytes):
        self._note = os.open(note, os.O_WRONLY | os.O_CREAT)
        self._count = 0
        self.input = GuardedMemory(input_bytes)
        self.outputs = [GuardedMemory(output_bytes) for _ in range(2)]
        _core.set_grain_bytes(1)

    def check(self, case, call, outs, wants):
        """call() is to write what `wants` holds, the outputs' bytes."""
        self._count += 1
        # Calls of several threads take long: every seventh, a number that no other loop's count divides.
        threads = (1, 2 + self._count // 7 % 2) if self._count % 7 == 0 else (1,)
        for isa, count in itertools.product(data.INSTRUCTION_SETS, threads):
            os.pwrite(self._note, f"{case} on {isa}, {count} threads".ljust(200).encode(), 0)
            dmlcpu.use_instruction_set(isa)
            dmlcpu.set_num_threads(count)
            for out in outs:
                out.fill(77)
            call()
            if [out.tobytes() for out in outs] != wants:
                raise AssertionError(f"wrong answer: {case} on {isa}, {count} threads")


def values(rng, dtype, shape, distinct):
    """Numbers that every type holds, as integers and as that type; booleans of any bytes now and then."""
    if dtype.kind == "b":
        x = rng.integers(0, 2, shape)
        return x, (x * rng.integers(1, rng.choice([2, 256]), shape)).astype(np.uint8).view(bool)
    x = rng.integers(0, distinct, shape)
    return x, x.astype(dtype)


def check_arg(calls, dtype, shape, axis, strides_of, rng):
    """First and last extremes along an axis, or several."""
    numbers, x = values(rng, dtype, shape, 4)
    axes = (axis,) if isinstance(axis, int) else axis
    moved = np.moveaxis(numbers, axes, range(-len(axes), 0))
    rows = moved.reshape(*moved.shape[: -len(axes)], -1)
    last = rows.shape[-1] - 1
    first_largest = rows.argmax(-1).astype(INDEX)
    last_smallest = (last - np.flip(rows, -1).argmin(-1)).astype(INDEX)
    for strides, at_end in itertools.product(strides_of, ENDS):
        view = calls.input.array(shape, dtype, at_end, strides)
        view[...] = x
        out = calls.outputs[0].array(first_largest.shape, INDEX, at_end)
        for operator, direction, want in (
            (dmlcpu.argmax, 0, first_largest),
            (dmlcpu.argmin, 1, last_smallest),
        ):
            case = f"{operator.__name__}, {dtype} {shape} by {strides}, axis {axis}, {at_end=}"

            def call(operator=operator, view=view, direction=direction, out=out):
                operator(view, axis, axis_direction=direction, keepdims=False, out=out)

            calls.check(case, call, [out], [want.tobytes()])


def row_sizes(dtype):
    widths = {width // dtype.itemsize for width in VECTORS}
    short = near(data.least_row(dtype))
    return sorted({*range(1, 10), *near(*widths - {0}), *short})


def short_rows(calls, rng):
    for dtype in data.DTYPES:
        every = 1 if dtype in FULL else 5
        for rows, n in [*itertools.product(ROWS, row_sizes(dtype))][::every]:
            strides = [(n, 1), (n, -1)]
            if (rows + n) % 4 == 0:
                strides = [*layouts(rows, n)]
            check_arg(calls, dtype, (rows, n), 1, strides, rng)


def columns(calls, rng):
    for dtype in data.DTYPES:
        every = 1 if dtype in FULL else 5
        for rows, width in [*itertools.product([1, 2, 3, 5, 6, 9, 14], row_sizes(dtype))][::every]:
            check_arg(calls, dtype, (rows, width), 0, layouts(rows, width), rng)
        wide = near(TUNING.kLanesBytes // dtype.itemsize, TUNING.kTileElements)
        for rows, width in itertools.product([2, 5, 7], wide):
            check_arg(calls, dtype, (rows, width), 0, [(width, 1), (-width, 1)], rng)


def several_lanes(calls, rng):
    """Few columns, of which some positions are lanes; the last ones end, or begin, where memory does."""
    for dtype in data.DTYPES:
        for width in (1, 2, 3, 7):
            count = data.positions_in_lanes(dtype.itemsize * width)
            for rows in near(2 * count, 3 * count):
                check_arg(calls, dtype, (rows, width), 0, layouts(rows, width), rng)
                # The last step overlaps at each of some outer positions, which a gap keeps apart.
                strides = [(rows * width + 2, width, 1), (rows * width + 2, -width, 1)]
                check_arg(calls, dtype, (3, rows, width), (0, 1), strides, rng)
        # All of some axes, whose elements begin, or end, where the memory does.
        for inner, next_size in itertools.product((2, 5, 9), (4, 17, 40)):
            n = inner * next_size
            strides = [(1, inner, n), (-1, inner, n), (-1, -inner, -n), (3, 3 * inner, 3 * n)]
            check_arg(calls, dtype, (inner, next_size, 20), (0, 1, 2), strides, rng)
        # Lanes from all or some positions of a reduced axis, element by element.
        lanes = TUNING.kLanesBytes // dtype.itemsize
        for size in near(2 * lanes, 3 * lanes):
            check_arg(calls, dtype, (size, 2), 0, [(5, 2), (-5, 2), (1, size), (2, -1)], rng)
            strides = [(4 * size, 2 * size, 2, 1), (-4 * size, 2 * size, -2, 1)]
            check_arg(calls, dtype, (3, 2, size, 2), (0, 2), strides, rng)


def blocks(calls, rng):
    """Transposed blocks of several axes, with gaps inside and after them, and elements that are too
    far apart for blocks."""
    for dtype in data.DTYPES:
        every = 1 if dtype in FULL else 3
        lanes = [1, 15, 16, 17, 33, 64, 70]
        for n, (inner, count) in enumerate(itertools.product([2, 3, 5, 8, 15, 17, 33], lanes)):
            if n % every:
                continue
            # A kept axis between reduced ones: a block for each position of the outer one.
            strides = [
                (count * inner, inner, 1),
                (-count * (inner + 1), inner + 1, 1),
                (count * (2 * inner + 1), 2 * inner + 1, -2),
            ]
            check_arg(calls, dtype, (3, count, inner), (0, 2), strides[n % 3 : n % 3 + 1], rng)
            # Narrow groups, which are transposed with the elements beside them.
            strides = [
                (3 * inner, 3, 1),
                (3 * inner + 2, -3, 1),
                (3 * inner + 2, 1, inner),
                (4 * inner, 4, 1),
            ]
            check_arg(calls, dtype, (count, inner, 3), 1, strides, rng)
            # Two inner axes with a gap between their rows.
            strides = [(2 * inner + 1, inner + 1, 1), (2 * inner + 4, -inner - 1, -1)]
            check_arg(calls, dtype, (count, 2, inner), (1, 2), strides, rng)
            # Element by element.
            strides = [(5 * inner, 5), (7 * inner + 1, -7), (3, 3 * count), (-3, -3 * count)]
            check_arg(calls, dtype, (count, inner), 1, strides, rng)
        # The longest block, one that is too long, and periods of such.
        for inner in near(TUNING.kBlockElements // 3, 2 * TUNING.kBlockElements // 3):
            strides = [(3 * inner, 3, 1), (3 * inner, -3, 1)]
            check_arg(calls, dtype, (17, inner, 3), 1, strides, rng)


def long_rows(calls, rng):
    """Vector boundaries, blocks; and inputs that are prefetched, in all three ways."""
    for dtype in data.DTYPES:
        size = dtype.itemsize
        aligned = [TUNING.kAlignFromVectors * width // size for width in (16, 32, 64)]
        blocks = [TUNING.kArgBlockBytes // size, 4 * TUNING.kArgBlockBytes // size]
        for n in near(*aligned, *blocks):
            for rows in (1, 3):
                strides = [(n, 1), (n, -1), (n + 1, 1), (2 * n, 2)]
                check_arg(calls, dtype, (rows, n), 1, strides, rng)
        least = data.FAR_COLUMNS // size
        for axis, (rows, n) in (
            (1, (least // 3 + 5, 3)),
            (1, (least // 11 + 5, 11)),
            (0, (5, least // 5 + 7)),
            (0, (least // 100 + 3, 100)),
            (1, (9, data.FAR_ROWS // size // 9 + 1)),
        ):
            check_arg(calls, dtype, (rows, n), axis, [(n, 1), (n, -1)], rng)


def check_top_k(calls, dtype, shape, axis, ks, strides_of, rng):
    """The largest and the smallest k along an axis of a matrix."""
    numbers, x = values(rng, dtype, shape, 100)
    orders = [np.argsort(sign * numbers, axis, kind="stable") for sign in (1, -1)]
    for strides, at_end in itertools.product(strides_of, ENDS):
        view = calls.input.array(shape, dtype, at_end, strides)
        view[...] = x
        for k, direction in itertools.product(ks, (0, 1)):
            indices = orders[direction].take(range(k), axis).astype(INDEX)
            selected = np.take_along_axis(x, indices.astype(np.int64), axis)
            outs = [
                memory.array(indices.shape, out_type, at_end)
                for memory, out_type in zip(calls.outputs, (dtype, INDEX))
            ]
            case = f"top_k {k}, {dtype} {shape} by {strides}, axis {axis}, {at_end=}"

            def call(view=view, k=k, direction=direction, outs=outs):
                dmlcpu.top_k(view, k, axis=axis, axis_direction=direction, out=outs)

            calls.check(case, call, outs, [selected.tobytes(), indices.tobytes()])


def top_k_short(calls, rng):
    """Rows side by side, and each by itself."""
    for dtype in data.DTYPES:
        every = 1 if dtype in FULL else 5
        shapes = itertools.product((1, 2, 7, 8, 9, 17, 33, 65), (2, 3, 15, 17, 33, 65, 129))
        for rows, n in [*shapes][::every]:
            ks = sorted({2, 5, 17, 33, n // 2 + 1, n} & {*range(2, n + 1)})
            few = list(layouts(rows, n))[rows % 2 :: 2]
            check_top_k(calls, dtype, (rows, n), 1, ks[:: 1 + rows % 2], few, rng)
            few = list(layouts(n, rows))[rows % 2 :: 2]
            check_top_k(calls, dtype, (n, rows), 0, ks[rows % 2 :: 2], few, rng)


def top_k_long(calls, rng):
    """Block extremes, samples, counting, full sorts, and rows split over threads."""
    for dtype in data.DTYPES:
        n = TUNING.kTopKSampleLeastLength + 1
        rows = [(2, n), (1, 1000)]
        for shape in rows:
            n = shape[1]
            ks = (2, n // 100, n // 20, n // 3, n // 2 + 1, n)
            strides = [(n, 1), (n + 1, -1), (2 * n, 2)]
            check_top_k(calls, dtype, shape, 1, ks, strides, rng)
        n = (
            6 * TUNING.kTopKSampleLeastLength + 1
        )  # several parts, and passes over digits of most bits
        check_top_k(calls, dtype, (1, n), 1, (2, n // 20, n - 1), [(n, 1), (n, -1)], rng)
        # Enough to be split in two, whatever k is.
        n = 2 * TUNING.top_k_min_part_bytes(2) // dtype.itemsize + 1
        check_top_k(calls, dtype, (1, n), 1, (9, n // 30), [(n, 1)], rng)
        check_top_k(calls, dtype, (n // 9, 9), 0, (3,), [(9, 1)], rng)


def check_gather(calls, x_shape, size, inner_stride, indices, index_strides, rng):
    """Slices of a tensor, all but the last of whose dimensions are indexed."""
    dtype = np.dtype(f"u{size}")
    strides = [stride * abs(inner_stride) for stride in c_strides(x_shape)]
    strides[-1] = inner_stride
    x = rng.integers(0, 256, x_shape).astype(dtype)
    wrapped = tuple(np.moveaxis(indices.astype(np.int64), -1, 0))
    want = x[wrapped]
    for at_end in ENDS:
        view = calls.input.array(x_shape, dtype, at_end, strides)
        view[...] = x
        at = calls.outputs[1].array(indices.shape, indices.dtype, at_end, index_strides)
        at[...] = indices
        out = calls.outputs[0].array(want.shape, dtype, at_end)
        for mode in ("raise", "clip"):
            case = (
                f"gather {mode}, {dtype} {x_shape} by {strides}, "
                f"indices {indices.dtype} {indices.shape} by {index_strides}, {at_end=}"
            )

            def call(view=view, at=at, mode=mode, out=out):
                dmlcpu.gather_nd(view, at, mode=mode, out=out)

            calls.check(case, call, [out], [want.tobytes()])


def some_indices(rng, sizes, count, dtype):
    """Tuples in any order, the tensor's first one first and its last one last."""
    low = 0 if dtype.kind == "u" else -1
    indices = np.stack([rng.integers(low * size, size, count) for size in sizes], -1)
    indices[0] = 0
    indices[-1] = np.array(sizes) - 1
    return indices.astype(dtype)


def gather_slices(calls, rng):
    """Every size of a slice that has a copy loop of its own, of elements of any size."""
    long = near(100, 128, 192, 256, 1000)
    for size in (1, 2, 4, 8):
        for n, elements in enumerate([*range(1, 71 // size + 4), *(b // size for b in long)]):
            for count in (1, 2, 40, TUNING.kGatherAhead + 2):
                dtype = data.INDEX_DTYPES[(n + count) % 4]
                indices = some_indices(rng, (6,), count, dtype)
                for step in (1, -1, 2):
                    check_gather(calls, (6, elements), size, step, indices, (1, 1), rng)
    # Large enough to be written by non-temporal stores.
    elements = 1024
    count = data.STREAMED // elements + 9
    indices = some_indices(rng, (6,), count, np.dtype(np.int64))
    check_gather(calls, (6, elements), 1, 1, indices, (1, 1), rng)


def gather_tuples(calls, rng):
    """Contiguous tuples of every length, strided ones and those whose coordinates lie apart."""
    block, chunk = TUNING.kGatherTupleBlock, TUNING.kGatherChunk
    for dtype, length in itertools.product(data.INDEX_DTYPES, range(1, 8)):
        sizes = (5, 3, 4, 2, 3, 2, 2)[:length]
        for n, count in enumerate([*range(1, 12), *near(block, 2 * block, chunk)]):
            size, inner = 2 ** (n % 4), 1 + count % 3
            indices = some_indices(rng, sizes, count, dtype)
            for strides in ((length, 1), (length + 1, 1), (1, count), (-length, 1)):
                check_gather(calls, (*sizes, inner), size, 1, indices, strides, rng)


def rows_on_pages_apart(calls, rng):
    """Rows shorter than the sides of squares, each in a page between guard pages."""
    calls.input.protect_every_other_page()
    page = mmap.PAGESIZE
    for dtype in data.DTYPES:
        for n, rows in itertools.product(range(2, 16 // dtype.itemsize), (8, 16, 17, 33)):
            strides = [(2 * page // dtype.itemsize, 1)]
            check_arg(calls, dtype, (rows, n), 1, strides, rng)
            check_top_k(calls, dtype, (rows, n), 1, (2,), strides, rng)


# (input bytes, bytes of an output or of indices) of each.
FAMILIES = {
    short_rows: (2**20, 2**16),
    columns: (2**20, 2**16),
    several_lanes: (2**20, 2**16),
    blocks: (2**20, 2**16),
    long_rows: (2**24, 2**25),
    top_k_short: (2**20, 2**20),
    top_k_long: (2**22, 2**21),
    gather_slices: (2**20, 2**26),
    gather_tuples: (2**16, 2**16),
    rows_on_pages_apart: (65 * mmap.PAGESIZE, 2**16),
}

if __name__ == "__main__":
    faulthandler.enable()
    for family, sizes in FAMILIES.items():
        if family.__name__ == sys.argv[1]:
            family(Calls(sys.argv[2], *sizes), np.random.default_rng(0))
