"""What type checkers know of every function: checked by mypy and pyright, and run (see test_typing.py).

A line that ends in "wrong" is one that both must refuse.
"""

import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import dmlcpu
from dmlcpu import directml as dml

Uint32s = npt.NDArray[np.uint32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

x: Floats = np.array([[1, 3, 2], [6, 5, 4]], np.float32)
one = np.int64(1)


def arg() -> None:
    assert_type(dmlcpu.argmin(x), Uint32s)
    assert_type(dmlcpu.argmax(x, 1), Uint32s)
    assert_type(dmlcpu.argmax([[1, 2]], (0, one), keepdims=False), Uint32s)
    assert_type(dmlcpu.argmin(x, index_dtype=np.int64), Int64s)
    assert_type(dmlcpu.argmax(x, index_dtype=np.dtype(np.int64)), Int64s)
    assert_type(dmlcpu.argmax(x, index_dtype="int32"), npt.NDArray[Any])
    out = np.empty((2, 1), np.uint32)
    assert_type(dmlcpu.argmax(x, 1, out=out), np.ndarray[tuple[int, int], np.dtype[np.uint32]])
    memory = array.array("I", [0, 0, 0])
    assert_type(dmlcpu.argmin(x, 0, keepdims=False, out=memory), "array.array[int]")
    dmlcpu.argmin(x, axis_direction=dmlcpu.AxisDirection.DECREASING, nan_policy="omit")
    dmlcpu.argmin(x, axis_direction="Decreasing")
    dmlcpu.argmin(x, axis_direction=1)


def top_k() -> None:
    result = dmlcpu.top_k(x, 2)
    assert_type(result, dmlcpu.TopK[Floats, Uint32s])
    assert_type(result.values, Floats)
    values, indices = dmlcpu.top_k(x, one, axis=one, index_dtype=np.int64)
    assert_type(values, Floats)
    assert_type(indices, Int64s)
    assert_type(dmlcpu.top_k([1, 2], 1), dmlcpu.TopK[npt.NDArray[Any], Uint32s])
    assert_type(dmlcpu.top_k(x, 1, index_dtype="uint64"), dmlcpu.TopK[Floats, npt.NDArray[Any]])
    plain: dmlcpu.TopK = result
    assert_type(plain.values, npt.NDArray[Any])
    pair = (values, array.array("I", [0]))
    row: Floats = np.empty(1, np.float32)
    assert_type(dmlcpu.top_k(x[0], 1, out=(row, pair[1])), "dmlcpu.TopK[Floats, array.array[int]]")
    top_k_into([row, np.empty(1, np.uint32)])


def top_k_into(out: Sequence[npt.NDArray[Any]]) -> None:
    assert_type(dmlcpu.top_k(x[0], 1, out=out), dmlcpu.TopK)


def gather_nd() -> None:
    narrow = np.array([[1], [0]], np.uint8)
    assert_type(dmlcpu.gather_nd(x, [[1]]), Floats)
    assert_type(dmlcpu.gather_nd(x, narrow, batch_dims=one, mode="clip"), Floats)
    assert_type(dmlcpu.gather_nd([1, 2], [[1]]), npt.NDArray[Any])
    assert_type(dmlcpu.gather_nd(narrow[0], [[0]], out=bytearray(1)), bytearray)


def runtime() -> None:
    dmlcpu.set_num_threads(one)
    with dmlcpu.num_threads(one):
        assert_type(dmlcpu.get_num_threads(), int)
    dmlcpu.set_num_threads(None)
    assert_type(dmlcpu.show_config("dicts"), dict[str, Any])
    plan = dmlcpu.explain(dmlcpu.top_k, x, 2, axis=0)
    assert_type(plan.text, str)
    assert_type(plan.threads, int)
    assert_type(plan.scratch_bytes, int)


def descriptors() -> None:
    def tensor(data_type: dml.TensorDataType, *sizes: int) -> dml.BufferTensorDesc:
        return dml.BufferTensorDesc(data_type, sizes)

    data_in = tensor(dml.TensorDataType.FLOAT32, 2, 3)
    indices = tensor(dml.TensorDataType.UINT32, 2, 1)
    arg = dml.ArgmaxOperatorDesc(data_in, indices, axes=(1,))
    argmax = dml.compile(arg, feature_level="3.0")
    assert_type(argmax, dml.CompiledOperator[npt.NDArray[Any]])
    assert_type(argmax(x), npt.NDArray[Any])
    out: Uint32s = np.empty((2, 1), np.uint32)
    assert_type(argmax(x, out=out), Uint32s)
    values = tensor(dml.TensorDataType.FLOAT32, 2, 1)
    best = dml.compile(dml.TopKOperatorDesc(data_in, values, indices, axis=1, k=1))
    assert_type(best, dml.CompiledOperator[dmlcpu.TopK])
    assert_type(best(x).indices, npt.NDArray[Any])
    floats: Floats = np.empty((2, 1), np.float32)
    assert_type(best(x, out=(floats, out)), dmlcpu.TopK[Floats, Uint32s])
    any_descriptor(arg)


def any_descriptor(desc: dml.OperatorDesc) -> None:
    assert_type(dml.compile(desc, nan_policy="propagate", mode="raise")(x), Any)


if TYPE_CHECKING:
    dmlcpu.argmin(x, axis_direction="upwards")  # wrong
    dmlcpu.argmin(x, nan_policy="ignore")  # wrong
    dmlcpu.argmin(x, 1.5)  # wrong
    dmlcpu.argmin(x, out=[1])  # wrong
    dmlcpu.top_k(x, 1.5)  # wrong
    dmlcpu.top_k(x, 1, out=x)  # wrong
    dmlcpu.gather_nd(x, [[1]], mode="wrap")  # wrong
    dmlcpu.set_num_threads("2")  # wrong
    dmlcpu.show_config("json")  # wrong
    dmlcpu.explain("argmax", x)  # wrong
    dml.compile(x)  # wrong
    dml.compile(dml.OperatorDesc(), feature_level="7.0")  # wrong

if __name__ == "__main__":
    for check in (arg, top_k, gather_nd, runtime, descriptors):
        check()
