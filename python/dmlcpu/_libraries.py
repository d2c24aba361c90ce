"""Arrays of other libraries, as NumPy's: in their own element type, without nulls.

NumPy would read most nulls as NaN, and integers beside them as float64, which does not hold them all.
The object's own type tells its library, so that none is imported here.
"""

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["UNREADABLE", "Refused", "by_dlpack", "memory", "read", "storage_lack"]


class Refused(Exception):
    """An object that must not be read: the requirement and what was got, without the argument.

    `kind` is the type of the error that names the argument as well.
    """

    def __init__(self, text: str, kind: type[Exception] = TypeError) -> None:
        super().__init__(text)
        self.kind = kind


# How objects of all libraries say that they cannot be read. Other errors, such as MemoryError, OSError
# and KeyboardInterrupt, are not caught, nor is RecursionError, which is a RuntimeError.
UNREADABLE = (Refused, AttributeError, BufferError, RuntimeError, TypeError, ValueError)


def read(obj: Any) -> npt.NDArray[Any] | None:
    """The array of an object of one of these libraries or with ``__dlpack__``, else None."""
    if isinstance(obj, np.ma.MaskedArray):
        masked = int(np.sum(obj.mask))
        _refuse(masked, "numpy.ma", obj, "filled() fills, compressed() drops them")
    if isinstance(obj, np.ndarray):
        return np.asarray(obj)
    name = _library(obj)
    array = _READERS[name](sys.modules[name], obj) if name else None
    if array is None and hasattr(obj, "__dlpack__"):
        return _by_dlpack(obj)
    return array


# An exporter may copy, unless told otherwise, which NumPy knows how to do since 2.1.
_NEVER_A_COPY: Any = {"copy": False} if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else {}


def memory(obj: Any) -> npt.NDArray[Any] | None:
    """The memory that an object shares, as an array, never a copy of it; None if it shares none."""
    if _library(obj) == "torch":
        return _torch_memory(sys.modules["torch"], obj)
    if hasattr(obj, "__dlpack__"):
        return np.from_dlpack(obj, **_NEVER_A_COPY)
    try:
        return np.asarray(memoryview(obj))
    except TypeError:
        return np.asarray(obj) if hasattr(obj, "__array_interface__") else None


def _library(obj: Any) -> str | None:
    packages = (str(base.__module__).partition(".")[0] for base in type(obj).__mro__)
    return next((package for package in packages if package in _READERS), None)


def _by_dlpack(obj: Any) -> npt.NDArray[Any]:
    try:
        return np.from_dlpack(obj)
    except UNREADABLE as error:  # a type or place that DLPack cannot pass on
        if isinstance(error, RecursionError):
            raise
        array = np.asarray(obj)  # the object may know how
        if array.dtype.kind == "O":
            raise
        return array


def _refuse(nulls: int, library: str, obj: Any, hint: str) -> None:
    """Raises Refused if there are any nulls."""
    if nulls:
        kind = f"{library}.{type(obj).__name__}"
        raise Refused(f"must have no nulls, got {nulls} in {kind} ({hint})")


def _pandas(pandas: ModuleType, obj: Any) -> npt.NDArray[Any] | None:
    hint = "fillna() fills and dropna() drops them"
    if obj is pandas.NA:
        raise Refused("must have no nulls, got <NA> (replace it or leave it out)")
    if isinstance(obj, pandas.DataFrame):
        if all(isinstance(dtype, np.dtype) for dtype in obj.dtypes):
            return np.asarray(obj)
        columns = [obj.iloc[:, i] for i in range(obj.shape[1])]
        _refuse(sum(_pandas_nulls(pandas, column.array) for column in columns), "pandas", obj, hint)
        return np.stack([np.asarray(_pandas(pandas, column)) for column in columns], axis=1)
    if not isinstance(obj, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)):
        return None
    if isinstance(obj.dtype, np.dtype):
        return np.asarray(obj)
    values = obj.array if isinstance(obj, (pandas.Series, pandas.Index)) else obj
    _refuse(_pandas_nulls(pandas, values), "pandas", obj, hint)
    if isinstance(values.dtype, pandas.ArrowDtype):
        return _pyarrow(sys.modules["pyarrow"], values.__arrow_array__())
    # Nullable types name NumPy's; without it, to_numpy() of older releases gives objects.
    dtype = getattr(values.dtype, "numpy_dtype", None)
    return np.asarray(values if dtype is None else values.to_numpy(dtype=dtype))


