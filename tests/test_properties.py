"""Random calls of every operator, compared with its reference implementation, on every instruction
set and several thread counts."""

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dmlcpu

import data
import reference

DIRECTIONS = st.sampled_from(["increasing", "decreasing"])
NAN_POLICIES = st.sampled_from(["propagate", "omit"])
SETTINGS = settings(max_examples=60, deadline=None)


def assert_same_bits(got, want):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes()


def as_integers(x):
    """The elements' bits, whatever their type."""
    return x.view(f"u{x.dtype.itemsize}")


def filler(dtype):
    return int.from_bytes(b"\x5a" * dtype.itemsize, "little")


def memory_of(view):
    while view.base is not None:
        view = view.base
    return view


def output_like(draw, shape, dtype):
    """None, or an array in some layout whose memory is full of a known byte."""
    if draw(st.booleans()):
        return None
    steps = draw(st.lists(st.sampled_from([1, -1, 2]), min_size=len(shape), max_size=len(shape)))
    pads = draw(st.lists(st.integers(0, 1), min_size=len(shape), max_size=len(shape)))
    order = draw(st.permutations(range(len(shape))))
    out = data.in_layout(np.zeros(shape, f"u{dtype.itemsize}"), order, steps, pads)
    memory_of(out)[...] = filler(dtype)
    return out.view(dtype)


def assert_gaps_untouched(out):
    """Writes the known byte over the elements; then everything must be that byte again."""
    as_integers(out)[...] = filler(out.dtype)
    assert (memory_of(out) == filler(out.dtype)).all()


@SETTINGS
@given(
    call=st.data(), x=data.tensors(), largest=st.booleans(), keepdims=st.booleans(),
    direction=DIRECTIONS, nan_policy=NAN_POLICIES, index_dtype=st.sampled_from(data.ARG_INDEX_DTYPES),
)  # fmt: skip
def test_arg(
    instruction_set, threads, call, x, largest, keepdims, direction, nan_policy, index_dtype
):
    axes = call.draw(st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, max_size=x.ndim))
    axes = [axis - x.ndim * call.draw(st.booleans()) for axis in axes]
    want = reference.arg(
        x, axes, largest=largest, direction=direction, keepdims=keepdims, nan_policy=nan_policy
    )
    reduced = math.prod(x.shape[axis] for axis in axes)
    assume(reduced - 1 <= np.iinfo(index_dtype).max)
    want = want.astype(index_dtype)
    out = output_like(call.draw, want.shape, index_dtype)
    operator = dmlcpu.argmax if largest else dmlcpu.argmin
    got = operator(
        x, axes, axis_direction=direction, keepdims=keepdims, index_dtype=index_dtype,
        nan_policy=nan_policy, out=out,
    )  # fmt: skip
    assert_same_bits(got, want)
    if out is not None:
        assert got is out
        assert_gaps_untouched(out)


@SETTINGS
@given(
    call=st.data(), x=data.tensors(), direction=DIRECTIONS, nan_policy=NAN_POLICIES,
    index_dtype=st.sampled_from(data.INDEX_DTYPES),
)  # fmt: skip
def test_top_k(instruction_set, threads, call, x, direction, nan_policy, index_dtype):
    axis = call.draw(st.integers(-max(x.ndim, 1), max(x.ndim, 1) - 1))
    k = call.draw(st.integers(1, x.shape[axis] if x.ndim else 1))
    if x.ndim == 0:
        want = x, np.zeros((), index_dtype)
    else:
        values, indices = reference.top_k(
            x, k, axis=axis, direction=direction, nan_policy=nan_policy
        )
        want = values, indices.astype(index_dtype)
    out = output_like(call.draw, want[0].shape, x.dtype)
    if out is not None:
        out = out, np.empty(want[1].shape, index_dtype)
    got = dmlcpu.top_k(
        x, k, axis=axis, axis_direction=direction, index_dtype=index_dtype, nan_policy=nan_policy,
        out=out,
    )  # fmt: skip
    assert_same_bits(got.values, want[0])
    assert_same_bits(got.indices, want[1])
    if out is not None:
        assert got.values is out[0]
        assert got.indices is out[1]
        assert_gaps_untouched(out[0])


@SETTINGS
@given(
    call=st.data(), x=data.tensors(min_rank=1, max_rank=6),
    mode=st.sampled_from(["raise", "clip"]), index_dtype=st.sampled_from(data.INDEX_DTYPES),
)  # fmt: skip
def test_gather_nd(instruction_set, threads, call, x, mode, index_dtype):
    batch_dims = call.draw(st.integers(0, x.ndim - 1))
    tuple_length = call.draw(st.integers(1, x.ndim - batch_dims))
    trailing = x.ndim - batch_dims - tuple_length
    most = min(2, 8 - batch_dims - trailing)
    middle = call.draw(data.shapes(max_rank=most, max_elements=20, min_size=0))
    low = 0 if index_dtype.kind == "u" else -1
    times = 1 if mode == "raise" else 3
    rng = np.random.default_rng(call.draw(st.integers(0, 2**32)))
    coordinates = [
        rng.integers(low * times * size, times * size, (*x.shape[:batch_dims], *middle))
        for size in x.shape[batch_dims : batch_dims + tuple_length]
    ]
    indices = np.stack(coordinates, -1).astype(index_dtype)
    order = call.draw(st.permutations(range(indices.ndim)))
    steps = call.draw(
        st.lists(st.sampled_from([1, -1, 2]), min_size=indices.ndim, max_size=indices.ndim)
    )
    indices = data.in_layout(indices, order, steps, [0] * indices.ndim) if indices.size else indices
    want = reference.gather_nd(x, indices, batch_dims=batch_dims, mode=mode)
    out = output_like(call.draw, want.shape, x.dtype)
    got = dmlcpu.gather_nd(x, indices, batch_dims=batch_dims, mode=mode, out=out)
    assert_same_bits(got, want)
    if out is not None:
        assert got is out
        assert_gaps_untouched(out)
