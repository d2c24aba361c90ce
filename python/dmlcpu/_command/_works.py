"""What a benchmark measures: calls that users make, each a name, an operator, tensors and options.

The folder bench/ uses this module too, and _competitors, _timing and _chart beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Make", "Tensors", "Workload", "gather", "normal"]

Tensors = tuple[npt.NDArray[Any], ...]
Make = Callable[[np.random.Generator], Tensors]


@dataclass
class Workload:
    name: str
    operator: str  # "argmin", "argmax", "top_k" or "gather_nd"
    make: Make  # the tensors
    options: dict[str, Any] = field(default_factory=dict)
    headline: bool = False  # counts for the geometric mean
    streams: bool = False  # reads its input once, so memory bounds it
    reuse_output: bool = False

    @property
    def is_arg(self) -> bool:
        return self.operator in ("argmin", "argmax")

    @property
    def smallest(self) -> bool:
        """Whether the smallest elements are looked for."""
        return self.operator == "argmin" or self.options.get("smallest", False)

    def tensors(self) -> Tensors:
        return self.make(np.random.default_rng(0))


def normal(*shape: int, dtype: Any = np.float32) -> Make:
    return lambda rng: (rng.standard_normal(shape, np.float32).astype(dtype, copy=False),)


def gather(shape: tuple[int, ...], count: int, t: int = 1, dtype: Any = np.float32) -> Make:
    """Elements, and as many tuples of t coordinates."""

    def make(rng: np.random.Generator) -> Tensors:
        x = rng.integers(0, 255, shape, np.uint8).astype(dtype)
        indices = np.stack([rng.integers(0, size, count) for size in shape[:t]], -1)
        return x, indices

    return make