def _pandas_nulls(pandas: ModuleType, values: Any) -> int:
    """How many elements are missing in another way than as a NaN of the element type."""
    if isinstance(values, pandas.Categorical) or getattr(values.dtype, "na_value", 0) is pandas.NA:
        return int(values.isna().sum())
    return 0


def _pyarrow(pa: ModuleType, obj: Any) -> npt.NDArray[Any] | None:
    hint = "fill_null() fills and drop_null() drops them"
    if isinstance(obj, (pa.Table, pa.RecordBatch)):
        nulls = sum(column.null_count for column in obj.columns)
        hint = "drop_null() drops them, fill_null() of a column fills its own"
        _refuse(nulls, "pyarrow", obj, hint)
        return np.stack([np.asarray(_pyarrow(pa, column)) for column in obj.columns], axis=1)
    if isinstance(obj, pa.Scalar):
        _refuse(int(not obj.is_valid), "pyarrow", obj, "replace it or leave it out")
        return np.asarray(_pyarrow(pa, pa.repeat(obj, 1)))[0, ...]
    if not isinstance(obj, (pa.Array, pa.ChunkedArray)):
        return None
    if pa.types.is_run_end_encoded(obj.type):
        raise Refused(
            "must not be run-end encoded, got one (pyarrow.compute.run_end_decode() decodes)"
        )
    # Nulls of a dictionary, and inside of an element, are not in the null_count.
    tensor = isinstance(obj, pa.FixedShapeTensorArray)
    plain = obj.cast(obj.type.value_type) if pa.types.is_dictionary(obj.type) else obj
    below = obj.storage.flatten() if tensor else plain
    _refuse(obj.null_count or below.null_count, "pyarrow", obj, hint)
    if tensor:
        return np.asarray(obj.to_numpy_ndarray())
    if isinstance(plain, pa.ChunkedArray):
        return np.asarray(plain.to_numpy())
    return np.asarray(plain.to_numpy(zero_copy_only=False))  # those of bool are unpacked


def _polars(polars: ModuleType, obj: Any) -> npt.NDArray[Any] | None:
    if not isinstance(obj, (polars.Series, polars.DataFrame)):
        return None
    columns = obj.get_columns() if isinstance(obj, polars.DataFrame) else [obj]
    nulls = sum(_polars_nulls(polars, column) for column in columns)
    _refuse(nulls, "polars", obj, "fill_null() fills and drop_nulls() drops them")
    return np.asarray(obj.to_numpy())


def _polars_nulls(polars: ModuleType, series: Any) -> int:
    """How many elements are missing, or if none is, how many inside of the elements."""
    nulls = int(series.null_count())
    if nulls == 0 and isinstance(series.dtype, polars.Array):
        return _polars_nulls(polars, series.explode())
    if nulls == 0 and isinstance(series.dtype, polars.Struct):
        return sum(_polars_nulls(polars, field) for field in series.struct.unnest())
    return nulls


def _refuse_other(torch: ModuleType, obj: Any) -> None:
    """Raises an error for a tensor whose elements are not those in the CPU's memory."""
    wraps = type(obj).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
    if not wraps and not torch._C._functorch.is_functorch_wrapped_tensor(obj):
        obj.numpy()  # says why there is none
    raise Refused(
        "must hold its elements in the CPU's memory, got a tensor that wraps another (dmlcpu.torch takes "
        "those that torch.func and torch.compile make)"
    )


def _torch(torch: ModuleType, obj: Any) -> npt.NDArray[Any] | None:
    if not isinstance(obj, torch.Tensor):
        return None
    if type(obj) is not torch.Tensor and torch.masked.is_masked_tensor(obj):
        masked = int((~obj.get_mask()).sum())
        _refuse(masked, "torch.masked", obj, "to_tensor() fills them")
        obj = obj.get_data()
    _refuse_gradients(torch, obj)
    if not _is_plain(torch, obj) and _is_lazy(torch, obj):
        _check_storage(obj)
        obj = obj.clone()
    if not _is_plain(torch, obj):
        if type(obj).__array__ is not torch.Tensor.__array__:
            return np.asarray(obj)  # what its class makes of it
        _refuse_other(torch, obj)
    _check_storage(obj)
    if obj.dtype is torch.bfloat16:
        return _as_bfloat16(by_dlpack(torch, obj.view(torch.int16)))
    try:
        return by_dlpack(torch, obj)
    except Exception:  # a type that DLPack or NumPy does not know
        return np.asarray(obj)


