"""The functions: torch's names, parameters and defaults, checks of arguments, named tuples."""

from __future__ import annotations  # help() shows the annotations as written

import itertools
from collections.abc import Sequence
from typing import Any, SupportsIndex

import torch
from torch import Tensor
from torch.autograd import forward_ad

from dmlcpu.torch._kernels import pays, run_core
from dmlcpu.torch._registered import GATHERS, OWN, PAIRS, PARAMETERS, on_cpu

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
        they are by dmlcpu; others, and small ones, go to torch's own function.
    dim
        The dimension to reduce; negative ones count from the end. None: all.
    keepdim
        Whether reduced dimensions stay, with size 1.
    out
        A tensor to write the result to, of any strides; one of another shape is resized.

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
        A dtype that torch does not compare, or an `out` of the wrong dtype or whose elements overlap.

    Examples
    --------
    >>> import torch, dmlcpu.torch
    >>> x = torch.tensor([[1.0, 3.0, 3.0], [float("nan"), 0.0, 4.0]])
    >>> dmlcpu.torch.argmax(x, dim=1)
    tensor([1, 0])
    >>> dmlcpu.torch.argmax(x)
    tensor(3)
    """
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
    return _call("argmin", (input, dim, keepdim), out)


def max(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> torch.return_types.max:
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
    return _call("max", (input, dim, keepdim), out)


def min(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> torch.return_types.min:
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
    return _call("min", (input, dim, keepdim), out)


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Sequence[Tensor] | None = None,
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
    return _call("topk", (input, k, dim, largest, sorted), out)


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
        were taken several times are added; where gradients are wanted, torch's indexing gathers.

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
    return _call("gather_nd", (input, indices, batch_dims), out)


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
        Gradients of slices that were taken several times are added; where gradients are wanted,
        it is torch's own function.

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
    return _call("index_select", (input, dim, index), out)


def _call(name: str, args: tuple[Any, ...], out: Any) -> Any:
    result = _at_once(name, args, out)
    if result is None:
        _check(name, args)
        operator = getattr(torch.ops.dmlcpu, name).default
        result = operator(*args) if out is None else _write(name, operator, args, out)
    return PAIRS[name](result) if name in PAIRS else result


_INTEGERS = (int, torch.SymInt, SupportsIndex)
# Kinds of parameters: in words, the types that fit, and those of nearly all calls.
_KINDS: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    "Tensor": ("a torch.Tensor", (Tensor,), (Tensor,)),
    "bool": ("a bool", (bool,), (bool,)),
    "int": ("an int", _INTEGERS, (int,)),
    "int?": ("an int", (*_INTEGERS, type(None)), (int, type(None))),
}
_PARAMETERS = {
    name: [part.split() for part in text.replace("SymInt", "int").split(", ")]
    for name, text in PARAMETERS.items()
}
_USUAL = {
    (name, *types)
    for name, parameters in _PARAMETERS.items()
    for types in itertools.product(*(_KINDS[kind][2] for kind, _ in parameters))
}


def _at_once(name: str, args: tuple[Any, ...], out: Any) -> Any:
    """The result of a call that need not go through the dispatcher; None of others and of wrong ones.

    PyTorch spends more time on operators in Python than a small call takes.
    """
    if torch.compiler.is_compiling() or (name, *map(type, args)) not in _USUAL:
        return None
    try:
        # Torch promises which of equal elements is found, but of top-k.
        if out is None and name not in ("topk", "gather_nd") and not pays(name, *args):
            return OWN[name](*args)
        if out is None and _plain(name, args):
            return on_cpu(name, *args)
        if name in GATHERS and type(out) is Tensor and _plain(name, (*args, out)):
            return run_core(name, *args, out=out)
    except Exception:  # of whatever kind; checks will say what is wrong
        return None
    return None


_MAKERS = (torch.empty, torch.inference_mode()(torch.empty))
_KEYS = [torch._C._dispatch_keys(make(0, device="cpu")) for make in _MAKERS]


def _plain(name: str, args: tuple[Any, ...]) -> bool:
    """Whether the dispatcher would run the CPU's kernel and nothing else.

    That is so without modes, traces, transforms and gradients, for the CPU's own kind of tensors.
    """
    modes = torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack()
    if modes or torch._C._get_tracing_state() or forward_ad._current_level >= 0:
        return False
    gradients = torch.is_grad_enabled() and name not in ("argmax", "argmin")
    for arg in args:
        if isinstance(arg, Tensor) and (
            torch._C._dispatch_keys(arg) not in _KEYS or (gradients and arg.requires_grad)
        ):
            return False
    return True


def _write(name: str, operator: Any, args: tuple[Any, ...], out: Any) -> Any:
    """The results in the tensors of `out`; as in torch, those of another shape are resized."""
    tensors = tuple(out) if name in PAIRS and isinstance(out, (tuple, list)) else (out,)
    if len(tensors) != 1 + (name in PAIRS) or not all(isinstance(to, Tensor) for to in tensors):
        kind = "a pair of tensors" if name in PAIRS else "a torch.Tensor"
        raise TypeError(f"out: must be {kind}, got {type(out).__name__}")
    if torch.is_grad_enabled() and any(t.requires_grad for t in (args[0], *tensors)):
        raise RuntimeError("out: must be None where gradients are wanted, got tensors")
    results = operator(*args) if name in PAIRS else (operator(*args),)
    for to, result in zip(tensors, results):
        if to.dtype != result.dtype:
            raise RuntimeError(f"out: must be of dtype {result.dtype}, got {to.dtype}")
        if any(step == 0 and size > 1 for size, step in zip(to.shape, to.stride())):
            raise RuntimeError(f"out: must not overlap itself, got strides {to.stride()}")
    for to, result in zip(tensors, results):
        torch.ops.aten.clone.out(result, out=to)
    return out


def _check(name: str, args: tuple[Any, ...]) -> None:
    given = {}
    for (kind, parameter), value in zip(_PARAMETERS[name], args):
        text, types, _ = _KINDS[kind]
        if not isinstance(value, types) or isinstance(value, bool) != (kind == "bool"):
            raise TypeError(f"{parameter}: must be {text}, got {type(value).__name__}")
        given[parameter] = value
    if "dim" not in given:
        return
    input, dim, k = args[0], given["dim"], given.get("k", 0)
    dims = input.dim() or 1  # a tensor without dimensions counts as having one
    if dim is not None and not -dims <= dim < dims:
        raise IndexError(f"dim: must be in [{-dims}, {dims - 1}], got {dim}")
    size = input.numel() if dim is None or not input.dim() else input.shape[dim]
    if not 0 <= k <= size:
        raise RuntimeError(f"k: must be in [0, {size}] (the size of dim {dim}), got {k}")
    if "keepdim" in given and size == 0:
        raise IndexError(f"dim: must have at least 1 element, got dim {dim} of size 0")
