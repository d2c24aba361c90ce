"""The functions: torch's names, parameters and defaults."""

from __future__ import annotations  # help() shows the annotations as written

from collections.abc import Sequence
from typing import Any, overload

import torch
from torch import Tensor

from dmlcpu.torch._calls import NoValue, call, elementwise, one

__all__ = ["argmax", "argmin", "gather_nd", "index_select", "max", "min", "topk"]


def argmax(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The index of the largest element, as `torch.argmax`: along `dim`, or of the flattened tensor.

    Parameters
    ----------
    input
        A tensor of any strides. On the CPU, those of float32, float16, float64, bfloat16 (with
        ``ml_dtypes`` installed), int8 to int64 and uint8 with up to 8 dimensions are read where
        they are by dmlcpu; others, and small ones, go to torch's own function.
    dim
        The dimension to reduce; negative ones count from the end. None: all.
    keepdim
        Whether reduced dimensions stay, with size 1.
    out
        A tensor to write the result to, of any strides; one of another shape is resized. It may
        share memory with `input`.
    axis, keepdims
        Other names of `dim` and `keepdim`.

    Returns
    -------
    torch.Tensor
        int64. Of equal elements the first is found; NaN is the greatest, -0.0 equals +0.0.

    Raises
    ------
    TypeError
        An argument of the wrong type.
    IndexError
        `dim` out of range, or a reduced dimension of size 0.
    RuntimeError
        A dtype that torch does not compare, or an `out` of the wrong dtype, whose elements overlap
        or whose storage does not hold it.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> x = torch.tensor([[1.0, 3.0, 3.0], [float("nan"), 0.0, 4.0]])
    >>> dmlcpu.torch.argmax(x, dim=1)
    tensor([1, 0])
    >>> dmlcpu.torch.argmax(x)
    tensor(3)
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = one(dim, None, axis, "axis"), one(keepdim, False, keepdims, "keepdims")
    return call("argmax", (input, dim, keepdim), out)


def argmin(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The index of the smallest element, as `torch.argmin`: along `dim`, or of the flattened tensor.

    Parameters, result and errors are those of `argmax`. A NaN is found before any number here too.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.argmin(torch.tensor([[1, 0, 0], [2, 3, 1]]), -1, keepdim=True)
    tensor([[1],
            [2]])
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = one(dim, None, axis, "axis"), one(keepdim, False, keepdims, "keepdims")
    return call("argmin", (input, dim, keepdim), out)


@overload
def max(input: Tensor, dim: Tensor = ..., *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, *, other: Tensor, out: Tensor | None = None) -> Tensor: ...
@overload
def max(
    input: Tensor,
    dim: int,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.max: ...
@overload
def max(
    input: Tensor,
    *,
    axis: int,
    keepdim: bool = False,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.max: ...
def max(
    input: Tensor,
    dim: Any = NoValue,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | Tensor | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
    other: Tensor | None = None,
) -> Tensor | torch.return_types.max:
    """The largest element along `dim` and its index, as `torch.max` with a `dim`.

    Parameters, ties, NaN and errors are those of `argmax`; `out` is a pair that shares no memory with
    `input`. Gradients go to the elements that were found. Without a dim, or with a tensor in its place
    (`other`), it is torch's own.

    Returns
    -------
    torch.return_types.max
        A named tuple of `values`, each with its own bits, and `indices` of int64.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> values, indices = dmlcpu.torch.max(torch.tensor([[1, 3, 3], [2, 0, 1]]), 1)
    >>> values, indices
    (tensor([3, 2]), tensor([1, 0]))
    """
    return _extreme("max", input, dim, keepdim, out, axis, keepdims, other)


@overload
def min(input: Tensor, dim: Tensor = ..., *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, *, other: Tensor, out: Tensor | None = None) -> Tensor: ...
@overload
def min(
    input: Tensor,
    dim: int,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.min: ...
@overload
def min(
    input: Tensor,
    *,
    axis: int,
    keepdim: bool = False,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.min: ...
def min(
    input: Tensor,
    dim: Any = NoValue,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | Tensor | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
    other: Tensor | None = None,
) -> Tensor | torch.return_types.min:
    """The smallest element along `dim` and its index, as `torch.min` with a `dim`: see `max`.

    NaN is smaller than every number here, as in torch.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.min(torch.tensor([[2.0, float("nan")], [1.0, 1.0]]), dim=1)
    torch.return_types.min(
    values=tensor([nan, 1.]),
    indices=tensor([1, 0]))
    """
    return _extreme("min", input, dim, keepdim, out, axis, keepdims, other)


def _extreme(
    name: str, input: Any, dim: Any, keepdim: Any, out: Any, axis: Any, keepdims: Any, other: Any
) -> Any:
    """The overload of torch.max or torch.min that the arguments are for."""
    if axis is not None or keepdims is not None:
        dim, keepdim = one(dim, NoValue, axis, "axis"), one(keepdim, False, keepdims, "keepdims")
    tensor = axis is None and hasattr(dim, "__torch_function__")
    if tensor or other is not None or dim is NoValue:
        return elementwise(name, input, one(dim, NoValue, other, "other"), keepdim, out)
    return call(name, (input, dim, keepdim), out)


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Sequence[Tensor] | None = None,
    axis: int | None = None,
) -> torch.return_types.topk:
    """The `k` largest or smallest elements along `dim` and their indices, as `torch.topk`.

    Parameters
    ----------
    input
        As for `argmax`.
    k
        How many, from 0 to the size of `dim`.
    dim
        The dimension to search; negative ones count from the end.
    largest
        Whether the largest or the smallest are wanted. NaN is the greatest of all.
    sorted
        The elements are sorted in any case, equal ones by ascending index (torch's in any order).
    out
        A pair of tensors to write values and indices to, which share no memory with `input`.
    axis
        Another name of `dim`.

    Returns
    -------
    torch.return_types.topk
        A named tuple of `values`, each with its own bits, and `indices` of int64. Gradients go to
        the elements that were found.

    Raises
    ------
    TypeError, IndexError, RuntimeError
        As for `argmax`; RuntimeError for a `k` out of range.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> x = torch.tensor([[1, 2, 2, 3], [3, 4, 5, 5]], dtype=torch.bfloat16)
    >>> dmlcpu.torch.topk(x, 3)
    torch.return_types.topk(
    values=tensor([[3., 2., 2.],
            [5., 5., 4.]], dtype=torch.bfloat16),
    indices=tensor([[3, 1, 2],
            [2, 3, 1]]))
    """
    if axis is not None:
        dim = one(dim, -1, axis, "axis")
    return call("topk", (input, k, dim, largest, sorted), out)


def gather_nd(
    input: Tensor, indices: Tensor, batch_dims: int = 0, *, out: Tensor | None = None
) -> Tensor:
    """Slices of `input` at coordinates that are the last dimension of `indices`: `dmlcpu.gather_nd`.

    PyTorch has no function of that name; ``input[tuple(indices.unbind(-1))]`` is the same without
    `batch_dims`.

    Parameters
    ----------
    input
        A tensor of any strides, with at least 1 dimension. On the CPU, those of real and boolean
        types with up to 8 dimensions are read where they are by dmlcpu; others are indexed by
        torch.
    indices
        Integers of any size. Its last dimension, of size t, holds coordinates into the t
        dimensions of `input` after the first `batch_dims`. Negative ones count from the end.
    batch_dims
        How many leading dimensions `input` and `indices` share.
    out
        A tensor to write the result to, as for `argmax`; it shares no memory with `input` or `indices`.

    Returns
    -------
    torch.Tensor
        Of shape ``indices.shape[:-1] + input.shape[batch_dims + t:]``. Gradients of slices that
        were taken several times are added.

    Raises
    ------
    TypeError, ValueError
        As `dmlcpu.gather_nd` does.
    IndexError
        A coordinate out of range.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> x = torch.tensor([[0, 1], [2, 3]])
    >>> dmlcpu.torch.gather_nd(x, torch.tensor([[1], [0]]))
    tensor([[2, 3],
            [0, 1]])
    >>> dmlcpu.torch.gather_nd(x, torch.tensor([[1], [-2]]), batch_dims=1)
    tensor([1, 2])
    """
    return call("gather_nd", (input, indices, batch_dims), out)


def index_select(
    input: Tensor,
    dim: Any = NoValue,
    index: Any = NoValue,
    *,
    out: Tensor | None = None,
    axis: int | None = None,
) -> Tensor:
    """The slices of `input` along `dim` that `index` names, as `torch.index_select`.

    Parameters
    ----------
    input
        As for `gather_nd`. Along another dimension than the first it goes to torch's own function,
        which is faster there.
    dim
        The dimension to index; negative ones count from the end.
    index
        int64 or int32, of one dimension; not negative.
    out
        A tensor to write the result to, as for `argmax`; it shares no memory with `input` or `index`.
    axis
        Another name of `dim`.

    Returns
    -------
    torch.Tensor
        Gradients of slices that were taken several times are added.

    Raises
    ------
    TypeError, IndexError, RuntimeError
        As `torch.index_select` does.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.index_select(torch.tensor([[0, 1], [2, 3]]), 0, torch.tensor([1, 1]))
    tensor([[2, 3],
            [2, 3]])
    """
    if axis is not None:
        dim = one(dim, NoValue, axis, "axis")
    return call("index_select", (input, dim, index), out)
