"""What is measured: calls that users make, each a name, an operator, its tensors and its options."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Workload:
    name: str
    operator: str  # "argmax", "top_k" or "gather_nd"
    make: Callable[[np.random.Generator], tuple[np.ndarray, ...]]  # the tensors
    options: dict[str, Any] = field(default_factory=dict)
    small: bool = False  # timed in batches, overhead is what counts
    reuse_output: bool = False


def normal(*shape, dtype=np.float32):
    return lambda rng: (rng.standard_normal(shape, np.float32).astype(dtype),)


def integers(*shape, dtype):
    info = np.iinfo(dtype)
    return lambda rng: (rng.integers(info.min, info.max, shape, dtype, endpoint=True),)


def gather(shape, count, t=1, dtype=np.float32):
    def make(rng):
        x = rng.integers(0, 255, shape, np.uint8).astype(dtype)
        indices = np.stack([rng.integers(0, size, count) for size in shape[:t]], -1)
        return x, indices

    return make


def arg(name, make, **options):
    return Workload(f"argmax {name}", "argmax", make, options)


def top_k(name, make, k, axis=-1):
    return Workload(f"top-k {name}", "top_k", make, {"k": k, "axis": axis})


def take(name, make, **kwargs):
    return Workload(f"gather {name}", "gather_nd", make, {}, **kwargs)


WORKLOADS = [
    arg("f32 1e7, all", normal(10**7), axis=0),
    arg("f32 65536, all", normal(65536), axis=0),
    arg("f32 4096x4096 rows", normal(4096, 4096), axis=1),
    arg("f32 4096x4096 columns", normal(4096, 4096), axis=0),
    arg("f16 4096x4096 rows", normal(4096, 4096, dtype=np.float16), axis=1),
    arg("f16 4096x4096 columns", normal(4096, 4096, dtype=np.float16), axis=0),
    arg("u8 4096x4096 rows", integers(4096, 4096, dtype=np.uint8), axis=1),
    arg("u8 4096x4096 columns", integers(4096, 4096, dtype=np.uint8), axis=0),
    arg("i32 4096x4096 rows", integers(4096, 4096, dtype=np.int32), axis=1),
    arg("f64 4096x4096 rows", normal(4096, 4096, dtype=np.float64), axis=1),
    arg("i64 4096x4096 columns", integers(4096, 4096, dtype=np.int64), axis=0),
    arg("f32 1x21x512x512, axis 1 (label map)", normal(1, 21, 512, 512), axis=1),
    arg("f32 64x128256 rows (LLM logits)", normal(64, 128256), axis=1),
    arg("f32 1e6x8 rows", normal(10**6, 8), axis=1),
    arg("f32 1e6x3 columns", normal(10**6, 3), axis=0),
    arg("f32 64x256x1024, axes 0 and 2", normal(64, 256, 1024), axis=(0, 2)),
    arg(
        "f32, transposed view 4096x2048, rows",
        lambda rng: (rng.standard_normal((2048, 4096), np.float32).T,),
        axis=1,
    ),
    arg(
        "f32, every other of 4096x4096, rows",
        lambda rng: (rng.standard_normal((4096, 4096), np.float32)[:, ::2],),
        axis=1,
    ),
    arg(
        "f32, reversed 4096x4096, rows",
        lambda rng: (rng.standard_normal((4096, 4096), np.float32)[:, ::-1],),
        axis=1,
    ),
    top_k("f32 64x128256, k 50", normal(64, 128256), 50),
    top_k("f16 64x128256, k 50", normal(64, 128256, dtype=np.float16), 50),
    top_k("f32 1e7, k 10", normal(10**7), 10),
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
    take("f32 100000x64, 1e6 rows", gather((100000, 64), 10**6)),
    take("f32 4096x4096, 1e6 elements", gather((4096, 4096), 10**6, 2)),
    take("u8 8x512x512x3, 1e6 pixels", gather((8, 512, 512, 3), 10**6, 3, np.uint8)),
    take("f16 100000x8, 1e6 rows", gather((100000, 8), 10**6, dtype=np.float16)),
    Workload("small argmax 3x3", "argmax", normal(3, 3), {"axis": 1}, small=True),
    Workload("small argmax 3x3, all", "argmax", normal(3, 3), {"axis": None}, small=True),
    Workload("small top-k 1x8, k 2", "top_k", normal(1, 8), {"k": 2, "axis": -1}, small=True),
    Workload("small gather 2x2", "gather_nd", gather((2, 2), 2), small=True),
]
