"""The operators ``torch.ops.dmlcpu.*``, as PyTorch's dispatcher, autograd, vmap and compiler know them.

Derivatives are written in torch's own functions, and keep indices and sizes alone, as torch's do. So
every transform of ``torch.func`` takes the operators, and the input may be changed or dropped.
"""

import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch import library as torch_library
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.utils._pytree import tree_map

from dmlcpu._untraced import untraced
from dmlcpu.torch._kernels import Function, as_numpy, run_core

__all__ = [
    "GATHERS",
    "INDICES",
    "INDICES_ALONE",
    "OWN",
    "PAIRS",
    "PARAMETERS",
    "check_gather",
    "on_cpu",
]

_below_autograd = torch._C._AutoDispatchBelowAutograd

PAIRS = {
    name: getattr(torch.return_types, name)
    for name in ("max", "min", "topk", "sort", "kthvalue", "median", "nanmedian")
}
GATHERS = ("gather_nd", "index_select")
INDICES_ALONE = ("argmax", "argmin", "argsort")  # whose results have no derivative

PARAMETERS = {
    **dict.fromkeys(("argmax", "argmin"), "Tensor input, int? dim, bool keepdim"),
    **dict.fromkeys(("max", "min", "median", "nanmedian"), "Tensor input, int dim, bool keepdim"),
    "topk": "Tensor input, SymInt k, int dim, bool largest, bool sorted",
    "sort": "Tensor input, int dim, bool descending, bool? stable",
    "argsort": "Tensor input, int dim, bool descending, bool stable",
    "msort": "Tensor input, int dim",
    "kthvalue": "Tensor input, SymInt k, int dim, bool keepdim",
    "gather_nd": "Tensor input, Tensor indices, int batch_dims",
    "index_select": "Tensor input, int dim, Tensor index",
}


INDICES = {torch.int8, torch.int16, torch.int32, torch.int64}
INDICES |= {torch.uint8, torch.uint16, torch.uint32, torch.uint64}


def check_gather(input: torch.Size, indices: torch.Size, dtype: Any, batch_dims: int) -> None:
    """What the core checks, except coordinates: of tensors that it does not take, or without memory."""
    if dtype not in INDICES:
        raise TypeError(f"indices: must be of dtype int8 to int64 or uint8 to uint64, got {dtype}")
    for name, shape in (("input", input), ("indices", indices)):
        if not shape:
            raise ValueError(f"{name}: must have at least 1 dimension, got 0")
    most = min(len(input), len(indices)) - 1
    if not 0 <= batch_dims <= most:
        raise ValueError(
            f"batch_dims: must be in [0, {most}] (below the {len(input)} dimensions of input and the "
            f"{len(indices)} of indices), got {batch_dims}"
        )
    for want, have in zip(input[:batch_dims], indices):
        torch._check_value(
            want == have,
            lambda: (
                f"indices: must have the batch dimensions of input {tuple(input[:batch_dims])}, "
                f"got {tuple(indices[:batch_dims])}"
            ),
        )
    most = len(input) - batch_dims
    if not 1 <= indices[-1] <= most:
        raise ValueError(
            f"indices: must have a last dimension in [1, {most}] (the dimensions of input after the "
            f"batch dimensions), got {indices[-1]}"
        )


def _check_coordinates(input: Tensor, indices: Tensor, batch_dims: int) -> None:
    """What the core's first pass finds; torch's indexing does not look where slices are empty."""
    at = as_numpy(indices)
    sizes = np.array(input.shape[batch_dims : batch_dims + at.shape[-1]])
    outside = np.argwhere((at >= sizes) | (at < -sizes))
    if len(outside):
        position = tuple(outside[0].tolist())
        size, axis = sizes[position[-1]], batch_dims + position[-1]
        least = (
            0 if indices.dtype in (torch.uint32, torch.uint64) else -size
        )  # others are int32 there
        requirement = f"in [{least}, {size - 1}]" if size else "empty"
        raise IndexError(
            f"indices: must be {requirement} for axis {axis}, of size {size}, got {at[position]} at "
            f"position {position}"
        )


