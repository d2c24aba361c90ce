"""The core's operators on tensors of the CPU: arguments and results changed, nothing else."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import dmlcpu
from dmlcpu._libraries import by_dlpack, storage_lack

__all__ = ["Function", "as_numpy", "pays", "run_core"]

Function = Callable[..., Any]

_INT64 = np.dtype(np.int64)
_UNSIGNED = {torch.int64: torch.uint64, torch.int32: torch.uint32}

# What the core and torch both compare, so that a type which torch refuses stays refused.
_COMPARED = {torch.float32, torch.float16, torch.float64, torch.uint8}
_COMPARED |= {torch.int64, torch.int32, torch.int16, torch.int8}
with contextlib.suppress(ModuleNotFoundError):
    import ml_dtypes  # NumPy has no bfloat16 of its own

    _BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
    _COMPARED.add(torch.bfloat16)
_WIDE = {torch.uint16, torch.uint32, torch.uint64}  # which torch does not select
_COPIED = _COMPARED | _WIDE | {torch.bfloat16, torch.bool}

# From how many elements on (of index_select: indices) the core takes less time than torch's kernel.
_LEAST = dict(argmax=2048, argmin=2048, max=8192, min=8192, topk=4096, index_select=2048)


def pays(name: str, args: tuple[Any, ...]) -> bool:
    """Whether the core takes less time for such arguments than torch's kernel, if torch has one."""
    worked, least = args[2] if name == "index_select" else args[0], _LEAST[name]
    size: int = worked.nbytes  # not numel(), which is a tensor in traces of torch.jit
    if size < least or size < least * worked.itemsize:
        return False
    return name != "index_select" or args[0].dtype not in _WIDE


def _takes(name: str, input: Tensor, *args: Any) -> bool:
    """Whether the kernel of that name is for such arguments; it may still refuse their values."""
    if lack := storage_lack(input):  # PyTorch does not look
        raise RuntimeError(f"input: {lack}")
    dtypes, dims = _COMPARED, input.dim()
    if name == "index_select":  # along other dimensions torch's own kernel is faster
        dtypes, (dim, index) = _COPIED, args
        if lack := storage_lack(index):
            raise RuntimeError(f"index: {lack}")
        if dim not in (0, -dims) or index.dim() != 1 or index.dtype not in _UNSIGNED:
            return False
    elif name == "gather_nd":
        dtypes, (indices, batch_dims) = _COPIED, args
        if lack := storage_lack(indices):
            raise RuntimeError(f"indices: {lack}")
        rank = dims + indices.dim() - 1  # of the result, and the coordinates that it has not
        if rank > 8 and (indices.dim() > 8 or rank - batch_dims - indices.shape[-1] > 8):
            return False
    return input.dtype in dtypes and dims <= 8 and input.data_ptr() % input.itemsize == 0


def _bits(tensor: Tensor) -> Tensor:
    """The tensor, bfloat16 as integers."""
    return tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor


def as_numpy(tensor: Tensor) -> npt.NDArray[Any]:
    """An array that shares the tensor's memory."""
    bits = _bits(tensor)
    array = by_dlpack(torch, bits)
    return array if bits is tensor else array.view(_BFLOAT16)


def _tensor(array: npt.NDArray[Any], dtype: Any = torch.int64) -> Tensor:
    """A tensor of that dtype that shares the array's memory."""
    if array.size == 0:  # of which NumPy and torch disagree about strides
        return torch.empty(array.shape, dtype=dtype)
    if dtype is torch.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(dtype)
    return torch.from_numpy(array)


def _arg(function: str, input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    find = getattr(dmlcpu, function)
    return _tensor(find(as_numpy(input), dim, keepdims=keepdim, index_dtype=_INT64))


def _topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    values, indices = dmlcpu.top_k(
        as_numpy(input), k, axis=dim, axis_direction=int(largest), index_dtype=_INT64
    )
    return _tensor(values, input.dtype), _tensor(indices)


def _extreme(name: str, input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if name == "max":
        values, indices = _topk(input, 1, dim)
    else:  # not by top-k, whose smallest element is NaN only where all are
        indices = _arg("argmin", input, dim, True)
        values = input.detach().gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _gather_nd(
    input: Tensor, indices: Tensor, batch_dims: int, *, out: Tensor | None = None
) -> Tensor:
    options: dict[str, Any] = dict(batch_dims=batch_dims)
    if out is not None:
        if lack := storage_lack(out):
            raise RuntimeError(f"out: {lack}")
        if out.dtype != input.dtype:
            raise ValueError(f"out: must be of dtype {input.dtype}, got {out.dtype}")
        torch.autograd.graph.increment_version(out)
        options["out"] = np.from_dlpack(_bits(out.detach()))  # as itself a tensor can be written to
    slices = dmlcpu.gather_nd(by_dlpack(torch, _bits(input)), by_dlpack(torch, indices), **options)
    return _tensor(slices, input.dtype) if out is None else out


def _index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    # As unsigned ones, negative indices are out of range, as in torch.
    return _gather_nd(input, index.view(_UNSIGNED[index.dtype]).unsqueeze(1), 0, out=out)


_KERNELS: dict[str, Function] = {
    "argmax": functools.partial(_arg, "argmax"),
    "argmin": functools.partial(_arg, "argmin"),
    "max": functools.partial(_extreme, "max"),
    "min": functools.partial(_extreme, "min"),
    "topk": _topk,
    "gather_nd": _gather_nd,
    "index_select": _index_select,
}


def run_core(name: str, *args: Any, **out: Tensor) -> Any:
    """The result of torch's operator of that name by the core; None if it does not take the arguments.

    It uses no more threads than torch does, of which a DataLoader's worker has one.
    """
    if not _takes(name, *args):
        return None
    threads = torch.get_num_threads()
    try:
        if threads >= dmlcpu.get_num_threads():
            return _KERNELS[name](*args, **out)
        with dmlcpu.num_threads(threads):
            return _KERNELS[name](*args, **out)
    except (TypeError, ValueError, IndexError):  # before anything was written
        if name == "gather_nd":  # torch has none that would say what is wrong
            raise
        return None
