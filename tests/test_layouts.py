"""argmin, argmax and top-k with k = 1 over random layouts that are large enough for every plan: columns
that have several lanes of a result, are transposed, strided, of several periods, and split among threads.

test_properties.py compares a few hundred elements one by one. Here an element is one of a few values,
whose order the reference implementation gives, so that NumPy can compare many of them.
"""

import numpy as np
import pytest

import dmlcpu

import data
import reference

SIZES = [1, 2, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 65, 130, 300, 1100]


def orders(pool, largest, policy):
    """For each value how many others come strictly after it."""
    first = {"largest": largest, "nan_policy": policy, "keepdims": False}
    return np.array(
        [sum(reference.arg(np.array([b, a]), [0], **first) for b in pool) for a in pool]
    )


def random_codes(rng, count):
    """A tensor of numbers below `count`, in memory order C, F or any other, with steps in either
    direction, gaps between rows, and axes that broadcast; dense, or almost all of one number."""
    shape, left = [], int(rng.choice([300, 3000, 30000]))
    for _ in range(rng.integers(1, 7)):
        size = min(int(rng.choice(SIZES)), max(left, 1))
        shape.append(size)
        left //= size
    shape = [shape[i] for i in rng.permutation(len(shape))]
    if rng.random() < 0.5:
        codes = rng.integers(0, count, shape)
    else:
        codes = np.where(rng.random(shape) < 3 / np.prod(shape), rng.integers(0, count, shape), 0)
    axes = range(len(shape))
    order = [[*axes], [*axes][::-1], [*rng.permutation(len(shape))]][rng.integers(3)]
    plain = rng.random() < 0.5
    steps = [1 if plain else int(rng.choice([1, 1, 1, 2, 3, -1, -2])) for _ in axes]
    pads = [0 if plain else int(rng.choice([0, 0, 0, 1, 3])) for _ in axes]
    broadcast = rng.random(len(shape)) < 0.05
    if broadcast.any():
        codes = codes[tuple(slice(0, 1) if b else slice(None) for b in broadcast)]
    return codes, shape, (order, steps, pads)


@pytest.mark.parametrize("dtype", data.DTYPES, ids=str)
def test_random_layouts(instruction_set, threads, dtype):
    seed = [data.DTYPES.index(dtype), threads, data.INSTRUCTION_SETS.index(instruction_set)]
    rng = np.random.default_rng(seed)
    pool = data.special_values(dtype)
    order_of = {
        (largest, policy): orders(pool, largest, policy)
        for largest in (True, False)
        for policy in ("propagate", "omit")
    }
    for _ in range(30):
        codes, shape, layout = random_codes(rng, len(pool))
        codes = rng.permutation(len(pool))[codes]  # another value is the common one
        x = np.broadcast_to(data.in_layout(pool[codes], *layout), shape)
        codes = np.broadcast_to(codes, shape)
        if rng.random() < 0.1:  # windows that overlap
            width = int(rng.integers(1, min(shape[0], 30) + 1))
            x = np.lib.stride_tricks.sliding_window_view(x, width, 0)
            codes = np.lib.stride_tricks.sliding_window_view(codes, width, 0)
            shape = x.shape
        axes = [axis for axis in range(x.ndim) if rng.random() < 0.5]
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        rows = codes.transpose(*kept, *axes).reshape(*(shape[axis] for axis in kept), -1)
        for largest, operator in ((True, dmlcpu.argmax), (False, dmlcpu.argmin)):
            for policy in ("propagate", "omit"):
                ordered = order_of[largest, policy][rows]
                case = f"{operator.__name__} of {shape} by {x.strides}, {axes=}, {policy}"
                options = {"nan_policy": policy, "keepdims": False}
                fits = [d for d in data.ARG_INDEX_DTYPES if rows.shape[-1] - 1 <= np.iinfo(d).max]
                index_dtype = fits[rng.integers(len(fits))]
                got = operator(x, axes, index_dtype=index_dtype, **options)
                np.testing.assert_array_equal(got, ordered.argmax(-1), case)
                got = operator(x, axes, axis_direction=1, **options)
                want = rows.shape[-1] - 1 - ordered[..., ::-1].argmax(-1)
                np.testing.assert_array_equal(got, want, f"{case}, the last")
        check_largest_and_smallest(x, codes, order_of, int(rng.integers(x.ndim)))


def check_largest_and_smallest(x, codes, order_of, axis):
    """top-k with k = 1: the element's own bits, and where it is. NaNs that are omitted are last in
    either direction."""
    for direction in (0, 1):
        for policy in ("propagate", "omit"):
            nans_first = direction == 1 and policy == "propagate"
            order = order_of[direction == 1, "propagate" if nans_first else "omit"]
            want = np.expand_dims(order[codes].argmax(axis), axis)
            got = dmlcpu.top_k(x, 1, axis=axis, axis_direction=direction, nan_policy=policy)
            case = f"top_k of {x.shape} by {x.strides}, {axis=}, {direction=}, {policy}"
            np.testing.assert_array_equal(got.indices, want, case)
            values = np.take_along_axis(x, want, axis)
            assert got.values.tobytes() == values.tobytes(), case