def _torch_memory(torch: ModuleType, obj: Any) -> npt.NDArray[Any] | None:
    if not isinstance(obj, torch.Tensor):
        return None
    if torch.masked.is_masked_tensor(obj):
        raise Refused("must not be a masked tensor, got one")
    _refuse_gradients(torch, obj)
    if not _is_plain(torch, obj) and _is_lazy(torch, obj):
        raise Refused(
            "must hold its elements as they are, got a tensor with the negative or conjugate bit, or of "
            "zeros without memory (clone() gives one that does)"
        )
    if not _is_plain(torch, obj):
        _refuse_other(torch, obj)
    _check_storage(obj)
    bits = obj.view(torch.int16) if obj.dtype is torch.bfloat16 else obj
    array: npt.NDArray[Any] = bits.numpy()
    if not obj.is_inference():
        # As PyTorch's own out= does: a backward pass that needs the old elements is an error, not wrong.
        torch.autograd.graph.increment_version(obj)
    return _as_bfloat16(array) if bits is not obj else array


def _refuse_gradients(torch: ModuleType, obj: Any) -> None:
    dual = torch.autograd.forward_ad
    if obj.requires_grad or (
        dual._current_level >= 0 and dual.unpack_dual(obj).tangent is not None
    ):
        raise Refused(
            "must not require gradients, got a tensor that does (detach() gives one that does not)"
        )


def _is_lazy(torch: ModuleType, obj: Any) -> bool:
    """Whether the elements are the opposite or the conjugate of those in memory, or zeros without any."""
    keys, key = torch._C._dispatch_keys(obj), torch._C.DispatchKey
    return any(keys.has(bit) for bit in (key.Negative, key.Conjugate, key.ZeroTensor))


def _is_plain(torch: ModuleType, obj: Any) -> bool:
    """Whether the elements are those in the CPU's memory.

    The keys by which PyTorch dispatches calls name all else: other layouts and devices, subclasses that
    wrap tensors, fake ones, the wrappers of functorch.
    """
    return torch._C._dispatch_keys(obj) in _plain_keys(torch)


@functools.cache
def _plain_keys(torch: ModuleType) -> list[Any]:
    """The keys of tensors, and of those made in inference mode."""
    key, keys = torch._C.DispatchKey, torch._C.DispatchKeySet
    inference = keys(key.CPU) | keys(key.AutocastCPU)
    return [inference | keys(key.ADInplaceOrView) | keys(key.AutogradCPU), inference]


class _Exported:
    """A tensor for `numpy.from_dlpack`, which reads it in less time than the tensor itself.

    Not by its ``numpy()``, after which it could not be resized any more.
    """

    __slots__ = ("capsule",)

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def by_dlpack(torch: ModuleType, tensor: Any) -> npt.NDArray[Any]:
    """An array of the memory of a tensor that is plain, and not of bfloat16."""
    return np.from_dlpack(_Exported(torch.to_dlpack(tensor)))


def _check_storage(tensor: Any) -> None:
    lack = storage_lack(tensor)
    if lack:
        raise Refused(lack, ValueError)


def storage_lack(tensor: Any) -> str | None:
    """What is wrong with a tensor of the CPU whose storage was freed or made smaller, or None."""
    storage = tensor.untyped_storage().nbytes()
    if tensor.nbytes <= storage and not tensor.storage_offset() and tensor.is_contiguous():
        return None
    if not tensor.numel():
        return None
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
    end = (tensor.storage_offset() + last + 1) * tensor.itemsize
    if end <= storage:
        return None
    return (
        f"must be held by its storage, got a tensor that ends at byte {end} of a storage of {storage} "
        "(untyped_storage().resize_() enlarges it)"
    )


def _as_bfloat16(bits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    import ml_dtypes  # NumPy has no bfloat16 of its own to take a tensor as

    return bits.view(ml_dtypes.bfloat16)


_READERS: dict[str, Callable[[ModuleType, Any], npt.NDArray[Any] | None]] = {
    "pandas": _pandas,
    "pyarrow": _pyarrow,
    "polars": _polars,
    "torch": _torch,
}
