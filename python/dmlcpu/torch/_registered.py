"""The operators ``torch.ops.dmlcpu.*``, as PyTorch's dispatcher, autograd, vmap and compiler know them.

Each has an overload "out", which writes to tensors that are given.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch import library as torch_library

from dmlcpu.torch._kernels import KERNELS, REFUSED, takes

__all__ = ["PAIRS"]

PAIRS = ("max", "min", "topk")  # those that give values and indices

Function = Callable[..., Any]

_PARAMETERS = {
    **dict.fromkeys(("argmax", "argmin"), "Tensor input, int? dim=None, bool keepdim=False"),
    **dict.fromkeys(("max", "min"), "Tensor input, int dim, bool keepdim=False"),
    "topk": "Tensor input, SymInt k, int dim=-1, bool largest=True, bool sorted=True",
    "gather_nd": "Tensor input, Tensor indices, int batch_dims=0",
    "index_select": "Tensor input, int dim, Tensor index",
}


def _coordinates(indices: Tensor, batch_dims: int) -> tuple[Tensor, ...]:
    """The indices with which ``input[...]`` is what gather_nd gives."""
    batch = [
        torch.arange(size, device=indices.device).view(-1, *[1] * (indices.dim() - 2 - d))
        for d, size in enumerate(indices.shape[:batch_dims])
    ]
    return (*batch, *indices.long().unbind(-1))


def _gather_nd(input: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    return input[_coordinates(indices, batch_dims)].contiguous()


def _on_cpu(name: str, own: Function) -> Function:
    """The core's operator; where it does not take the arguments, or refuses them, torch's `own`."""

    def run(*args: Any) -> Any:
        if takes(name, *args):
            try:
                return KERNELS[name](*args)
            except REFUSED:
                if name == "gather_nd":  # torch has none that would say what is wrong
                    raise
        return own(*args)

    return run


def _writing(name: str, run: Function, on_cpu: bool) -> Function:
    """The overload "out": as in torch, a tensor of another shape is resized."""

    def write(*args: Any, **out: Tensor) -> None:
        try:
            if on_cpu and takes(name, *args):
                KERNELS[name](*args, out=tuple(out.values()))
                return
        except REFUSED:
            pass
        results = run(*args) if name in PAIRS else (run(*args),)
        for to, result in zip(out.values(), results):
            if to.dtype != result.dtype:
                raise RuntimeError(f"out: must be of dtype {result.dtype}, got {to.dtype}")
        for to, result in zip(out.values(), results):
            to.resize_(result.shape).copy_(result)

    return write


def _save_selection(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Of max, min and topk: where the elements were."""
    ctx.arguments = len(inputs)
    ctx.shape = inputs[0].shape
    ctx.dim, ctx.keepdim = inputs[1:] if len(inputs) == 3 else (inputs[2], True)
    ctx.save_for_backward(output[1])


def _scatter(ctx: Any, grad: Tensor, _indices: Any) -> tuple[Any, ...]:
    (indices,) = ctx.saved_tensors
    if ctx.shape and not ctx.keepdim:
        grad, indices = grad.unsqueeze(ctx.dim), indices.unsqueeze(ctx.dim)
    grad = grad.new_zeros(ctx.shape).scatter(ctx.dim, indices, grad)
    return (grad, *[None] * (ctx.arguments - 1))


def _save_indices(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Of gather_nd (input, indices, batch_dims) and index_select (input, dim, index)."""
    ctx.shape = inputs[0].shape
    ctx.number, indices = sorted(inputs[1:], key=torch.is_tensor)  # the int, then the tensor
    ctx.save_for_backward(indices)


def _add_slices(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    places = _coordinates(ctx.saved_tensors[0], ctx.number)
    return grad.new_zeros(ctx.shape).index_put(places, grad, accumulate=True), None, None


def _add_selected(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    (index,) = ctx.saved_tensors
    return grad.new_zeros(ctx.shape).index_add(ctx.number, index, grad), None, None


_GRADIENTS: dict[str, tuple[Function, Function]] = {
    **dict.fromkeys(PAIRS, (_scatter, _save_selection)),
    "gather_nd": (_add_slices, _save_indices),
    "index_select": (_add_selected, _save_indices),
}


def _batched(name: str, operator: Any) -> Function:
    """vmap's rule of an operator of one tensor and a dim: the batch becomes its first dimension."""
    at = 1 if name == "topk" else 0  # where the dim is
    default = -1 if name == "topk" else None

    def rule(info: Any, in_dims: tuple[Any, ...], input: Tensor, *args: Any) -> Any:
        input = input.movedim(in_dims[0], 0)
        before, (dim, *after) = args[:at], args[at:] or (default,)
        dims = input.dim() - 1
        if dims and dim is not None:
            results = operator(input, *before, dim % dims + 1, *after)
        else:  # one row for each
            shape = (info.batch_size, *[1] * (dims if after == [True] else 0))
            results = operator(input.reshape(info.batch_size, -1), *before, 1, *after)
            if name not in PAIRS:
                return results.reshape(shape), 0
            results = tuple(result.reshape(shape) for result in results)
        return results, (0, 0) if name in PAIRS else 0

    return rule


def _batch_first(info: Any, tensor: Tensor, dim: int | None) -> Tensor:
    return tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def _batch_gather(info: Any, dims: Any, input: Tensor, indices: Tensor, batch_dims: int = 0) -> Any:
    input, indices = _batch_first(info, input, dims[0]), _batch_first(info, indices, dims[1])
    return torch.ops.dmlcpu.gather_nd.default(input, indices, batch_dims + 1), 0


def _batch_select(info: Any, dims: Any, input: Tensor, dim: int, index: Tensor) -> Any:
    input = _batch_first(info, input, dims[0])
    # As unsigned ones, negative indices are out of range.
    index = _batch_first(info, index.long().view(torch.uint64), dims[2])
    dim = dim % (input.dim() - 1) + 1
    slices = torch.ops.dmlcpu.gather_nd.default(input.movedim(dim, 1), index.unsqueeze(-1), 1)
    return slices.movedim(1, dim), 0


_RULES = {"gather_nd": _batch_gather, "index_select": _batch_select}


def _register(library: Any, name: str, parameters: str) -> None:
    gradient = _GRADIENTS.get(name)
    result, out = "Tensor", "Tensor(a!) out"
    if name in PAIRS:
        result, out = "(Tensor, Tensor)", "Tensor(a!) values, Tensor(b!) indices"
    for schema in f"{name}({parameters}) -> {result}", f"{name}.out({parameters}, *, {out}) -> ()":
        library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    rule: Any = _RULES.get(name) or _batched(name, getattr(torch.ops.dmlcpu, name).default)
    own = _gather_nd if name == "gather_nd" else getattr(torch, name)
    for key, run in ("CompositeExplicitAutograd", own), ("CPU", _on_cpu(name, own)):
        library.impl(name, run, key)
        library.impl(f"{name}.out", _writing(name, run, key == "CPU"), key)
    name = f"dmlcpu::{name}"
    torch_library.register_fake(name, own, lib=library)
    torch_library.register_fake(f"{name}.out", lambda *args, **out: None, lib=library)
    torch_library.register_vmap(name, rule, lib=library)
    if gradient:
        torch_library.register_autograd(name, gradient[0], setup_context=gradient[1], lib=library)


_library = torch_library.Library("dmlcpu", "DEF")  # what is registered lives as long as it
for _name, _text in _PARAMETERS.items():
    _register(_library, _name, _text)
