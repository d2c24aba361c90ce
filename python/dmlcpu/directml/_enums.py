"""DirectML's enumerations, their names without the prefix."""

import enum

__all__ = ["FeatureLevel", "OperatorType", "ReduceFunction", "TensorDataType", "TensorFlags"]


class TensorDataType(enum.IntEnum):
    """``DML_TENSOR_DATA_TYPE``. No operator here takes UNKNOWN, UINT4 or INT4."""

    UNKNOWN = 0
    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11
    UINT4 = 12
    INT4 = 13


class TensorFlags(enum.IntFlag):
    """``DML_TENSOR_FLAGS``.

    OWNED_BY_DML is accepted for inputs and changes nothing: no memory is uploaded anywhere, so such
    a tensor is given with every call, like others.
    """

    NONE = 0
    OWNED_BY_DML = 1


class OperatorType(enum.IntEnum):
    """``DML_OPERATOR_TYPE``, of the operators that dmlcpu has."""

    REDUCE = 55
    TOP_K = 71
    GATHER_ND = 108
    TOP_K1 = 112
    ARGMIN = 137
    ARGMAX = 138
    GATHER_ND1 = 140


class ReduceFunction(enum.IntEnum):
    """``DML_REDUCE_FUNCTION``, of the functions that dmlcpu has."""

    ARGMAX = 0
    ARGMIN = 1


class FeatureLevel(enum.IntEnum):
    """``DML_FEATURE_LEVEL``: LEVEL_4_1 is ``DML_FEATURE_LEVEL_4_1``; its text is "4.1"."""

    LEVEL_1_0 = 0x1000
    LEVEL_2_0 = 0x2000
    LEVEL_2_1 = 0x2100
    LEVEL_3_0 = 0x3000
    LEVEL_3_1 = 0x3100
    LEVEL_4_0 = 0x4000
    LEVEL_4_1 = 0x4100
    LEVEL_5_0 = 0x5000
    LEVEL_5_1 = 0x5100
    LEVEL_5_2 = 0x5200
    LEVEL_6_0 = 0x6000
    LEVEL_6_1 = 0x6100
    LEVEL_6_2 = 0x6200
    LEVEL_6_3 = 0x6300
    LEVEL_6_4 = 0x6400

    def __str__(self) -> str:
        return f"{self >> 12}.{self >> 8 & 15}"
