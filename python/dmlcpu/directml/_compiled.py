"""Compiling descriptors, and what comes of it."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, TypeVar, overload

import numpy.typing as npt

from dmlcpu import _core
from dmlcpu._types import TopK
from dmlcpu._untraced import untraced
from dmlcpu.directml._descriptors import (
    ArgmaxOperatorDesc,
    ArgminOperatorDesc,
    GatherNd1OperatorDesc,
    GatherNdOperatorDesc,
    OperatorDesc,
    ReduceOperatorDesc,
    TopK1OperatorDesc,
    TopKOperatorDesc,
)
from dmlcpu.directml._enums import FeatureLevel, TensorDataType

if TYPE_CHECKING:
    from dmlcpu._types import _Input, _Output

    _NanPolicy = Literal["omit", "propagate"]
    _IndexMode = Literal["clip", "raise"]
    _OneOutput = (
        ArgmaxOperatorDesc
        | ArgminOperatorDesc
        | GatherNd1OperatorDesc
        | GatherNdOperatorDesc
        | ReduceOperatorDesc
    )
    _Out = TypeVar("_Out", bound=_Output)
    _OutIndices = TypeVar("_OutIndices", bound=_Output)

__all__ = [
    "CompiledOperator",
    "FeatureLevelError",
    "calc_buffer_tensor_size",
    "compile",
    "feature_level_required",
]

# fmt: off
FeatureLevelLike = FeatureLevel | SupportsIndex | Literal[
    "1.0", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1",
    "5.0", "5.1", "5.2", "6.0", "6.1", "6.2", "6.3", "6.4",
]
# fmt: on
_Result = TypeVar("_Result")


class FeatureLevelError(ValueError):
    """A descriptor needs a newer feature level than it was compiled for."""

    __module__ = "dmlcpu.directml"  # what tracebacks show


def calc_buffer_tensor_size(
    data_type: TensorDataType, sizes: Iterable[int], strides: Iterable[int] | None = None
) -> int:
    """The least bytes of a buffer that holds a tensor: DirectML's ``DMLCalcBufferTensorSize``.

    A multiple of 4, counted in 64 bits; 0 for a type without a size and for sizes of 0. Raises
    ValueError for tensors beyond 64 bits.

    >>> calc_buffer_tensor_size(TensorDataType.UINT8, (3, 3))
    12
    >>> calc_buffer_tensor_size(TensorDataType.FLOAT32, (2, 3), strides=(4, 1))
    28
    """
    return _core.buffer_tensor_size(data_type, sizes, strides)


@overload
def compile(
    desc: TopKOperatorDesc | TopK1OperatorDesc,
    *,
    feature_level: FeatureLevelLike = ...,
    nan_policy: _NanPolicy = ...,
    mode: _IndexMode = ...,
) -> CompiledOperator[TopK]: ...
@overload
def compile(
    desc: _OneOutput,
    *,
    feature_level: FeatureLevelLike = ...,
    nan_policy: _NanPolicy = ...,
    mode: _IndexMode = ...,
) -> CompiledOperator[npt.NDArray[Any]]: ...
@overload
def compile(
    desc: OperatorDesc,
    *,
    feature_level: FeatureLevelLike = ...,
    nan_policy: _NanPolicy = ...,
    mode: _IndexMode = ...,
) -> CompiledOperator[Any]: ...
def compile(
    desc: OperatorDesc,
    *,
    feature_level: FeatureLevelLike = FeatureLevel.LEVEL_6_4,
    nan_policy: _NanPolicy = "omit",
    mode: _IndexMode = "clip",
) -> CompiledOperator[Any]:
    """Check a descriptor against DirectML's reference and plan it, to be run many times.

    Parameters
    ----------
    desc
        An operator descriptor of this module.
    feature_level
        What DirectML is to be capable of: a `FeatureLevel`, its value, or a text like "4.1".
    nan_policy
        What the reference leaves open. "omit": NaNs are passed over, in top-k they come last, as
        DirectML's drivers were seen to do. "propagate": see `dmlcpu.argmin` and `dmlcpu.top_k`.
    mode
        What the reference leaves open, of gather indices out of range. "clip": clamped, as drivers
        were seen to do. "raise": an IndexError, and nothing is written.

    Raises
    ------
    FeatureLevelError
        The descriptor is right, but only for a newer feature level: the text names what needs it,
        and the level.
    ValueError
        A broken rule: the text names the field, the requirement and what was given.
    TypeError
        A field of the wrong type.
    """
    return CompiledOperator(desc, _level(feature_level), nan_policy, mode)


def feature_level_required(desc: OperatorDesc) -> FeatureLevel:
    """The first feature level that allows a descriptor, which must break no other rule.

    >>> from dmlcpu import directml as dml
    >>> x = dml.BufferTensorDesc(dml.TensorDataType.INT64, (4, 5))
    >>> y = dml.BufferTensorDesc(dml.TensorDataType.UINT32, (4, 1))
    >>> str(dml.feature_level_required(dml.ArgminOperatorDesc(x, y, axes=(1,))))
    '4.1'
    """
    return FeatureLevel(_core.feature_level_required(_operator_desc(desc)))


@dataclass(frozen=True, repr=False, slots=True)
class CompiledOperator(Generic[_Result]):
    """An operator that `compile` has checked and planned; call it on arrays.

    The arrays are those of the descriptor's input tensors, in its order. Each has the tensor's dtype
    and lies as described: it has the tensor's sizes and strides, or it is one-dimensional, contiguous
    and long enough, and is taken as the tensor's buffer. Nothing is copied.

    `out` are arrays of the output tensors, likewise, or objects that share writable memory (see
    `dmlcpu.argmin`), a pair for top-k; they must not overlap any other array. Without it new ones are
    made. Results are `out` or the new arrays: one array, for top-k a `dmlcpu.TopK`. A failed call
    writes nothing. Calls may be made from many threads at once.

    `desc`, `feature_level`, `nan_policy` and `mode` are what it was compiled from; operators compiled
    from the same are equal.

    >>> import numpy as np
    >>> from dmlcpu import directml as dml
    >>> x = np.array([[0, 1, 10, 11], [3, 2, 9, 8]], np.float32)
    >>> top = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, (2, 2))
    >>> at = dml.BufferTensorDesc(dml.TensorDataType.UINT32, (2, 2))
    >>> desc = dml.TopKOperatorDesc(dml.BufferTensorDesc.from_array(x), top, at, axis=1, k=2)
    >>> dml.compile(desc)(x).values
    array([[11., 10.],
           [ 9.,  8.]], dtype=float32)
    """

    desc: OperatorDesc
    feature_level: FeatureLevel
    nan_policy: _NanPolicy
    mode: _IndexMode
    _compiled: _core.CompiledOperator = field(init=False, compare=False)

    def __post_init__(self) -> None:
        compiled = _core.CompiledOperator(
            _operator_desc(self.desc), int(self.feature_level), self.nan_policy, self.mode
        )
        object.__setattr__(self, "_compiled", compiled)

    @overload
    def __call__(self, *inputs: _Input, out: None = None) -> _Result: ...
    @overload
    def __call__(
        self: CompiledOperator[TopK], *inputs: _Input, out: tuple[_Out, _OutIndices]
    ) -> TopK[_Out, _OutIndices]: ...
    @overload
    def __call__(
        self: CompiledOperator[TopK], *inputs: _Input, out: Sequence[_Out]
    ) -> TopK[_Out, _Out]: ...
    @overload
    def __call__(self: CompiledOperator[npt.NDArray[Any]], *inputs: _Input, out: _Out) -> _Out: ...
    @untraced
    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        """Run the operator."""
        results = self._compiled.dispatch(inputs, out)
        return TopK(*results) if isinstance(results, tuple) else results

    def __repr__(self) -> str:
        return (
            f"CompiledOperator({self.desc!r}, feature_level={str(self.feature_level)!r}, "
            f"nan_policy={self.nan_policy!r}, mode={self.mode!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it was made of, and compiled again."""
        return CompiledOperator, (self.desc, self.feature_level, self.nan_policy, self.mode)


def _level(level: FeatureLevelLike) -> FeatureLevel:
    requirement = 'feature_level: must be a FeatureLevel, "1.0" to "6.4"'
    if isinstance(level, bool) or not (isinstance(level, str) or hasattr(level, "__index__")):
        raise TypeError(f"{requirement}, got {type(level).__name__}")
    cause = None
    try:
        number = level if isinstance(level, str) else operator.index(level)
    except TypeError as error:  # arrays have __index__, but only those of one int are one
        number, cause = None, error
    for known in FeatureLevel:
        if number in (known, str(known)):
            return known
    raise ValueError(f"{requirement}, got {level!r}") from cause


def _operator_desc(desc: Any) -> OperatorDesc:
    if not isinstance(desc, OperatorDesc) or not hasattr(desc, "operator_type"):
        raise TypeError(
            f"desc: must be an operator descriptor of dmlcpu.directml, got {type(desc).__name__}"
        )
    return desc
