"""Compiling descriptors, and what comes of it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, Literal, NoReturn, TypeVar

import numpy.typing as npt

from dmlcpu import _core
from dmlcpu._types import TopK
from dmlcpu.directml import _descriptors
from dmlcpu.directml._descriptors import BufferTensorDesc, OperatorDesc
from dmlcpu.directml._enums import FeatureLevel, TensorDataType

__all__ = [
    "CompiledOperator",
    "FeatureLevelError",
    "calc_buffer_tensor_size",
    "compile",
    "feature_level_required",
]

_BEYOND_64_BITS = (1 << 64) - 1

FeatureLevelLike = FeatureLevel | int | str


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
    numbers = _uints(sizes, "sizes")
    steps = None if strides is None else _uints(strides, "strides")
    if steps is not None and len(steps) != len(numbers):
        raise ValueError(f"strides: must be as many as sizes, {len(numbers)}, got {len(steps)}")
    size = _core.buffer_tensor_size(_uint(data_type, "data_type"), numbers, steps)
    if size == _BEYOND_64_BITS:
        raise ValueError(f"sizes: must give bytes that fit 64 bits, got {tuple(numbers)}")
    return size


def compile(
    desc: OperatorDesc,
    *,
    feature_level: FeatureLevelLike = FeatureLevel.LEVEL_6_4,
    nan_policy: Literal["omit", "propagate"] = "omit",
    mode: Literal["clip", "raise"] = "clip",
) -> CompiledOperator:
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
    return FeatureLevel(_with_field_names(_core.feature_level_required, *_marshal(desc)))


class CompiledOperator:
    """An operator that `compile` has checked and planned; call it on arrays.

    The arrays are those of the descriptor's input tensors, in its order. Each has the tensor's dtype
    and lies as described: it has the tensor's sizes and strides, or it is one-dimensional, contiguous
    and long enough, and is taken as the tensor's buffer. Nothing is copied.

    `out` are arrays of the output tensors, likewise, a pair for top-k; they must not overlap any other
    array. Without it new ones are made. Results are `out` or the new arrays: one array, for top-k a
    `dmlcpu.TopK`. A failed call writes nothing. Calls may be made from many threads at once.

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

    __slots__ = ("_compiled", "_desc", "_feature_level", "_mode", "_nan_policy")

    def __init__(
        self, desc: OperatorDesc, feature_level: FeatureLevel, nan_policy: str, mode: str
    ) -> None:
        self._desc = desc
        self._feature_level = feature_level
        self._nan_policy = nan_policy
        self._mode = mode
        self._compiled = _with_field_names(
            _core.CompiledOperator, *_marshal(desc), int(feature_level), nan_policy, mode
        )

    @property
    def desc(self) -> OperatorDesc:
        """The descriptor that was compiled."""
        return self._desc

    @property
    def feature_level(self) -> FeatureLevel:
        """The feature level that it was compiled for."""
        return self._feature_level

    @property
    def nan_policy(self) -> str:
        """What `compile` was told of NaNs."""
        return self._nan_policy

    @property
    def mode(self) -> str:
        """What `compile` was told of gather indices out of range."""
        return self._mode

    def __call__(
        self,
        *inputs: npt.ArrayLike,
        out: npt.NDArray[Any] | tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None,
    ) -> npt.NDArray[Any] | TopK:
        """Run the operator."""
        results = _with_field_names(self._compiled.dispatch, inputs, out)
        return TopK(*results) if isinstance(results, tuple) else results

    def __repr__(self) -> str:
        return (
            f"CompiledOperator({self._desc!r}, feature_level={str(self._feature_level)!r}, "
            f"nan_policy={self._nan_policy!r}, mode={self._mode!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it was made of, and compiled again."""
        return CompiledOperator, (self._desc, self._feature_level, self._nan_policy, self._mode)


def _level(level: FeatureLevelLike) -> FeatureLevel:
    requirement = 'feature_level: must be a FeatureLevel, "1.0" to "6.4"'
    if isinstance(level, bool) or not (isinstance(level, str) or hasattr(level, "__index__")):
        raise TypeError(f"{requirement}, got {type(level).__name__}")
    for known in FeatureLevel:
        if level == str(known) if isinstance(level, str) else _index(level) == known:
            return known
    raise ValueError(f"{requirement}, got {level!r}")


def _index(value: Any) -> int | None:
    """The int that a value stands for, None if it is none; bool is a type of its own here."""
    if isinstance(value, (bool, type)) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except TypeError:  # arrays have __index__, but only those of one int are one
        return None


# What the fields that are not any numbers hold.
_KINDS = {
    "data_type": "a TensorDataType",
    "flags": "a TensorFlags",
    "function": "a ReduceFunction",
    "axis_direction": "an AxisDirection",
}


def _uint(value: Any, name: str, bits: int = 32) -> int:
    number = _index(value)
    if number is None:
        kind = _KINDS.get(name.rpartition(".")[2], "an int")
        raise TypeError(f"{name}: must be {kind}, got {type(value).__name__}")
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name}: must be an unsigned int of {bits} bits, got {number}")
    return number


