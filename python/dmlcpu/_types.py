"""The types that the operators take and return."""

import enum
import types
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy.typing as npt

__all__ = ["AxisDirection", "AxisDirectionLike", "TopK"]


class AxisDirection(enum.IntEnum):
    """DirectML's ``DML_AXIS_DIRECTION``: decides ties in argmin and argmax, the order in top_k."""

    INCREASING = 0
    DECREASING = 1


AxisDirectionLike = AxisDirection | SupportsIndex | Literal["increasing", "decreasing"]


class TopK(NamedTuple):
    """What :func:`dmlcpu.top_k` returns.

    In annotations it takes the types of both: ``TopK[npt.NDArray[np.float32], npt.NDArray[np.uint32]]``.
    """

    values: npt.NDArray[Any]
    indices: npt.NDArray[Any]

    # A NamedTuple is generic from Python 3.11 on.
    __class_getitem__ = classmethod(types.GenericAlias)
