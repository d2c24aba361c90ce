# _types.py for type checkers: TopK is generic, and arguments have types that need no class at run time.
import enum
from typing import Any, Generic, Literal, NamedTuple, Protocol, SupportsIndex, TypeAlias

import numpy.typing as npt
from typing_extensions import Buffer, TypeVar

__all__ = ["AxisDirection", "AxisDirectionLike", "TopK"]

class AxisDirection(enum.IntEnum):
    INCREASING = 0
    DECREASING = 1

AxisDirectionLike: TypeAlias = (
    AxisDirection
    | SupportsIndex
    | Literal["increasing", "decreasing", "Increasing", "Decreasing", "INCREASING", "DECREASING"]
)

_Values = TypeVar("_Values", default=npt.NDArray[Any])
_Indices = TypeVar("_Indices", default=npt.NDArray[Any])

class TopK(NamedTuple, Generic[_Values, _Indices]):
    values: _Values
    indices: _Indices

class _SupportsDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

class _SupportsArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Input: TypeAlias = npt.ArrayLike | _SupportsDLPack | _SupportsArrayInterface
_Output: TypeAlias = npt.NDArray[Any] | Buffer | _SupportsDLPack | _SupportsArrayInterface
