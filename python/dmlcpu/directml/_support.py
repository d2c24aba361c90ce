"""Which operator takes what since which feature level."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from dmlcpu import _core
from dmlcpu.directml._enums import FeatureLevel, OperatorType, TensorDataType

__all__ = ["Support", "SupportTable", "support_table"]

_INDEX_TYPES = (
    TensorDataType.UINT32,
    TensorDataType.UINT64,
    TensorDataType.INT32,
    TensorDataType.INT64,
)
_DATA_TYPES = tuple(TensorDataType)[1:12]


class Support(NamedTuple):
    """Since which feature level an operator takes tensors of a type and number of dimensions.

    `index_type` is that of the indices which the operator writes, or reads in the case of gather.
    """

    operator_type: OperatorType
    data_type: TensorDataType
    index_type: TensorDataType
    dimension_count: int
    feature_level: FeatureLevel


class SupportTable(tuple[Support, ...]):
    """Every `Support` that there is. ``print`` shows it with a line for each operator and data type."""

    __slots__ = ()

    def __str__(self) -> str:
        levels = {row[:4]: str(row.feature_level) for row in self}
        columns = "".join(f"{index_type.name + ' idx':>12}" for index_type in _INDEX_TYPES)
        lines = [f"{'':22}{'4 dimensions':^48}   {'1 to 3 and 5 to 8 dimensions':^48}".rstrip()]
        lines.append(f"{'operator':12}{'data type':10}{columns}   {columns}")
        for operator_type, data_type in product(OperatorType, _DATA_TYPES):
            cells = [
                "".join(
                    f"{levels.get((operator_type, data_type, index_type, dimensions), '-'):>12}"
                    for index_type in _INDEX_TYPES
                )
                for dimensions in (4, 8)
            ]
            if cells[0].strip(" -"):
                lines.append(f"{operator_type.name:12}{data_type.name:10}{cells[0]}   {cells[1]}")
        return "\n".join(lines)


def support_table() -> SupportTable:
    """What DirectML's operators take: operator x data type x index type x dimensions -> level.

    >>> table = support_table()
    >>> table[0]._asdict()["feature_level"]
    <FeatureLevel.LEVEL_3_0: 12288>
    >>> print(str(table).splitlines()[2])
    REDUCE      FLOAT32            1.0         3.0         3.0         3.0            3.0 ...
    """
    keys = product(OperatorType, _DATA_TYPES, _INDEX_TYPES, range(1, 9))
    levels = ((key, _core.feature_level_of(*key)) for key in keys)
    return SupportTable(Support(*key, FeatureLevel(level)) for key, level in levels if level)
