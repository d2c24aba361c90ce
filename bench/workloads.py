"""The workloads: calls that users make."""

import numpy as np

from dmlcpu._command._works import Workload, gather, normal


def moved_bytes(workload, tensors):
    """Bytes that the workload has to move: read, for a gather also written."""
    x, *indices = tensors
    if workload.operator != "gather_nd":
        # Memory delivers the gaps of a strided view too.
        return x.nbytes if x.base is None else x.base.nbytes
    slice_bytes = x[(0,) * indices[0].shape[1]].nbytes
    return indices[0].nbytes + 2 * len(indices[0]) * slice_bytes


def integers(*shape, dtype):
    info = np.iinfo(dtype)
    return lambda rng: (rng.integers(info.min, info.max, shape, dtype, endpoint=True),)


def organ_pipe(n):
    ramp = np.arange(n, dtype=np.float32)
    return np.minimum(ramp, n - ramp)


def with_nans(*shape, share=0.001):
    def make(rng):
        x = rng.standard_normal(shape, np.float32)
        x[rng.random(shape) < share] = np.nan
        return (x,)

    return make


def view(make_base, change):
    return lambda rng: (change(make_base(rng)[0]),)


def arg(name, make, headline=True, streams=True, **options):
    return Workload(f"argmax {name}", "argmax", make, options, headline, streams)


def top_k(name, make, k, axis=-1, headline=True, streams=False):
    return Workload(f"top-k {name}", "top_k", make, {"k": k, "axis": axis}, headline, streams)


def take(name, make, headline=True, **kwargs):
    return Workload(f"gather {name}", "gather_nd", make, headline=headline, **kwargs)


def small(name, operator, make, headline=True, **options):
    return Workload(f"small {name}", operator, make, options, headline)


HEADLINES = [
    arg("f32 1e7, all", normal(10**7), axis=0),
    arg("f32 65536, all", normal(65536), axis=0, streams=False),
    arg("f32 4096x4096 rows", normal(4096, 4096), axis=1),
    arg("f32 4096x4096 columns", normal(4096, 4096), axis=0),
    arg("f16 4096x4096 rows", normal(4096, 4096, dtype=np.float16), axis=1),
    arg("f16 4096x4096 columns", normal(4096, 4096, dtype=np.float16), axis=0),
    arg("u8 4096x4096 rows", integers(4096, 4096, dtype=np.uint8), axis=1),
    arg("u8 4096x4096 columns", integers(4096, 4096, dtype=np.uint8), axis=0),
    arg("i32 4096x4096 rows", integers(4096, 4096, dtype=np.int32), axis=1),
    arg("f32 1x21x512x512, axis 1 (label map)", normal(1, 21, 512, 512), axis=1),
    arg("f32 64x128256 rows (LLM logits)", normal(64, 128256), axis=1),
    arg("f32 1e6x8 rows", normal(10**6, 8), axis=1, streams=False),
    arg("f32 64x256x1024, axes 0 and 2", normal(64, 256, 1024), axis=(0, 2)),
    arg(
        "f32, transposed view 4096x2048, rows",
        view(normal(2048, 4096), lambda x: x.T),
        axis=1,
    ),
    top_k("f32 64x128256, k 50", normal(64, 128256), 50, streams=True),
    top_k("f16 64x128256, k 50", normal(64, 128256, dtype=np.float16), 50, streams=True),
    top_k("f32 1e7, k 10", normal(10**7), 10, streams=True),
    top_k("f32 1e7, k 1000", normal(10**7), 1000),
    top_k("f32 1e7, k 100000", normal(10**7), 100000),
    top_k("f32 1000x1000, k 10, last axis", normal(1000, 1000), 10),
    top_k("f32 1000x1000, k 10, axis 0", normal(1000, 1000), 10, axis=0),
    top_k("f32 10000x100, k 5", normal(10000, 100), 5),
    top_k("f32 1e6, k = n-1 (a sort)", normal(10**6), 10**6 - 1),
    top_k("f32 1e7 ascending, k 100", lambda _: (np.arange(1e7, dtype=np.float32),), 100),
    top_k("i8 1e6, k 100 (ties)", integers(10**6, dtype=np.int8), 100),
    take("f32 50000x768, 4096 rows", gather((50000, 768), 4096)),
    take("f32 100000x64, 1e6 rows, reused output", gather((100000, 64), 10**6), reuse_output=True),
    take("f32 4096x4096, 1e6 elements", gather((4096, 4096), 10**6, 2)),
    take("u8 8x512x512x3, 1e6 pixels", gather((8, 512, 512, 3), 10**6, 3, np.uint8)),
    take("f16 100000x8, 1e6 rows", gather((100000, 8), 10**6, dtype=np.float16)),
]

