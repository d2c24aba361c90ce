"""DirectML's operators by their own descriptors, on the CPU.

Descriptors are dataclasses with the fields of DirectML's structures in snake_case; enumerations have
their names without the prefix. A descriptor is compiled for a feature level, which checks every rule
of DirectML's reference, and the compiled operator is called on arrays as often as needed:

>>> import numpy as np
>>> from dmlcpu import directml as dml
>>> desc = dml.ArgmaxOperatorDesc(
...     input_tensor=dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3)),
...     output_tensor=dml.BufferTensorDesc(dml.TensorDataType.UINT32, sizes=(3, 1)),
...     axes=(1,),
...     axis_direction=dml.AxisDirection.INCREASING,
... )
>>> argmax = dml.compile(desc, feature_level=dml.FeatureLevel.LEVEL_3_0)
>>> argmax(np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], dtype=np.float32))
array([[2],
       [2],
       [1]], dtype=uint32)
>>> dml.feature_level_required(desc)
<FeatureLevel.LEVEL_3_0: 12288>
"""

from dmlcpu._types import AxisDirection
from dmlcpu.directml._compiled import (
    CompiledOperator,
    FeatureLevelError,
    calc_buffer_tensor_size,
    compile,
    feature_level_required,
)
from dmlcpu.directml._descriptors import (
    ArgmaxOperatorDesc,
    ArgminOperatorDesc,
    BufferTensorDesc,
    GatherNd1OperatorDesc,
    GatherNdOperatorDesc,
    OperatorDesc,
    ReduceOperatorDesc,
    TopK1OperatorDesc,
    TopKOperatorDesc,
)
from dmlcpu.directml._enums import (
    FeatureLevel,
    OperatorType,
    ReduceFunction,
    TensorDataType,
    TensorFlags,
)
from dmlcpu.directml._support import Support, SupportTable, support_table

__all__ = [
    "ArgmaxOperatorDesc",
    "ArgminOperatorDesc",
    "AxisDirection",
    "BufferTensorDesc",
    "CompiledOperator",
    "FeatureLevel",
    "FeatureLevelError",
    "GatherNd1OperatorDesc",
    "GatherNdOperatorDesc",
    "OperatorDesc",
    "OperatorType",
    "ReduceFunction",
    "ReduceOperatorDesc",
    "Support",
    "SupportTable",
    "TensorDataType",
    "TensorFlags",
    "TopK1OperatorDesc",
    "TopKOperatorDesc",
    "calc_buffer_tensor_size",
    "compile",
    "feature_level_required",
    "support_table",
]
