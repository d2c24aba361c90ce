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
from dmlcpu import _parts
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
_SORTED = _COMPARED | _WIDE | {torch.bool}
_COPIED = _SORTED | {torch.bfloat16}

# From how many elements on (of index_select: indices) the core takes less time than torch's kernel.
_LEAST = dict(argmax=2048, argmin=2048, max=8192, min=8192, topk=4096, index_select=2048)
_LEAST |= dict(sort=1024, argsort=1024, msort=1024, kthvalue=4096, median=8192, nanmedian=8192)
# These pay for 64-bit elements from 8 times as many on: a vector holds fewer of them.
_SELECTIONS = ("kthvalue", "median", "nanmedian")


def pays(name: str, args: tuple[Any, ...]) -> bool:
    """Whether the core takes less time for such arguments than torch's kernel, if torch has one."""
    worked, least = args[2] if name == "index_select" else args[0], _LEAST[name]
    size: int = worked.nbytes  # not numel(), which is a tensor in traces of torch.jit
    if size < least:
        return False
    factor = 8 if worked.itemsize == 8 and name in _SELECTIONS else 1
    if size < least * worked.itemsize * factor:
        return False
    return name != "index_select" or args[0].dtype not in _WIDE


def _takes(name: str, input: Tensor, *args: Any) -> bool:
    """Whether the kernel of that name is for such arguments; it may still refuse their values."""
    if lack := storage_lack(input):  # PyTorch does not look
        raise RuntimeError(f"input: {lack}")
    dtypes, dims = _COMPARED, input.dim()
    if name in ("sort", "argsort", "msort"):
        dtypes = _SORTED
    elif name == "index_select":  # along other dimensions torch's own kernel is faster
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
    values, indices = _top_k(as_numpy(input), k, dim, largest)
    return _tensor(values, input.dtype), _tensor(indices)


def _extreme(name: str, input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if name == "max":
        values, indices = _topk(input, 1, dim)
    else:  # not by top-k, whose smallest element is NaN only where all are
        indices = _arg("argmin", input, dim, True)
        values = input.detach().gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False
) -> tuple[Tensor, Tensor]:
    array, axis, strides = _of_memory_order(input, dim)
    values, indices = _top_k(array, array.shape[axis], axis, descending)
    pair = _tensor(values, input.dtype), _tensor(indices)
    return _of_shape(pair[0], input, strides), _of_shape(pair[1], input, strides)


def _argsort(input: Tensor, dim: int, descending: bool, stable: bool) -> Tensor:
    array, axis, strides = _of_memory_order(input, dim)
    indices = _part(array, array.shape[axis], axis, descending, "indices")
    return _of_shape(_tensor(indices), input, strides)


def _msort(input: Tensor, dim: int) -> Tensor:
    array, axis, strides = _of_memory_order(input, dim)
    values = _part(array, array.shape[axis], axis, False, "values")
    return _of_shape(_tensor(values, input.dtype), input, strides)


def _of_memory_order(input: Tensor, dim: int) -> tuple[npt.NDArray[Any], int, tuple[int, ...]]:
    """The elements in the order of memory, the axis that is `dim` there, and the strides of a result.

    The strides are those of the input, or dense ones where it has gaps, as of torch's results.
    """
    if input.is_contiguous():
        return as_numpy(input), dim, input.stride()
    strides = torch.empty_like(input).stride()
    order = sorted(range(len(strides)), key=lambda d: -strides[d])
    axis = order.index(range(len(strides))[dim])  # an IndexError, if it is out of range
    return as_numpy(input.permute(order)), axis, strides


def _of_shape(result: Tensor, input: Tensor, strides: tuple[int, ...]) -> Tensor:
    return result if result.stride() == strides else result.as_strided(input.shape, strides)


def _top_k(array: npt.NDArray[Any], k: int, axis: int, largest: bool) -> Any:
    """The `k` smallest or largest elements and their indices; NaN is greater than every number."""
    return dmlcpu.top_k(array, k, axis=axis, axis_direction=int(largest), index_dtype=_INT64)


def _part(array: npt.NDArray[Any], k: int, axis: int, largest: bool, results: str) -> Any:
    """A part of the results of `_top_k`: the values, the indices, or the last value and index."""
    return _parts.part_of_top_k(array, k, axis, int(largest), _INT64, "propagate", results)


def _kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _pair(*_kth(as_numpy(input), k, dim), input, dim, keepdim)


def _kth(array: npt.NDArray[Any], k: int, axis: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The k-th element of a stable sort and its index, counted from the nearer end."""
    n = array.shape[axis]
    if 2 * k <= n + 1:
        values, indices = _part(array, k, axis, False, "last")
        return values, indices
    # From the reversed axis the largest, so that of equal elements those of higher index come before.
    back = (*[slice(None)] * (axis % array.ndim), slice(None, None, -1))
    values, indices = _part(array[back], n + 1 - k, axis, True, "last")
    return values, n - 1 - indices


def _median(name: str, input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    array = as_numpy(input)
    values, indices = _kth(array, (array.shape[dim] + 1) // 2, dim)
    if input.is_floating_point():
        greatest, at = _top_k(array, 1, dim, True)  # NaN, where there is one
        nans = np.isnan(greatest)
        if nans.any():
            if name == "nanmedian":
                rows = np.moveaxis(array, dim, -1)[nans.squeeze(dim)]
                values[nans], indices[nans] = _median_of_numbers(rows)
            else:
                values[nans], indices[nans] = greatest[nans], at[nans]
    return _pair(values, indices, input, dim, keepdim)


def _median_of_numbers(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The median of what is not NaN in each row, and its index; of a row of NaNs the first of them."""
    counts = rows.shape[1] - np.isnan(rows).sum(1)
    at = np.arange(len(rows)), np.maximum(counts - 1, 0) // 2
    values, indices = _top_k(rows, int(at[1].max()) + 1, 1, False)
    return values[at], indices[at]


def _pair(
    values: npt.NDArray[Any], indices: npt.NDArray[Any], input: Tensor, dim: int, keepdim: bool
) -> tuple[Tensor, Tensor]:
    if not keepdim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return _tensor(values, input.dtype), _tensor(indices)


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
    "sort": _sort,
    "argsort": _argsort,
    "msort": _msort,
    "kthvalue": _kthvalue,
    "median": functools.partial(_median, "median"),
    "nanmedian": functools.partial(_median, "nanmedian"),
    "gather_nd": _gather_nd,
    "index_select": _index_select,
}


def run_core(name: str, *args: Any, **named: Any) -> Any:
    """The result of torch's operator of that name by the core; None if it does not take the arguments.

    The arguments are those of the door's operator, or of torch's, which may leave out defaults; gathers
    take an `out` as well.

    It uses no more threads than torch does, of which a DataLoader's worker has one.
    """
    if not _takes(name, *args):
        return None
    threads = torch.get_num_threads()
    try:
        if threads >= dmlcpu.get_num_threads():
            return _KERNELS[name](*args, **named)
        with dmlcpu.num_threads(threads):
            return _KERNELS[name](*args, **named)
    except (TypeError, ValueError, IndexError):  # before anything was written
        if name == "gather_nd":  # torch has none that would say what is wrong
            raise
        return None
