"""The types that the operators take and return."""

import enum
from typing import Any, Literal, NamedTuple

import numpy.typing as npt

__all__ = ["AxisDirection", "AxisDirectionLike", "TopK"]


class AxisDirection(enum.IntEnum):
    """DirectML's ``DML_AXIS_DIRECTION``: decides ties in argmin and argmax, the order in top_k."""

    INCREASING = 0
    DECREASING = 1


AxisDirectionLike = AxisDirection | int | Literal["increasing", "decreasing"] | str


class TopK(NamedTuple):
    """What :func:`dmlcpu.top_k` returns."""

    values: npt.NDArray[Any]
    indices: npt.NDArray[Any]
