"""ONNX's ArgMax, ArgMin, TopK and GatherND for onnx's own evaluator.

``ReferenceEvaluator`` computes a model node by node, in Python. With `ops` these four operators run
here, and all others as before:

>>> import numpy as np, onnx.parser
>>> from onnx.reference import ReferenceEvaluator
>>> import dmlcpu.onnx
>>> model = onnx.parser.parse_model('''
...     <ir_version: 8, opset_import: ["": 13]>
...     label_map (float[C, H, W] scores, uint8[C, 3] palette) => (uint8[H, W, 3] image)
...     {
...       classes = ArgMax <axis = 0, keepdims = 0> (scores)
...       last = Constant <value_ints = [-1]> ()
...       tuples = Unsqueeze (classes, last)
...       image = GatherND (palette, tuples)
...     }''')
>>> evaluator = ReferenceEvaluator(model, new_ops=dmlcpu.onnx.ops())
>>> scores = np.array([[[0, 1]], [[2, 0]]], np.float32)
>>> palette = np.array([[255, 0, 0], [0, 255, 0]], np.uint8)
>>> evaluator.run(None, {"scores": scores, "palette": palette})[0].tolist()
[[[0, 255, 0], [255, 0, 0]]]

Every opset is taken that has the operator: a node's attributes, their defaults and its inputs are those
of the operator in the model's opset. Indices are int64. Ties and NaN are as onnx's evaluator has them:
a NaN beats every number, +0.0 equals -0.0, and the classes say which of equal elements comes first.

Element types are those of `dmlcpu.argmin`; others that ONNX allows in GatherND (strings, complex numbers)
are a TypeError, which onnx raises as its own, with the reason as its cause. A bad value is a `BadValue`.

onnx does not hand `new_ops` on to a model's functions: nodes there run onnx's own code, unless
``onnx.inliner.inline_local_functions`` has put them into the graph.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

import dmlcpu

try:
    import onnx.defs
    from onnx.reference.op_run import OpRun
except ImportError as _error:
    raise ImportError(
        f'dmlcpu.onnx: needs the package onnx, got {_error} (pip install "dmlcpu[onnx]" installs it)'
    ) from _error

__all__ = ["ArgMax", "ArgMin", "BadValue", "GatherND", "TopK", "ops"]

_Array = npt.NDArray[Any]


class BadValue(ValueError, IndexError):
    """A bad value, as a `k` out of range: onnx's evaluator raises one or the other of both types."""


class _Operator(OpRun):
    """An operator of ONNX's own domain, in the opset of its model.

    onnx finds the classes of `new_ops` by domain and name alone, and gives them the newest opset's
    attributes; so that the opset is looked up here.
    """

    op_domain = ""

    def __init__(self, onnx_node: Any, run_params: dict[str, Any], schema: Any = None) -> None:
        if schema is None:
            opset = run_params["opsets"][onnx_node.domain]
            schema = onnx.defs.get_schema(onnx_node.op_type, opset, onnx_node.domain)
        for attribute in onnx_node.attribute:
            if attribute.name not in schema.attributes:
                raise TypeError(
                    f"{attribute.name}: must be an attribute of {onnx_node.op_type} in opset "
                    f"{schema.since_version}, which has {sorted(schema.attributes)}"
                )
        super().__init__(onnx_node, run_params, schema)

    def run(self, *inputs: Any, **options: Any) -> tuple[_Array, ...]:
        """Compute the node's outputs; called by the evaluator."""
        try:
            outputs: tuple[_Array, ...] = super().run(*inputs, **options)
        except IndexError:  # an AxisError is one, too
            raise
        except ValueError as error:
            raise BadValue(str(error)) from error
        return outputs


class _Arg(_Operator):
    _find = staticmethod(dmlcpu.argmax)

    def _run(
        self, data: _Array, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> tuple[_Array]:
        indices = self._find(
            data,
            axis,
            axis_direction="decreasing" if select_last_index else "increasing",
            keepdims=bool(keepdims),
            index_dtype=np.int64,
        )
        return (indices,)


class ArgMax(_Arg):
    """ArgMax of opset 1, 11, 12 and 13.

    The index of the largest element along `axis`, int64; of equal ones the first, or with
    `select_last_index` (from opset 12 on) the last. A NaN is the largest.

    >>> import numpy as np
    >>> ArgMax.eval(np.array([[1, 3, 3]]), axis=1), ArgMax.eval(np.array([1, 3, 3]), select_last_index=1)
    (array([[1]]), array([2]))
    """


class ArgMin(_Arg):
    """ArgMin of opset 1, 11, 12 and 13: as `ArgMax`, with smallest for largest. A NaN is the smallest.

    >>> import numpy as np
    >>> ArgMin.eval(np.array([[2, 1, 1]]), axis=1, keepdims=0)
    array([1])
    """

    _find = staticmethod(dmlcpu.argmin)


class TopK(_Operator):
    """TopK of opset 1, 10, 11 and 24.

    The `k` largest elements along `axis`, largest first, or with ``largest=0`` (from opset 11 on) the
    smallest, smallest first; and their indices, int64. Equal elements come in ascending order of index,
    NaNs rank above infinity. The result is sorted also where ``sorted=0`` allows any order.

    `k` is an attribute in opset 1, later a tensor of one element. It is at most the size of the axis;
    0 gives empty results, as in onnx's evaluator.

    >>> import numpy as np
    >>> TopK.eval(np.array([[1, 3, 2, 3]]), np.array([2]))
    (array([[3, 3]]), array([[1, 3]]))
    """

    def _run(
        self,
        data: _Array,
        k: int | _Array,
        axis: int = -1,
        largest: int = 1,
        sorted: int = 1,
    ) -> tuple[_Array, _Array]:
        count = _one_int(k)
        if count == 0:
            nothing = np.take(data, np.empty(0, np.int64), axis)
            return nothing, np.empty(nothing.shape, np.int64)
        values, indices = dmlcpu.top_k(
            data,
            count,
            axis=axis,
            axis_direction="decreasing" if largest else "increasing",
            index_dtype=np.int64,
        )
        return values, indices


class GatherND(_Operator):
    """GatherND of opset 11, 12 and 13.

    The slices of `data` at the coordinates that are the last dimension of `indices`, after the first
    `batch_dims` dimensions (from opset 12 on), which both share. Negative coordinates count from the
    end; one out of range is an IndexError.

    >>> import numpy as np
    >>> GatherND.eval(np.array([[0, 1], [2, 3]]), np.array([[1], [-1]]), batch_dims=1)
    array([1, 3])
    """

    def _run(self, data: _Array, indices: _Array, batch_dims: int = 0) -> tuple[_Array]:
        return (dmlcpu.gather_nd(data, indices, batch_dims=batch_dims),)


def ops() -> list[type[OpRun]]:
    """The operators, for ``ReferenceEvaluator(model, new_ops=dmlcpu.onnx.ops())``.

    >>> [op.__name__ for op in ops()]
    ['ArgMax', 'ArgMin', 'GatherND', 'TopK']
    """
    return [ArgMax, ArgMin, GatherND, TopK]


def _one_int(k: int | _Array) -> int:
    array = np.asarray(k)
    if array.size != 1:
        raise ValueError(f"k: must be a tensor of one element, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"k: must be a tensor of integers, got {array.dtype}")
    return int(array.item())
