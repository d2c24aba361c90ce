"""The functions that sort, and that select one element of what a sort would give."""

from __future__ import annotations  # help() shows the annotations as written

from collections.abc import Sequence
from typing import Any, overload

import torch
from torch import Tensor

from dmlcpu.torch._calls import NoValue, call, elementwise, one

__all__ = ["argsort", "kthvalue", "median", "msort", "nanmedian", "sort"]


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = False,
    out: Sequence[Tensor] | None = None,
    axis: int | None = None,
) -> torch.return_types.sort:
    """The elements sorted along `dim`, and their indices, as `torch.sort`.

    Parameters
    ----------
    input
        A tensor of any strides. On the CPU, those of real and boolean types with up to 8 dimensions are
        read where they are by dmlcpu (bfloat16 with ``ml_dtypes`` installed); others, and small ones,
        go to torch's own function.
    dim
        The dimension to sort; negative ones count from the end.
    descending
        Whether the largest element comes first. NaN is the greatest of all.
    stable
        The sort is stable in any case: equal elements are in the order of `input`, -0.0 equals +0.0.
    out
        A pair of tensors to write values and indices to, of any strides; those of another shape are
        resized. They may share memory with `input`, to sort it in place.
    axis
        Another name of `dim`.

    Returns
    -------
    torch.return_types.sort
        A named tuple of `values`, each with its own bits, and `indices` of int64, both of the input's
        shape. Gradients go to where the values were.

    Raises
    ------
    TypeError
        An argument of the wrong type.
    IndexError
        `dim` out of range.
    RuntimeError
        A dtype that torch does not sort, or an `out` of the wrong dtype, whose elements overlap or
        whose storage does not hold it.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> x = torch.tensor([[2, 1, 2, 0], [5, 5, 4, 5]])
    >>> dmlcpu.torch.sort(x, descending=True)
    torch.return_types.sort(
    values=tensor([[2, 2, 1, 0],
            [5, 5, 5, 4]]),
    indices=tensor([[0, 2, 1, 3],
            [0, 1, 3, 2]]))
    """
    if axis is not None:
        dim = one(dim, -1, axis, "axis")
    return call("sort", (input, dim, descending, stable), out)


def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
    out: Tensor | None = None,
    axis: int | None = None,
) -> Tensor:
    """The indices that sort along `dim`, as `torch.argsort`: those of `sort`, without the values.

    Parameters, ties, NaN and errors are those of `sort`; `out` is one tensor.

    Returns
    -------
    torch.Tensor
        int64, of the input's shape.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.argsort(torch.tensor([[3.0, float("nan"), 1.0], [2.0, 0.0, 2.0]]))
    tensor([[2, 0, 1],
            [1, 0, 2]])
    """
    if axis is not None:
        dim = one(dim, -1, axis, "axis")
    return call("argsort", (input, dim, descending, stable), out)


def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements sorted along the first dimension, as `torch.msort`: values of `sort` with dim 0.

    NaN and errors are those of `sort`; `out` is one tensor. Without gradients, no indices are computed.

    Returns
    -------
    torch.Tensor
        Of the input's dtype and shape. Gradients go to where the values were.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.msort(torch.tensor([[3, 0], [1, 2]]))
    tensor([[1, 0],
            [3, 2]])
    """
    return call("msort", (input, 0), out)


def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.kthvalue:
    """The `k`-th smallest element along `dim` and its index, as `torch.kthvalue`.

    Parameters
    ----------
    input
        As for `argmax`.
    k
        Which element, from 1 to the size of `dim`.
    dim
        The dimension to reduce; negative ones count from the end.
    keepdim
        Whether the reduced dimension stays, with size 1.
    out
        A pair of tensors to write values and indices to, which share no memory with `input`.
    axis, keepdims
        Other names of `dim` and `keepdim`.

    Returns
    -------
    torch.return_types.kthvalue
        A named tuple of `values`, each with its own bits, and `indices` of int64: the `k`-th of what
        `sort` gives, so that of equal elements those of lower index come before. (Torch's own function,
        which runs where dmlcpu does not take the input, gives the index of any of them.) NaN is the
        greatest. Gradients go to the elements that were found.

    Raises
    ------
    TypeError, IndexError, RuntimeError
        As for `argmax`; RuntimeError for a `k` out of range.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.kthvalue(torch.tensor([[4, 1, 4, 4], [3, 2, 0, 1]]), 3)
    torch.return_types.kthvalue(
    values=tensor([4, 2]),
    indices=tensor([2, 1]))
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = one(dim, -1, axis, "axis"), one(keepdim, False, keepdims, "keepdims")
    return call("kthvalue", (input, k, dim, keepdim), out)


@overload
def median(input: Tensor) -> Tensor: ...
@overload
def median(
    input: Tensor,
    dim: int,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.median: ...
@overload
def median(
    input: Tensor,
    *,
    axis: int,
    keepdim: bool = False,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.median: ...
def median(
    input: Tensor,
    dim: Any = NoValue,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
) -> Tensor | torch.return_types.median:
    """The median along `dim` and its index, as `torch.median` with a `dim`.

    The median of n elements is the one at position (n - 1) // 2 of what `sort` gives: the lower of the
    two in the middle, if n is even. Where a NaN is among them, it is the first NaN. Parameters and errors
    are those of `kthvalue`, without `k`. Without a dim it is torch's own, which gives no index.

    Returns
    -------
    torch.return_types.median
        A named tuple of `values`, each with its own bits, and `indices` of int64. Gradients go to the
        elements that were found.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.median(torch.tensor([[3.0, 1.0, 2.0, 9.0], [1.0, float("nan"), 0.0, 5.0]]), 1)
    torch.return_types.median(
    values=tensor([2., nan]),
    indices=tensor([2, 1]))
    """
    return _median("median", input, dim, keepdim, out, axis, keepdims)


@overload
def nanmedian(input: Tensor) -> Tensor: ...
@overload
def nanmedian(
    input: Tensor,
    dim: int,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.nanmedian: ...
@overload
def nanmedian(
    input: Tensor,
    *,
    axis: int,
    keepdim: bool = False,
    out: Sequence[Tensor] | None = None,
    keepdims: bool | None = None,
) -> torch.return_types.nanmedian: ...
def nanmedian(
    input: Tensor,
    dim: Any = NoValue,
    keepdim: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: int | None = None,
    keepdims: bool | None = None,
) -> Tensor | torch.return_types.nanmedian:
    """The median of the numbers along `dim` and its index, as `torch.nanmedian` with a `dim`.

    As `median`, of the elements that are not NaN. Where all are, it is the first of them.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.nanmedian(torch.tensor([[3.0, 1.0, 2.0, 9.0], [1.0, float("nan"), 0.0, 5.0]]), 1)
    torch.return_types.nanmedian(
    values=tensor([2., 1.]),
    indices=tensor([2, 0]))
    """
    return _median("nanmedian", input, dim, keepdim, out, axis, keepdims)


def _median(
    name: str, input: Any, dim: Any, keepdim: Any, out: Any, axis: Any, keepdims: Any
) -> Any:
    """With a dim the door's; without one torch's own."""
    if axis is not None or keepdims is not None:
        dim, keepdim = one(dim, NoValue, axis, "axis"), one(keepdim, False, keepdims, "keepdims")
    if dim is NoValue:
        return elementwise(name, input, NoValue, keepdim, out)
    return call(name, (input, dim, keepdim), out)
