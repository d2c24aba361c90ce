"""DirectML's descriptors as dataclasses: the same fields, in snake_case, in the same order of meaning.

Nothing is checked here; `dmlcpu.directml.compile` checks everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dmlcpu._types import AxisDirection
from dmlcpu.directml._enums import OperatorType, ReduceFunction, TensorDataType, TensorFlags

__all__ = [
    "ArgmaxOperatorDesc",
    "ArgminOperatorDesc",
    "BufferTensorDesc",
    "GatherNd1OperatorDesc",
    "GatherNdOperatorDesc",
    "OperatorDesc",
    "ReduceOperatorDesc",
    "TopK1OperatorDesc",
    "TopKOperatorDesc",
]


def _keep(desc: object, name: str) -> None:
    """Make a field's sequence, if there is that field, one that nobody changes."""
    value = getattr(desc, name, None)
    if isinstance(value, Iterable) and not isinstance(value, str):
        object.__setattr__(desc, name, tuple(value))


@dataclass(frozen=True)
class BufferTensorDesc:
    """``DML_BUFFER_TENSOR_DESC``; its DimensionCount is the number of `sizes`.

    Attributes
    ----------
    data_type
        The type of the elements.
    sizes
        Of each dimension, 1 to 8 of them, each at least 1.
    strides
        The elements from one to the next in each dimension; 0 broadcasts, gaps are padding. None:
        contiguous in row-major order.
    flags
        See `TensorFlags`.
    total_tensor_size_in_bytes
        At least what `calc_buffer_tensor_size` says; None for just that.
    guaranteed_base_offset_alignment
        0 or a power of two of at least an element's bytes. It changes nothing here.
    """

    data_type: TensorDataType
    sizes: Iterable[int]
    strides: Iterable[int] | None = None
    flags: TensorFlags = TensorFlags.NONE
    total_tensor_size_in_bytes: int | None = None
    guaranteed_base_offset_alignment: int = 0

    def __post_init__(self) -> None:
        _keep(self, "sizes")
        _keep(self, "strides")

    @property
    def dimension_count(self) -> int:
        """The number of dimensions."""
        return len(tuple(self.sizes))

    @classmethod
    def from_array(cls, array: npt.NDArray[Any]) -> BufferTensorDesc:
        """Describe an array with strides of at least 0.

        >>> import numpy as np
        >>> BufferTensorDesc.from_array(np.zeros((2, 3), np.float32).T)
        BufferTensorDesc(data_type=<TensorDataType.FLOAT32: 1>, sizes=(3, 2), strides=(1, 3), ...)
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"array: must be a numpy.ndarray, got {type(array).__name__}")
        if not 1 <= array.ndim <= 8:
            raise ValueError(f"array: must have 1 to 8 dimensions, got {array.ndim}")
        if array.size == 0:
            raise ValueError(f"array: must not be empty, got shape {array.shape}")
        name = array.dtype.name.upper()
        known = name in TensorDataType.__members__ and array.dtype.kind in "fiu"
        if not known or not array.dtype.isnative:
            raise TypeError(f"array: must be of a dtype that DirectML has, got {array.dtype}")
        # Strides along sizes of 1 mean nothing.
        strides = [
            stride if size > 1 else array.itemsize
            for size, stride in zip(array.shape, array.strides)
        ]
        if any(stride < 0 for stride in strides):
            raise ValueError(f"array: must have strides of at least 0, got {array.strides}")
        if any(stride % array.itemsize for stride in strides):
            raise ValueError(f"array: must have strides of whole elements, got {array.strides}")
        steps = [stride // array.itemsize for stride in strides]
        return cls(TensorDataType[name], array.shape, None if array.flags.c_contiguous else steps)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype for `data_type`."""
        return np.dtype(TensorDataType(self.data_type).name.lower())


@dataclass(frozen=True)
class OperatorDesc:
    """What operator descriptors have in common: ``DML_OPERATOR_DESC``."""

    operator_type: ClassVar[OperatorType]

    def __post_init__(self) -> None:
        _keep(self, "axes")


@dataclass(frozen=True)
class ReduceOperatorDesc(OperatorDesc):
    """``DML_REDUCE_OPERATOR_DESC`` with the function ARGMAX or ARGMIN, ties as INCREASING."""

    operator_type: ClassVar[OperatorType] = OperatorType.REDUCE
    function: ReduceFunction
    input_tensor: BufferTensorDesc
    output_tensor: BufferTensorDesc
    axes: Iterable[int]


@dataclass(frozen=True)
class _ArgFields(OperatorDesc):
    input_tensor: BufferTensorDesc
    output_tensor: BufferTensorDesc
    axes: Iterable[int]
    axis_direction: AxisDirection = AxisDirection.INCREASING


@dataclass(frozen=True)
class ArgminOperatorDesc(_ArgFields):
    """``DML_ARGMIN_OPERATOR_DESC``. `output_tensor` has size 1 along `axes`."""

    operator_type: ClassVar[OperatorType] = OperatorType.ARGMIN


@dataclass(frozen=True)
class ArgmaxOperatorDesc(_ArgFields):
    """``DML_ARGMAX_OPERATOR_DESC``. `output_tensor` has size 1 along `axes`."""

    operator_type: ClassVar[OperatorType] = OperatorType.ARGMAX


@dataclass(frozen=True)
class _TopKFields(OperatorDesc):
    input_tensor: BufferTensorDesc
    output_value_tensor: BufferTensorDesc
    output_index_tensor: BufferTensorDesc
    axis: int
    k: int


@dataclass(frozen=True)
class TopKOperatorDesc(_TopKFields):
    """``DML_TOP_K_OPERATOR_DESC``: the largest. Both outputs have size `k` along `axis`."""

    operator_type: ClassVar[OperatorType] = OperatorType.TOP_K


@dataclass(frozen=True)
class TopK1OperatorDesc(_TopKFields):
    """``DML_TOP_K1_OPERATOR_DESC``. Both outputs have size `k` along `axis`."""

    operator_type: ClassVar[OperatorType] = OperatorType.TOP_K1
    axis_direction: AxisDirection = AxisDirection.DECREASING


@dataclass(frozen=True)
class _GatherNdFields(OperatorDesc):
    input_tensor: BufferTensorDesc
    indices_tensor: BufferTensorDesc
    output_tensor: BufferTensorDesc
    input_dimension_count: int
    indices_dimension_count: int


@dataclass(frozen=True)
class GatherNdOperatorDesc(_GatherNdFields):
    """``DML_GATHER_ND_OPERATOR_DESC``.

    All three tensors have as many dimensions; of `input_tensor` and `indices_tensor` the last ones
    mean something, as many as the counts say, and those before them have size 1. The output's last
    dimensions are those of the indices but their last, then those of the input that a tuple of
    indices does not reach.
    """

    operator_type: ClassVar[OperatorType] = OperatorType.GATHER_ND


@dataclass(frozen=True)
class GatherNd1OperatorDesc(_GatherNdFields):
    """``DML_GATHER_ND1_OPERATOR_DESC``: as GATHER_ND, after dimensions that both tensors share."""

    operator_type: ClassVar[OperatorType] = OperatorType.GATHER_ND1
    batch_dimension_count: int