def _uints(values: Any, name: str) -> list[int]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: must be a sequence of ints, got {type(values).__name__}")
    return [_uint(value, f"{name}[{i}]") for i, value in enumerate(values)]


# What stands for a tensor and for an operator on the way to the extension module.
_Tensor = tuple[str, int, int, list[int], list[int] | None, int, int]
_Operator = tuple[int, list[_Tensor], list[int], list[int]]


def _marshal_tensor(tensor: Any, name: str) -> _Tensor:
    if not isinstance(tensor, BufferTensorDesc):
        raise TypeError(f"{name}: must be a BufferTensorDesc, got {type(tensor).__name__}")
    sizes = _uints(tensor.sizes, f"{name}.sizes")
    strides = None if tensor.strides is None else _uints(tensor.strides, f"{name}.strides")
    if strides is not None and len(strides) != len(sizes):
        raise ValueError(
            f"{name}.strides: must be as many as sizes, {len(sizes)}, got {len(strides)}"
        )
    data_type = _uint(tensor.data_type, f"{name}.data_type")
    size = tensor.total_tensor_size_in_bytes
    if size is None:
        size = _core.buffer_tensor_size(data_type, sizes, strides)
    return (
        name,
        data_type,
        _uint(tensor.flags, f"{name}.flags"),
        sizes,
        strides,
        _uint(size, f"{name}.total_tensor_size_in_bytes", 64),
        _uint(tensor.guaranteed_base_offset_alignment, f"{name}.guaranteed_base_offset_alignment"),
    )


def _marshal(desc: Any) -> _Operator:
    """A descriptor as its operator's number, tensors, axes and other numbers, in the fields' order."""
    if not isinstance(desc, OperatorDesc) or not hasattr(desc, "operator_type"):
        raise TypeError(
            f"desc: must be an operator descriptor of dmlcpu.directml, got {type(desc).__name__}"
        )
    tensors: list[_Tensor] = []
    axes: list[int] = []
    numbers: list[int] = []
    for field in fields(desc):
        value = getattr(desc, field.name)
        if field.name.endswith("_tensor"):
            tensors.append(_marshal_tensor(value, field.name))
        elif field.name == "axes":
            axes = _uints(value, "axes")
        else:
            numbers.append(_uint(value, field.name))
    return int(desc.operator_type), tensors, axes, numbers


# DirectML's fields, as the library's error texts name them, and what they are called here.
_FIELD_NAMES = {
    "".join(part.capitalize() for part in field.name.split("_")): field.name
    for name in _descriptors.__all__
    if name != "OperatorDesc"
    for field in fields(getattr(_descriptors, name))
} | {
    "AxisCount": "len(axes)",
    "DimensionCount": "dimension_count",
    "Type": "operator_type",
}
_FIELD = re.compile(rf"\b({'|'.join(_FIELD_NAMES)})\b")

Result = TypeVar("Result")


def _with_field_names(function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls the extension module; its errors name fields as Python does."""
    try:
        return function(*arguments)
    except (ValueError, IndexError) as error:
        _rename(error)


def _rename(error: Exception) -> NoReturn:
    text = _FIELD.sub(lambda match: _FIELD_NAMES[match[0]], str(error))
    raise type(error)(text) from None
