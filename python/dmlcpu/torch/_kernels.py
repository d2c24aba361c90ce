"""The core's operators on tensors of the CPU: arguments and results changed, nothing else.

A kernel takes the arguments of torch's operator of that name, and `out`: the tensors to write to,
or none for new ones. What it refuses, before anything is written, is one of the errors `REFUSED`.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import dmlcpu

_BFLOAT16: Any = None
with contextlib.suppress(ModuleNotFoundError):
    import ml_dtypes  # NumPy has no bfloat16 of its own

    _BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

__all__ = ["KERNELS", "REFUSED", "takes"]

REFUSED = (TypeError, ValueError, IndexError)

Out = tuple[Tensor, ...]
Pair = tuple[Tensor, Tensor]

_INT64 = np.dtype(np.int64)
_UNSIGNED = {torch.int64: torch.uint64, torch.int32: torch.uint32}

# What the core and torch both compare, so that a type which torch refuses stays refused.
_COMPARED = {torch.float32, torch.float16, torch.float64, torch.uint8}
_COMPARED |= {torch.int64, torch.int32, torch.int16, torch.int8}
if _BFLOAT16 is not None:
    _COMPARED.add(torch.bfloat16)
_COPIED = _COMPARED | {torch.bfloat16, torch.bool, torch.uint16, torch.uint32, torch.uint64}


def takes(name: str, input: Tensor, *args: Any) -> bool:
    """Whether the kernel of that name is for such arguments; it may still refuse their values."""
    dtypes = _COPIED if name in ("gather_nd", "index_select") else _COMPARED
    if name == "index_select":  # along other dimensions torch's own kernel is faster
        dim, index = args
        if dim not in (0, -input.dim()) or index.dim() != 1 or index.dtype not in _UNSIGNED:
            return False
    return input.dtype in dtypes and input.dim() <= 8 and input.data_ptr() % input.itemsize == 0


class _Exported(NamedTuple):
    """A tensor for `numpy.from_dlpack`, which reads it in less time than the tensor itself.

    Not by its ``numpy()``, after which it could not be resized any more.
    """

    tensor: Tensor

    def __dlpack__(self, **_: Any) -> Any:
        return torch.to_dlpack(self.tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def _array(tensor: Tensor, bits: bool = False, writable: bool = False) -> npt.NDArray[Any]:
    """An array that shares the tensor's memory; with `bits`, bfloat16 as integers."""
    half = tensor.dtype is torch.bfloat16
    if half:
        tensor = tensor.view(torch.int16)
    array = np.from_dlpack(tensor.detach() if writable else _Exported(tensor))
    return array.view(_BFLOAT16) if half and not bits else array


def _written(out: Out, bits: bool = False) -> Any:
    """What the core takes as `out`: an array, a pair of arrays or None."""
    arrays = tuple(_array(tensor, bits, writable=True) for tensor in out)
    return arrays if len(arrays) == 2 else arrays[0] if arrays else None


def _tensor(array: npt.NDArray[Any], dtype: Any = torch.int64) -> Tensor:
    """A tensor of that dtype that shares the array's memory."""
    if array.size == 0:  # of which NumPy and torch disagree about strides
        return torch.empty(array.shape, dtype=dtype)
    if dtype is torch.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(dtype)
    return torch.from_numpy(array)


def _arg(
    function: str, input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Out = ()
) -> Tensor:
    run, to = getattr(dmlcpu, function), _written(out)
    return _tensor(run(_array(input), dim, keepdims=keepdim, index_dtype=_INT64, out=to))


def _topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Out = (),
) -> Pair:
    direction = dmlcpu.AxisDirection.DECREASING if largest else dmlcpu.AxisDirection.INCREASING
    options = dict(axis=dim, axis_direction=direction, index_dtype=_INT64, out=_written(out))
    values, indices = dmlcpu.top_k(_array(input), k, **options)
    return _tensor(values, input.dtype), _tensor(indices)


def _max(input: Tensor, dim: int, keepdim: bool = False, *, out: Out = ()) -> Pair:
    if keepdim:
        return _topk(input, 1, dim, out=out)
    values, indices = _topk(input, 1, dim, out=tuple(to.unsqueeze(dim) for to in out))
    return values.squeeze(dim), indices.squeeze(dim)


# Not by top-k, whose smallest element is NaN only where all are.
def _min(input: Tensor, dim: int, keepdim: bool = False, *, out: Out = ()) -> Pair:
    if out and (out[0].dtype != input.dtype or out[0].shape != out[1].shape):
        raise ValueError("out[0]: must be of input's dtype and of the shape of out[1], got another")
    if not keepdim:
        out = tuple(to.unsqueeze(dim) for to in out)
    indices = _arg("argmin", input, dim, True, out=out[1:])
    values = torch.gather(input.detach(), dim, indices, out=out[0] if out else None)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _gather_nd(input: Tensor, indices: Tensor, batch_dims: int = 0, *, out: Out = ()) -> Tensor:
    options = dict(batch_dims=batch_dims, out=_written(out, bits=True))
    slices = dmlcpu.gather_nd(_array(input, bits=True), _array(indices), **options)
    return _tensor(slices, input.dtype)


def _index_select(input: Tensor, dim: int, index: Tensor, *, out: Out = ()) -> Tensor:
    # As unsigned ones, negative indices are out of range, as in torch.
    return _gather_nd(input, index.view(_UNSIGNED[index.dtype]).unsqueeze(1), out=out)


def _limited(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel` with no more threads than torch uses, of which a DataLoader's worker has one."""

    def run(*args: Any, **kwargs: Any) -> Any:
        threads = torch.get_num_threads()
        if threads >= dmlcpu.get_num_threads():
            return kernel(*args, **kwargs)
        with dmlcpu.num_threads(threads):
            return kernel(*args, **kwargs)

    return run


KERNELS: dict[str, Callable[..., Any]] = {
    "argmax": _limited(functools.partial(_arg, "argmax")),
    "argmin": _limited(functools.partial(_arg, "argmin")),
    "max": _limited(_max),
    "min": _limited(_min),
    "topk": _limited(_topk),
    "gather_nd": _limited(_gather_nd),
    "index_select": _limited(_index_select),
}