SMALL = [
    small("argmax 3x3", "argmax", normal(3, 3), axis=1),
    small("argmax 3x3, all", "argmax", normal(3, 3), headline=False, axis=None),
    small("top-k 1x8, k 2", "top_k", normal(1, 8), k=2, axis=-1),
    small("gather 2x2", "gather_nd", gather((2, 2), 2)),
]

OTHERS = [
    arg("f64 4096x4096 rows", normal(4096, 4096, dtype=np.float64), False, axis=1),
    arg("i64 4096x4096 columns", integers(4096, 4096, dtype=np.int64), False, axis=0),
    # Found at once: a row is read until the largest value of its type.
    arg("i16 1e7, all", integers(10**7, dtype=np.int16), False, False, axis=0),
    arg("f32 1000x1000 rows", normal(1000, 1000), False, False, axis=1),
    arg("f32 1000x1000 columns", normal(1000, 1000), False, False, axis=0),
    arg("f32 1e6x3 columns", normal(10**6, 3), False, False, axis=0),
    arg("u8 1e6x3 rows (pixels)", integers(10**6, 3, dtype=np.uint8), False, False, axis=1),
    arg("f32 1e5x40 rows", normal(10**5, 40), False, False, axis=1),
    arg(
        "f32, every other of 4096x4096, rows",
        view(normal(4096, 4096), lambda x: x[:, ::2]),
        False,
        axis=1,
    ),
    arg(
        "f32, reversed 4096x4096, rows",
        view(normal(4096, 4096), lambda x: x[:, ::-1]),
        False,
        axis=1,
    ),
    arg(
        "u8 4096x4096 rows, last of ties",
        integers(4096, 4096, dtype=np.uint8),
        False,
        axis=1,
        last=True,
    ),
    arg("f32 4096x4096 rows, last of ties", normal(4096, 4096), False, axis=1, last=True),
    arg("f32 4096x4096 rows with NaNs", with_nans(4096, 4096), False, axis=1),
    arg("f32 4096x4096 rows, NaNs omitted", with_nans(4096, 4096), False, axis=1, omit=True),
    arg("f32 4096x4096 columns, NaNs omitted", with_nans(4096, 4096), False, axis=0, omit=True),
    top_k("i64 1e6, k 10", integers(10**6, dtype=np.int64), 10, headline=False),
    top_k("f32 4096x50, k 3", normal(4096, 50), 3, headline=False),
    top_k("f32 10000x100, k 50", normal(10000, 100), 50, headline=False),
    top_k("f32 64x50257, k 1", normal(64, 50257), 1, headline=False),
    top_k("f32 100x10000, k 100", normal(100, 10000), 100, headline=False),
    top_k(
        "f32 1e7 constant, k 100000",
        lambda _: (np.ones(10**7, np.float32),),
        100000,
        headline=False,
    ),
    top_k("f32 1e7 organ pipe, k 1000", lambda _: (organ_pipe(10**7),), 1000, headline=False),
    take("f32 100000x64, 1e6 rows", gather((100000, 64), 10**6), False),
    take("f64 1000x1000, 1e5 elements", gather((1000, 1000), 10**5, 2, np.float64), False),
    take("f32 10000x100, 10000 rows", gather((10000, 100), 10**4), False),
]

WORKLOADS = HEADLINES + OTHERS + SMALL
