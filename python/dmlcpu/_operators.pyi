# The declarations of _operators.py for type checkers: results typed by input, index_dtype and out.
from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar

from dmlcpu._types import AxisDirectionLike, TopK, _Input, _Output

__all__ = ["argmax", "argmin", "gather_nd", "top_k"]

_Axis: TypeAlias = SupportsIndex | Iterable[SupportsIndex] | None
_NanPolicy: TypeAlias = Literal["propagate", "omit"]

_Element = TypeVar("_Element", bound=np.generic)
_Index = TypeVar("_Index", bound=np.integer[Any], default=np.uint32)
_Out = TypeVar("_Out", bound=_Output)
_OutIndices = TypeVar("_OutIndices", bound=_Output)
_IndexType: TypeAlias = type[_Index] | np.dtype[_Index]

@overload
def argmin(
    input: _Input,
    axis: _Axis = None,
    *,
    axis_direction: AxisDirectionLike = ...,
    keepdims: bool | np.bool_ = True,
    index_dtype: _IndexType[_Index] = ...,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> npt.NDArray[_Index]: ...
@overload
def argmin(
    input: _Input,
    axis: _Axis = None,
    *,
    axis_direction: AxisDirectionLike = ...,
    keepdims: bool | np.bool_ = True,
    index_dtype: npt.DTypeLike,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> npt.NDArray[Any]: ...
@overload
def argmin(
    input: _Input,
    axis: _Axis = None,
    *,
    axis_direction: AxisDirectionLike = ...,
    keepdims: bool | np.bool_ = True,
    index_dtype: npt.DTypeLike = ...,
    nan_policy: _NanPolicy = "propagate",
    out: _Out,
) -> _Out: ...
@overload
def argmax(
    input: _Input,
    axis: _Axis = None,
    *,
    axis_direction: AxisDirectionLike = ...,
    keepdims: bool | np.bool_ = True,
    index_dtype: _IndexType[_Index] = ...,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> npt.NDArray[_Index]: ...
@overload
def argmax(
    input: _Input,
    axis: _Axis = None,
    *,
    axis_direction: AxisDirectionLike = ...,
    keepdims: bool | np.bool_ = True,
    index_dtype: npt.DTypeLike,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> npt.NDArray[Any]: ...
@overload
def argmax(
    input: _Input,
    axis: _Axis = None,
    *,
    axis_direction: AxisDirectionLike = ...,
    keepdims: bool | np.bool_ = True,
    index_dtype: npt.DTypeLike = ...,
    nan_policy: _NanPolicy = "propagate",
    out: _Out,
) -> _Out: ...
@overload
def top_k(
    input: npt.NDArray[_Element],
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = ...,
    index_dtype: _IndexType[_Index] = ...,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> TopK[npt.NDArray[_Element], npt.NDArray[_Index]]: ...
@overload
def top_k(
    input: _Input,
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = ...,
    index_dtype: _IndexType[_Index] = ...,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> TopK[npt.NDArray[Any], npt.NDArray[_Index]]: ...
@overload
def top_k(
    input: npt.NDArray[_Element],
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = ...,
    index_dtype: npt.DTypeLike,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> TopK[npt.NDArray[_Element]]: ...
@overload
def top_k(
    input: _Input,
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = ...,
    index_dtype: npt.DTypeLike,
    nan_policy: _NanPolicy = "propagate",
    out: None = None,
) -> TopK: ...
@overload
def top_k(
    input: _Input,
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = ...,
    index_dtype: npt.DTypeLike = ...,
    nan_policy: _NanPolicy = "propagate",
    out: tuple[_Out, _OutIndices],
) -> TopK[_Out, _OutIndices]: ...
@overload
def top_k(
    input: _Input,
    k: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    axis_direction: AxisDirectionLike = ...,
    index_dtype: npt.DTypeLike = ...,
    nan_policy: _NanPolicy = "propagate",
    out: Sequence[_Out],
) -> TopK[_Out, _Out]: ...
@overload
def gather_nd(
    input: npt.NDArray[_Element],
    indices: _Input,
    *,
    batch_dims: SupportsIndex = 0,
    mode: Literal["raise", "clip"] = "raise",
    out: None = None,
) -> npt.NDArray[_Element]: ...
@overload
def gather_nd(
    input: _Input,
    indices: _Input,
    *,
    batch_dims: SupportsIndex = 0,
    mode: Literal["raise", "clip"] = "raise",
    out: None = None,
) -> npt.NDArray[Any]: ...
@overload
def gather_nd(
    input: _Input,
    indices: _Input,
    *,
    batch_dims: SupportsIndex = 0,
    mode: Literal["raise", "clip"] = "raise",
    out: _Out,
) -> _Out: ...
