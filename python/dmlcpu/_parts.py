"""A part of what top-k finds, for the doors: what nobody wants is neither computed nor written."""

from __future__ import annotations  # help() shows the annotations as written

from typing import Any

from dmlcpu import _core

__all__ = ["part_of_top_k"]


@_core.native_part_of_top_k
def part_of_top_k(
    input: Any,
    k: int,
    axis: int,
    axis_direction: int,
    index_dtype: Any,
    nan_policy: str,
    results: str,
) -> Any:
    """`top_k`'s values or indices alone, an array; or its last elements, a `TopK` of size 1 along `axis`.

    `results` is "values", "indices" or "last"; the other arguments are those of `dmlcpu.top_k`.

    >>> import numpy as np
    >>> from dmlcpu._parts import part_of_top_k
    >>> part_of_top_k([30, 10, 20], 3, 0, 0, np.int64, "omit", "indices")
    array([1, 2, 0])
    >>> part_of_top_k([30, 10, 20], 2, 0, 0, np.int64, "omit", "last")
    TopK(values=array([20]), indices=array([2]))
    """
