"""The operators ``torch.ops.dmlcpu.*``, as PyTorch's dispatcher, autograd, vmap and compiler know them.

Gradients are torch's own: where they are wanted, values are gathered by torch at the indices that the
core found. So every transform of ``torch.func`` takes the operators.
"""

import functools
from typing import Any

import torch
from torch import Tensor
from torch import library as torch_library
from torch.utils._pytree import tree_map

from dmlcpu.torch._kernels import Function, run_core, untraced

__all__ = ["GATHERS", "OWN", "PAIRS", "PARAMETERS", "on_cpu"]

PAIRS = {name: getattr(torch.return_types, name) for name in ("max", "min", "topk")}
GATHERS = ("gather_nd", "index_select")

PARAMETERS = {
    **dict.fromkeys(("argmax", "argmin"), "Tensor input, int? dim, bool keepdim"),
    **dict.fromkeys(("max", "min"), "Tensor input, int dim, bool keepdim"),
    "topk": "Tensor input, SymInt k, int dim, bool largest, bool sorted",
    "gather_nd": "Tensor input, Tensor indices, int batch_dims",
    "index_select": "Tensor input, int dim, Tensor index",
}


def _gather_nd(input: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    batch = [
        torch.arange(size, device=indices.device).view(-1, *[1] * (indices.dim() - 2 - d))
        for d, size in enumerate(indices.shape[:batch_dims])
    ]
    return input[(*batch, *indices.long().unbind(-1))].contiguous()


# Torch's own functions.
OWN: dict[str, Function] = {name: getattr(torch, name, _gather_nd) for name in PARAMETERS}


@untraced
def on_cpu(name: str, *args: Any) -> Any:
    """The core's result, or where it takes no such arguments that of torch's own function."""
    result = run_core(name, *args)
    return OWN[name](*args) if result is None else result


def _differentiable(name: str, operator: Any) -> Function:
    """The operator; where a gradient is wanted, torch makes what it gives."""

    @untraced
    def run(input: Tensor, *args: Any) -> Any:
        # Whether a derivative may be wanted, backward or forward.
        backward = torch.is_grad_enabled() and input.requires_grad
        wanted = backward or torch._VF._unpack_dual(input, level=0).tangent is not None
        if wanted and name in GATHERS:
            return OWN[name](input, *args)
        with torch._C._AutoDispatchBelowAutograd():
            results = operator(input, *args)
        if not wanted:
            return results
        _, indices = results
        dim, keepdim = (args[1], True) if name == "topk" else args
        if keepdim or not input.dim():
            return input.gather(dim, indices), indices
        return input.gather(dim, indices.unsqueeze(dim)).squeeze(dim), indices

    return run


def _batched(name: str, operator: Any) -> Function:
    """vmap's rule of an operator of one tensor and a dim: the batch becomes its first dimension."""

    def rule(info: Any, in_dims: tuple[Any, ...], input: Tensor, *args: Any) -> Any:
        input = input.movedim(in_dims[0], 0)
        at = int(name == "topk")  # after k
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


def _register(library: Any, name: str, parameters: str) -> None:
    result = "(Tensor, Tensor)" if name in PAIRS else "Tensor"
    library.define(f"{name}({parameters}) -> {result}", tags=(torch.Tag.pt2_compliant_tag,))
    operator = getattr(torch.ops.dmlcpu, name).default
    library.impl(name, OWN[name], "CompositeExplicitAutograd")
    library.impl(name, functools.partial(on_cpu, name), "CPU")
    torch_library.register_fake(f"dmlcpu::{name}", OWN[name], lib=library)
    if name in GATHERS:
        library.impl(name, OWN[name], "FuncTorchBatched")
    else:
        torch_library.register_vmap(f"dmlcpu::{name}", _batched(name, operator), lib=library)
    if name in PAIRS or name in GATHERS:
        library.impl(name, _differentiable(name, operator), "Autograd")


_library = torch_library.Library("dmlcpu", "DEF")  # what is registered lives as long as it
for _name, _text in PARAMETERS.items():
    _register(_library, _name, _text)
