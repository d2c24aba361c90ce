"""The functions: torch's names, parameters and defaults, checks of arguments, named tuples."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dmlcpu.torch._registered import PAIRS

__all__ = ["argmax", "argmin", "gather_nd", "index_select", "max", "min", "topk"]


def argmax(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The index of the largest element, as `torch.argmax`: along `dim`, or of the flattened tensor.

    Parameters
    ----------
    input
        A tensor of any strides. On the CPU, those of float32, float16, float64, bfloat16 (with
        ``ml_dtypes`` installed), int8 to int64 and uint8 with up to 8 dimensions are read where
        they are by dmlcpu; others go to torch's own function.
    dim
        The dimension to reduce; negative ones count from the end. None: all.
    keepdim
        Whether reduced dimensions stay, with size 1.
    out
        A tensor to write the result to, of any strides; one of another shape is resized.

    Returns
    -------
    torch.Tensor
        int64. Of equal elements the first is found (torch says nothing of ties); NaN is the
        greatest, -0.0 equals +0.0.

    Raises
    ------
    TypeError
        An argument of the wrong type.
    IndexError
        `dim` out of range, or a reduced dimension of size 0.
    RuntimeError
        A dtype that torch does not compare, or an `out` of the wrong dtype.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> x = torch.tensor([[1.0, 3.0, 3.0], [float("nan"), 0.0, 4.0]])
    >>> dmlcpu.torch.argmax(x, dim=1)
    tensor([1, 0])
    >>> dmlcpu.torch.argmax(x)
    tensor(3)
    """
    _size(input, dim, reduces=True)
    return _call("argmax", (input, dim, keepdim), out)


def argmin(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
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
    _size(input, dim, reduces=True)
    return _call("argmin", (input, dim, keepdim), out)


def max(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> Any:
    """The largest element along `dim` and its index, as `torch.max` with a `dim`.

    Parameters, ties, NaN and errors are those of `argmax`; `out` is a pair. Gradients go to the
    elements that were found.

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
    _size(input, _integer(dim, "dim"), reduces=True)
    return torch.return_types.max(_call("max", (input, dim, keepdim), out))


def min(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> Any:
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
    _size(input, _integer(dim, "dim"), reduces=True)
    return torch.return_types.min(_call("min", (input, dim, keepdim), out))


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
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
        The elements are sorted in any case, equal ones by ascending index.
    out
        A pair of tensors to write values and indices to.

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
    size = _size(input, _integer(dim, "dim"))
    if not 0 <= _integer(k, "k") <= size:
        raise RuntimeError(f"k: must be in [0, {size}] (the size of dim {dim}), got {k}")
    return torch.return_types.topk(_call("topk", (input, k, dim, largest, sorted), out))


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
        int64, int32, uint64 or uint32. Its last dimension, of size t, holds coordinates into the t
        dimensions of `input` after the first `batch_dims`. Negative ones count from the end.
    batch_dims
        How many leading dimensions `input` and `indices` share.
    out
        A tensor to write the result to, as for `argmax`.

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
    tensors = _checked("input", input), _checked("indices", indices)
    return _call("gather_nd", (*tensors, _integer(batch_dims, "batch_dims")), out)


def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
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
        A tensor to write the result to, as for `argmax`.

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
    _size(input, _integer(dim, "dim"))
    return _call("index_select", (input, dim, _checked("index", index)), out)


def _integer(value: Any, name: str) -> Any:
    number = isinstance(value, (int, torch.SymInt)) or hasattr(value, "__index__")
    if not number or isinstance(value, bool):
        raise TypeError(f"{name}: must be an int, got {type(value).__name__}")
    return value


def _checked(name: str, value: Any) -> Any:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: must be a torch.Tensor, got {type(value).__name__}")
    return value


def _size(input: Any, dim: Any, reduces: bool = False) -> Any:
    """The size of `dim`, all elements for None; a tensor without dimensions counts as having one."""
    dims = _checked("input", input).dim() or 1
    if dim is not None and not -dims <= _integer(dim, "dim") < dims:
        raise IndexError(f"dim: must be in [{-dims}, {dims - 1}], got {dim}")
    size = input.numel() if dim is None or not input.dim() else input.shape[dim]
    if reduces and size == 0:
        raise IndexError(f"dim: must have at least 1 element, got dim {dim} of size 0")
    return size


def _call(name: str, args: tuple[Any, ...], out: Any) -> Any:
    operator = getattr(torch.ops.dmlcpu, name)
    if out is None:
        return operator.default(*args)
    names = ("values", "indices") if name in PAIRS else ("out",)
    tensors = tuple(out) if name in PAIRS and isinstance(out, (tuple, list)) else (out,)
    if len(tensors) != len(names) or not all(isinstance(tensor, Tensor) for tensor in tensors):
        kind = "a pair of tensors" if name in PAIRS else "a torch.Tensor"
        raise TypeError(f"out: must be {kind}, got {type(out).__name__}")
    if torch.is_grad_enabled() and any(t.requires_grad for t in (args[0], *tensors)):
        raise RuntimeError("out: must be None where gradients are wanted, got tensors")
    operator.out(*args, **dict(zip(names, tensors)))
    return out
