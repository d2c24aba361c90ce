"""What type checkers know of the doors: checked by mypy and pyright, and run (see test_typing.py).

The first function is a program of NumPy's that changed its import. A line that ends in "wrong" is
one that both must refuse.
"""

from typing import TYPE_CHECKING

import dask.array as da
import numpy
import numpy.typing as npt
import torch
from typing_extensions import assert_type

import dmlcpu
import dmlcpu.dask
import dmlcpu.numpy as np
import dmlcpu.torch as dt

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]


def normalized(
    x: np.ndarray[tuple[int, int], np.dtype[np.float32]],
) -> np.typing.NDArray[np.float64]:
    generator = np.random.default_rng(0)
    assert_type(generator, numpy.random.Generator)
    noise = generator.standard_normal(x.shape)
    norm = np.linalg.norm(x + noise, axis=1, keepdims=True)
    return np.asarray(x / norm, dtype=np.float64)


def of_numpy() -> None:
    x = np.zeros((2, 3), dtype=np.float32)
    assert_type(x, np.ndarray[tuple[int, int], np.dtype[np.float32]])
    assert_type(normalized(x), npt.NDArray[np.float64])
    assert_type(np.argmax(x), np.intp)
    assert_type(np.nanargmin(x), np.intp)
    assert_type(np.take(x, [0, 1], axis=1), Floats)
    assert_type(np.take_along_axis(x, np.zeros((2, 1), np.intp), axis=1), Floats)
    assert_type(np.top_k(x, 2), dmlcpu.TopK[Floats, Indices])
    assert_type(np.top_k([3, 1, 2], np.int8(2), mode="smallest").indices, Indices)


def of_torch() -> None:
    x = torch.ones(2, 3)
    assert_type(dt.argmax(x, 1), torch.Tensor)
    assert_type(dt.argmin(x, keepdim=True), torch.Tensor)
    assert_type(dt.topk(x, 2), torch.return_types.topk)
    assert_type(dt.topk(x, 2).values, torch.Tensor)
    assert_type(dt.max(x, 1).indices, torch.Tensor)
    for pair in (dt.min(x, 1), dt.min(x, 1, True), dt.min(x, axis=0, keepdims=True)):
        assert_type(pair, torch.return_types.min)
    for largest in (dt.max(x), dt.max(x, x), dt.max(x, other=x), dt.max(x, x, out=x.clone())):
        assert_type(largest, torch.Tensor)
    for middle in (dt.median(x, 1), dt.median(x, 1, True), dt.median(x, axis=0, keepdims=True)):
        assert_type(middle, torch.return_types.median)
    assert_type(dt.nanmedian(x, 0), torch.return_types.nanmedian)
    assert_type(dt.nanmedian(x), torch.Tensor)
    assert_type(dt.kthvalue(x, 1).values, torch.Tensor)
    assert_type(dt.sort(x, descending=True), torch.return_types.sort)
    for order in (dt.argsort(x, 0), dt.msort(x), dt.median(x)):
        assert_type(order, torch.Tensor)
    assert_type(dt.gather_nd(x, torch.tensor([[1]])), torch.Tensor)
    assert_type(dt.index_select(x, 0, torch.tensor([1])), torch.Tensor)
    with dt.enabled():
        pass


def of_dask() -> None:
    x = da.from_array(numpy.ones((2, 3)), chunks=1)  # type: ignore[no-untyped-call,unused-ignore]
    assert_type(dmlcpu.dask.argmax(x, 1, keepdims=False), da.Array)
    assert_type(dmlcpu.dask.argmin(x, (0, 1)), da.Array)
    assert_type(dmlcpu.dask.gather_nd(x, [[1]]), da.Array)
    assert_type(dmlcpu.dask.top_k(x, 2), "dmlcpu.TopK[da.Array, da.Array]")
    assert_type(dmlcpu.dask.top_k(x, 2).values, da.Array)


if TYPE_CHECKING:

    def wrong(tensor: torch.Tensor, lazy: da.Array) -> None:
        str(np.no_such_name)  # wrong
        np.argmax([1], axis="0")  # wrong
        np.take([1], [0], mode="no")  # wrong
        np.top_k([1], 1.5)  # wrong
        np.top_k([1], 1, mode="most")  # wrong
        dt.topk(tensor, "1")  # wrong
        str(dt.topk(tensor, 1).positions)  # wrong
        dt.min(tensor, "0")  # wrong
        str(dt.max(tensor, tensor).count(1))  # wrong
        dt.sort(tensor, "0")  # wrong
        dt.kthvalue(tensor)  # wrong
        dmlcpu.dask.argmax(lazy, 1.5)  # wrong
        dmlcpu.dask.top_k(lazy, 1, nan_policy="no")  # wrong
        str(dmlcpu.dask.gather_nd(lazy, [[1]]).no_such_name)  # wrong


if __name__ == "__main__":
    for check in (of_numpy, of_torch, of_dask):
        check()
