"""Random calls of dmlcpu.dask beside the same calls on the whole array in memory."""

import dask
import dask.array as da
import numpy as np
from dask.callbacks import Callback
from dask.utils import key_split

import dmlcpu
import dmlcpu.dask

import data

GATHER_DTYPES = ["i1", "u1", "i4", "i8", "u4", "u8"]


def random_chunks(rng, shape):
    """Sizes of 0 among them."""
    chunks = []
    for size in shape:
        sizes = [0] if size == 0 else []
        while sum(sizes) < size:
            sizes += [0] * bool(rng.random() < 0.1)
            sizes.append(int(rng.integers(1, size - sum(sizes) + 1)))
        chunks.append(tuple(sizes))
    return tuple(chunks)


def pick(rng, *values):
    return values[rng.integers(len(values))]


def chunked(rng, x):
    return da.from_array(x, chunks=random_chunks(rng, x.shape))


def random_case(rng):
    """(the answer in memory, a Dask array), of any operator with any types, chunks and options."""
    dtype = pick(rng, *data.DTYPES)
    shape = tuple(map(int, rng.integers(1, 8, rng.integers(0, 5))))
    x = np.asarray(data.random_values(rng, dtype, shape, distinct=pick(rng, None, 2, 4)))
    case = pick(rng, arg_case, top_k_case, gather_case) if shape else arg_case
    return case(rng, x, {"split_every": pick(rng, None, 2, 3), "threads": pick(rng, None, 1, 2)})


def search_options(rng):
    return {
        "axis_direction": pick(rng, 0, 1, "increasing", "DECREASING"),
        "nan_policy": pick(rng, "propagate", "omit"),
        "index_dtype": pick(rng, *data.INDEX_DTYPES),
    }


def arg_case(rng, x, dask_options):
    some = tuple(map(int, rng.permutation(x.ndim)[: rng.integers(0, x.ndim + 1)]))
    one = int(rng.integers(-x.ndim, x.ndim)) if x.ndim else None
    options = {"axis": pick(rng, None, one, some), "keepdims": pick(rng, True, False)}
    options |= search_options(rng)
    name = pick(rng, "argmin", "argmax")
    want = getattr(dmlcpu, name)(x, **options)
    return want, getattr(dmlcpu.dask, name)(chunked(rng, x), **options, **dask_options)


def top_k_case(rng, x, dask_options):
    axis = int(rng.integers(-x.ndim, x.ndim))
    options = {"k": int(rng.integers(1, x.shape[axis] + 1)), "axis": axis, **search_options(rng)}
    number = pick(rng, 0, 1)
    want = dmlcpu.top_k(x, **options)[number]
    return want, dmlcpu.dask.top_k(chunked(rng, x), **options, **dask_options)[number]


def gather_case(rng, x, dask_options):
    batch = int(rng.integers(0, x.ndim))
    length = int(rng.integers(1, x.ndim - batch + 1))
    shape = (*x.shape[:batch], *map(int, rng.integers(0, 6, rng.integers(0, 3))))
    dtype, mode = np.dtype(pick(rng, *GATHER_DTYPES)), pick(rng, "raise", "clip")
    sizes = x.shape[batch : batch + length] if mode == "raise" else (100,) * length
    axes = [rng.integers(0 if dtype.kind == "u" else -size, size, shape) for size in sizes]
    indices = np.stack(axes, -1).astype(dtype)
    options = {"batch_dims": batch, "mode": mode}
    given = chunked(rng, indices) if pick(rng, True, False) else indices
    want = dmlcpu.gather_nd(x, indices, **options)
    # Few tuples in a chunk, or all.
    with dask.config.set({"array.chunk-size": pick(rng, "1 B", "40 B", "128 MiB")}):
        lazy = dmlcpu.dask.gather_nd(chunked(rng, x), given, **options, **dask_options)
    return want, lazy


class Results(Callback):
    """What tasks gave, by the kind of task."""

    def __init__(self):
        super().__init__(posttask=self.add)
        self.by_kind = {}

    def add(self, key, result, dsk, state, worker):
        self.by_kind.setdefault(key_split(key), []).append(result)


def check_meta(want, lazy):
    """What is known before anything is computed."""
    assert (lazy.shape, lazy.dtype) == (want.shape, want.dtype)
    assert (lazy._meta.ndim, lazy._meta.dtype) == (want.ndim, want.dtype)
    assert type(lazy._meta) is np.ndarray


def check_result(want, got):
    got = np.asarray(got)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert got.tobytes() == want.tobytes()