def _coordinates(indices: Tensor, batch_dims: int) -> tuple[Tensor, ...]:
    """The indices as torch's indexing takes them."""
    at = indices.long()
    if indices.dtype is torch.uint64:  # of which int64 makes negative ones
        at = at.masked_fill(at < 0, torch.iinfo(torch.int64).max)
    batch = [
        torch.arange(size, device=indices.device).view(-1, *[1] * (indices.dim() - 2 - d))
        for d, size in enumerate(indices.shape[:batch_dims])
    ]
    return (*batch, *at.unbind(-1))


def _gather_nd(input: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    check_gather(input.shape, indices.shape, indices.dtype, batch_dims)
    # Not by brackets, which would look at the one element of coordinates without dimensions.
    return torch.ops.aten.index.Tensor(input, _coordinates(indices, batch_dims)).contiguous()


def _sort(input: Tensor, dim: int, descending: bool, stable: bool | None) -> Any:
    return torch.sort(input, stable=True, dim=dim, descending=descending)


def _argsort(input: Tensor, dim: int, descending: bool, stable: bool) -> Tensor:
    return torch.argsort(input, stable=True, dim=dim, descending=descending)


def _msort(input: Tensor, dim: int) -> Tensor:
    return torch.sort(input, stable=True, dim=dim).values


# Torch's own functions, of which sorts keep the order of equal elements, as the core's do.
OWN: dict[str, Function] = {
    **{name: getattr(torch, name, _gather_nd) for name in PARAMETERS},
    "sort": _sort,
    "argsort": _argsort,
    "msort": _msort,
}


@untraced
def on_cpu(name: str, *args: Any) -> Any:
    """The core's result, or where it takes no such arguments that of torch's own function."""
    result = run_core(name, *args)
    if result is None and name == "gather_nd":
        input, indices, batch_dims = args
        check_gather(input.shape, indices.shape, indices.dtype, batch_dims)
        _check_coordinates(*args)
    return OWN[name](*args) if result is None else result


# For mypy the same whether torch is installed or not.
_OneLevel: Any = torch.autograd.function._SingleLevelFunction


class _Derived(_OneLevel):  # type: ignore[misc]
    """An operator on an input whose derivative is wanted: the gradient goes to what was found or taken.

    Of one level of ``torch.func``'s transforms, as the dispatcher calls it at each.
    """

    @staticmethod
    @untraced
    def forward(ctx: Any, name: str, operator: Any, input: Tensor, *args: Any) -> Any:
        # The levels below want derivatives of their own.
        with _below_autograd(), torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            results = operator(input, *args)
        (indices,) = [arg for arg in args if isinstance(arg, Tensor)] or results[1:]
        if name in PAIRS:
            ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        ctx.save_for_forward(indices)
        ctx.set_materialize_grads(False)
        ctx.name, ctx.sizes = name, input.shape
        ctx.args = [arg for arg in args if not isinstance(arg, Tensor)]
        return results

    @staticmethod
    @untraced
    def backward(ctx: Any, grad: Any, *_: Any) -> Any:
        (indices,) = ctx.saved_tensors
        if grad is None:
            pass
        elif ctx.name == "gather_nd":
            at = _coordinates(indices, *ctx.args)
            grad = grad.new_zeros(ctx.sizes).index_put(at, grad, accumulate=True)
        elif ctx.name == "index_select":
            grad = torch.ops.aten.index_select_backward(grad, ctx.sizes, *ctx.args, indices)
        else:
            dim, keepdim = _dim_and_keepdim(ctx.name, ctx.args)
            grad = torch.ops.aten.value_selecting_reduction_backward(
                grad, dim, indices, ctx.sizes, keepdim
            )
        return None, None, grad, *[None] * (len(ctx.needs_input_grad) - 3)

    @staticmethod
    @untraced
    def jvp(ctx: Any, name: Any, operator: Any, tangent: Tensor, *_: Any) -> Any:
        (indices,) = ctx.saved_tensors
        if ctx.name == "gather_nd":
            return _gather_nd(tangent, indices, *ctx.args)
        if ctx.name == "index_select":
            return torch.index_select(tangent, ctx.args[0], indices)
        dim, keepdim = _dim_and_keepdim(ctx.name, ctx.args)
        if keepdim or not tangent.dim():
            return tangent.gather(dim, indices), None
        return tangent.gather(dim, indices.unsqueeze(dim)).squeeze(dim), None


def _dim_and_keepdim(name: str, args: Any) -> Any:
    """Along which dim the indices of a pair count, and whether it is one of their dimensions."""
    args = args[name in _AFTER_K :]
    return (args[0], True) if name in ("topk", "sort") else args


_AFTER_K = ("topk", "kthvalue")  # which have a k before the dim


def _differentiable(name: str, operator: Any) -> Function:
    """The operator, with derivatives where they are wanted."""

    @untraced
    def run(input: Tensor, *args: Any) -> Any:
        # Whether a derivative may be wanted, backward or forward. Python's forward_ad does not know the
        # level of compiled programs, so that the tensor is asked itself, which traces show as an alias.
        backward = torch.is_grad_enabled() and input.requires_grad
        if backward or torch._VF._unpack_dual(input, level=0).tangent is not None:
            if name == "msort":  # derivatives need the indices too
                return torch.ops.dmlcpu.sort.default(input, *args, False, True)[0]
            with enable_single_level_autograd_function():
                return _Derived.apply(name, operator, input, *args)
        with _below_autograd():
            return operator(input, *args)

    return run


def _batched(name: str, operator: Any) -> Function:
    """vmap's rule of an operator of one tensor and a dim: the batch becomes its first dimension."""

    def rule(info: Any, in_dims: tuple[Any, ...], input: Tensor, *args: Any) -> Any:
        input = input.movedim(in_dims[0], 0)
        at = int(name in _AFTER_K)
        before, dim, after = args[:at], args[at], args[at + 1 :]
        dims = input.dim() - 1
        if dims and dim is not None:
            results = operator(input, *before, dim % dims + 1, *after)
        else:  # one row each
            results = operator(input.reshape(info.batch_size, -1), *before, 1, *after)
            shape = (info.batch_size, *[1] * (dims if after == (True,) else 0))
            results = tree_map(lambda result: result.reshape(shape), results)
        return results, (0, 0) if name in PAIRS else 0

    return rule


def _gather_nd_batched(operator: Any) -> Function:
    """vmap's rule of gather_nd: the batch becomes the first of the batch dimensions."""

    def rule(
        info: Any, in_dims: tuple[Any, ...], input: Tensor, indices: Tensor, batch_dims: int
    ) -> Any:
        tensors = [
            x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
            for x, dim in zip((input, indices), in_dims)
        ]
        x, at = tensors
        check_gather(x.shape[1:], at.shape[1:], at.dtype, batch_dims)
        return operator(x, at, batch_dims + 1), 0

    return rule


def _register(library: Any, name: str, parameters: str) -> None:
    result = "(Tensor, Tensor)" if name in PAIRS else "Tensor"
    library.define(f"{name}({parameters}) -> {result}", tags=(torch.Tag.pt2_compliant_tag,))
    operator = getattr(torch.ops.dmlcpu, name).default
    library.impl(name, OWN[name], "CompositeExplicitAutograd")
    library.impl(name, functools.partial(on_cpu, name), "CPU")
    torch_library.register_fake(f"dmlcpu::{name}", OWN[name], lib=library)
    if name == "index_select":
        library.impl(name, OWN[name], "FuncTorchBatched")
    else:
        rule = _gather_nd_batched(operator) if name == "gather_nd" else _batched(name, operator)
        torch_library.register_vmap(f"dmlcpu::{name}", rule, lib=library)
    if name not in INDICES_ALONE:
        library.impl(name, _differentiable(name, operator), "Autograd")


_library = torch_library.Library("dmlcpu", "DEF")  # what is registered lives as long as it
for _name, _text in PARAMETERS.items():
    _register(_library, _name, _text)
